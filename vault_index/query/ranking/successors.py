"""Replaces hits in superseded memories with the memory that superseded them."""

from collections.abc import Collection, Sequence

from vault_index.models import Filters
from vault_index.query.ranking.passages import Passage, RankedPassage, TermMatcher, split_passages
from vault_index.query.reader import Reader
from vault_index.store.documents import allows, documents_by_id
from vault_index.store.records import ChunkRecord, StoredDocument


def with_successors(
    reader: Reader,
    hits: Sequence[RankedPassage],
    matcher: TermMatcher,
    filters: Filters,
    hidden: Collection[int],
    now: float,
) -> list[RankedPassage]:
    """Replace each hit of a memory that is superseded at `now` with its newest successor.

    If the filters exclude the successor, or all of its chunks are hidden, the hit is dropped.
    """
    shown = []
    for hit in hits:
        document = hit.chunk.document
        newest = newest_successor(reader, document, now)
        if newest is document:
            shown.append(hit)
        elif newest and allows(reader, filters, newest.id):
            place = _best_passage(reader, newest, matcher, hidden)
            if place:
                shown.append(
                    hit._replace(chunk=place[0], passage=place[1], supersedes=document.uid)
                )
    return shown


def newest_successor(reader: Reader, document: StoredDocument, now: float) -> StoredDocument | None:
    """Follow `superseded_by` as of `now`; return the document itself if nothing supersedes it.

    Returns None if the chain ends at a missing memory or is a cycle.
    """
    passed: set[int] = set()
    newest = document
    while newest.superseded_by:
        passed.add(newest.id)
        found = documents_by_id(reader, newest.superseded_by.lower())
        if not found or found[0].id in passed:
            return None
        if found[0].created > now:
            break
        newest = found[0]
    return newest


def _best_passage(
    reader: Reader, document: StoredDocument, matcher: TermMatcher, hidden: Collection[int]
) -> tuple[ChunkRecord, Passage] | None:
    """Return the passage with the largest share of the query; the first one if none has any."""
    chunks = reader.chunks_of(document.id, fields=False) or reader.chunks_of(document.id)
    places = [
        (chunk, passage)
        for chunk in chunks
        if chunk.chunk_id not in hidden
        for passage in split_passages(chunk.text)
    ]

    return max(places, key=lambda place: matcher.share_of(place[1].of(place[0].text)), default=None)
