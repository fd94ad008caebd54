"""How things are: the answer of `status`."""

from dataclasses import dataclass, field

from vault_index.answers.privacy import SpentDay
from vault_index.answers.problems import Problem


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """A long piece of work of the daemon."""

    stage: str
    """`text` while documents are read, `embed` while vectors are filled."""
    done: int
    total: int
    """0 where it is not known."""
    rate: float
    """Documents or chunks a second."""
    seconds_left: int | None


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    running: bool = False
    pid: int | None = None
    since: str | None = None
    work: WorkStatus | None = None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    name: str
    kind: str
    path: str
    documents: int
    chunks: int
    failed: int
    found: int | None = None
    """Documents there now, in the index or not; null where the source is gone."""
    current: int = 0
    """Those of them that are indexed as they are now."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    documents: int
    chunks: int
    vectors: int
    pending: int
    bytes: int


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    provider: str
    model: str
    dimensions: int
    ready: bool


@dataclass(frozen=True, slots=True)
class WatchStatus:
    backend: str | None = None
    last_event: str | None = None
    last_reconcile: str | None = None
    missed: int = 0


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One document or file: whether it is indexed, and as what."""

    state: str
    """`indexed`, `behind` (as it was before), `gone` (indexed, but no longer there), or `not_indexed`."""
    source: str
    path: str
    id: str | None
    kind: str | None
    title: str | None
    lines: int
    chunks: int
    vectors: int
    pending: int
    """Chunks whose vector is still to come."""
    problems: tuple[Problem, ...]
    """What is wrong with it, or why it is not indexed."""


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    daemon: DaemonStatus
    sources: tuple[SourceStatus, ...]
    index: IndexStatus
    embedder: EmbedderStatus
    watch: WatchStatus
    spent: tuple[SpentDay, ...] = ()
    """The last days on which something was sent, newest first."""
    problems: tuple[Problem, ...] = field(default=())
