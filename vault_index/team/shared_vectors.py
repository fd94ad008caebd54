"""Vectors by content: the pool's spaces, and vectors that another machine has computed."""

from __future__ import annotations

import logging
import math
import struct
import time
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from vault_index.config import PoolConfig
from vault_index.errors import VaultIndexError
from vault_index.models import INT8_LARGEST, INT8_SCALE, Vector, VectorSpace
from vault_index.store.spaces import is_int8
from vault_index.team.address import conninfo, label
from vault_index.team.database import connect, translated

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

log = logging.getLogger(__name__)

_SILENT_SECONDS = 300.0
_COLUMNS = ", ".join(VectorSpace._fields)
_LARGEST_ERROR = 0.02
"""Greatest deviation of a vector's length from 1, by which a damaged vector is recognised."""


def space_of(pool: Pool, space: VectorSpace) -> int:
    """Return the pool's id of a vector space, which is created if missing.

    The first space answers the queries of the pool.
    """
    for state in ("serving", "building"):
        pool.execute(
            f"INSERT INTO vector_space ({_COLUMNS}, state) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (*space, state),
        )
    sql = f"SELECT id FROM vector_space WHERE ({_COLUMNS}) = (%s, %s, %s, %s)"
    return int(pool.execute(sql, tuple(space)).fetchall()[0][0])


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


class PoolVectors:
    """The vectors of the pool for a machine that would embed the same texts.

    After a failure, the pool is not asked for some minutes, so that it does not delay embedding.
    """

    def __init__(self, settings: PoolConfig) -> None:
        self._settings = settings
        self._silent_until = 0.0

    @property
    def available(self) -> bool:
        """Whether the pool is not known to be unreachable."""
        return time.monotonic() >= self._silent_until

    @property
    def receiver(self) -> str:
        """The name of the pool in the ledger."""
        return f"pool {label(self._settings)}"

    def ask(self, space: VectorSpace, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the valid vectors of these keys that the pool has; none if it does not answer."""
        try:
            with translated(), closing(connect(conninfo(self._settings))) as pool:
                rows = pool.execute(
                    "SELECT key, data::real[] FROM vector_space, known_vectors(id, %s)"
                    f" WHERE ({_COLUMNS}) = (%s, %s, %s, %s)",
                    (list(keys), *space),
                ).fetchall()
        except VaultIndexError as error:
            log.warning("no vectors from the pool: %s", error.message)
            self._silent_until = time.monotonic() + _SILENT_SECONDS
            return {}
        found = {bytes(key): as_vector(space, floats) for key, floats in rows}
        return {key: vector for key, vector in found.items() if vector is not None}
