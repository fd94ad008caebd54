"""`state.db`: what cannot be derived. What left the machine, the sessions that were written into a vault, and usage;
the versions of memories and the journal are of `versions`."""

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

if TYPE_CHECKING:  # spares the queries an import
    from vault_index.results.status import SentRecord

STATE_MADE = "state"
"""The key in the index by which it remembers that there is a state."""

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
"""What privacy and spending go by."""
_HISTORY = {
    "version": "uid, number, seen, who, action, source, path, moved_from, step, size, digest, text",
    "change": "id, at, work, who, undone",
    "step": "id, change, source, path, before, after, place, text",
    "decision": "reason, uids, digests, at, change",
}
_COLUMNS = {**_SOUND, **_HISTORY}
_MERGE = {
    "usage": "INSERT OR IGNORE INTO usage (uid, accesses, accessed) VALUES (?, ?, ?) ON CONFLICT (uid) DO UPDATE"
    " SET accesses = max(accesses, excluded.accesses), accessed = max(accessed, excluded.accessed)",
    "sent": f"INSERT OR IGNORE INTO sent ({_SENT}) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (day, endpoint, model, source, path)"
    " DO UPDATE SET texts = max(texts, excluded.texts), tokens = max(tokens, excluded.tokens)",
    "mirrored": f"INSERT OR IGNORE INTO mirrored (session, {_MIRRORED}) VALUES (?, ?, ?, ?, ?, ?, ?)",
    "origin": f"INSERT OR IGNORE INTO origin ({_ORIGIN}) VALUES (?, ?, ?, ?)",
    "deleted": "INSERT OR REPLACE INTO deleted (hash, uid) VALUES (?, ?)",  # with the salt that it was made with
    "forgotten": "INSERT OR IGNORE INTO forgotten (hash) VALUES (?)",
    **{
        name: f"INSERT OR IGNORE INTO {name} ({columns}) VALUES ({', '.join('?' * len(columns.split()))})"
        for name, columns in _HISTORY.items()
    },
}
"""Takes rows over from elsewhere, but for what is none: counts that are here already are never lowered."""


class State:
    """One connection to `state.db`, opened when it is first asked; use it from one thread at a time.

    Every write is one short transaction of its own, safe beside other processes. What privacy and spending go by is
    answered by a file that was looked through, and is looked through again when it changed: StateDamagedError where it
    is damaged or lost. Of usage, which no more than a count depends on, as much is answered as can be read.
    """

    def __init__(self, path: Path, ledger: Path | None = None) -> None:
        """What privacy and spending go by stands in `ledger`, where that is the state of another index."""
        self.path = path
        self._ledger = State(ledger) if ledger and ledger != path else None
        self._database: Database | None = None
        self._file: tuple[int, ...] = ()
        self._sound: tuple[int, ...] = ()

    def close(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()
        if self._ledger is not None:
            self._ledger.close()

    @property
    def ledger(self) -> State:
        return self._ledger or self

    def shrink(self) -> None:
        if self._database is not None:
            self._database.shrink()

    def check(self, *, whole: bool = False) -> None:
        """Raises StateDamagedError. The `whole` is looked through with versions and journal, which takes a while."""
        database = self._opened(sound=True)
        if whole and (found := database.value("PRAGMA quick_check(1)")) != "ok":
            raise damaged(self.path, " ".join(str(found).split()))

    # --- versions and the journal ------------------------------------------------------------------------------

    def database(self) -> Database:
        return self._opened()

    @contextmanager
    def transaction(self) -> Iterator[Database]:
        """One that outlives our own end at once, and a loss of power soon: thousands of them cost no waiting for the
        disk."""
        database = self._opened()
        database.connection.pragma("synchronous", "normal")
        with database.transaction():
            yield database

    # --- usage -------------------------------------------------------------------------------------------------

    def accesses(self, uids: Sequence[str]) -> dict[str, int]:
        """The number of times each of these documents was opened, without those that never were."""
        with suppress(VaultIndexError):  # search and lists go on without
            return dict(self._opened().execute(f"SELECT uid, accesses FROM usage WHERE uid {ANY_OF}", [any_of(uids)]))
        return {}

    def usage(self) -> dict[str, tuple[int, float]]:
        """How often each document was opened, and when last."""
        rows = self._opened().execute("SELECT uid, accesses, accessed FROM usage")
        return {uid: (accesses, accessed) for uid, accesses, accessed in rows}

    def raise_usage(self, usage: Mapping[str, tuple[int, float]]) -> None:
        """Take over counts from elsewhere; what is known here already is never lowered."""
        database = self._opened()
        with database.transaction():
            database.execute_many(_MERGE["usage"], [(uid, *counts) for uid, counts in usage.items()])

    def record_access(self, uid: str, now: float) -> None:
        self._opened().execute(
            "INSERT INTO usage (uid, accesses, accessed) VALUES (?, 1, ?)"
            " ON CONFLICT (uid) DO UPDATE SET accesses = accesses + 1, accessed = excluded.accessed",
            (uid, now),
        )

    # --- sessions in a vault -----------------------------------------------------------------------------------

    def mirrored(self) -> dict[str, MirroredSession]:
        """The sessions that were ever written into a vault, by id."""
        rows = self._opened(sound=True).execute(f"SELECT session, {_MIRRORED} FROM mirrored")
        return {
            session: MirroredSession(*(*values, tuple(map(tuple, json.loads(faults)))))
            for session, *values, faults in rows
        }

    def put_mirrored(self, session: str, row: MirroredSession | None) -> None:
        """Remember, or with None forget, that it was written."""
        database = self._opened(sound=True)
        with database.transaction():
            database.execute("DELETE FROM mirrored WHERE session = ?", (session,))
            if row is not None:
                *values, faults = row
                database.execute(_MERGE["mirrored"], (session, *values, json.dumps(faults)))

    # --- where documents are from ------------------------------------------------------------------------------

    def origins(self) -> dict[str | tuple[str, str], list[Origin]]:
        """The projects and sessions that documents are from, by uid, by source and path, and by `""` and a session that
        was found."""
        found: dict[str | tuple[str, str], list[Origin]] = {}
        for source, path, uid, text in self._opened(sound=True).execute(f"SELECT {_ORIGIN} FROM origin"):
            projects, folders, *session = json.loads(text)
            origin = Origin(tuple(projects), tuple(folders), *session)
            for key in (uid, (source, path), ("", origin.session if origin.client else "")):
                found.setdefault(key, []).append(origin)
        return found

    def put_origins(self, source: str, origins: Iterable[tuple[str, str, Origin]]) -> None:
        """Remember where documents of a source are from, by path and uid, whatever they will say of it later."""
        database = self._opened(sound=True)
        with database.transaction():
            rows = [(source, path, uid, json.dumps(origin)) for path, uid, origin in origins]
            database.execute_many(_MERGE["origin"], rows)

    # --- what deleted memories said ----------------------------------------------------------------------------

    def deleted(self) -> tuple[bytes, frozenset[int]]:
        """The salt, and the hashes that were made with it."""
        rows = dict(self._opened(sound=True).execute("SELECT hash, uid FROM deleted"))
        return bytes.fromhex(rows.pop(0)), frozenset(rows)

    def put_deleted(self, hashes: Mapping[int, str]) -> None:
        """Remember what memories said, each hash with the uid of one of them."""
        if self._ledger is not None:  # what a part has no more, the whole may still have
            return
        database = self._opened(sound=True)
        with database.transaction():
            database.execute_many(_MERGE["deleted"], hashes.items())

    def restore_deleted(self, uid: str, hashes: Iterable[int]) -> list[int]:
        """Forget that a memory was deleted, or what it says; the hashes that were known of that."""
        if self._ledger is not None:
            return []
        sql = f"DELETE FROM deleted WHERE uid = ? OR hash {ANY_OF} RETURNING hash"
        return [hash_ for (hash_,) in self._opened(sound=True).execute(sql, (uid, any_of(hashes)))]

    # --- what was decided in review ----------------------------------------------------------------------------

    def decisions(self) -> dict[tuple[str, tuple[str, ...]], tuple[str, ...]]:
        """What the memories said, as SHA-256, that may stay as they are, by the reason they were shown for and their
        sorted uids."""
        rows = self._opened().execute("SELECT reason, uids, digests FROM decision")
        return {(reason, tuple(json.loads(uids))): tuple(json.loads(digests)) for reason, uids, digests in rows}

    def put_decision(self, reason: str, said: Iterable[tuple[str, str]], now: float, change: int = 0) -> None:
        """Remember that memories may stay as they are: uid, and SHA-256 of what it says, of each. `change` is that of
        the journal which takes it back."""
        uids, digests = zip(*sorted(said), strict=True)
        row = (reason, json.dumps(uids), json.dumps(digests), now, change)
        self._opened().execute(f"INSERT OR REPLACE INTO decision ({_HISTORY['decision']}) VALUES (?, ?, ?, ?, ?)", row)

    # --- the privacy ledger ------------------------------------------------------------------------------------

    def record_sent(self, records: Sequence[SentRecord]) -> None:
        """Note what is about to leave the machine."""
        database = self._opened(sound=True)
        with database.transaction():
            database.execute_many(
                f"INSERT INTO sent ({_SENT}) VALUES (?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (day, endpoint, model, source, path)"
                " DO UPDATE SET texts = texts + excluded.texts, tokens = tokens + excluded.tokens",
                map(astuple, records),
            )

    def sent(self) -> list[SentRecord]:
        """What left the machine, newest day first."""
        from vault_index.results.status import SentRecord  # late: no query asks

        rows = self._opened(sound=True).execute(
            f"SELECT {_SENT} FROM sent ORDER BY day DESC, endpoint, model, source, path"
        )
        return [SentRecord(*row) for row in rows]

    def tokens_sent(self, day: str) -> int:
        """Tokens that went to any server on that day (local date, `YYYY-MM-DD`)."""
        sql = "SELECT coalesce(sum(tokens), 0) FROM sent WHERE day = ?"
        return int(self._opened(sound=True).value(sql, (day,)))

    def spent(self, days: int) -> list[tuple[str, str, str, int, int, int, int]]:
        """Of the last days on which something was sent, newest first (-1 for all): the day, the server and the model,
        of how many documents and by how many kinds of queries, and the texts and tokens."""
        return self._opened(sound=True).execute(
            "SELECT day, endpoint, model, sum(source != ''), sum(source = ''), sum(texts), sum(tokens) FROM sent"
            " WHERE day IN (SELECT DISTINCT day FROM sent ORDER BY day DESC LIMIT ?)"
            " GROUP BY day, endpoint, model ORDER BY day DESC, endpoint, model",
            (days,),
        )

    # --- opening -----------------------------------------------------------------------------------------------

    def _opened(self, *, sound: bool = False) -> Database:
        """The database, opened again where its file is another one; with `sound` looked through since it changed."""
        if sound and self._ledger is not None:
            return self._ledger._opened(sound=True)
        now = _stamp(self.path)
        database = self._database
        # To close it and open it again has the disk wait four times.
        if database is None or now[:2] != self._file[:2] or (sound and now not in (self._sound, self._file)):
            self.close()
            self._database = database = _open(self.path)
            self._file, self._sound = _stamp(self.path), ()
        if sound:
            if now != self._sound:
                for table in _SOUND:  # versions would take long to look through, and nothing depends on them
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
        # Asked again while nobody else can begin one: a new state begins empty only where there was none.
        database = Database(path, "state", writable=True, begin=lambda _: _refuse_if_lost(path))
    except OSError as error:
        raise damaged(path, str(error.strerror)) from error
    database.check_tables(_COLUMNS)
    database.connection.pragma("synchronous", "normal")  # that a text was opened is worth no waiting for the disk
    return database


def _refuse_if_lost(path: Path) -> None:
    in_use = _ask(path.with_name("cache.db"), "PRAGMA user_version") > 0
    in_use = in_use or _ask(path.with_name("index.db"), f"SELECT count(*) FROM meta WHERE key = '{STATE_MADE}'") > 0
    if in_use and not _ask(path, "PRAGMA user_version"):  # asked last: another process may have begun it meanwhile
        raise damaged(path, "it is missing or empty, and was in use")


def _ask(path: Path, sql: str) -> int:
    """What a neighbour says: 0 where it is not there or knows no such table, very much where it cannot be read."""
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


# --- rows from elsewhere -------------------------------------------------------------------------------------------


def mend(path: Path) -> str:
    """Set a damaged state aside and begin a new one with all that can be read; says what.

    It is read from everything that was ever set aside, so that a crash on the way loses nothing.
    """
    kept = set_aside(path)
    rows = {name: [row for file in all_set_aside(path) for row in _readable(file, name)] for name in _COLUMNS}
    counts = _merge(path, rows)
    where = f"what there was is {kept.name}" if kept.exists() else "nothing of it was left"
    saved = ", ".join(f"{count} rows of {name}" for name, count in counts.items())
    return f"{path.name} was damaged or lost; {where}; kept: {saved}; what else it held is lost"


def _merge(path: Path, rows: Mapping[str, Sequence[Any]]) -> dict[str, int]:
    """Put rows into the state, or begin it with them; how many it has then, by table."""

    def put(insert: Callable[[str, Sequence[Any]], object]) -> None:
        for name, found in rows.items():
            insert(_MERGE[name], found)

    with closing(Database(path, "state", writable=True, begin=lambda new: put(new.executemany))) as state:
        with state.transaction():
            put(state.execute_many)
        return {name: int(state.value(f"SELECT count(*) FROM {name}")) for name in rows}


def _readable(path: Path, name: str) -> list[Any]:
    """The rows of a damaged file that can be read from the one end or from the other, some of them twice."""
    rows: list[Any] = []
    for order in ("ASC", "DESC"):
        with (
            suppress(apsw.Error, UnicodeDecodeError),
            closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection,
        ):
            rows.extend(connection.execute(f"SELECT {_COLUMNS[name]} FROM {name} ORDER BY 1 {order}"))
    return rows
