"""Documents as a whole: the answers of `list`, `related` and `timeline`."""

from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, DocumentFields

Relation = Literal["supersedes", "superseded by", "link", "backlink", "near"]
"""What the document that was asked about does: it supersedes the other, is superseded by it, links to it, is linked
from it, or means much the same."""


@dataclass(frozen=True, slots=True)
class DocumentRecord(DocumentFields):
    """One document in the answer of `list`."""

    turns: int | None
    """Of a session: how often somebody spoke."""
    link: str


@dataclass(frozen=True, slots=True)
class DocumentList:
    results: tuple[DocumentRecord, ...]
    total: int
    sort: str = field(default="created", metadata={WHEN_ASKED: True})
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """Of an answer without results: the filters that no document meets."""


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
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Timeline:
    """A document, and those created before and after it, oldest first."""

    anchor: DocumentRecord
    before: tuple[DocumentRecord, ...]
    after: tuple[DocumentRecord, ...]
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
