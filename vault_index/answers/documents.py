"""Documents as a whole: lists of them, their surroundings, their text, and counts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vault_index.models import Kind


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
    turns: int | None
    """Of a session: how often somebody spoke."""
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
