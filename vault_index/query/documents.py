"""Documents as they are answered: lists and tags page by page, and the text of a place within a budget."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict, replace

from vault_index import results
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.markdown.normalize import split_lines
from vault_index.store.counts import author_counts, tag_counts
from vault_index.store.documents import Order, aliases_of, chunks_of, documents_page, links_of, tags_of
from vault_index.times import iso_time, iso_time_or_none

TYPE_CHECKING = False  # spares a list the import of what a search needs; type checkers know the names
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Literal

    from vault_index.models import Filters
    from vault_index.query.references import Place
    from vault_index.sources.source import Source
    from vault_index.store.cache import Cache
    from vault_index.store.reader import Connections, IndexReader
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


def to_record(
    document: StoredDocument, *, tags: tuple[str, ...], link: str, accesses: Mapping[str, int]
) -> results.DocumentRecord:
    turns = document.frontmatter.get("turns") if document.kind == "session" else None
    return results.DocumentRecord(
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
    )


class Records:
    """Makes the record of a document: its row, with its tags, how often it was opened, and the link that opens it."""

    def __init__(self, reader: IndexReader, cache: Cache, links: Mapping[str, Callable[[str], str]]) -> None:
        self._reader = reader
        self._cache = cache
        self._links = links
        """For each source, the link to one of its paths."""

    def of(self, documents: Sequence[StoredDocument]) -> tuple[results.DocumentRecord, ...]:
        tags = tags_of(self._reader, [document.id for document in documents])
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
            documents, total = documents_page(reader, filters, Order(column, descending), limit, offset)
        else:  # usage lies in the other database
            accessed = cache.all_accessed()
            documents, total = documents_page(reader, filters, Order("path", False), -1, 0)
            documents.sort(key=lambda document: accessed.get(document.uid, 0.0), reverse=descending)
            documents = documents[offset : offset + limit]
        return results.DocumentList(records.of(documents), total)


def list_tags(reader: IndexReader, filters: Filters) -> results.TagList:
    counts = [results.TagCount(tag, count) for tag, count in tag_counts(reader, filters)]
    return results.TagList(tuple(counts), len(counts))


def list_agents(reader: IndexReader) -> results.AgentList:
    counts = [results.AgentCount(agent, count) for agent, count in author_counts(reader)]
    return results.AgentList(tuple(counts), len(counts))


def get_texts(
    connections: Connections,
    sources: Mapping[str, Source],
    places: Iterable[Place],
    *,
    full: bool,
    max_tokens: int | None,
    neighbors: int,
) -> results.Texts:
    """The texts of places as their files are now; each counts as opened. Raises NotFoundError for a missing file."""
    reader, cache = connections.reader, connections.cache
    texts = []
    for place in places:
        place = with_neighbors(reader, place, neighbors)
        document, source = place.document, sources[place.document.source]
        found = source.look(document.path)
        if found is None:
            raise NotFoundError(f"{document.path} is gone since it was indexed", "run `vault-index sync`")
        raw = source.read(found)
        now, then = raw.ref.stamp, document.stamp
        # The whole stamp of a file just written is not believed, but what was counted of it is right.
        counted = document.tokens if (now.size, now.mtime_ns) == (then.size, then.mtime_ns) else None
        text = read_place(place, raw.text, max_tokens=max_tokens, whole_tokens=counted)
        if full:
            [record] = Records(reader, cache, {document.source: source.link}).of([document])
            text = replace(text, metadata=full_metadata(reader, document, record))
        with suppress(VaultIndexError):  # a disk that is full, or a cache in use, keeps nobody from reading
            cache.record_access(document.uid, time.time())
        texts.append(text)
    return results.Texts(tuple(texts))


def with_neighbors(reader: IndexReader, place: Place, count: int) -> Place:
    """The place widened by `count` chunks on both sides."""
    chunks = chunks_of(reader, place.document.id)
    last = place.last or place.document.line_count
    inside = [number for number, chunk in enumerate(chunks) if place.overlaps(chunk.start_line, chunk.end_line)]
    if not inside or count <= 0:
        return place
    around = chunks[max(inside[0] - count, 0) : inside[-1] + count + 1]
    return replace(
        place,
        first=min(place.first, *(c.start_line for c in around)),
        last=max(last, *(c.end_line for c in around)),
    )


def read_place(place: Place, text: str, *, max_tokens: int | None, whole_tokens: int | None) -> results.DocumentText:
    """The text of a place, cut at a line after `max_tokens`; `next` then says where to go on.

    `whole_tokens` is what the index counted for the whole document, where it still holds: counting costs start-up.
    """
    document = place.document
    lines = split_lines(text)
    first = min(place.first, max(len(lines), 1))
    last = min(place.last or len(lines), len(lines))
    shown = lines[first - 1 : last]
    whole = first == 1 and last == len(lines)
    size = whole_tokens if whole and whole_tokens is not None else _count("\n".join(shown))
    rest = None
    if max_tokens is not None and size > max_tokens:
        fitting, cost = _fit(shown, max_tokens)
        if len(fitting) < len(shown):  # a last line that is too long is shown, and nothing is left
            shown, size = fitting, cost
            rest = f"{document.uid}:{first + len(shown)}-{last}"
    return results.DocumentText(
        id=document.uid,
        kind=document.kind,
        source=document.source,
        path=document.path,
        title=document.title,
        lines=(first, max(first + len(shown) - 1, first)),
        tokens=size,
        content="\n".join(shown) + ("\n" if shown and text.endswith(("\n", "\r")) and rest is None and whole else ""),
        next=rest,
    )


def full_metadata(reader: IndexReader, document: StoredDocument, record: results.DocumentRecord) -> dict[str, object]:
    """Everything that is known of a document besides its text."""
    session = document.frontmatter.get("session") if document.kind == "session" else None
    return {
        **asdict(record),
        **({"resume": f"opencode -s {session}"} if session else {}),
        "aliases": aliases_of(reader, document.id),
        "links": [asdict(link) for link in links_of(reader, document.id)],
        "frontmatter": dict(document.frontmatter),
    }


def _fit(lines: Sequence[str], max_tokens: int) -> tuple[list[str], int]:
    """As many lines as fit, at least one, so that going on always ends."""
    shown: list[str] = []
    size = 0
    for line in lines:
        cost = _count(f"{line}\n")
        if shown and size + cost > max_tokens:
            break
        shown.append(line)
        size += cost
    return shown, size


def _count(text: str) -> int:
    from vault_index import tokens  # 20 ms, and a whole document was counted when it was indexed

    return tokens.count(text)
