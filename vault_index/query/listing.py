"""`list` and `tags`: documents and tags in order, page by page."""

from __future__ import annotations

from vault_index import results
from vault_index.errors import UsageError
from vault_index.query.present import to_record
from vault_index.store.documents import Order

TYPE_CHECKING = False  # spares the import of what is only named here; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from vault_index.models import Filters
    from vault_index.store.cache import Cache
    from vault_index.store.reader import IndexReader
    from vault_index.store.records import StoredDocument

# Column, and whether the natural order is from high to low.
_SORTS = {
    "created": ("created", True),
    "time": ("created", True),
    "updated": ("updated", True),
    "access": ("", True),
    "expires": ("expires", False),
    "title": ("title COLLATE NOCASE", False),
    "content": ("digest COLLATE NOCASE", False),
}


class Records:
    """Makes the record of a document: its row, with its tags, how often it was opened, and the link that opens it."""

    def __init__(self, reader: IndexReader, cache: Cache, links: Mapping[str, Callable[[str], str]]) -> None:
        self._reader = reader
        self._cache = cache
        self._links = links
        """For each source, the link to one of its paths."""

    def of(self, documents: Sequence[StoredDocument]) -> tuple[results.DocumentRecord, ...]:
        tags = self._reader.tags_of([document.id for document in documents])
        accesses = self._cache.accesses([document.uid for document in documents])
        return tuple(
            to_record(
                document,
                tags=tags.get(document.id, ()),
                link=self._links[document.source](document.path) if document.source in self._links else "",
                accesses=accesses,
            )
            for document in documents
        )


def list_documents(
    reader: IndexReader,
    cache: Cache,
    records: Records,
    filters: Filters,
    *,
    sort: str,
    order: Literal["asc", "desc"] | None,
    limit: int,
    offset: int,
) -> results.DocumentList:
    if sort not in _SORTS:
        raise UsageError(f"cannot sort by {sort!r}", f"sort by {', '.join(_SORTS)}")
    if order not in (None, "asc", "desc"):
        raise UsageError(f"order cannot be {order!r}", "order is asc or desc")
    column, descending = _SORTS[sort]
    descending = descending if order is None else order == "desc"
    with reader.snapshot():
        if column:
            documents, total = reader.documents(filters, Order(column, descending), limit, offset)
        else:  # usage lies in the other database
            accessed = cache.all_accessed()
            documents, total = reader.documents(filters, Order("path", False), -1, 0)
            documents.sort(key=lambda document: accessed.get(document.uid, 0.0), reverse=descending)
            documents = documents[offset : offset + limit]
        return results.DocumentList(records.of(documents), total)


def list_tags(reader: IndexReader, filters: Filters) -> results.TagList:
    counts = [results.TagCount(tag, count) for tag, count in reader.tag_counts(filters)]
    return results.TagList(tuple(counts), len(counts))


def list_agents(reader: IndexReader) -> results.AgentList:
    counts = [results.AgentCount(agent, count) for agent, count in reader.author_counts()]
    return results.AgentList(tuple(counts), len(counts))
