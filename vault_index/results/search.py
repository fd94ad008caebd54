"""Passages that were found: the answers of `search` and `why`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, DocumentFields, Problem
from vault_index.results.explain import Explanation, QueryReading


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
    """Whether it is counted alone, and not shown, unless all are asked for; no key of the JSON where it is not so."""
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
