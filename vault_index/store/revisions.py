"""The log of memories in `state.db`: each state of a file, by a command or by hand.

Search and writing do not need it: while the state is damaged, nothing is recorded.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from vault_index.errors import StateDamagedError
from vault_index.store.connection import ANY_OF, Database, any_of
from vault_index.store.state import State

BY_HAND = "by hand"
OURSELVES = "vault-index"
"""The author of a change by a command without a given author."""
KEPT = 50
"""The number of revisions kept for each memory."""
REMOVED = b""
"""The digest of a file that does not exist."""


class Revision(NamedTuple):
    """One state of a memory's file. Its digest is `REMOVED` if the file was removed."""

    uid: str
    source: str
    path: str
    digest: bytes = REMOVED
    text: bytes = b""
    """Its bytes, compressed by `packed`."""
    who: str = ""
    """Who made this state; before it is recorded, the author of the memory."""
    action: str = ""
    moved_from: str = ""
    """The previous path of a moved file, or empty."""
    before: bytes = REMOVED
    """The digest before a command."""
    change: int = 0
    """The command, or 0 if there is nothing to undo."""
    seen: float = 0.0
    number: int = 0
    id: int = 0

    @property
    def last_path(self) -> str:
        """The path before this state."""
        return self.moved_from or self.path

    def data(self) -> bytes | None:
        """Return the bytes of the file; None if it was removed."""
        return zlib.decompress(self.text) if self.digest else None


class Change(NamedTuple):
    """The change by one writing command."""

    id: int
    at: float
    work: str


_STORED = Revision._fields[:-1]
_PUT = (
    f"INSERT INTO revision ({', '.join(_STORED)}) VALUES ({', '.join('?' * len(_STORED))})"
    " RETURNING id"
)
_SELECT = f"SELECT {', '.join(Revision._fields)} FROM revision WHERE"


def packed(data: bytes) -> bytes:
    """Compress the bytes of a file."""
    return zlib.compress(data)


class Revisions:
    """Access to the log through `state`, from the thread that owns it."""

    def __init__(self, state: State) -> None:
        self._state = state

    def observe(
        self, seen: Iterable[tuple[Revision, str]], gone: Collection[tuple[str, str]] = ()
    ) -> None:
        """Record the files that differ in bytes or path from their last revision.

        Each comes with its id in the previous index entry, or an empty string. `gone` are the
        sources and paths of deleted files.
        """
        with suppress(StateDamagedError), self._state.transaction() as database:
            for one, was in seen:
                with suppress(UnicodeEncodeError):  # the index cannot store it either
                    _observe(database, one, was, gone)

    def put(self, revision: Revision, before: Revision | None) -> int:
        """Record what a command is about to do to the file `before`; return the id of the row."""
        with self._state.transaction() as database:
            if before is not None:  # it may have been saved since the last sync
                _observe(database, before, "", ())
            return _put(database, revision, _revisions(database, revision.uid))

    def take_back(self, id_: int) -> None:
        """Delete a revision that did not happen."""
        with self._state.transaction() as database:
            database.execute("DELETE FROM revision WHERE id = ?", (id_,))

    def of(self, uid: str, limit: int = KEPT) -> list[Revision]:
        """Return the last revisions of a memory, newest first; -1 for all that `undo` may need."""
        return _revisions(self._state.database(), uid, limit)

    def uids(self, beginning: str, paths: Sequence[str] = ()) -> list[str]:
        """Return the ids with this prefix, or of files that had one of these paths."""
        sql = (
            "SELECT DISTINCT uid FROM revision WHERE (? != '' AND uid >= ?1 AND uid < ?1 || 'g')"
            f" OR path {ANY_OF}"
        )
        return [uid for (uid,) in self._state.database().execute(sql, (beginning, any_of(paths)))]

    def forget(self, uid: str, source: str = "", path: str = "") -> None:
        """Delete the revisions of a memory; with a path, only those of that file."""
        with self._state.transaction() as database:
            where = "uid = ? AND (?2 = '' OR path = ?2 AND source = ?3)"
            database.execute(f"DELETE FROM revision WHERE {where}", (uid, path, source))

    def purge(self) -> None:
        """Overwrite deleted bytes in the file and its log."""
        database = self._state.database()
        database.execute("VACUUM")
        database.checkpoint()

    # --- changes ----------------------------------------------------------------------------------

    def begin(self, work: str) -> int:
        """Create a change; return its id."""
        with self._state.transaction() as database:
            sql = "INSERT INTO change (at, work) VALUES (?, ?) RETURNING id"
            return int(database.value(sql, (time.time(), work)))

    def last_change(self, sources: Sequence[str] = (), only: int | None = None) -> Change | None:
        """Return the last change, or the change `only`, that has a revision or a review decision.

        With `sources`, it must concern a memory in one of them.
        """
        inside = f" AND source {ANY_OF}" if sources else ""
        concerned = (
            f"SELECT 1 FROM revision WHERE revision.change = change.id{inside} UNION ALL"
            " SELECT 1 FROM decision, json_each(uids) JOIN revision ON uid = value"
            f" WHERE decision.change = change.id{inside}"
        )
        rows = self._state.database().execute(
            "SELECT id, at, work FROM change WHERE (?1 IS NULL OR id = ?1)"
            f" AND EXISTS ({concerned}) ORDER BY id DESC LIMIT 1",
            [only, any_of(sources), any_of(sources)] if sources else [only],
        )
        return Change(*rows[0]) if rows else None

    def decided(self, change: int) -> list[str]:
        """Return the ids of the memories with a review decision in a change."""
        sql = "SELECT DISTINCT value FROM decision, json_each(uids) WHERE change = ? ORDER BY value"
        return [uid for (uid,) in self._state.database().execute(sql, (change,))]

    def by_change(self, change: int) -> list[Revision]:
        """Return the revisions of a change, newest first."""
        rows = self._state.database().execute(f"{_SELECT} change = ? ORDER BY id DESC", (change,))
        return [Revision(*row) for row in rows]

    def end(self, change: int) -> None:
        """Delete a change that was undone, and its review decisions; its revisions stay."""
        with self._state.transaction() as database:
            database.execute("DELETE FROM change WHERE id = ?", (change,))
            database.execute("DELETE FROM decision WHERE change = ?", (change,))


def _revisions(database: Database, uid: str, limit: int = KEPT) -> list[Revision]:
    rows = database.execute(f"{_SELECT} uid = ? ORDER BY number DESC LIMIT ?", (uid, limit))
    return [Revision(*row) for row in rows]


def _put(database: Database, revision: Revision, rows: Sequence[Revision]) -> int:
    """Record a revision after `rows`, those of the same memory; return the id of the row."""
    number = rows[0].number + 1 if rows else 1
    stored = revision._replace(seen=time.time(), number=number)
    return int(database.value(_PUT, stored[:-1]))


def _observe(
    database: Database, one: Revision, was: str, gone: Collection[tuple[str, str]]
) -> None:
    if was not in ("", one.uid):
        _change_uid(database, was, one.uid)
    rows = _revisions(database, one.uid)
    here = next((row for row in rows if _concerns(row, one)), None)
    digest = here.digest if here is not None and here.path == one.path else REMOVED
    if one.digest == digest:
        return
    gone = gone if digest == REMOVED else ()
    left = (row.path for row in rows if (row.source, row.path) in gone)
    moved_from = next((path for path in left if path != one.path), "")
    action = _action_by_hand(one, rows, moved_from, is_new=here is None, is_there=digest != REMOVED)
    # The author counts only for a new memory, not for a restored one.
    author = one.who if action == "added" and here is None else ""
    _put(database, one._replace(who=author or BY_HAND, action=action, moved_from=moved_from), rows)


def _concerns(row: Revision, one: Revision) -> bool:
    """Return whether a revision left a file at this path, or moved it away."""
    return row.source == one.source and one.path in (row.path, row.moved_from)


def _change_uid(database: Database, was: str, uid: str) -> None:
    """Move the revisions of a memory to its new id."""
    last = database.value("SELECT max(number) FROM revision WHERE uid = ?", (uid,)) or 0
    sql = "UPDATE revision SET uid = ?, number = number + ? WHERE uid = ?"
    database.execute(sql, (uid, last, was))


def _action_by_hand(
    one: Revision, rows: Sequence[Revision], moved_from: str, *, is_new: bool, is_there: bool
) -> str:
    """Return what happened to a file since its last revisions in `rows`."""
    if one.digest == REMOVED:
        return "removed"
    is_same = any(row.digest == one.digest for row in rows)
    if is_there or (moved_from and not is_same):
        return "edited"
    if moved_from:
        return "moved"
    return "copied" if is_same and is_new else "added"
