"""Answers about the index itself: `status`, `doctor`, `tags` and `stats`."""

from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, Problem


@dataclass(frozen=True, slots=True)
class SentRecord:
    """One line of the privacy ledger: what was sent to which server, without its text."""

    day: str
    endpoint: str
    """The server, followed by ` via ` and the proxy if one relayed the text."""
    model: str
    source: str
    path: str
    """Path of the document, or `(queries)`."""
    texts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document that became private after text of it had been sent."""

    source: str
    path: str
    reason: Literal["local_only", "excluded"]
    """`local_only` if its text must stay on this machine, `excluded` if the document is not
    indexed."""
    endpoints: tuple[str, ...]
    """The servers that received its text, most recent first."""


@dataclass(frozen=True, slots=True)
class Privacy:
    """The answer of `status --privacy`."""

    results: tuple[SentRecord, ...]
    total: int
    private: tuple[SentDocument, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """Documents that became private after they had been sent, by source and path."""
    hint: str = field(default="", metadata={WHEN_ASKED: True})
    """What to do about these documents."""


@dataclass(frozen=True, slots=True)
class SpentDay:
    """Texts and tokens sent to remote embedders on one day."""

    day: str
    texts: int
    tokens: int
    price: float | None
    """Estimated US dollars; null if the price of a model is unknown."""


@dataclass(frozen=True, slots=True)
class WorkStatus:
    """Progress of a long task of the daemon."""

    stage: str
    """`text` while documents are read, `embed` while vectors are computed."""
    done: int
    total: int
    """0 if unknown."""
    rate: float
    """Documents or chunks per second."""
    seconds_left: int | None


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    """State of the daemon."""

    running: bool = False
    pid: int | None = None
    since: str | None = None
    work: WorkStatus | None = None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """State of one source."""

    name: str
    kind: str
    path: str
    documents: int
    chunks: int
    failed: int
    found: int | None = None
    """Number of documents that the source has now, indexed or not; null if the source is
    missing."""
    current: int = 0
    """Number of these documents whose indexed version is up to date."""
    since: str | None = field(default=None, metadata={WHEN_ASKED: True})
    """Only for sessions: the day on which the oldest session began."""
    kept: int = field(default=0, metadata={WHEN_ASKED: True})
    """Only for sessions: the number of archived sessions."""
    kept_bytes: int = field(default=0, metadata={WHEN_ASKED: True})
    remote: str = field(default="", metadata={WHEN_ASKED: True})
    """Only for remote sources: the address."""
    synced: str | None = field(default=None, metadata={WHEN_ASKED: True})
    """Only for remote sources: the time of the last successful exchange."""
    unsent: int = field(default=0, metadata={WHEN_ASKED: True})
    """Only for remote sources: the number of changes that the remote does not have yet."""


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Size of the index; the counts are null if the index exists but cannot be read."""

    documents: int | None
    chunks: int | None
    vectors: int | None
    pending: int | None
    bytes: int
    waiting: int = field(default=0, metadata={WHEN_ASKED: True})
    """Memories in the inbox that wait for review."""


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    """The configured embedder."""

    provider: str
    model: str
    dimensions: int
    ready: bool
    advice: str = field(default="", metadata={WHEN_ASKED: True})
    """A better model for these notes with the commands to switch to it. Set if many notes are in
    languages that the current model does not support."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    """State of the file watcher."""

    backend: str | None = None
    last_event: str | None = None
    last_reconcile: str | None = None
    missed: int = 0


@dataclass(frozen=True, slots=True)
class FileStatus:
    """Whether one document or file is indexed, and as which document."""

    state: Literal["indexed", "behind", "gone", "not_indexed"]
    """`indexed`, `behind` (an older version is indexed), `gone` (indexed, but the file was
    deleted), or `not_indexed`."""
    source: str
    path: str
    id: str | None
    kind: str | None
    title: str | None
    lines: int
    chunks: int
    vectors: int
    pending: int
    """Chunks without a vector."""
    problems: tuple[Problem, ...]
    """Problems with the document, or why it is not indexed."""


@dataclass(frozen=True, slots=True)
class Status:
    """The answer of `status`."""

    version: str
    daemon: DaemonStatus
    sources: tuple[SourceStatus, ...]
    index: IndexStatus
    embedder: EmbedderStatus
    watch: WatchStatus
    spent: tuple[SpentDay, ...] = ()
    """The last days on which something was sent, newest first."""
    problems: tuple[Problem, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class RecallOfClass:
    """Recall of the queries that were made from one class of names.

    `recall_5` is the share of queries that find their note among the first five hits.
    """

    named_by: str
    queries: int
    recall_5: float


@dataclass(frozen=True, slots=True)
class HardToFind:
    """A note that is not among the first five hits for one of its own names."""

    query: str
    named_by: str
    """`title`, `alias`, `link` (link text in another note) or `heading`."""
    path: str
    rank: int | None
    """Null if the note is not among the first twenty hits either."""


@dataclass(frozen=True, slots=True)
class RecallReport:
    """How well search finds notes by their names."""

    documents: int
    queries: int
    recall_5: float
    classes: tuple[RecallOfClass, ...]
    hard: tuple[HardToFind, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """The answer of `doctor`."""

    healthy: bool
    """Whether there are no problems."""
    problems: tuple[Problem, ...]
    recall: RecallReport | None = None
    fixed: tuple[Problem, ...] = ()
    """Problems that the repair fixed."""
    advice: str = field(default="", metadata={WHEN_ASKED: True})
    """Advice about the embedder; it does not count as a problem."""


@dataclass(frozen=True, slots=True)
class TagCount:
    """A tag and the number of documents that have it."""

    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class TagList:
    """The answer of `tags`."""

    results: tuple[TagCount, ...]
    total: int
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class AgentCount:
    """An author and the number of documents that they entered."""

    agent: str
    count: int


@dataclass(frozen=True, slots=True)
class AgentList:
    """Authors of documents, with the number of documents of each."""

    results: tuple[AgentCount, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Stats:
    """Contents and size of the index."""

    documents: int
    memories: int
    sessions: int
    notes: int
    chunks: int
    tags: int
    agents: int
    indexed: str | None
    """When the index was last updated."""
    pending: int
    model: str
    bytes: int
