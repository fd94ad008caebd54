"""The session model that all clients share. Times are milliseconds since the epoch.

row, file or line -> Message -> markdown
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from vault_index.disk import name_of
from vault_index.models import FileStamp

Speaker = Literal["user", "assistant", "summary"]


@dataclass(frozen=True, slots=True)
class Session:
    """The metadata of a session."""

    id: str
    """Unique across clients; contains letters, digits, `_` and `-`."""
    title: str
    directory: str
    worktree: str
    """Project folder; empty or `/` if the client knows no project."""
    parent: str
    """Id of the session that started this subagent; empty for other sessions."""
    version: str
    """Version of the client that started the session."""
    created: int
    updated: int
    forked_from: str = ""
    """Id of the session that this one was forked from, if the client records it."""

    @property
    def project(self) -> str:
        """Project name: the last part of `worktree`, or of `directory` if no project is known."""
        return name_of(self.worktree if self.worktree.strip("/\\") else self.directory)


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in a listing; its messages are not read yet."""

    session: Session
    """Title, version and `updated` may be those of the first lines."""
    stamp: FileStamp
    """Changes whenever the session changes."""
    messages: int
    """0 if there is nothing to index yet; clients that do not count use any other number."""
    first: int
    """Time of the first message; in a fork it is older than `session.created`."""
    place: Any = None
    """The client's own locator for `read`."""
    partial: bool = False
    """The client has only a remnant of a removed session; a kept copy holds more."""


def moment_of(millis: int) -> datetime:
    """Return the UTC time; 1970 if the value is out of range."""
    try:
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class LeftOut(str):
    """A problem that reports intentionally omitted messages; `status` counts them."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text by the user or the model, in markdown."""

    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    """The model's reasoning before an answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file or image in a prompt, by name or media type."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call with its outcome."""

    tool: str
    status: str
    target: str
    """The most informative argument: a file, a command, a pattern."""
    exit: int | None = None
    error: str = ""
    child: str = ""
    """Session id of the subagent that the call started."""
    output: str = ""
    diff: str = ""


Part = Text | Reasoning | Attachment | ToolCall


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a session, or one block of an answer."""

    id: str
    answers: str
    """Id of the prompt that an assistant message answers."""
    speaker: Speaker
    created: int
    finished: bool
    agent: str
    model: str
    error: str
    parts: tuple[Part, ...]
    tokens: int = 0
    """Uncached input tokens plus output tokens, as the client counts them."""


def first_prompt(messages: Iterable[Message]) -> str:
    """Return the first text by the user; empty if there is none."""
    prompts = (message.parts for message in messages if message.speaker == "user")
    return next((part.text for parts in prompts for part in parts if isinstance(part, Text)), "")
