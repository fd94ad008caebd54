"""Vectors of a pool: as text for `halfvec`, and the search for the nearest ones.

Up to `LEAST_INDEXED` vectors, an exact search is as fast as an index. Above, an HNSW index finds
the nearest, unless a condition leaves so few that the index would miss most of them.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vault_index.models import INT8_LARGEST, INT8_SCALE, Vector, VectorSpace
from vault_index.store.spaces import is_int8
from vault_index.team.statements import Connected

if TYPE_CHECKING:
    import psycopg

LEAST_INDEXED = 50_000
_LEAST_SHARE = 0.05
"""Below this share of all chunks, the index misses neighbours, and an exact search is faster."""
_OWN = (
    "chunk.embed_key = embedding.key AND chunk.zone_id = embedding.zone_id"
    " AND embedding.space_id = {space:d}"
)
_COLUMNS = "chunk.id, chunk.ordinal, chunk.document_id"


def to_halfvec(space: VectorSpace, vector: Vector) -> str:
    """Return a stored vector as text for a `halfvec`."""
    if is_int8(space):
        numbers = [part / INT8_SCALE for part in struct.unpack(f"<{space.dimensions}b", vector)]
    else:
        numbers = [*struct.unpack(f"<{space.dimensions}f", vector)]
    return f"[{','.join(f'{part:.6g}' for part in numbers)}]"


def from_halfvec(space: VectorSpace, text: str) -> Vector:
    """Return the stored form of a vector."""
    numbers: list[float] = json.loads(text)
    if not is_int8(space):
        return struct.pack(f"<{len(numbers)}f", *numbers)
    whole = (max(-INT8_LARGEST, min(INT8_LARGEST, round(one * INT8_SCALE))) for one in numbers)
    return struct.pack(f"<{len(numbers)}b", *whole)


def nearest_sql(
    db: Connected,
    space_id: int,
    dimensions: int,
    limit: int,
    where: str,
    values: Sequence[object],
) -> str:
    """Return the statement for the nearest chunks that meet a condition, with their distance.

    Its parameters are the vector, those of the condition, and the limit.
    """
    nearest = "embedding.data <-> ?::halfvec"
    if _is_indexed(db, space_id) and _share(db, where, values) >= _LEAST_SHARE:
        # Only this expression uses the index, which goes on until enough chunks meet the condition.
        nearest = f"embedding.data::halfvec({dimensions:d}) <-> ?::halfvec({dimensions:d})"
        db.execute(f"SET LOCAL hnsw.ef_search = {min(max(limit, 40), 1000):d}")
        db.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
    return (
        f"SELECT {_COLUMNS}, {nearest} AS distance FROM chunk JOIN embedding"
        f" ON {_OWN.format(space=space_id)} WHERE {where} ORDER BY distance LIMIT ?"
    )


def _is_indexed(db: Connected, space_id: int) -> bool:
    return db.value("SELECT to_regclass(?)", (f"pool.{_index_name(space_id)}",)) is not None


def _share(db: Connected, where: str, values: Sequence[object]) -> float:
    """Return which share of all chunks the caller sees that meet a condition."""
    total = db.value("SELECT reltuples FROM pg_class WHERE oid = 'pool.chunk'::regclass")
    allowed = db.value(f"SELECT count(*) FROM chunk WHERE {where}", values)
    return float(allowed / total) if total > 0 else 0.0


def _index_name(space_id: int) -> str:
    return f"embedding_nearest_{space_id:d}"


def index_vectors(pool: psycopg.Connection[Any], *, anew: bool = False) -> list[int]:
    """Build the missing indexes of large spaces and return their ids; `anew` rebuilds all.

    Searches go on meanwhile. Only the owner of the pool may do this, outside a transaction.
    """
    built = []
    for space_id, dimensions, count in pool.execute(
        "SELECT id, dimensions, (SELECT count(*) FROM embedding WHERE space_id = vector_space.id)"
        " FROM vector_space"
    ).fetchall():
        name = _index_name(space_id)
        (there,) = pool.execute("SELECT to_regclass(%s)", (f"pool.{name}",)).fetchone() or (None,)
        if there is not None and anew:
            pool.execute(f"REINDEX INDEX CONCURRENTLY {name}")
        elif there is None and count >= LEAST_INDEXED:
            pool.execute(
                f"CREATE INDEX CONCURRENTLY {name} ON embedding"
                f" USING hnsw ((data::halfvec({dimensions:d})) halfvec_l2_ops)"
                f" WHERE space_id = {space_id:d}"
            )
        else:
            continue
        built.append(space_id)
    return built
