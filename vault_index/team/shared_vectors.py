"""Vectors by content: the pool's spaces, and vectors that another machine has computed."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from vault_index.models import INT8_LARGEST, INT8_SCALE, Vector, VectorSpace
from vault_index.store.spaces import is_int8

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

_COLUMNS = ", ".join(VectorSpace._fields)
_LARGEST_ERROR = 0.02
"""Greatest deviation of a vector's length from 1, by which a damaged vector is recognised."""


def space_of(pool: Pool, space: VectorSpace) -> int:
    """Return the pool's id of a vector space, which is created if missing.

    The first space answers the queries of the pool.
    """
    of = f"({_COLUMNS}) = (%s, %s, %s, %s)"
    for state in ("serving", "building"):
        row = pool.execute(f"SELECT id FROM vector_space WHERE {of}", tuple(space)).fetchone()
        if row is not None:
            break
        pool.execute(
            f"INSERT INTO vector_space ({_COLUMNS}, state) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (*space, state),
        )
    row = row or pool.execute(f"SELECT id FROM vector_space WHERE {of}", tuple(space)).fetchone()
    assert row is not None
    return int(row[0])


def as_floats(space: VectorSpace, vector: Vector) -> Sequence[float]:
    """Return a stored vector as numbers."""
    if is_int8(space):
        return [part / INT8_SCALE for part in struct.unpack(f"{len(vector)}b", vector)]
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def as_vector(space: VectorSpace, floats: Sequence[float]) -> Vector | None:
    """Return the stored form of a vector from the pool; None if it is not a vector of this space.

    A clipped int8 vector is shorter than 1.
    """
    length = math.hypot(*floats)
    clipped = is_int8(space) and max(map(abs, floats), default=0) * INT8_SCALE >= INT8_LARGEST
    near = abs(length - 1) <= _LARGEST_ERROR or (clipped and 0.5 < length < 1)
    if len(floats) != space.dimensions or not near:
        return None
    if is_int8(space):
        return struct.pack(f"{len(floats)}b", *(round(part * INT8_SCALE) for part in floats))
    return struct.pack(f"<{len(floats)}f", *(part / length for part in floats))


def known_vectors(pool: Pool, space: VectorSpace, keys: Collection[bytes]) -> dict[bytes, Vector]:
    """Return the valid vectors that the pool has of texts, asked for by their keys."""
    rows = pool.execute(
        f"SELECT key, data::real[] FROM vector_space, known_vectors(id, %s)"
        f" WHERE ({_COLUMNS}) = (%s, %s, %s, %s)",
        (list(keys), *space),
    )
    found = {bytes(key): as_vector(space, floats) for key, floats in rows}
    return {key: vector for key, vector in found.items() if vector is not None}
