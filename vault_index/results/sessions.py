"""The answers of `sessions` and `resume`; durations are in seconds."""

from dataclasses import dataclass, field

from vault_index.results.base import WHEN_ASKED


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """One session; a field is null if the client does not record it."""

    id: str
    session: str
    """The id of the session in its client."""
    client: str
    title: str
    project: str | None
    directory: str | None
    model: str | None
    parent: str | None
    """The session that started this one, if this is a session of a subagent."""
    created: str
    updated: str
    turns: int | None
    tokens: int | None
    """Number of tokens that the client recorded."""
    duration: int
    """Sum of the times between turns, without pauses of more than 30 minutes."""
    files: int
    """Number of files written."""
    commands: int
    edits: int | None = field(default=None, metadata={WHEN_ASKED: True})
    """How often the session wrote the requested file; 0 if it only read the file."""
    reads: int | None = field(default=None, metadata={WHEN_ASKED: True})
    """How often the session read the requested file or named it in a command."""


@dataclass(frozen=True, slots=True)
class SessionList:
    """One page of sessions."""

    results: tuple[SessionRecord, ...]
    total: int | None
    """Null if a file was requested and the search stopped before the last session."""


@dataclass(frozen=True, slots=True)
class SessionDay:
    """The number of sessions on one day."""

    day: str
    """A date like `2026-11-21`."""
    sessions: int
    """Sessions that began or ended on this day."""


@dataclass(frozen=True, slots=True)
class SessionCount:
    """The number of sessions of one project or client."""

    name: str | None
    sessions: int


@dataclass(frozen=True, slots=True)
class SessionDays:
    """The number of sessions for each day; days without sessions are omitted."""

    results: tuple[SessionDay, ...]
    projects: tuple[SessionCount, ...]
    """Projects with the most sessions first."""
    clients: tuple[SessionCount, ...]
    total: int
    """Number of sessions."""


@dataclass(frozen=True, slots=True)
class HeldSession:
    """The part of a session that falls into the requested period."""

    id: str
    client: str
    title: str
    began: str
    ended: str
    duration: int


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that sessions wrote."""

    path: str
    """Relative to the folder of the session if the file is in it, else absolute."""
    edits: int


@dataclass(frozen=True, slots=True)
class RunProgram:
    """A program that sessions ran."""

    program: str
    runs: int
    failed: int


@dataclass(frozen=True, slots=True)
class FailedCommand:
    """A command that failed at least once."""

    command: str
    runs: int
    failed: int
    outcome: str
    """Outcome of the last run; `ok` if the command succeeded in the end."""


@dataclass(frozen=True, slots=True)
class ProjectWork:
    """The work on one project.

    The lists of files, programs and commands are cut; the counts include all of them.
    """

    project: str | None
    duration: int
    """Parallel sessions count once."""
    tokens: int | None
    """Tokens of the sessions that began in the period, as their clients recorded them."""
    subagents: int
    files: int
    commands: int
    failed: int
    """Number of commands that failed at least once."""
    sessions: tuple[HeldSession, ...]
    """Without the sessions of subagents. Their number is in `subagents`, and their work is
    included in the other fields."""
    written: tuple[WrittenFile, ...]
    programs: tuple[RunProgram, ...]
    """Without programs that only inspect, such as `ls` and `grep`."""
    failing: tuple[FailedCommand, ...]
    """Commands that failed in their last run first."""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """The work in a period by project, longest first."""

    since: str
    until: str | None
    sessions: int
    duration: int
    tokens: int | None
    results: tuple[ProjectWork, ...]
    total: int
    """Number of projects."""


@dataclass(frozen=True, slots=True)
class Resume:
    """How to resume a session in its client."""

    id: str
    session: str
    client: str
    title: str
    directory: str | None
    """The folder in which the session ran."""
    there: bool
    """Whether that folder still exists."""
    command: tuple[str, ...]
    shell: str
    """The command as a shell line that first changes to the folder."""
    instead_of: str | None = None
    """The session of a subagent that the caller named. It cannot be resumed, so this is its
    parent."""
