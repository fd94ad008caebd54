"""The answers of `get` and `recall`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from vault_index.results.base import WHEN_ASKED, DocumentName, FailedItem

Cause = Literal["project", "query", "session"]
"""Why an item is recalled: it applies to the project, matches the query, or is a recent session."""


@dataclass(frozen=True, slots=True)
class DocumentText(DocumentName):
    """The text of one reference in the answer of `get`."""

    lines: tuple[int, int]
    tokens: int
    content: str
    next: str | None
    """If the text was cut, the reference of the rest; else null."""
    fields: Mapping[str, Any] = field(default_factory=dict, metadata={WHEN_ASKED: True})
    """Frontmatter fields of a memory, if the text is shown without frontmatter."""
    metadata: Mapping[str, Any] | None = None
    """Only with `full`: the record as in `list`, the frontmatter, aliases and links."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The answer of `get`."""

    results: tuple[DocumentText, ...]
    failed: tuple[FailedItem, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """References without a text, if at least one other reference has a text."""


@dataclass(frozen=True, slots=True)
class RecalledSource(DocumentName):
    """One quoted place."""

    lines: tuple[int, int]
    type: str | None
    created: str
    entered_by: str | None
    project: str | None
    why: Cause
    whole: bool
    """Whether the place is quoted in full."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer of `recall`."""

    text: str
    """Quotations between markers; empty if nothing is relevant."""
    tokens: int
    confidence: Literal["high", "low", "none"]
    """Confidence of the hits for the query. Without a query it is `high` if anything is quoted."""
    sources: tuple[RecalledSource, ...]
    degraded: tuple[str, ...] = ()
    waiting: int = 0
    """Number of memories that wait for review."""


@dataclass(frozen=True, slots=True)
class Reminder:
    """The answer of `remind`; all fields are empty if no memory is about the action."""

    id: str
    path: str
    text: str
    """One line; the last field, because the hook reads it without a JSON parser."""
