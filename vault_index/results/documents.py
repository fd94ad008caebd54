"""Answers about whole documents: `list`, `related` and `timeline`."""

from dataclasses import dataclass, field
from typing import Literal

from vault_index.results.base import WHEN_ASKED, DocumentFields

Relation = Literal["supersedes", "superseded by", "link", "backlink", "near"]
"""How the anchor relates to the other document.

It supersedes it, is superseded by it, links to it, is linked from it, or has a similar meaning."""


@dataclass(frozen=True, slots=True)
class DocumentRecord(DocumentFields):
    """One document in the answer of `list`."""

    turns: int | None
    """Number of turns of a session; null for other documents."""
    link: str


@dataclass(frozen=True, slots=True)
class DocumentList:
    """The answer of `list`: one page of documents."""

    results: tuple[DocumentRecord, ...]
    total: int
    sort: str = field(default="created", metadata={WHEN_ASKED: True})
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
    """The filters that no document meets, if the list is empty."""


@dataclass(frozen=True, slots=True)
class RelatedRecord(DocumentRecord):
    """A document in the answer of `related`, with its relations to the anchor."""

    relations: tuple[Relation, ...]
    cosine: float | None
    """Cosine of the most similar passage; null without vectors."""


@dataclass(frozen=True, slots=True)
class RelatedList:
    """The answer of `related`: one page of documents."""

    anchor: DocumentRecord
    """The document that the caller named."""
    results: tuple[RelatedRecord, ...]
    total: int
    degraded: tuple[str, ...] = ()
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})


@dataclass(frozen=True, slots=True)
class Timeline:
    """A document with the documents created before and after it, oldest first."""

    anchor: DocumentRecord
    before: tuple[DocumentRecord, ...]
    after: tuple[DocumentRecord, ...]
    hints: tuple[str, ...] = field(default=(), metadata={WHEN_ASKED: True})
