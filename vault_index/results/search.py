"""Passages that were found: the answer of `search`."""

from __future__ import annotations

from dataclasses import dataclass, field

from vault_index.results import WHEN_ASKED, DocumentName

TYPE_CHECKING = False  # spares the import of what only `--explain` needs; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from vault_index.results.explain import Explanation, QueryReading


@dataclass(frozen=True, slots=True)
class Hit(DocumentName):
    """One passage of an answer."""

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
    spans: Mapping[Literal["snippet", "digest"], tuple[tuple[int, int], ...]]
    """Where the snippet and the digest say words of the question: start and end of each, in characters from 0."""
    explain: Explanation | None = field(default=None, metadata={WHEN_ASKED: True})


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
