"""Converts documents to records, and lists them page by page."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from vault_index.errors import UsageError
from vault_index.fields import Sort
from vault_index.models import Filters
from vault_index.query.language.filters import unmet_filters
from vault_index.query.reader import Reader
from vault_index.results.documents import DocumentList, DocumentRecord
from vault_index.store.documents import Order, documents_page, tags_of
from vault_index.store.records import StoredDocument
from vault_index.store.state import State
from vault_index.times import iso_time, iso_time_or_none

# Column, and whether the default order is descending.
_SORTS: Mapping[Sort, tuple[str, bool]] = {
    "created": ("created", True),
    "time": ("created", True),
    "updated": ("updated", True),
    "access": ("", True),
    "expires": ("expires", False),
    "title": ("lower(title)", False),
    "content": ("lower(digest)", False),
}


def to_record(
    document: StoredDocument, *, tags: tuple[str, ...], link: str, accesses: Mapping[str, int]
) -> DocumentRecord:
    """Convert a document row to a record."""
    turns = document.frontmatter.get("turns") if document.kind == "session" else None
    return DocumentRecord(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        tags=tags,
        type=document.type,
        digest=document.digest,
        lines=(1, document.line_count),
        tokens=document.tokens,
        created=iso_time(document.created),
        updated=iso_time(document.updated),
        entered_by=document.entered_by,
        project=document.project,
        expires=iso_time_or_none(document.expires),
        valid_until=iso_time_or_none(document.valid_until),
        confidence=document.confidence,
        accesses=accesses.get(document.uid, 0),
        turns=turns if isinstance(turns, int) else None,
        link=link,
        **document.states(time.time()),
    )


class Records:
    """Converts documents to records, with their tags, access counts and links."""

    def __init__(
        self, reader: Reader, state: State, links: Mapping[str, Callable[[str], str]]
    ) -> None:
        self._reader = reader
        self._state = state
        self._links = links  # by source name: a function from a path to its link

    def of(self, documents: Sequence[StoredDocument]) -> tuple[DocumentRecord, ...]:
        """Return the records of documents, in order."""
        tags = tags_of(self._reader, [document.id for document in documents])
        accesses = self._state.accesses([document.uid for document in documents])
        return tuple(
            to_record(
                document,
                tags=tags.get(document.id, ()),
                link=self._links[document.source](document.path)
                if document.source in self._links
                else "",
                accesses=accesses,
            )
            for document in documents
        )


def list_documents(
    reader: Reader,
    state: State,
    records: Records,
    filters: Filters,
    *,
    sort: Sort,
    order: Literal["asc", "desc"] | None,
    limit: int,
    offset: int,
) -> DocumentList:
    """Return one page of the documents that meet `filters`.

    Raises UsageError for an invalid `order`.
    """
    if order not in (None, "asc", "desc"):
        raise UsageError(f"order cannot be {order!r}", "use asc or desc")
    column, descending = _SORTS[sort]
    descending = descending if order is None else order == "desc"
    with reader.snapshot():
        if column:
            documents, total = documents_page(
                reader, filters, Order(column, descending), limit, offset
            )
        else:  # usage is in another database, so SQL cannot sort by it
            usage = state.usage()
            documents, total = documents_page(reader, filters, Order("path", False), -1, 0)
            documents.sort(
                key=lambda document: usage.get(document.uid, (0, 0.0)), reverse=descending
            )
            documents = documents[offset : offset + limit]
        hints = () if total else tuple(unmet_filters(reader, filters))
        return DocumentList(records.of(documents), total, sort, hints)
