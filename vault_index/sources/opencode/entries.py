"""Convert OpenCode's JSON, of both stores and all known versions, to messages.

The data are untrusted: a value of an unexpected type counts as absent, and invalid JSON becomes a
problem.
"""

import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple, Protocol

from vault_index.models import FileStamp
from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.json_access import (
    Json,
    left_out,
    millis_of,
    object_of,
    objects_of,
    read_object,
    text_of,
    tool_call,
)
from vault_index.sources.sessions.model import (
    Attachment,
    Message,
    Part,
    Reasoning,
    Session,
    Speaker,
    Text,
    ToolCall,
)
from vault_index.unicode import mended


@dataclass(frozen=True, slots=True)
class Revert:
    """The message or part that the user rewound to; it and all later ones no longer count."""

    message: str
    part: str = ""


RawPart = tuple[str, bytes]
"""Id and stored JSON."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as stored: unparsed JSON."""

    id: str
    created: int
    data: bytes
    parts: Iterable[RawPart] = ()
    kind: str = ""
    """Type of a v2 row, in which `data` contains the parts; empty for v1."""


class Store(Protocol):
    """The interface of a database or a tree."""

    def messages(self, session: str, problems: list[str]) -> Generator[RawMessage]:
        """Yield the messages of a session in order; add unreadable ones to `problems`."""

    def times(self, session: str) -> list[int]:
        """Return the times of the messages in ms; empty if that requires reading all of them."""


class Held(NamedTuple):
    """The store that holds a session, and the point where reading ends."""

    store: Store
    revert: Revert | None


def stamp_of(
    session: Session, revert: Revert | None, changed: int, messages: int, parts: int
) -> FileStamp:
    """Return a stamp of the last change (ms), message and part counts, title and revert."""
    rest = zlib.crc32(repr((parts, session.title, revert)).encode())
    return FileStamp(messages, changed * 1_000_000, rest)


def read_messages(
    raw: Iterable[RawMessage], revert: Revert | None, include: Collection[str], problems: list[str]
) -> Iterator[Message]:
    """Yield the readable messages before the revert."""
    empty, raw, until = "", iter(raw), revert or Revert("", "")
    for one in raw:
        if empty:  # only the last message may lack parts
            problems.append(f"message {empty} has no parts")
        if one.id == until.message and not until.part:
            break
        parts, known = iter(one.parts), len(problems)
        first = next(parts, None)
        found = _message(one, chain(filter(None, [first]), parts), until, include, problems)
        empty = ""
        if found is not None:
            yield found
            whole = found.finished and not found.error and len(problems) == known
            if whole and first is None and not one.kind:
                empty = one.id
        if one.id == until.message:
            break
    else:
        return
    problems += left_out(1 + sum(1 for _ in raw))


def read_revert(value: Json) -> Revert | None:
    """Parse a session's `revert`; None if the user did not rewind it."""
    message = text_of(value, "messageID")
    return Revert(message, text_of(value, "partID")) if message else None


def _message(
    raw: RawMessage,
    raw_parts: Iterable[RawPart],
    until: Revert,
    include: Collection[str],
    problems: list[str],
) -> Message | None:
    if (data := read_object(raw.data, f"message {raw.id}", problems)) is None:
        return None
    if raw.kind:
        read = _V2.get(raw.kind)
        return read(raw, data, include) if read else None
    role = data.get("role")
    if role not in ("user", "assistant"):
        problems.append(f"message {raw.id} has an unknown role {role!r}")
        return None
    parts: list[Part] = []
    for part_id, content in raw_parts:
        if (raw.id, part_id) == (until.message, until.part):
            break
        value = read_object(content, f"part {part_id} of message {raw.id}", problems)
        if value is not None and (entry := _part(value, include, role)) is not None:
            parts.append(entry)
    message = _built(raw, data, role, parts)
    ended = message.finished or bool(data.get("error"))
    return replace(
        message,
        answers=text_of(data, "parentID"),
        speaker="summary" if data.get("summary") is True else role,
        created=raw.created,
        finished=ended,
    )


def _built(raw: RawMessage, data: Json, speaker: Speaker, parts: Iterable[Part]) -> Message:
    """Return a message with the fields that both versions have."""
    return Message(
        id=raw.id,
        answers="",
        speaker=speaker,
        created=millis_of(data, "time", "created") or raw.created,
        finished=speaker != "assistant" or millis_of(data, "time", "completed") is not None,
        agent=text_of(data, "agent") or text_of(data, "mode"),
        model=_model(object_of(data, "model") or data),
        error=_error(data.get("error")),
        parts=tuple(parts),
        tokens=_tokens(data),
    )


def _part(data: Json, include: Collection[str], role: str = "assistant") -> Part | None:
    kind = data.get("type")
    if kind == "text":
        if data.get("synthetic") is True:
            return None
        text = text_of(data, "text")
        return Text(words_in_prompt("opencode", text) if role == "user" else text)
    if kind == "reasoning":
        return Reasoning(text_of(data, "text")) if "reasoning" in include else None
    if kind == "tool":
        return _tool_call(data, include)
    if kind == "file":
        return Attachment(
            text_of(data, "filename") or text_of(data, "source", "path") or text_of(data, "mime")
        )
    if kind == "subtask":
        return ToolCall("task", "asked", text_of(data, "description") or text_of(data, "agent"))
    return None


def _tool_call(data: Json, include: Collection[str]) -> ToolCall:
    state, metadata = object_of(data, "state"), object_of(data, "state", "metadata")
    given, exit_code = object_of(state, "input"), metadata.get("exit")
    tool, description = text_of(data, "tool"), text_of(given, "description")
    return tool_call(
        tool,
        {"description": description} if tool == "task" else given,
        include,
        status=text_of(state, "status"),
        title=text_of(state, "title"),
        exit=exit_code if isinstance(exit_code, int) else None,
        error=_error(state.get("error")),
        child=text_of(metadata, "sessionId") or text_of(metadata, "sessionID"),
        output=text_of(state, "output"),
        diff=text_of(metadata, "diff"),
    )


def _error(value: Any) -> str:
    """Return an error as text: tools store a string, messages an object with a `message`."""
    if isinstance(value, str):
        return str(mended(value))
    if not isinstance(value, dict):
        return ""
    message = text_of(value, "data", "message") or text_of(value, "message")
    return ": ".join(part for part in (text_of(value, "name"), message) if part) or "error"


def _model(value: Json) -> str:
    name = text_of(value, "modelID") or text_of(value, "id")
    return "/".join(part for part in (text_of(value, "providerID"), name) if part) if name else ""


def _tokens(value: Json) -> int:
    return sum(
        max(millis_of(value, "tokens", kind) or 0, 0) for kind in ("input", "output", "reasoning")
    )


# --- rows of the v2 API: one object per message ---------------------------------------------------


def _v2_user(raw: RawMessage, data: Json, _: Collection[str]) -> Message:
    text = words_in_prompt("opencode", text_of(data, "text"))
    names = (text_of(file, "name") or text_of(file, "uri") for file in objects_of(data, "files"))
    return _built(raw, data, "user", (Text(text), *map(Attachment, names)))


def _v2_assistant(raw: RawMessage, data: Json, include: Collection[str]) -> Message:
    parts = (
        _v2_tool_call(one, include) if one.get("type") == "tool" else _part(one, include)
        for one in objects_of(data, "content")
    )
    return _built(raw, data, "assistant", tuple(part for part in parts if part is not None))


def _v2_tool_call(data: Json, include: Collection[str]) -> ToolCall:
    state, structured = object_of(data, "state"), object_of(data, "state", "structured")
    output = "\n".join(text_of(one, "text") for one in objects_of(state, "content"))
    read = {**state, "metadata": structured, "output": output}
    return _tool_call({"tool": text_of(data, "name"), "state": read}, include)


def _v2_shell(raw: RawMessage, data: Json, include: Collection[str]) -> Message:
    state = {
        "status": "completed" if millis_of(data, "time", "completed") is not None else "running",
        "input": {"command": data.get("command")},
        "metadata": {"exit": data.get("exit")},
        "output": data.get("output"),
    }
    return _built(raw, data, "user", (_tool_call({"tool": "shell", "state": state}, include),))


def _v2_compaction(raw: RawMessage, data: Json, _: Collection[str]) -> Message | None:
    if data.get("status", "completed") != "completed" or not text_of(data, "summary"):
        return None
    return _built(raw, data, "summary", (Text(text_of(data, "summary")),))


_V2: dict[str, Callable[[RawMessage, Json, Collection[str]], Message | None]] = {
    "user": _v2_user,
    "assistant": _v2_assistant,
    "shell": _v2_shell,
    "compaction": _v2_compaction,
}
"""Other kinds (`synthetic`, `system`, changes of agent or model) are not messages."""
