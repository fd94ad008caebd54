"""Read transcripts that are lists of records: record -> Entry -> Message.

A client maps its records to entries. Tables of key paths (`Block`) describe the parts of messages.
Sessions are read as a whole on each change, because any record may begin another branch.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from vault_index.disk import os_errors_as
from vault_index.errors import VaultIndexError
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.files import FileClient
from vault_index.sources.sessions.json_access import (
    Json,
    left_out,
    millis_of,
    object_from,
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
    ToolCall,
    first_prompt,
)

_EXIT = re.compile(r"^(?:Command exited with|Exit) [Cc]ode:? (-?\d{1,9})$", re.MULTILINE)


class Block(NamedTuple):
    """The keys of one type of block; a dot separates the keys of a path."""

    kind: Literal["text", "thought", "file", "call", "result", "command", "ignored"]
    """A `command` is one that the user ran."""
    text: str = "text"
    """The text or command, the name of the tool or file, or the output of a call."""
    id: str = ""
    """The id of the call."""
    given: str = ""
    """The arguments of a call: an object, or JSON in a string."""
    error: str = ""
    """Of a result: the message of an error, or `true`."""
    exit: str = ""
    diff: str = ""


IGNORED = Block("ignored")


class Call(NamedTuple):
    """A call that the model requested."""

    id: str
    tool: str
    given: Json
    result: Mapping[str, Any] = MappingProxyType({})
    """What its record holds of the result: keyword arguments for `tool_call`."""


class Result(NamedTuple):
    """The result of the call of this id."""

    id: str
    fields: dict[str, Any]
    """Keyword arguments for `tool_call`."""


@dataclass(slots=True)
class Entry:
    """A record of a session; without parts if it holds no message."""

    id: str
    parent: str | None = None
    """Id of the record that it follows; "" for the first one, None for the previous one."""
    speaker: Speaker = "assistant"
    time: int = 0
    parts: Sequence[Part | Call | Result] = ()
    model: str = ""
    tokens: int = 0
    error: str = ""
    finished: bool = True

    def says(self) -> bool:
        """Return whether it has a text."""
        return any(isinstance(part, Text) for part in self.parts)

    @property
    def calls(self) -> set[str]:
        """The ids of its calls whose result is in another record."""
        return {part.id for part in self.parts if isinstance(part, Call) and not part.result}


class Reading:
    """Values and problems that a client collects while it reads a session."""

    def __init__(self, client: str) -> None:
        self.client = client
        """Product name."""
        self.title = ""
        self.updated = 0
        """Time of the last change, if the client records it."""
        self.tokens = 0
        """Tokens that belong to the next answer."""
        self.problems: list[str] = []
        self._unknown: set[str] = set()

    def report(self, what: str) -> None:
        """Report unknown content, each kind once."""
        if what not in self._unknown:
            self._unknown.add(what)
            self.problems.append(f"{self.client}: skipped unknown {what}")

    def parts(
        self, blocks: Any, table: Mapping[str, Block], default: str = "text"
    ) -> list[Part | Call | Result]:
        """Convert blocks by their `type`, or by the first key of the table that they have.

        A string is one block of type `default`.
        """
        if isinstance(blocks, str):
            blocks = [{"type": default, "text": blocks}]
        found = (self._part(one, table) for one in objects_of({"blocks": blocks}, "blocks"))
        return [part for part in found if part is not None]

    def _part(self, block: Json, table: Mapping[str, Block]) -> Part | Call | Result | None:
        held = (key for key in table if block.get(key) not in (None, False))
        kind = text_of(block, "type") or next(held, "")
        if (keys := table.get(kind)) is None:
            self.report(f"parts of type {kind!r}")
            return None
        text, id_ = texts_at(block, keys.text), text_of(block, *keys.id.split("."))
        if keys.kind == "call":
            return Call(id_, text, _arguments(block, keys.given))
        if keys.kind == "command":
            exit_code = millis_of(block, *keys.exit.split("."))
            return tool_call("bash", {"command": text}, (), status="completed", exit=exit_code)
        if keys.kind == "result":
            return Result(id_, _result(block, keys, text))
        if keys.kind == "file":
            return Attachment(text)
        if not text or keys.kind == "ignored":
            return None
        return Reasoning(text) if keys.kind == "thought" else Text(text)


class EntryClient(FileClient):
    """A client with one file of records per session: JSON Lines, or one JSON object (`.json`)."""

    @abstractmethod
    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session that a record describes, if any."""

    @abstractmethod
    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert a record."""

    def all_entries(self, records: Iterable[Json], reading: Reading) -> Iterable[Entry]:
        """Convert all records, of which some may change earlier ones."""
        return [entry for record in records for entry in self.entries(record, reading)]

    def head(self, file: Path, problems: list[str]) -> Session | None:
        """Read the session up to its first message; None without a message."""
        session, talks, reading = None, False, Reading(self.title)
        for record in records_in(file, problems):
            session = session or self.session_of(record, file, problems)
            talks = talks or any(entry.parts for entry in self.entries(record, reading))
            if session and talks:
                return session
        if talks:
            problems.append(f"{file}: skipped, it has no valid session id")
        return None

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read the whole file. Raises VaultIndexError for an empty one."""
        file, reading = Path(listed.place), Reading(self.title)
        with os_errors_as(f"{file} cannot be read", "check its permissions"):
            records = list(records_in(file, reading.problems))
        if not records:  # keep the indexed text
            raise VaultIndexError(
                f"{file} is empty", f"retry after {self.title} has written the file"
            )
        entries = self.all_entries(records, reading)
        return conversation(self.name, listed.session, entries, include, reading)


def conversation(
    client: str,
    session: Session,
    entries: Iterable[Entry],
    include: Collection[str],
    reading: Reading,
) -> Conversation:
    """Return the messages of the current branch; count those of other branches."""
    everything = list({one.id or str(place): one for place, one in enumerate(entries)}.values())
    branch, results = current_branch(everything), _results(everything)
    prompts = (at for at, one in enumerate(branch) if one.speaker == "user" and one.says())
    answered = max(prompts, default=0)
    messages = list[Message]()
    for place, entry in enumerate(branch):
        shown = _shown(entry, client, results, include)
        if shown or entry.error:
            message = _message(entry, shown, session, place)
            whole = entry.finished and entry.calls <= results.keys()
            messages.append(replace(message, finished=whole or place < answered))
    omitted = sum(map(Entry.says, everything)) - sum(map(Entry.says, branch))
    title = reading.title or session.title or title_of(first_prompt(messages))
    updated = max(
        (session.created, session.updated, reading.updated, *(one.created for one in messages))
    )
    session = replace(session, title=title, updated=updated)
    return Conversation(session, messages, [*reading.problems, *left_out(omitted)])


def _results(entries: Iterable[Entry]) -> dict[str, dict[str, Any]]:
    parts = (part for entry in entries for part in entry.parts)
    return {part.id: part.fields for part in parts if isinstance(part, Result)}


def _message(entry: Entry, parts: tuple[Part, ...], session: Session, place: int) -> Message:
    return Message(
        id=entry.id or f"{session.id}-{place}",
        answers=session.id if entry.speaker == "assistant" else "",
        speaker=entry.speaker,
        created=entry.time or session.created,
        finished=True,
        agent="",
        model=entry.model,
        error=entry.error,
        parts=parts,
        tokens=entry.tokens,
    )


def current_branch(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries from the first one to the last one, by their parents.

    An entry with an unknown or later parent follows the previous entry, so that damage hides
    nothing.
    """
    places = {**{entry.id: number for number, entry in enumerate(entries)}, "": -1}
    branch, at = list[Entry](), len(entries) - 1
    while at >= 0:
        branch.append(entries[at])
        parent = entries[at].parent
        before = at - 1 if parent is None else places.get(parent, at - 1)
        at = before if before < at else at - 1
    return branch[::-1]


def entry_of(record: Json, id_: str, parent: str) -> Entry:
    """Return the entry of a record with an id and a parent, without its parts."""
    before = text_of(record, parent) if parent in record else None
    return Entry(text_of(record, id_), before, time=time_of(record, "timestamp") or 0)


def texts_at(value: Json, path: str) -> str:
    """Return the text below these keys, or the joined texts of the blocks there."""
    *above, last = path.split(".")
    inside = object_of(value, *above)
    blocks = (text_of(one, "text") for one in objects_of(inside, last))
    return text_of(inside, last) or "\n".join(filter(None, blocks))


def _arguments(block: Json, path: str) -> Json:
    keys = path.split(".")
    return object_of(block, *keys) or object_from(text_of(block, *keys))


def _result(block: Json, keys: Block, output: str) -> dict[str, Any]:
    above, _, last = keys.error.rpartition(".")
    inside = object_of(block, *above.split(".")) if above else block
    failed = inside.get(last) not in (None, False, "") if last else False
    return {
        "status": "error" if failed else "completed",
        "error": texts_at(block, keys.error) or output if failed else "",
        "exit": millis_of(block, *keys.exit.split(".")),
        "output": output,
        "diff": text_of(block, *keys.diff.split(".")),
    }


def _shown(
    entry: Entry, client: str, results: Mapping[str, dict[str, Any]], include: Collection[str]
) -> tuple[Part, ...]:
    """Return the parts to show: prompts as typed, calls with their results."""
    shown = list[Part]()
    for part in entry.parts:
        if isinstance(part, Call):
            shown.append(_call(part, results, include))
        elif isinstance(part, Text) and entry.speaker == "user":
            words = words_in_prompt(client, part.text)
            shown += [Text(words)] if words else []
        elif not isinstance(part, Result | Reasoning) or "reasoning" in include:
            shown += [] if isinstance(part, Result) else [part]
    return tuple(shown)


def _call(call: Call, results: Mapping[str, dict[str, Any]], include: Collection[str]) -> ToolCall:
    fields = {"status": "interrupted", **call.result, **results.get(call.id, {})}
    found = _EXIT.search(fields.get("output", "")) if call.given.get("command") else None
    if found and fields.get("exit") is None:
        fields["exit"] = int(found[1])
    return tool_call(call.tool, call.given, include, **fields)
