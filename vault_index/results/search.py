"""Passages that were found, and why they are where they are: the answers of `search` and `why`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, DocumentFields, Problem


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
class Hit(DocumentFields):
    """One passage of an answer."""

    headings: tuple[str, ...]
    score: float
    snippet: str
    focus: tuple[int, int]
    changed_since_index: bool
    also: tuple[str, ...]
    """Where else its text was found: paths, with their vault before a colon where several have the same."""
    link: str
    spans: Mapping[Literal["snippet", "digest", "focus"], tuple[tuple[int, int], ...]]
    """Where the snippet and the digest say words of the question: start and end of each, in characters from 0; and
    where in the snippet the lines stand that answer."""
    weak: bool = field(default=False, metadata={WHEN_ASKED: True})
    """Whether a question about something else would find a hit like it. Weak hits after the best three are counted, not
    shown, unless all are asked for. The JSON has this key only where it is true."""
    supersedes: str | None = field(default=None, metadata={WHEN_ASKED: True})
    """The id of the superseded memory that was found, in whose place this hit stands."""
    explain: Explanation | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Answered:
    """What the answers of `search` and `why` begin with."""

    query: str
    mode: str
    confidence: Literal["high", "low", "none"]
    degraded: tuple[str, ...]
    corrections: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SearchResult(Answered):
    took_ms: float
    results: tuple[Hit, ...]
    """The weak ones are among them, so that pages are the same whether they are shown or not."""
    all: bool = field(default=False, metadata={WHEN_ASKED: True})
    """Whether the weak ones were asked for, too."""
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """What to know about the query: hits that an exclusion hid, filters that no document meets."""
    offset: int = field(default=0, metadata={WHEN_ASKED: True})
    """The number of better hits that were skipped."""
    reading: QueryReading | None = field(default=None, metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Why(Answered):
    """Why the passage at one place was found or not."""

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
    reasons: tuple[Problem, ...]
    """What has the passage found or not found."""
    hit: Hit | None
    """The best passage of the place, with its explanation, if the question finds any."""
    reading: QueryReading | None
