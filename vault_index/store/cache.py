"""`cache.db`: vectors by content, and the texts that embedding servers rejected.

Its loss loses no data, but texts must be embedded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from vault_index.errors import StateDamagedError
from vault_index.models import Vector, VectorSpace
from vault_index.store.connection import Database
from vault_index.store.spaces import size
from vault_index.store.state import State

_VARIABLES = 500  # values in one IN (…)
_KEY = 16  # bytes of a key that are stored, enough to tell texts apart
_SPACE = ", ".join(VectorSpace._fields)
_TABLES = {"space": f"id, {_SPACE}", "embedding": "id, space_id, key, vector"}
_REFUSALS = """
CREATE TABLE IF NOT EXISTS refused (
    space_id INTEGER NOT NULL,
    key      BLOB    NOT NULL,  -- the SHA-256 of the text
    reason   TEXT    NOT NULL,  -- what the server said, without the text
    PRIMARY KEY (space_id, key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request_limit (
    space_id INTEGER PRIMARY KEY,
    texts    INTEGER NOT NULL
);
"""
"""Created if missing, because a cache without these tables need not be filled again."""


class Cache(Database):
    """One connection to `cache.db`, which is created if missing; use it from one thread at a time.

    Every write is one short transaction, safe alongside other processes. Raises CacheDamagedError.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, "cache", writable=True, begin=partial(_begin_state, path.with_name("state.db"))
        )
        self.check_tables(_TABLES)
        self.execute(_REFUSALS)
        self._space_ids: dict[VectorSpace, int] = {}

    def embeddings(self, space: VectorSpace, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Return the cached vectors by key, without values that are not valid in the space."""
        found: dict[bytes, Vector] = {}
        space_id = self._space_id(space)
        for start in range(0, len(keys), _VARIABLES):
            part = {key[:_KEY]: key for key in keys[start : start + _VARIABLES]}
            marks = ", ".join("?" * len(part))
            rows = self.execute(
                f"SELECT key, vector FROM embedding WHERE space_id = ? AND key IN ({marks})"
                " AND typeof(vector) = 'blob' AND length(vector) = ?",
                (space_id, *part, size(space)),
            )
            found |= {part[key]: vector for key, vector in rows}
        return found

    def put_embeddings(self, space: VectorSpace, vectors: Mapping[bytes, Vector]) -> None:
        """Store vectors by key; they replace older ones."""
        space_id = self._space_id(space)
        with self.transaction():
            self.execute_many(
                "INSERT INTO embedding (space_id, key, vector) VALUES (?, ?, ?)"
                " ON CONFLICT (space_id, key) DO UPDATE SET vector = excluded.vector",
                [(space_id, key[:_KEY], vector) for key, vector in vectors.items()],
            )

    def refused(self, space: VectorSpace) -> dict[bytes, str]:
        """Return the keys of the texts that the server of `space` rejected, with its reasons."""
        return dict(
            self.execute(
                "SELECT key, reason FROM refused WHERE space_id = ?", (self._space_id(space),)
            )
        )

    def put_refused(self, space: VectorSpace, key: bytes, reason: str) -> None:
        """Record that the server of `space` rejected a text, and its reason."""
        self.execute(
            "INSERT OR REPLACE INTO refused VALUES (?, ?, ?)", (self._space_id(space), key, reason)
        )

    def most_texts(self, space: VectorSpace) -> int | None:
        """Return the maximum number of texts in one request.

        None if the server never rejected one for its size.
        """
        limit: int | None = self.value(
            "SELECT texts FROM request_limit WHERE space_id = ?", (self._space_id(space),)
        )
        return limit

    def put_most_texts(self, space: VectorSpace, limit: int) -> None:
        """Record the maximum number of texts in one request."""
        self.execute(
            "INSERT OR REPLACE INTO request_limit VALUES (?, ?)", (self._space_id(space), limit)
        )

    def drop_refusals(self, space: VectorSpace) -> None:
        """Forget the rejections by the server of `space`, so that its texts are sent again."""
        for table in ("refused", "request_limit"):
            self.execute(f"DELETE FROM {table} WHERE space_id = ?", (self._space_id(space),))

    def drop_embeddings(self, keys: Iterable[bytes]) -> None:
        """Delete the vectors and rejections of these keys in every space."""
        keys = list(keys)
        with self.transaction():
            self.execute_many("DELETE FROM refused WHERE key = ?", [(key,) for key in keys])
            self.execute_many(
                "DELETE FROM embedding WHERE space_id IN (SELECT id FROM space) AND key = ?",
                [(key[:_KEY],) for key in keys],
            )
        self.checkpoint()

    def _space_id(self, space: VectorSpace) -> int:
        if space not in self._space_ids:
            values = tuple(space)
            with self.transaction():
                self.execute(
                    f"INSERT INTO space ({_SPACE}) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    values,
                )
                self._space_ids[space] = self.value(
                    f"SELECT id FROM space WHERE ({_SPACE}) = (?, ?, ?, ?)", values
                )
        return self._space_ids[space]


def _begin_state(path: Path, _: object) -> None:
    """Create the state before the cache, so that a cache without a state means a lost state."""
    with suppress(StateDamagedError), closing(State(path)) as state:
        state.check()
