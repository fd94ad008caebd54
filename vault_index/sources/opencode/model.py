"""What the stores of OpenCode say, whichever of them said it. Times are milliseconds since the epoch, as it keeps them.

row or file -> RawMessage -> Message -> markdown
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from vault_index.disk import name_of

Speaker = Literal["user", "assistant", "summary"]


@dataclass(frozen=True, slots=True)
class Revert:
    """Where a session was taken back to: what begins here is not wanted, and goes at the next prompt."""

    message: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    title: str
    directory: str
    worktree: str
    """The folder of the project the session belongs to; empty or `/` where OpenCode found none."""
    parent: str
    version: str
    """Of the OpenCode that began it."""
    created: int
    updated: int
    revert: Revert | None = None

    @property
    def project(self) -> str:
        """What its project is called: its folder, or the one it was held in where OpenCode knew no project."""
        return name_of(self.worktree if self.worktree.strip("/\\") else self.directory)


def moment_of(millis: int) -> datetime:
    """1970 for what is no time."""
    try:
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class Listed:
    """A session and what tells whether it changed, without its messages being read."""

    session: Session
    changed: int
    """The last change of the session, or of any of its messages and parts."""
    messages: int
    parts: int
    """Without those of an answer that is still being written, which is not read either."""
    first: int
    """When its first message was written; that of a fork is older than the fork itself."""


RawPart = tuple[str, bytes]
"""The id of a part, and its JSON as stored."""


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A message as stored: JSON that nobody has read yet."""

    id: str
    created: int
    data: bytes
    parts: Iterable[RawPart] = ()
    kind: str = ""
    """The type of a row of the v2 API, which carries its parts inside."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Reasoning:
    text: str


@dataclass(frozen=True, slots=True)
class Attachment:
    name: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    tool: str
    status: str
    target: str
    """What it was called for: a file, a command, a pattern, whatever names it best."""
    exit: int | None = None
    error: str = ""
    child: str = ""
    """The session of a subagent."""
    output: str = ""
    diff: str = ""


Part = Text | Reasoning | Attachment | ToolCall


@dataclass(frozen=True, slots=True)
class Message:
    id: str
    answers: str
    """The id of the prompt that an assistant message belongs to."""
    speaker: Speaker
    created: int
    finished: bool
    agent: str
    model: str
    error: str
    parts: tuple[Part, ...]
