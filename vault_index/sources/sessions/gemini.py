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
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from vault_index.disk import os_errors_as
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.files import FileClient, Layout
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
    title_of,
    tool_call,
)
from vault_index.sources.sessions.jsonl import records_in
from vault_index.sources.sessions.model import (
    Attachment,
    Listed,
    Message,
    Part,
    Reasoning,
    Session,
    Speaker,
    Text,
    first_prompt,
)

_SNAPSHOT = re.compile(r"\s*<state_snapshot>")
_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_SNAPSHOT_TAKEN = "Got it. Thanks for the additional context!"
_METADATA = ("sessionId", "lastUpdated", "summary")
_STATUS = {"success": "completed", "error": "error"}


class Gemini(FileClient):
    """The client for Gemini CLI."""

    name = "gemini"
    # By name, `.json` comes before `.jsonl`, so that the newer format wins.
    layout = Layout(
        ("tmp",),
        re.compile("[^/]+(/chats(/[^/]+)?)?"),
        re.compile(r"^[^/]+/chats/([^/]+/)?[\w-]{1,120}\.jsonl?"),
    )

    def head(self, file: Path, problems: list[str]) -> Session | None:
        """Read the session up to its first message; None without a message.

        Resuming a session may leave a file without a message.
        """
        metadata: Json = {}
        for line in records_in(file, problems):
            candidates = [
                *objects_of(line, "messages"),
                *objects_of(line, "$set", "messages"),
                line,
            ]
            metadata |= {
                key: value
                for key, value in {**line, **object_of(line, "$set")}.items()
                if key not in metadata
            }
            if any(
                one.get("type") in ("user", "gemini") and _parts_of(one, ()) for one in candidates
            ):
                return self._session(file, metadata, problems)
        return None

    def _session(self, file: Path, metadata: Json, problems: list[str]) -> Session | None:
        above = file.parent.name
        id_ = text_of(metadata, "sessionId")
        parent = above if above != "chats" else ""
        # Older versions store the parent's id as the subagent's.
        if text_of(metadata, "kind") == "subagent" and not parent:
            id_, parent = f"{id_}-{file.stem}", id_
        if not id_in(id_):
            problems.append(f"{file}: skipped, it has no valid session id")
            return None
        project = file.parents[2] if above != "chats" else file.parents[1]
        created = time_of(metadata, "startTime") or time_of(metadata, "timestamp") or 0
        folder = self._folder_of(project, text_of(metadata, "projectHash"))
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

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read the whole file. Raises VaultIndexError for an empty one."""
        file, unknown, problems = Path(listed.place), set[str](), list[str]()
        with os_errors_as(f"{file} cannot be read", "check its permissions"):
            lines, metadata = _state(file, problems, unknown)
        if not (lines or metadata):  # keep the indexed text
            raise VaultIndexError(f"{file} is empty", "retry after Gemini CLI has written the file")
        found = (self._message(line, listed.session, include, unknown) for line in lines)
        messages = [message for message in found if message is not None]
        problems += [f"{self.title}: skipped unknown {one}" for one in sorted(unknown)]
        times = (time_of(metadata, "lastUpdated") or 0, *(one.created for one in messages))
        session = replace(
            listed.session,
            title=text_of(metadata, "summary") or title_of(first_prompt(messages)),
            updated=max(listed.session.created, *times),
        )
        return Conversation(session, messages, problems)

    def _message(
        self, message: Json, session: Session, include: Collection[str], unknown: set[str]
    ) -> Message | None:
        kind = text_of(message, "type")
        if kind not in ("user", "gemini"):
            if kind not in ("info", "error", "warning"):  # the client's own messages
                unknown.add(f"messages of type {kind!r}")
            return None
        if not (parts := _parts_of(message, include)):
            return None
        speaker: Speaker = "user" if kind == "user" else "assistant"
        if any(isinstance(part, Text) and _SNAPSHOT.match(part.text) for part in parts):
            speaker = "summary"
        tokens = [
            millis_of(message, "tokens", key) or 0
            for key in ("input", "cached", "output", "thoughts")
        ]
        return Message(
            id=text_of(message, "id"),
            answers=session.id if speaker == "assistant" else "",
            speaker=speaker,
            created=time_of(message, "timestamp") or session.created,
            finished=True,
            agent="",
            model=text_of(message, "model"),
            error="",
            parts=tuple(parts),
            tokens=max(0, tokens[0] - tokens[1]) + tokens[2] + tokens[3],
        )


def _state(file: Path, problems: list[str], unknown: set[str]) -> tuple[list[Json], Json]:
    """Apply all lines; return the remaining messages and the session's metadata."""
    messages: dict[str, Json] = {}
    metadata: Json = {}
    taken_back: list[Json] = []
    for line in records_in(file, problems):
        changed = object_of(line, "$set")
        fields = {**line, **changed}
        if "$rewindTo" in line:
            ids, back = list(messages), text_of(line, "$rewindTo")
            begin = ids.index(back) if back in messages else 0
            taken_back += [messages.pop(id_) for id_ in ids[begin:]]
        elif ("id" in line or "type" in line) and "sessionId" not in line:
            messages[text_of(line, "id") or str(len(messages))] = line
        elif not (changed or "sessionId" in line):
            unknown.add(f"lines with {', '.join(sorted(line))[:80] or 'nothing'}")
        _add_compacted(messages, objects_of(fields, "messages"))
        metadata |= {key: value for key, value in fields.items() if key in _METADATA}
    problems += left_out(sum(bool(_parts_of(one, ())) for one in taken_back))
    return [*messages.values()], metadata


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


def _parts_of(message: Json, include: Collection[str]) -> list[Part]:
    """Return the parts of a prompt as typed, or of an answer with its thoughts and calls."""
    if message.get("type") == "user":
        typed = _texts(message.get("displayContent") or message.get("content"))
        texts = filter(None, (words_in_prompt("gemini", text) for text in typed))
        data = [object_of(one, "inlineData") for one in objects_of(message, "content")]
        files = [Attachment(text_of(one, "mimeType")) for one in data if one]
        return [*map(Text, texts), *files]
    thoughts = objects_of(message, "thoughts") if "reasoning" in include else []
    thought = [
        "\n\n".join(filter(None, (text_of(one, "subject"), text_of(one, "description"))))
        for one in thoughts
    ]
    answers = [text for text in _texts(message.get("content")) if text != _SNAPSHOT_TAKEN]
    calls = [_call(one, include) for one in objects_of(message, "toolCalls")]
    return [*(Reasoning(one) for one in thought if one), *map(Text, answers), *calls]


def _call(call: Json, include: Collection[str]) -> Part:
    results = objects_of(call, "result") or [object_of(call, "result")]
    answers = [object_of(one, "functionResponse", "response") for one in results]
    output = "\n".join(filter(None, (text_of(one, "output") for one in answers)))
    exit_code = _EXIT.search(output)
    error = next(filter(None, (text_of(one, "error") for one in answers)), "")
    return tool_call(
        text_of(call, "name"),
        object_of(call, "args"),
        include,
        status=_STATUS.get(text_of(call, "status"), "interrupted"),
        title=text_of(call, "description"),
        exit=int(exit_code[1]) if exit_code else None,
        error=error or text_of(call, "resultDisplay") if call.get("status") == "error" else "",
        child=id_in(text_of(call, "agentId")),
        output=output,
        diff=text_of(call, "resultDisplay", "fileDiff"),
    )
