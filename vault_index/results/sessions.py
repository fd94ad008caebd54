"""Sessions with agents, and what was done in them: the answers of `sessions` and `resume`. Durations are in seconds."""

from dataclasses import dataclass, field

from vault_index.results.base import WHEN_ASKED


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session. What its client does not say is null."""

    id: str
    session: str
    """Its id in its client."""
    client: str
    title: str
    project: str | None
    directory: str | None
    model: str | None
    parent: str | None
    """The session that asked for it, of a subagent."""
    created: str
    updated: str
    turns: int | None
    tokens: int | None
    """What its client says it took."""
    duration: int
    """From turn to turn, without pauses of more than half an hour."""
    files: int
    """Files that were written."""
    commands: int
    edits: int | None = field(default=None, metadata={WHEN_ASKED: True})
    """How often the file that was asked for was written; 0 where it was only read."""
    reads: int | None = field(default=None, metadata={WHEN_ASKED: True})
    """How often it was read, or named in a command."""


@dataclass(frozen=True, slots=True)
class SessionList:
    results: tuple[SessionRecord, ...]
    total: int | None
    """Null where a file was asked for, and not all that may have touched it were looked through."""


@dataclass(frozen=True, slots=True)
class SessionDay:
    day: str
    """As `2026-11-21`."""
    sessions: int
    """Those that began or ended on it."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    name: str | None
    sessions: int


@dataclass(frozen=True, slots=True)
class SessionDays:
    """How many sessions there were, day by day; days without one are left out."""

    results: tuple[SessionDay, ...]
    projects: tuple[SessionCount, ...]
    """Those with most sessions first."""
    clients: tuple[SessionCount, ...]
    total: int
    """Sessions."""


@dataclass(frozen=True, slots=True)
class HeldSession:
    """A session of a project, as far as it was held in the time that was asked for."""

    id: str
    client: str
    title: str
    began: str
    ended: str
    duration: int


@dataclass(frozen=True, slots=True)
class WrittenFile:
    path: str
    """From the folder of the session, where it lies there."""
    edits: int


@dataclass(frozen=True, slots=True)
class RunProgram:
    program: str
    runs: int
    failed: int


@dataclass(frozen=True, slots=True)
class FailedCommand:
    command: str
    runs: int
    failed: int
    outcome: str
    """Of the last run: `ok` where it was put right."""


@dataclass(frozen=True, slots=True)
class ProjectWork:
    """What was done for a project. Of files and commands the first are named, and all are counted."""

    project: str | None
    duration: int
    """What went on side by side counts once."""
    tokens: int | None
    """What the clients say, of the sessions that began in this time."""
    subagents: int
    files: int
    commands: int
    failed: int
    """Commands that failed at least once."""
    sessions: tuple[HeldSession, ...]
    """Those of subagents are counted alone; what they did is there."""
    written: tuple[WrittenFile, ...]
    programs: tuple[RunProgram, ...]
    """Without those that only look around."""
    failing: tuple[FailedCommand, ...]
    """Those first that failed when they last ran."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What was worked on, by project: where most time went first."""

    since: str
    until: str | None
    sessions: int
    duration: int
    tokens: int | None
    results: tuple[ProjectWork, ...]
    total: int
    """Projects."""


@dataclass(frozen=True, slots=True)
class Resume:
    """How a session is gone on with, in its client."""

    id: str
    session: str
    client: str
    title: str
    directory: str | None
    """The folder it was held in."""
    there: bool
    """Whether that folder is there."""
    command: tuple[str, ...]
    shell: str
    """The command as a shell takes it, in that folder."""
    instead_of: str | None = None
    """The session that was named: a subagent's, which nobody goes on with."""
