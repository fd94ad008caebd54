"""What a client says of its sessions, whichever client it is. Times are milliseconds since the epoch.

row, file or line -> Message -> markdown
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from vault_index.disk import name_of
from vault_index.models import FileStamp

Speaker = Literal["user", "assistant", "summary"]


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    """Of letters, digits, `_` and `-`; no other session of any client has it."""
    title: str
    directory: str
    worktree: str
    """The folder of the project the session belongs to; empty or `/` where its client knows none."""
    parent: str
    """The session that asked for it, of a subagent."""
    version: str
    """Of the client that began it."""
    created: int
    updated: int
    forked_from: str = ""
    """The session whose messages it begins with, where its client says so."""

    @property
    def project(self) -> str:
        """What its project is called: its folder, or the one it was held in where its client knew no project."""
        return name_of(self.worktree if self.worktree.strip("/\\") else self.directory)


@dataclass(frozen=True, slots=True)
class Listed:
    """A session as its client lists it, without its messages being read."""

    session: Session
    """As far as it is known without reading on: title, version and `updated` may be those of its beginning."""
    stamp: FileStamp
    """Equal as long as nothing of it changed."""
    messages: int
    """0 where there is nothing to index yet; any other number where nobody counted."""
    first: int
    """When its first message was written; that of a fork is older than the fork itself."""
    place: Any = None
    """Where its client finds it again."""
    partial: bool = False
    """The session itself is gone, and its client still has a part of it: what was kept of it before is more."""


def moment_of(millis: int) -> datetime:
    """1970 for what is no time."""
    try:
        return datetime.fromtimestamp(millis / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)


class LeftOut(str):
    """Among the problems of a session: what its reader leaves out on purpose. `status` counts it."""


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
    tokens: int = 0
    """What its client says it took: read anew and written, not what was cached."""
    end: int = 0
    """Where the line behind it begins, in a file that is only appended to; 0 elsewhere."""
