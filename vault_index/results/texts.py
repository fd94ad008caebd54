"""Texts of documents, and what a session should know: the answers of `get` and `recall`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.results.base import WHEN_ASKED, DocumentName, FailedItem

Cause = Literal["project", "query", "session"]
"""Why something is recalled: it holds for the project, it answers the query, or it is a recent session."""


@dataclass(frozen=True, slots=True)
class DocumentText(DocumentName):
    """The text of one reference, as `get` answers."""

    lines: tuple[int, int]
    tokens: int
    content: str
    next: str | None
    """The reference to go on with when the text was cut, else null."""
    fields: Mapping[str, Any] = field(default_factory=dict, metadata={WHEN_ASKED: True})
    """What the frontmatter of a memory says of it, where the text is without frontmatter."""
    metadata: Mapping[str, Any] | None = None
    """With `full`: the record of `list`, the frontmatter, aliases and links."""


@dataclass(frozen=True, slots=True)
class Texts:
    results: tuple[DocumentText, ...]
    failed: tuple[FailedItem, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """The references that gave no text, where others did."""


@dataclass(frozen=True, slots=True)
class RecalledSource(DocumentName):
    """One place that is quoted."""

    lines: tuple[int, int]
    type: str | None
    created: str
    entered_by: str | None
    project: str | None
    why: Cause
    whole: bool
    """Whether all of the place is quoted, or it was cut."""


@dataclass(frozen=True, slots=True)
class Recall:
    text: str
    """Quotations between marks, or empty where there is nothing to know."""
    tokens: int
    confidence: Literal["high", "low", "none"]
    """Of what answers the query; without one, `high` if there is anything."""
    sources: tuple[RecalledSource, ...]
    degraded: tuple[str, ...] = ()
    waiting: int = 0
    """How many memories wait for review."""
