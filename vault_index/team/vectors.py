"""Vectors of a pool: as text for `halfvec`, and the search for the nearest ones.

Up to `LEAST_INDEXED` vectors, an exact search is as fast as an index. Above, an HNSW index finds
the nearest, unless a condition leaves so few that the index would miss most of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_index.models import Vector, VectorSpace
from vault_index.store.records import SpaceRow
from vault_index.team.rows import as_halfvec
from vault_index.team.shared_vectors import as_floats
from vault_index.team.statements import Connected

if TYPE_CHECKING:
    import psycopg

LEAST_INDEXED = 150_000
_EF = 400
"""Neighbours that the index considers. Of the true first ten, it finds .98; with 120, .91. An index
with the defaults of pgvector (m 16, ef_construction 64) finds .87 and .75."""
_LEAST_SHARE = 0.05
LEAST_FOUND = 30_000
"""With fewer visible chunks that meet a condition than this number and share of all, the index
misses neighbours, and an exact search is faster."""
_MOST_CHANGED = 0.1
"""Share of removed vectors after which the index misses too many neighbours."""
_AVOIDED = ("enable_sort", "enable_seqscan", "enable_hashjoin", "enable_mergejoin")
SIZES = (
    "SELECT relname, reltuples::bigint FROM pg_class WHERE oid = 'pool.chunk'::regclass OR oid IN"
    " (SELECT indexrelid FROM pg_index WHERE indrelid = 'pool.embedding'::regclass AND indisvalid)"
)
"""The approximate number of chunks, and the usable indexes of vectors."""
BEST = "ORDER BY score DESC, document.path, document.source, chunk.ordinal LIMIT ?"


class Seen(NamedTuple):
    """What the caller sees."""

    zones: list[int]
    chunks: int
    """Number of chunks in these zones."""


def to_halfvec(space: VectorSpace, vector: Vector) -> str:
    """Return a stored vector as text for a `halfvec`."""
    return as_halfvec(as_floats(space, vector))


def nearest(
    db: Connected,
    space: SpaceRow,
    vector: Vector,
    limit: int,
    seen: Seen,
    where: str,
    values: Sequence[object],
) -> list[tuple[int, float]]:
    """Return the nearest of the visible chunks that meet a condition, with their cosine."""
    sizes = dict(db.execute(SIZES))
    least = max(int(sizes["chunk"] * _LEAST_SHARE), LEAST_FOUND)
    indexed = _index_name(space.id) in sizes and _is_broad(db, least, seen, where, values)
    if indexed:  # as a condition on each neighbour, not as a join that the planner may begin with
        where = f"({where}) IS TRUE"
    elif seen.chunks < sizes["chunk"] * _LEAST_SHARE:
        mine = "zone_id = ANY (?::integer[])"
        where = f"chunk.{mine} AND embedding.{mine} AND {where}"
        values = (seen.zones, seen.zones, *values)
    # Only an expression with the dimensions uses the index.
    cast = f"::halfvec({space.space.dimensions:d})" if indexed else ""
    sql = (
        "SELECT chunk.id, 1 - chunk.distance ^ 2 / 2 AS score FROM"
        f" (SELECT chunk.id, chunk.ordinal, chunk.document_id, embedding.data{cast}"
        f" <-> ?::halfvec{cast} AS distance FROM chunk JOIN embedding ON"
        " chunk.embed_key = embedding.key AND chunk.zone_id = embedding.zone_id"
        f" AND embedding.space_id = {space.id:d} WHERE {where} ORDER BY distance LIMIT ?) AS chunk"
        f" JOIN document ON document.id = chunk.document_id {BEST}"
    )
    given = (to_halfvec(space.space, vector), *values, limit, limit)
    if not indexed:
        return db.execute(sql, given)
    # It goes on until enough chunks meet the condition. The planner would sort all instead, because
    # it cannot estimate how many do.
    db.set(
        hnsw__ef_search=str(min(max(2 * limit, _EF), 1000)),
        hnsw__iterative_scan="relaxed_order",
        **dict.fromkeys(_AVOIDED, "off"),
    )
    found = db.execute(sql, given)
    db.set(**dict.fromkeys(_AVOIDED, "on"))
    return found


def _is_broad(db: Connected, least: int, seen: Seen, where: str, values: Sequence[object]) -> bool:
    """Return whether at least this number of visible chunks meet a condition."""
    if where == "true" or seen.chunks < least:
        return seen.chunks >= least
    found = f"SELECT count(*) FROM (SELECT 1 FROM chunk WHERE {where} LIMIT ?) AS one"
    return bool(db.value(found, (*values, least)) == least)


def _index_name(space_id: int) -> str:
    return f"embedding_nearest_{space_id:d}"


def index_vectors(pool: psycopg.Connection[Any]) -> list[int]:
    """Build the missing indexes of large spaces, and outdated ones anew; return the spaces.

    Searches go on meanwhile. Only the owner of the pool may do this, outside a transaction.
    """
    built = []
    for space_id, dimensions, count, then, now in pool.execute(
        "SELECT id, dimensions, (SELECT count(*) FROM embedding WHERE space_id = vector_space.id),"
        " (SELECT value::bigint FROM meta WHERE key = 'indexed_' || id),"
        " (SELECT n_tup_upd + n_tup_del FROM pg_stat_user_tables"
        " WHERE relid = 'pool.embedding'::regclass) FROM vector_space"
    ).fetchall():
        name = _index_name(space_id)
        if then is None and count >= LEAST_INDEXED:
            pool.execute(f"DROP INDEX IF EXISTS {name}")  # left by a build that was interrupted
            pool.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON embedding"
                f" USING hnsw ((data::halfvec({dimensions:d})) halfvec_l2_ops)"
                f" WITH (m = 32, ef_construction = 200) WHERE space_id = {space_id:d}"
            )
        elif then is not None and abs(now - then) > count * _MOST_CHANGED:
            pool.execute(f"REINDEX INDEX CONCURRENTLY {name}")
        else:
            continue
        pool.execute(
            "INSERT INTO meta VALUES (%s, %s)"
            " ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (f"indexed_{space_id}", str(now)),
        )
        built.append(space_id)
    return built
