"""Documents as a whole: the answer of `list`."""

from dataclasses import dataclass

from vault_index.results.base import DocumentFields


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
