"""Read Gemini CLI's sessions, one file each.

The path is `<folder>/tmp/<project>/chats/session-<minute>-<first 8 of the id>.jsonl`; subagents'
sessions are in a sibling folder, named by the id. Older versions rewrote one JSON object
(`.json`) for each message.

Lines are a head, messages (one with a known id replaces the earlier one), `{"$set": …}` and
`{"$rewindTo": id}`. Any line may change earlier ones, so a session is always read as a whole.
(google-gemini/gemini-cli: packages/core/src/services/chatRecordingService.ts,
chatRecordingTypes.ts)
"""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.entries import Call, Entry, EntryClient, Reading, Result, entry_of
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    left_out,
    millis_of,
    object_in,
    object_of,
    objects_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Attachment, Part, Reasoning, Session, Text

_SNAPSHOT = re.compile(r"\s*<state_snapshot>")
_SNAPSHOT_TAKEN = "Got it. Thanks for the additional context!"
_CLIENTS_OWN = ("info", "error", "warning")
_STATUS = {"success": "completed", "error": "error"}


class Gemini(EntryClient):
    """The client for Gemini CLI."""

    name = "gemini"
    # By name, `.json` comes before `.jsonl`, so that the newer format wins.
    layout = Layout(
        ("tmp",),
        re.compile("[^/]+(/chats(/[^/]+)?)?"),
        re.compile(r"^[^/]+/chats/([^/]+/)?[\w-]{1,120}\.jsonl?"),
    )

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of a head."""
        above, id_ = file.parent.name, text_of(record, "sessionId")
        parent = above if above != "chats" else ""
        # Older versions store the parent's id as the subagent's.
        if text_of(record, "kind") == "subagent" and not parent:
            id_, parent = f"{id_}-{file.stem}", id_
        if "sessionId" not in record or not id_in(id_):
            return None
        project = file.parents[2] if above != "chats" else file.parents[1]
        created = time_of(record, "startTime") or 0
        folder = self._folder_of(project, text_of(record, "projectHash"))
        return Session(id_, "", folder, folder, parent, "", created, created)

    def _folder_of(self, project: Path, hash_: str) -> str:
        """Return the project folder: from its `.project_root`, else from the list of projects."""
        with suppress(OSError):
            if root := (project / ".project_root").read_text("utf-8", "replace").strip():
                return root
        known = object_in(project.parent.parent / "projects.json")
        for folder, short in object_of(known, "projects").items():
            if (
                project.name == short
                or hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest() == hash_
            ):
                return str(folder)
        return "" if re.fullmatch("[0-9a-f]{64}", project.name) else project.name

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert the messages of one record."""
        held = (*objects_of(record, "messages"), *objects_of(record, "$set", "messages"), record)
        return [_entry(one, reading) for one in held]

    def all_entries(self, records: Iterable[Json], reading: Reading) -> Iterable[Entry]:
        """Apply all records, and convert the messages that remain."""
        messages, taken_back = dict[str, Json](), list[Json]()
        for record in records:
            fields = {**record, **object_of(record, "$set")}
            taken_back += _apply(record, messages, reading)
            _add_compacted(messages, objects_of(fields, "messages"))
            reading.title = text_of(fields, "summary") or reading.title
            reading.updated = time_of(fields, "lastUpdated") or reading.updated
        reading.problems += left_out(sum(bool(_entry(one, reading).parts) for one in taken_back))
        return [_entry(one, reading) for one in messages.values()]


def _apply(record: Json, messages: dict[str, Json], reading: Reading) -> list[Json]:
    """Add the message of a record, or return those that it takes back."""
    if "$rewindTo" in record:
        ids, back = list(messages), text_of(record, "$rewindTo")
        begin = ids.index(back) if back in messages else 0
        return [messages.pop(id_) for id_ in ids[begin:]]
    if ("id" in record or "type" in record) and "sessionId" not in record:
        messages[text_of(record, "id") or str(len(messages))] = record
    elif not (object_of(record, "$set") or "sessionId" in record):
        reading.report(f"lines with {', '.join(sorted(record))[:80] or 'nothing'}")
    return []


def _add_compacted(messages: dict[str, Json], compacted: list[Json]) -> None:
    """Add the new messages of a compacted list; keep those that it dropped or masked."""
    known = {_words(one) for one in messages.values()} if compacted else set()
    for one in compacted:
        id_ = text_of(one, "id") or str(len(messages))
        if id_ not in messages and _words(one) not in known:
            messages[id_] = one


def _texts(content: Any) -> list[str]:
    """Return the texts in API parts: a string, an object, or a list of both."""
    texts = []
    for one in content if isinstance(content, list) else [content]:
        if isinstance(one, dict) and one.get("thought") is not True:
            texts.append(text_of(one, "text"))
        elif isinstance(one, str):
            texts.append(text_of({"text": one}, "text"))
    return [text for text in texts if text]


def _words(message: Json) -> str:
    """Return a key of the text of a message, which is equal under different ids."""
    return (
        f"{text_of(message, 'type')} "
        f"{''.join(''.join(_texts(message.get('content'))).split()) or text_of(message, 'id')}"
    )


def _entry(message: Json, reading: Reading) -> Entry:
    """Convert a message; those of the client itself get no parts."""
    kind, entry = text_of(message, "type"), entry_of(message, "id", "")
    if kind == "user":
        entry.speaker, entry.parts = "user", _prompt(message)
    elif kind == "gemini":
        entry.parts = _answer(message)
    elif kind not in _CLIENTS_OWN:
        reading.report(f"messages of type {kind!r}")
    if any(isinstance(part, Text) and _SNAPSHOT.match(part.text) for part in entry.parts):
        entry.speaker = "summary"
    usage = object_of(message, "tokens")
    thought = millis_of(usage, "thoughts") or 0
    entry.tokens = tokens_of(usage, "input", "cached", "output") + thought
    entry.model = text_of(message, "model")
    return entry


def _prompt(message: Json) -> list[Part]:
    """Return the parts of a prompt, as typed."""
    typed = _texts(message.get("displayContent") or message.get("content"))
    texts = filter(None, (words_in_prompt("gemini", text) for text in typed))
    data = [object_of(one, "inlineData") for one in objects_of(message, "content")]
    return [*map(Text, texts), *(Attachment(text_of(one, "mimeType")) for one in data if one)]


def _answer(message: Json) -> list[Part | Call | Result]:
    """Return the thoughts, texts and calls of an answer."""
    thoughts = (
        "\n\n".join(filter(None, (text_of(one, "subject"), text_of(one, "description"))))
        for one in objects_of(message, "thoughts")
    )
    answers = (text for text in _texts(message.get("content")) if text != _SNAPSHOT_TAKEN)
    calls = map(_call, objects_of(message, "toolCalls"))
    return [*map(Reasoning, filter(None, thoughts)), *map(Text, answers), *calls]


def _call(call: Json) -> Call:
    """Convert a call, which holds its result."""
    results = objects_of(call, "result") or [object_of(call, "result")]
    answers = [object_of(one, "functionResponse", "response") for one in results]
    failed = call.get("status") == "error"
    error = next(filter(None, (text_of(one, "error") for one in answers)), "")
    result = {
        "status": _STATUS.get(text_of(call, "status"), "interrupted"),
        "title": text_of(call, "description"),
        "error": error or text_of(call, "resultDisplay") if failed else "",
        "child": id_in(text_of(call, "agentId")),
        "output": "\n".join(filter(None, (text_of(one, "output") for one in answers))),
        "diff": text_of(call, "resultDisplay", "fileDiff"),
    }
    return Call(text_of(call, "id"), text_of(call, "name"), object_of(call, "args"), result)
