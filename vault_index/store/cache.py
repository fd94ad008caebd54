"""`cache.db`: what cannot be derived from the files. Embeddings by content, usage, and what left the machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from vault_index.models import Vector, VectorSpace
from vault_index.store.connection import ANY_OF, Database, any_of
from vault_index.store.records import MirroredSession, column_names

TYPE_CHECKING = False  # spares the queries an import; type checkers know the name
if TYPE_CHECKING:
    from vault_index.results.status import SentRecord

_VARIABLES = 500  # values in one IN (…)
_SPACE = ", ".join(column_names(VectorSpace))
_SENT = "day, endpoint, model, source, path, texts, tokens"
_MIRRORED = ", ".join(column_names(MirroredSession))


class Cache(Database):
    """One connection to `cache.db`, created when missing; use it from one thread at a time.

    Every write is one short transaction of its own, safe beside other processes.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "cache", writable=True)
        self._space_ids: dict[VectorSpace, int] = {}

    # --- embeddings --------------------------------------------------------------------------------------------

    def embeddings(self, space: VectorSpace, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The vectors that are known, by key."""
        found: dict[bytes, Vector] = {}
        space_id = self._space_id(space)
        for start in range(0, len(keys), _VARIABLES):
            part = keys[start : start + _VARIABLES]
            marks = ", ".join("?" * len(part))
            found.update(
                self.execute(
                    f"SELECT key, vector FROM embedding WHERE space_id = ? AND key IN ({marks})", (space_id, *part)
                )
            )
        return found

    def put_embeddings(self, space: VectorSpace, vectors: Mapping[bytes, Vector]) -> None:
        space_id = self._space_id(space)
        with self.transaction():
            self.execute_many(
                "INSERT INTO embedding (space_id, key, vector) VALUES (?, ?, ?)"
                " ON CONFLICT (space_id, key) DO UPDATE SET vector = excluded.vector",
                [(space_id, key, vector) for key, vector in vectors.items()],
            )

    def _space_id(self, space: VectorSpace) -> int:
        if space not in self._space_ids:
            values = astuple(space)
            with self.transaction():
                self.execute(f"INSERT INTO space ({_SPACE}) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", values)
                self._space_ids[space] = self.value(f"SELECT id FROM space WHERE ({_SPACE}) = (?, ?, ?, ?)", values)
        return self._space_ids[space]

    # --- usage -------------------------------------------------------------------------------------------------

    def accesses(self, uids: Sequence[str]) -> dict[str, int]:
        """The number of times each of these documents was opened, without those that never were."""
        return dict(self.execute(f"SELECT uid, accesses FROM usage WHERE uid {ANY_OF}", [any_of(uids)]))

    def all_accessed(self) -> dict[str, float]:
        """When each document was last opened."""
        return dict(self.execute("SELECT uid, accessed FROM usage"))

    def usage(self) -> dict[str, tuple[int, float]]:
        """How often each document was opened, and when last."""
        rows = self.execute("SELECT uid, accesses, accessed FROM usage")
        return {uid: (accesses, accessed) for uid, accesses, accessed in rows}

    def raise_usage(self, usage: Mapping[str, tuple[int, float]]) -> None:
        """Take over counts from elsewhere; what is known here already is never lowered."""
        with self.transaction():
            self.execute_many(
                "INSERT INTO usage (uid, accesses, accessed) VALUES (?, ?, ?)"
                " ON CONFLICT (uid) DO UPDATE SET accesses = max(accesses, excluded.accesses),"
                " accessed = max(accessed, excluded.accessed)",
                [(uid, accesses, accessed) for uid, (accesses, accessed) in usage.items()],
            )

    def record_access(self, uid: str, now: float) -> None:
        with self.transaction():
            self.execute(
                "INSERT INTO usage (uid, accesses, accessed) VALUES (?, 1, ?)"
                " ON CONFLICT (uid) DO UPDATE SET accesses = accesses + 1, accessed = excluded.accessed",
                (uid, now),
            )

    # --- sessions in a vault -----------------------------------------------------------------------------------

    def mirrored(self) -> dict[str, MirroredSession]:
        """The sessions that were ever written into a vault, by id."""
        rows = self.execute(f"SELECT session, {_MIRRORED} FROM mirrored")
        return {
            session: MirroredSession(*(*values, tuple(map(tuple, json.loads(faults)))))
            for session, *values, faults in rows
        }

    def put_mirrored(self, session: str, row: MirroredSession | None) -> None:
        """Remember, or with None forget, that it was written."""
        with self.transaction():
            self.execute("DELETE FROM mirrored WHERE session = ?", (session,))
            if row is not None:
                *values, faults = astuple(row)
                self.execute(
                    f"INSERT INTO mirrored (session, {_MIRRORED}) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (session, *values, json.dumps(faults)),
                )

    # --- the privacy ledger ------------------------------------------------------------------------------------

    def record_sent(self, records: Sequence[SentRecord]) -> None:
        """Note what is about to leave the machine."""
        with self.transaction():
            self.execute_many(
                f"INSERT INTO sent ({_SENT}) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (day, endpoint, model, source, path)"
                " DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens",
                map(astuple, records),
            )

    def sent(self) -> list[SentRecord]:
        """What left the machine, newest day first."""
        from vault_index.results.status import SentRecord  # late: no query asks

        rows = self.execute(f"SELECT {_SENT} FROM sent ORDER BY day DESC, endpoint, model, source, path")
        return [SentRecord(*row) for row in rows]

    def tokens_sent(self, day: str) -> int:
        """Tokens that went to any server on that day (local date, `YYYY-MM-DD`)."""
        return int(self.value("SELECT coalesce(sum(tokens), 0) FROM sent WHERE day = ?", (day,)))

    def spent(self, days: int) -> list[tuple[str, str, int, int]]:
        """Day, model, texts and tokens of the last days on which something was sent, newest first."""
        return self.execute(
            "SELECT day, model, sum(texts), sum(tokens) FROM sent WHERE day IN"
            " (SELECT DISTINCT day FROM sent ORDER BY day DESC LIMIT ?)"
            " GROUP BY day, model ORDER BY day DESC, model",
            (days,),
        )
