"""`state.db`: data that cannot be derived, such as the ledger of sent texts and usage.

`revisions` has the log of memories.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from vault_index.errors import VaultIndexError
from vault_index.models import Origin
from vault_index.store.connection import (
    ANY_OF,
    BUSY_TIMEOUT_MS,
    Database,
    all_set_aside,
    any_of,
    damaged,
    set_aside,
)
from vault_index.store.records import MirroredSession

if TYPE_CHECKING:  # so that queries skip the import
    from vault_index.results.status import SentRecord

STATE_MADE = "state"
"""Meta key in the index that records that a state exists."""

_SENT = "day, endpoint, model, source, path, texts, tokens"
_MIRRORED = ", ".join(MirroredSession._fields)
_ORIGIN = "source, path, uid, origin"
_UNREADABLE = 1 << 30

_SOUND = {
    "usage": "uid, accesses, accessed",
    "sent": _SENT,
    "mirrored": f"session, {_MIRRORED}",
    "origin": _ORIGIN,
    "deleted": "hash, uid",
    "forgotten": "hash",
}
"""Tables that privacy and spending depend on."""
_HISTORY = {
    "revision": "id, uid, number, change, seen, who, action, source, path, moved_from, before,"
    " digest, text",
    "change": "id, at, work",
    "decision": "reason, uids, digests, at, change",
}
_COLUMNS = {**_SOUND, **_HISTORY}
_MERGE = {
    "usage": "INSERT OR IGNORE INTO usage (uid, accesses, accessed) VALUES (?, ?, ?)"
    " ON CONFLICT (uid) DO UPDATE"
    " SET accesses = max(accesses, excluded.accesses), accessed = max(accessed, excluded.accessed)",
    "sent": f"INSERT OR IGNORE INTO sent ({_SENT}) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (day, endpoint, model, source, path)"
    " DO UPDATE SET texts = max(texts, excluded.texts), tokens = max(tokens, excluded.tokens)",
    "mirrored": f"INSERT OR IGNORE INTO mirrored (session, {_MIRRORED})"
    " VALUES (?, ?, ?, ?, ?, ?, ?)",
    "origin": f"INSERT OR IGNORE INTO origin ({_ORIGIN}) VALUES (?, ?, ?, ?)",
    # Including the row with the salt.
    "deleted": "INSERT OR REPLACE INTO deleted (hash, uid) VALUES (?, ?)",
    "forgotten": "INSERT OR IGNORE INTO forgotten (hash) VALUES (?)",
    **{
        name: f"INSERT OR IGNORE INTO {name} ({columns})"
        f" VALUES ({', '.join('?' * len(columns.split()))})"
        for name, columns in _HISTORY.items()
    },
}
"""Statements that merge valid rows from another state, without lowering existing counts."""


class State:
    """One connection to `state.db`, opened on first use; use it from one thread at a time.

    Every write is one short transaction, safe alongside other processes. Tables for privacy and
    spending are checked when the file changes; StateDamagedError if it is damaged or lost. Usage
    counts are read as far as possible.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: Database | None = None
        self._file: tuple[int, ...] = ()
        self._sound: tuple[int, ...] = ()

    def close(self) -> None:
        """Close the connection; the next call opens it again."""
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def shrink(self) -> None:
        """Shrink the WAL and free the page cache, if connected."""
        if self._database is not None:
            self._database.shrink()

    def check(self, *, whole: bool = False) -> None:
        """Raise StateDamagedError if damaged.

        `whole` also checks the revisions of memories, which is slow.
        """
        database = self._opened(sound=True)
        if whole and (found := database.value("PRAGMA quick_check(1)")) != "ok":
            raise damaged(self.path, " ".join(str(found).split()))

    # --- the log of memories ----------------------------------------------------------------------

    def database(self) -> Database:
        """Return the open database."""
        return self._opened()

    @contextmanager
    def transaction(self) -> Iterator[Database]:
        """Run a transaction that survives a crash of the process, but maybe not a power loss.

        It does not wait for the disk, so thousands of transactions are cheap.
        """
        database = self._opened()
        database.connection.pragma("synchronous", "normal")
        with database.transaction():
            yield database

    # --- usage ------------------------------------------------------------------------------------

    def accesses(self, uids: Sequence[str]) -> dict[str, int]:
        """Return how often each document was opened, without those never opened."""
        with suppress(VaultIndexError):  # search and lists work without counts
            return dict(
                self._opened().execute(
                    f"SELECT uid, accesses FROM usage WHERE uid {ANY_OF}", [any_of(uids)]
                )
            )
        return {}

    def usage(self) -> dict[str, tuple[int, float]]:
        """Return how often each document was opened and when last, by uid; times in seconds."""
        rows = self._opened().execute("SELECT uid, accesses, accessed FROM usage")
        return {uid: (accesses, accessed) for uid, accesses, accessed in rows}

    def raise_usage(self, usage: Mapping[str, tuple[int, float]]) -> None:
        """Merge counts from another state; existing counts are never lowered."""
        database = self._opened()
        with database.transaction():
            database.execute_many(
                _MERGE["usage"], [(uid, *counts) for uid, counts in usage.items()]
            )

    def record_access(self, uid: str, now: float) -> None:
        """Record that a document was opened at `now` (seconds since the epoch)."""
        self._opened().execute(
            "INSERT INTO usage (uid, accesses, accessed) VALUES (?, 1, ?)"
            " ON CONFLICT (uid) DO UPDATE"
            " SET accesses = accesses + 1, accessed = excluded.accessed",
            (uid, now),
        )

    # --- sessions in a vault ----------------------------------------------------------------------

    def mirrored(self) -> dict[str, MirroredSession]:
        """Return all sessions that were mirrored into a vault, by id."""
        rows = self._opened(sound=True).execute(f"SELECT session, {_MIRRORED} FROM mirrored")
        return {
            session: MirroredSession(*(*values, tuple(map(tuple, json.loads(faults)))))
            for session, *values, faults in rows
        }

    def put_mirrored(self, session: str, row: MirroredSession | None) -> None:
        """Store the state of a mirrored session; None deletes it."""
        database = self._opened(sound=True)
        with database.transaction():
            database.execute("DELETE FROM mirrored WHERE session = ?", (session,))
            if row is not None:
                *values, faults = row
                database.execute(_MERGE["mirrored"], (session, *values, json.dumps(faults)))

    # --- origins of documents ---------------------------------------------------------------------

    def origins(self) -> dict[str | tuple[str, str], list[Origin]]:
        """Return the origins of documents by uid, and by source and path."""
        found: dict[str | tuple[str, str], list[Origin]] = {}
        for source, path, uid, text in self._opened(sound=True).execute(
            f"SELECT {_ORIGIN} FROM origin"
        ):
            projects, folders, *session = json.loads(text)
            origin = Origin(tuple(projects), tuple(folders), *session)
            for key in (uid, (source, path), ("", origin.session if origin.client else "")):
                found.setdefault(key, []).append(origin)
        return found

    def put_origins(self, source: str, origins: Iterable[tuple[str, str, Origin]]) -> None:
        """Store the origins of documents of a source by path and uid."""
        database = self._opened(sound=True)
        with database.transaction():
            rows = [(source, path, uid, json.dumps(origin)) for path, uid, origin in origins]
            database.execute_many(_MERGE["origin"], rows)

    # --- contents of deleted memories -------------------------------------------------------------

    def deleted(self) -> tuple[bytes, frozenset[int]]:
        """Return the salt and the hashes made with it."""
        rows = dict(self._opened(sound=True).execute("SELECT hash, uid FROM deleted"))
        return bytes.fromhex(rows.pop(0)), frozenset(rows)

    def put_deleted(self, hashes: Mapping[int, str]) -> None:
        """Store hashes of the contents of deleted memories, each with the uid of one memory."""
        database = self._opened(sound=True)
        with database.transaction():
            database.execute_many(_MERGE["deleted"], hashes.items())

    def restore_deleted(self, uid: str, hashes: Iterable[int]) -> list[int]:
        """Delete the stored hashes of a restored memory, by uid or content; return them."""
        sql = f"DELETE FROM deleted WHERE uid = ? OR hash {ANY_OF} RETURNING hash"
        return [hash_ for (hash_,) in self._opened(sound=True).execute(sql, (uid, any_of(hashes)))]

    # --- review decisions -------------------------------------------------------------------------

    def decisions(self) -> dict[tuple[str, tuple[str, ...]], tuple[str, ...]]:
        """Return the accepted review items: hashes of the memories by reason and sorted uids."""
        rows = self._opened().execute("SELECT reason, uids, digests FROM decision")
        return {
            (reason, tuple(json.loads(uids))): tuple(json.loads(digests))
            for reason, uids, digests in rows
        }

    def put_decision(
        self, reason: str, memories: Iterable[tuple[str, str]], now: float, change: int = 0
    ) -> None:
        """Record that memories may stay unchanged, each by uid and SHA-256 of its contents.

        An undo of the journal entry `change` reverts the decision.
        """
        uids, digests = zip(*sorted(memories), strict=True)
        row = (reason, json.dumps(uids), json.dumps(digests), now, change)
        self._opened().execute(
            f"INSERT OR REPLACE INTO decision ({_HISTORY['decision']}) VALUES (?, ?, ?, ?, ?)", row
        )

    # --- the privacy ledger -----------------------------------------------------------------------

    def record_sent(self, records: Sequence[SentRecord]) -> None:
        """Record texts that are about to leave the machine."""
        database = self._opened(sound=True)
        with database.transaction():
            database.execute_many(
                f"INSERT INTO sent ({_SENT}) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (day, endpoint, model, source, path)"
                " DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens",
                map(astuple, records),
            )

    def sent(self) -> list[SentRecord]:
        """Return the records of sent texts, newest day first."""
        from vault_index.results.status import SentRecord  # imported here because no query needs it

        rows = self._opened(sound=True).execute(
            f"SELECT {_SENT} FROM sent ORDER BY day DESC, endpoint, model, source, path"
        )
        return [SentRecord(*row) for row in rows]

    def tokens_sent(self, day: str) -> int:
        """Return the tokens sent to any server on a day (local date, `YYYY-MM-DD`)."""
        sql = "SELECT coalesce(sum(tokens), 0) FROM sent WHERE day = ?"
        return int(self._opened(sound=True).value(sql, (day,)))

    def spent(self, days: int) -> list[tuple[str, str, str, int, int, int, int]]:
        """Return totals for the last days with sent texts, newest first (-1: all days).

        Each row has day, server, model, number of documents, number of kinds of queries, texts and
        tokens.
        """
        return self._opened(sound=True).execute(
            "SELECT day, endpoint, model, sum(source != ''), sum(source = ''), sum(texts),"
            " sum(tokens) FROM sent"
            " WHERE day IN (SELECT DISTINCT day FROM sent ORDER BY day DESC LIMIT ?)"
            " GROUP BY day, endpoint, model ORDER BY day DESC, endpoint, model",
            (days,),
        )

    # --- opening ----------------------------------------------------------------------------------

    def _opened(self, *, sound: bool = False) -> Database:
        """Return the database, reopened if the file was replaced.

        With `sound`, checked after each change.
        """
        now = _stamp(self.path)
        database = self._database
        # Closing and reopening waits for the disk four times.
        if (
            database is None
            or now[:2] != self._file[:2]
            or (sound and now not in (self._sound, self._file))
        ):
            self.close()
            self._database = database = _open(self.path)
            self._file, self._sound = _stamp(self.path), ()
        if sound:
            if now != self._sound:
                # Revisions would take long to check, and privacy does not depend on them.
                for table in _SOUND:
                    if (found := database.value(f"PRAGMA quick_check({table})")) != "ok":
                        raise damaged(self.path, " ".join(str(found).split()))
                self._file = self._sound = _stamp(self.path)
            database.connection.pragma("synchronous", "full")
        return database


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _open(path: Path) -> Database:
    if not path.exists():
        _refuse_if_lost(path)
    try:
        # Check again under the lock, so that an empty state never replaces a lost one.
        database = Database(path, "state", writable=True, begin=lambda _: _refuse_if_lost(path))
    except OSError as error:
        raise damaged(path, str(error.strerror)) from error
    database.check_tables(_COLUMNS)
    # Usage counts are not worth waiting for the disk.
    database.connection.pragma("synchronous", "normal")
    return database


def _refuse_if_lost(path: Path) -> None:
    in_use = _ask(path.with_name("cache.db"), "PRAGMA user_version") > 0
    in_use = (
        in_use
        or _ask(path.with_name("index.db"), f"SELECT count(*) FROM meta WHERE key = '{STATE_MADE}'")
        > 0
    )
    # This check comes last, because another process may have created the file meanwhile.
    if in_use and not _ask(path, "PRAGMA user_version"):
        raise damaged(path, "it is missing or empty, and was in use")


def _ask(path: Path, sql: str) -> int:
    """Query another database: 0 if it or its table is missing, a huge number if unreadable."""
    if not path.exists():
        return 0
    try:
        with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            return int(connection.execute(sql).get)
    except apsw.SQLError:
        return 0
    except apsw.Error:
        return _UNREADABLE


# --- recovery -------------------------------------------------------------------------------------


def mend(path: Path) -> str:
    """Set a damaged state aside and create a new one from its readable rows; return a summary.

    Rows are read from every file that was set aside, so a crash on the way loses nothing.
    """
    kept = set_aside(path)
    rows = {
        name: [row for file in all_set_aside(path) for row in _readable(file, name)]
        for name in _COLUMNS
    }
    counts = _merge(path, rows)
    where = f"the old file is {kept.name}" if kept.exists() else "no old file was left"
    saved = ", ".join(f"{count} rows of {name}" for name, count in counts.items())
    return f"{path.name} was damaged or lost; {where}; recovered: {saved}; the rest is lost"


def _merge(path: Path, rows: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """Put rows into the state, or create it with them; return the row counts by table."""

    def put(insert: Callable[[str, Sequence[Any]], object]) -> None:
        for name, found in rows.items():
            insert(_MERGE[name], found)

    with closing(
        Database(path, "state", writable=True, begin=lambda new: put(new.executemany))
    ) as state:
        with state.transaction():
            put(state.execute_many)
        return {name: int(state.value(f"SELECT count(*) FROM {name}")) for name in rows}


def _readable(path: Path, name: str) -> list[Any]:
    """Return the rows of a damaged file that are readable from either end, possibly twice."""
    rows: list[Any] = []
    for order in ("ASC", "DESC"):
        with (
            suppress(apsw.Error, UnicodeDecodeError),
            closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection,
        ):
            rows.extend(
                connection.execute(f"SELECT {_COLUMNS[name]} FROM {name} ORDER BY 1 {order}")
            )
    return rows
