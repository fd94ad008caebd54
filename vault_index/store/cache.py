"""`cache.db`: what cannot be derived from the files. Embeddings by content, usage, and what left the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from vault_index.store.connection import ANY_OF, any_of, connect, fetch_all, transaction, translated

TYPE_CHECKING = False  # spares the import of what only writing needs; type checkers know the name
if TYPE_CHECKING:
    from vault_index.models import Vector, VectorSpace
    from vault_index.results import SentRecord
    from vault_index.store.records import MirroredSession

_VARIABLES = 500  # values in one IN (…)


class Cache:
    """One connection to `cache.db`, created when missing; use it from one thread at a time.

    Every write is one short transaction of its own, safe beside other processes.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, "cache", writable=True)
        self._space_ids: dict[VectorSpace, int] = {}

    def close(self) -> None:
        self._connection.close()

    def shrink(self) -> None:
        """Shrink the WAL, as far as others let it, and give back the memory of the page cache."""
        with translated(self._path):
            fetch_all(self._connection, "PRAGMA wal_checkpoint(TRUNCATE)")
            fetch_all(self._connection, "PRAGMA shrink_memory")

    # --- embeddings --------------------------------------------------------------------------------------------

    def embeddings(self, space: VectorSpace, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors that are known, by key."""
        found: dict[bytes, Vector] = {}
        with translated(self._path):
            space_id = self._space_id(space)
            for start in range(0, len(keys), _VARIABLES):
                part = keys[start : start + _VARIABLES]
                found.update(
                    fetch_all(
                        self._connection,
                        "SELECT key, vector FROM embedding"
                        f" WHERE space_id = ? AND key IN ({', '.join('?' * len(part))})",
                        (space_id, *part),
                    )
                )
        return found

    def put_embeddings(self, space: VectorSpace, vectors: Mapping[bytes, Vector]) -> None:
        space_id = self._space_id(space)
        with transaction(self._connection, self._path) as connection:
            connection.executemany(
                "INSERT INTO embedding (space_id, key, vector) VALUES (?, ?, ?)"
                " ON CONFLICT (space_id, key) DO UPDATE SET vector = excluded.vector",
                [(space_id, key, vector) for key, vector in vectors.items()],
            )

    def _space_id(self, space: VectorSpace) -> int:
        if space not in self._space_ids:
            values = (space.provider, space.model, space.dimensions, space.endpoint)
            with transaction(self._connection, self._path) as connection:
                connection.execute(
                    "INSERT INTO space (provider, model, dimensions, endpoint) VALUES (?, ?, ?, ?)"
                    " ON CONFLICT DO NOTHING",
                    values,
                )
                self._space_ids[space] = fetch_all(
                    connection,
                    "SELECT id FROM space WHERE provider = ? AND model = ? AND dimensions = ? AND endpoint = ?",
                    values,
                )[0][0]
        return self._space_ids[space]

    # --- usage -------------------------------------------------------------------------------------------------

    def accesses(self, uids: Sequence[str]) -> dict[str, int]:
        """How often each of these documents was opened, where it ever was."""
        with translated(self._path):
            rows = fetch_all(self._connection, f"SELECT uid, accesses FROM usage WHERE uid {ANY_OF}", [any_of(uids)])
        return dict(rows)

    def all_accessed(self) -> dict[str, float]:
        """When each document was last opened."""
        with translated(self._path):
            return dict(fetch_all(self._connection, "SELECT uid, accessed FROM usage"))

    def usage(self) -> dict[str, tuple[int, float]]:
        """How often each document was opened, and when last."""
        with translated(self._path):
            rows = fetch_all(self._connection, "SELECT uid, accesses, accessed FROM usage")
        return {uid: (accesses, accessed) for uid, accesses, accessed in rows}

    def raise_usage(self, usage: Mapping[str, tuple[int, float]]) -> None:
        """Take over counts from elsewhere; what is known here already is never lowered."""
        with transaction(self._connection, self._path) as connection:
            connection.executemany(
                "INSERT INTO usage (uid, accesses, accessed) VALUES (?, ?, ?)"
                " ON CONFLICT (uid) DO UPDATE SET accesses = max(accesses, excluded.accesses),"
                " accessed = max(accessed, excluded.accessed)",
                [(uid, accesses, accessed) for uid, (accesses, accessed) in usage.items()],
            )

    def record_access(self, uid: str, now: float) -> None:
        with transaction(self._connection, self._path) as connection:
            connection.execute(
                "INSERT INTO usage (uid, accesses, accessed) VALUES (?, 1, ?)"
                " ON CONFLICT (uid) DO UPDATE SET accesses = accesses + 1, accessed = excluded.accessed",
                (uid, now),
            )

    # --- sessions in a vault -----------------------------------------------------------------------------------

    def mirrored(self) -> dict[str, MirroredSession]:
        """The sessions that were ever written into a vault, by id."""
        from vault_index.store.records import MirroredSession

        with translated(self._path):
            rows = fetch_all(
                self._connection, "SELECT session, path, made_of, written, size, turns, faults FROM mirrored"
            )
        return {
            session: MirroredSession(path, made_of, written, size, turns, tuple(map(tuple, json.loads(faults))))
            for session, path, made_of, written, size, turns, faults in rows
        }

    def put_mirrored(self, session: str, row: MirroredSession | None) -> None:
        """Remember, or with None forget, that it was written."""
        with transaction(self._connection, self._path) as connection:
            connection.execute("DELETE FROM mirrored WHERE session = ?", (session,))
            if row is not None:
                connection.execute(
                    "INSERT INTO mirrored (session, path, made_of, written, size, turns, faults)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (session, row.path, row.made_of, row.written, row.size, row.turns, json.dumps(row.faults)),
                )

    # --- the privacy ledger ------------------------------------------------------------------------------------

    def record_sent(self, records: Sequence[SentRecord]) -> None:
        """Note what is about to leave the machine."""
        with transaction(self._connection, self._path) as connection:
            connection.executemany(
                "INSERT INTO sent (day, endpoint, model, source, path, texts, tokens) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (day, endpoint, model, source, path)"
                " DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens",
                [(r.day, r.endpoint, r.model, r.source, r.path, r.texts, r.tokens) for r in records],
            )

    def sent(self) -> list[SentRecord]:
        from vault_index.results import SentRecord

        with translated(self._path):
            rows = fetch_all(
                self._connection,
                "SELECT day, endpoint, model, source, path, texts, tokens FROM sent"
                " ORDER BY day DESC, endpoint, model, source, path",
            )
        return [SentRecord(*row) for row in rows]

    def tokens_sent(self, day: str) -> int:
        """Tokens that went to any server on that day (local date, `YYYY-MM-DD`)."""
        with translated(self._path):
            return int(
                fetch_all(self._connection, "SELECT coalesce(sum(tokens), 0) FROM sent WHERE day = ?", (day,))[0][0]
            )

    def spent(self, days: int) -> list[tuple[str, str, int, int]]:
        """Day, model, texts and tokens of the last days on which something was sent, newest first."""
        with translated(self._path):
            return fetch_all(
                self._connection,
                "SELECT day, model, sum(texts), sum(tokens) FROM sent WHERE day IN"
                " (SELECT DISTINCT day FROM sent ORDER BY day DESC LIMIT ?)"
                " GROUP BY day, model ORDER BY day DESC, model",
                (days,),
            )
