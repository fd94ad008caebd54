"""What is answered: the frozen dataclasses behind the JSON. Their field names are the JSON keys, a promise."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.models import Kind

WHEN_ASKED = "when asked"
"""Metadata of a field that is no key of the JSON while it is None."""


@dataclass(frozen=True, slots=True)
class ChannelEvidence:
    """What one channel said of the chunk of a hit: its rank (from 1) among the chunks it named, and its score: BM25
    for `text` and `path` (higher is better), the cosine for `vector`."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit is where it is (`--explain`)."""

    channels: Mapping[str, ChannelEvidence]
    coverage: float
    """The share of the question, by the rarity of its words, that is said in and around the passage."""
    matched: tuple[str, ...]
    """Words of the question the passage says itself."""
    corrected: tuple[str, ...]
    """Words it says as they were probably meant."""
    missing: tuple[str, ...]
    parts: Mapping[str, float]
    """What the score is the sum of, before the factors."""
    factors: Mapping[str, float]
    """What the score was multiplied with, where that is not 1."""


@dataclass(frozen=True, slots=True)
class Hit:
    """One passage of an answer."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    headings: tuple[str, ...]
    lines: tuple[int, int]
    score: float
    tags: tuple[str, ...]
    type: str | None
    digest: str
    snippet: str
    focus: tuple[int, int]
    tokens: int
    created: str
    updated: str
    entered_by: str | None
    project: str | None
    expires: str | None
    valid_until: str | None
    confidence: str | None
    accesses: int
    changed_since_index: bool
    also: tuple[str, ...]
    link: str
    explain: Explanation | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class WordReading:
    """One word of a question, as it counts for the ranking."""

    text: str
    rarity: float
    """Its inverse document frequency: what saying it is worth."""
    texts: int
    """How many passages of the index hold it, or what it may have been meant to be."""
    meant: tuple[str, ...]
    """Words of the index it may have been meant to be, likeliest first."""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How a query was read (`--explain`)."""

    words: tuple[WordReading, ...]
    required: str
    """What every hit must hold, joined by AND and OR; empty without."""
    excluded: str
    """What no hit may hold."""
    filters: tuple[str, ...]
    """Each as it is written in a query."""


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: str
    mode: str
    confidence: Literal["high", "low", "none"]
    degraded: tuple[str, ...]
    corrections: Mapping[str, str]
    took_ms: float
    results: tuple[Hit, ...]
    reading: QueryReading | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that has a passage found or not found."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Why:
    """Why the passage at one place was found or not."""

    query: str
    mode: str
    id: str | None
    """Null, as `title` is, for a file that is not in the index."""
    source: str | None
    path: str
    title: str | None
    lines: tuple[int, int] | None
    """The lines that were asked about; null for the whole document."""
    found: bool
    """Whether the answer has it, among its first `limit` hits."""
    rank: int | None
    """Its number in the answer, counted on beyond `limit`; null where it is not in it."""
    limit: int
    confidence: Literal["high", "low", "none"]
    """Of the answer."""
    degraded: tuple[str, ...]
    corrections: Mapping[str, str]
    reasons: tuple[Reason, ...]
    hit: Hit | None
    """The best passage of the place, with its explanation, if the question finds any."""
    reading: QueryReading | None


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """One document in the answer of `list` and `get`."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    tags: tuple[str, ...]
    type: str | None
    digest: str
    lines: tuple[int, int]
    tokens: int
    created: str
    updated: str
    entered_by: str | None
    project: str | None
    expires: str | None
    valid_until: str | None
    confidence: str | None
    accesses: int
    link: str


@dataclass(frozen=True, slots=True)
class DocumentList:
    results: tuple[DocumentRecord, ...]
    total: int


Relation = Literal["link", "backlink", "near"]
"""What a document is to the one that was asked about: that links to it, it links there, they mean much the same."""


@dataclass(frozen=True, slots=True)
class RelatedRecord(DocumentRecord):
    relations: tuple[Relation, ...]
    cosine: float | None
    """Of its nearest passage; null without vectors."""


@dataclass(frozen=True, slots=True)
class RelatedList:
    anchor: DocumentRecord
    """The document that was asked about."""
    results: tuple[RelatedRecord, ...]
    total: int
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """A document, and those created before and after it, oldest first."""

    anchor: DocumentRecord
    before: tuple[DocumentRecord, ...]
    after: tuple[DocumentRecord, ...]


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The text of one reference, as `get` answers."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str
    lines: tuple[int, int]
    tokens: int
    content: str
    next: str | None
    """The reference to go on with when the text was cut, else null."""
    metadata: Mapping[str, Any] | None = None
    """With `full`: the record of `list`, the frontmatter, aliases and links."""


@dataclass(frozen=True, slots=True)
class Texts:
    results: tuple[DocumentText, ...]


@dataclass(frozen=True, slots=True)
class TagCount:
    tag: str
    count: int


@dataclass(frozen=True, slots=True)
class TagList:
    results: tuple[TagCount, ...]
    total: int


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


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    error: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    scanned: int = 0
    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    unchanged: int = 0
    failed: tuple[Failure, ...] = ()
    chunks: int = 0
    embedded: int = 0
    cached: int = 0
    pending: int = 0
    seconds: float = 0.0
    problems: tuple["Problem", ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedPlan:
    """What filling the vectors would cost, before anything is spent."""

    provider: str
    model: str
    endpoint: str
    chunks: int
    cached: int
    kept_local: int
    """Chunks that `local_only` keeps from a remote embedder."""
    tokens: int
    """Of the texts that are not cached."""
    price: float | None
    """US dollars, None where the model has no known price."""
    spent_today: int
    daily_token_limit: int


@dataclass(frozen=True, slots=True)
class EmbedReport:
    embedded: int
    cached: int
    pending: int
    seconds: float
    problems: tuple["Problem", ...] = ()


@dataclass(frozen=True, slots=True)
class EmbedStatus:
    provider: str
    model: str
    endpoint: str
    dimensions: int
    chunks: int
    vectors: int
    pending: int
    kept_local: int
    spent_today: int
    daily_token_limit: int
    building: str | None
    """The model whose vectors are being built beside the serving ones."""


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str
    hint: str


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


@dataclass(frozen=True, slots=True)
class DaemonStatus:
    running: bool = False
    pid: int | None = None
    since: str | None = None


@dataclass(frozen=True, slots=True)
class SourceStatus:
    name: str
    kind: str
    path: str
    documents: int
    chunks: int
    failed: int


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
class SentRecord:
    """One line of the privacy ledger: what went to which server, never its text."""

    day: str
    endpoint: str
    model: str
    source: str
    path: str
    """The document, or `(queries)`."""
    texts: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Privacy:
    results: tuple[SentRecord, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Status:
    version: str
    daemon: DaemonStatus
    sources: tuple[SourceStatus, ...]
    index: IndexStatus
    embedder: EmbedderStatus
    watch: WatchStatus
    problems: tuple[Problem, ...] = field(default=())
