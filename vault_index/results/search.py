"""The answers of `search` and `why`: passages, and explanations of their ranking."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, DocumentFields, Problem


@dataclass(frozen=True, slots=True)
class ChannelEvidence:
    """Rank and score that one channel gave the chunk of a hit.

    The rank counts from 1 among the chunks that the channel found. The score is BM25 for `text` and
    `path` (higher is better) and the cosine for `vector`.
    """

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the score of a hit was computed (`--explain`)."""

    channels: Mapping[str, ChannelEvidence]
    coverage: float
    """The share of the query, weighted by rarity, that occurs in and around the passage."""
    matched: tuple[str, ...]
    """Query words that the passage contains."""
    corrected: tuple[str, ...]
    """Query words that the passage contains in a corrected spelling."""
    missing: tuple[str, ...]
    parts: Mapping[str, float]
    """The summands of the score before the factors."""
    factors: Mapping[str, float]
    """The factors of the score that differ from 1."""


@dataclass(frozen=True, slots=True)
class WordReading:
    """One word of a query, with its statistics."""

    text: str
    rarity: float
    """Inverse document frequency: the weight of the word."""
    texts: int
    """Number of passages that contain the word or one of its corrections."""
    meant: tuple[str, ...]
    """Possible corrections from the vocabulary of the index, likeliest first."""


@dataclass(frozen=True, slots=True)
class QueryReading:
    """How a query was parsed (`--explain`)."""

    words: tuple[WordReading, ...]
    required: str
    """What every hit must contain, joined by AND and OR; empty if nothing is required."""
    excluded: str
    """What no hit may contain."""
    filters: tuple[str, ...]
    """The filters, in query syntax."""


@dataclass(frozen=True, slots=True)
class Hit(DocumentFields):
    """One passage of an answer."""

    headings: tuple[str, ...]
    score: float
    snippet: str
    focus: tuple[int, int]
    changed_since_index: bool
    also: tuple[str, ...]
    """Paths of other documents with the same text, prefixed with the vault and a colon if
    several vaults have that path."""
    link: str
    spans: Mapping[Literal["snippet", "digest", "focus"], tuple[tuple[int, int], ...]]
    """Character ranges (start and end, from 0): query words in the snippet and in the digest,
    and the lines of the snippet that answer."""
    weak: bool = field(default=False, metadata={WHEN_ASKED: True})
    """Whether an unrelated query would find a similar hit. Unless all hits are requested, weak
    hits after the best three are counted but not shown. The JSON has this key only if it is
    true."""
    supersedes: str | None = field(default=None, metadata={WHEN_ASKED: True})
    """The id of the superseded memory that matched the query and that this hit replaces."""
    explain: Explanation | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Answered:
    """The fields that the answers of `search` and `why` begin with."""

    query: str
    mode: str
    confidence: Literal["high", "low", "none"]
    degraded: tuple[str, ...]
    corrections: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SearchResult(Answered):
    """The answer of `search`."""

    took_ms: float
    results: tuple[Hit, ...]
    """Includes weak hits, so that pages do not depend on whether weak hits are shown."""
    all: bool = field(default=False, metadata={WHEN_ASKED: True})
    """Whether weak hits were requested."""
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """Notes about the query, such as hits that an exclusion hides, or filters that no document
    meets."""
    offset: int = field(default=0, metadata={WHEN_ASKED: True})
    """Number of better hits that were skipped."""
    reading: QueryReading | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Why(Answered):
    """Why `search` finds or misses the passage at one place."""

    id: str
    source: str
    path: str
    title: str
    lines: tuple[int, int] | None
    """The requested lines; null for the whole document."""
    found: bool
    """Whether the place is among the first `limit` hits."""
    rank: int | None
    """Rank of the place among all hits, also beyond `limit`; null if it is not among them."""
    limit: int
    reasons: tuple[Problem, ...]
    """Why the passage is found or missed."""
    hit: Hit | None
    """The best passage of the place with its explanation, if the query finds any."""
    reading: QueryReading
