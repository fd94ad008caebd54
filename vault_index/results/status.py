"""The state of an index: the answers of `status`, `status --privacy`, `doctor`, `tags` and `stats`."""

from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, Problem


@dataclass(frozen=True, slots=True)
class SentRecord:
    """One line of the privacy ledger: what went to which server, never its text."""

    day: str
    endpoint: str
    """The server; behind it ` via ` and the proxy, where one passed the text on."""
    model: str
    source: str
    path: str
    """The document, or `(queries)`."""
    texts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class SentDocument:
    """A document that is private by now, and of which something was sent before."""

    source: str
    path: str
    reason: Literal["local_only", "excluded"]
    """Why it is private: text of it stays home, or it is left out."""
    endpoints: tuple[str, ...]
    """Where its text went, the last server first."""


@dataclass(frozen=True, slots=True)
class Privacy:
    results: tuple[SentRecord, ...]
    total: int
    private: tuple[SentDocument, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """Documents that are private by now, by source and path."""
    hint: str = field(default="", metadata={WHEN_ASKED: True})
    """What can be done about them."""


@dataclass(frozen=True, slots=True)
class SpentDay:
    """What was sent to remote embedders on one day."""

    day: str
    texts: int
    tokens: int
    price: float | None
    """US dollars, estimated; null where the price of a model is not known."""


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
class IsolatedStatus:
    """An index of their own that tokens have."""

    tokens: tuple[str, ...]
    """Their names."""
    waiting: int
    """Paths and requests that it waits for."""
    pending: int
    """Chunks without a vector."""
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    running: bool = False
    pid: int | None = None
    since: str | None = None
    work: WorkStatus | None = None
    isolated: tuple[IsolatedStatus, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """The indexes that isolated tokens have."""


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
    since: str | None = field(default=None, metadata={WHEN_ASKED: True})
    """Of sessions: the day on which the first of them began."""
    kept: int = field(default=0, metadata={WHEN_ASKED: True})
    """Of sessions: how many there are in the folder of those that were kept."""
    kept_bytes: int = field(default=0, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """The counts are null where there is an index that cannot be read: nobody knows what it holds."""

    documents: int | None
    chunks: int | None
    vectors: int | None
    pending: int | None
    bytes: int
    waiting: int = field(default=0, metadata={WHEN_ASKED: True})
    """Memories in the inbox, which nobody has reviewed yet."""


@dataclass(frozen=True, slots=True)
class EmbedderStatus:
    provider: str
    model: str
    dimensions: int
    ready: bool
    advice: str = field(default="", metadata={WHEN_ASKED: True})
    """The model that these notes need, and the commands, where a noticeable share is in languages this one does not
    know."""


@dataclass(frozen=True, slots=True)
class WatchStatus:
    backend: str | None = None
    last_event: str | None = None
    last_reconcile: str | None = None
    missed: int = 0


@dataclass(frozen=True, slots=True)
class FileStatus:
    """One document or file: whether it is indexed, and as what."""

    state: Literal["indexed", "behind", "gone", "not_indexed"]
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


@dataclass(frozen=True, slots=True)
class RecallOfClass:
    """Questions made of one class of names, and the share whose note is among the first five hits."""

    named_by: str
    queries: int
    recall_5: float


@dataclass(frozen=True, slots=True)
class HardToFind:
    """A note that is not among the first five hits for one of its own names."""

    query: str
    named_by: str
    """`title`, `alias`, `link` (the words another note links to it with) or `heading`."""
    path: str
    rank: int | None
    """Null: not among the first twenty either."""


@dataclass(frozen=True, slots=True)
class RecallReport:
    """How well notes are found by what they are called."""

    documents: int
    queries: int
    recall_5: float
    classes: tuple[RecallOfClass, ...]
    hard: tuple[HardToFind, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class DoctorReport:
    healthy: bool
    """Whether there are no problems."""
    problems: tuple[Problem, ...]
    recall: RecallReport | None = None
    fixed: tuple[Problem, ...] = ()
    """What was wrong before it was mended."""
    advice: str = field(default="", metadata={WHEN_ASKED: True})
    """That of the embedder: no problem, but worth knowing."""


@dataclass(frozen=True, slots=True)
class TagCount:
    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class TagList:
    results: tuple[TagCount, ...]
    total: int
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class AgentCount:
    agent: str
    count: int


@dataclass(frozen=True, slots=True)
class AgentList:
    """Who entered documents, and how many."""

    results: tuple[AgentCount, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Stats:
    """What the index holds, and how large it is."""

    documents: int
    memories: int
    sessions: int
    notes: int
    chunks: int
    tags: int
    agents: int
    indexed: str | None
    """When the index was last brought up to date."""
    pending: int
    model: str
    bytes: int
