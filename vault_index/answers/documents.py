"""Documents as a whole: the answer of `list`."""

from dataclasses import dataclass

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
