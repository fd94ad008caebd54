"""Break ties between equal scores by path and place, because row numbers are arbitrary."""

from collections.abc import Callable, Collection

from vault_index.store.connection import ANY_OF, Database, any_of

Candidates = list[tuple[int, float]]
"""Pairs of id and score, best first."""

_MORE = 8


def chunks_in_order(db: Database, chunk_ids: Collection[int]) -> dict[int, int]:
    """Return the rank of each chunk by path, source and position."""
    sql = (
        "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
        f" WHERE chunk.id {ANY_OF}"
    )
    rows = db.execute(
        f"{sql} ORDER BY document.path, document.source, chunk.ordinal", [any_of(chunk_ids)]
    )
    return {chunk_id: number for number, (chunk_id,) in enumerate(rows)}


def documents_in_order(db: Database, document_ids: Collection[int]) -> dict[int, int]:
    """Return the rank of each document by path and source."""
    rows = db.execute(
        f"SELECT id FROM document WHERE id {ANY_OF} ORDER BY path, source", [any_of(document_ids)]
    )
    return {document_id: number for number, (document_id,) in enumerate(rows)}


def best(
    find: Callable[[int], Candidates],
    limit: int,
    in_order: Callable[[Collection[int]], dict[int, int]],
) -> Candidates:
    """Return the best `limit` candidates of `find`, which takes a limit.

    If the score at the limit is tied, fetch all candidates with that score and order them with
    `in_order`.
    """
    asked = limit + 1
    found = find(asked)
    while len(found) == asked and found[limit - 1][1] == found[-1][1]:
        asked *= _MORE
        found = find(asked)
    if len(found) > limit and found[limit - 1][1] == found[limit][1]:
        place = in_order([id_ for id_, score in found if score == found[limit][1]])
        found.sort(key=lambda one: (-one[1], place.get(one[0], 0)))
    return found[:limit]
