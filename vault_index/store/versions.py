"""Versions of memories, and the journal of the changes by commands, in `state.db`.

Search and writing do not need them: while the state is damaged, nothing is recorded.
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
REMOVED = b""
"""The digest of a version in which the file was removed."""


class Seen(NamedTuple):
    """The current file of a memory; its digest is `REMOVED` if it was deleted."""

    uid: str
    source: str
    path: str
    digest: bytes = REMOVED
    text: bytes = b""
    """Its bytes, compressed by `packed`."""
    size: int = 0
    by: str | None = None
    """The author of the memory."""
    was: str = ""
    """The id in the previous index entry."""


class Version(NamedTuple):
    """One state of a memory's file."""

    uid: str
    number: int
    seen: float
    who: str
    action: str
    source: str
    path: str
    moved_from: str
    step: int
    size: int
    digest: bytes


class Change(NamedTuple):
    """The change by one writing command."""

    id: int
    at: float
    work: str
    who: str


class Step(NamedTuple):
    """The change of one file. Without `before` it was created, without `after` removed."""

    id: int
    source: str
    path: str
    before: bytes | None
    after: bytes | None
    place: str | None
    """The new path of a moved file, or the path in the trash of a removed one."""
    text: bytes | None
    """The previous bytes, compressed by `packed`."""


_VERSION = ", ".join(Version._fields)
_STEP = ", ".join(Step._fields)
_PUT = (
    f"INSERT INTO version ({_VERSION}, text) VALUES ({', '.join('?' * (len(Version._fields) + 1))})"
)
_OURS = (
    "SELECT work, who FROM step JOIN change ON change.id = change WHERE step.id > ? AND source = ?"
    " AND ((path = ? AND after IS ? AND (place IS NULL OR after IS NULL))"
    " OR (place = ? AND after = ?))"
    " ORDER BY step.id DESC LIMIT 1"
)
"""Selects the last command that left a file in this state since the last version."""


def packed(data: bytes) -> bytes:
    """Compress the bytes of a file."""
    return zlib.compress(data)


def unpacked(text: bytes) -> bytes:
    """Decompress the bytes of a file."""
    return zlib.decompress(text)


class Versions:
    """Access to versions and journal through `state`, from the thread that owns it."""

    def __init__(self, state: State) -> None:
        self._state = state

    # --- versions ---------------------------------------------------------------------------------

    def record(self, seen: Iterable[Seen], gone: Collection[tuple[str, str]] = ()) -> None:
        """Record memories with other bytes or another path than their last version.

        `gone` are the sources and paths of deleted files.
        """
        with suppress(StateDamagedError), self._state.transaction() as database:
            last_step = int(database.value("SELECT coalesce(max(id), 0) FROM step"))
            for one in seen:
                with suppress(UnicodeEncodeError):  # the index cannot store it either
                    self._record(database, one, gone, last_step)

    def _record(
        self, database: Database, one: Seen, gone: Collection[tuple[str, str]], last_step: int
    ) -> None:
        if one.was not in ("", one.uid):
            _carry_over(database, one.was, one.uid)
        rows = _versions(database, one.uid)
        here = next(
            (
                row
                for row in rows
                if row.source == one.source and one.path in (row.path, row.moved_from)
            ),
            None,
        )
        if here is not None and here.path == one.path and here.digest == one.digest:
            return
        there = here is not None and here.path == one.path and here.digest != REMOVED
        if one.digest == REMOVED and not there:
            return
        left = [row.path for row in rows if (row.source, row.path) in gone and row.path != one.path]
        moved_from = left[0] if left and one.digest and not there else ""
        same = any(row.digest == one.digest for row in rows)
        if one.digest == REMOVED:
            action = "removed"
        elif there or (moved_from and not same):
            action = "edited"
        else:
            action = "moved" if moved_from else "copied" if same and here is None else "added"
        # The author counts only for a new memory, not for a restored one.
        author = one.by if action == "added" and here is None else None
        by = author or BY_HAND
        after = one.digest or None
        since = here.step if here else 0
        for work, who in database.execute(
            _OURS, (since, one.source, one.path, after, one.path, after)
        ):
            action, by = work, who or author or OURSELVES
        number = rows[0].number + 1 if rows else 1
        values = (
            one.uid,
            number,
            time.time(),
            by,
            action,
            one.source,
            one.path,
            moved_from,
            last_step,
        )
        database.execute(_PUT, (*values, one.size, one.digest, one.text))

    def of(self, uid: str) -> list[Version]:
        """Return the versions of a memory, newest first. Raises StateDamagedError."""
        return _versions(self._state.database(), uid)

    def uids(self, beginning: str, paths: Sequence[str] = ()) -> list[str]:
        """Return the ids with this prefix, or of files that had one of these paths."""
        sql = (
            "SELECT DISTINCT uid FROM version WHERE (? != '' AND uid >= ?1 AND uid < ?1 || 'g')"
            f" OR path {ANY_OF}"
        )
        return [uid for (uid,) in self._state.database().execute(sql, (beginning, any_of(paths)))]

    def text(self, uid: str, number: int) -> bytes | None:
        """Return the bytes of a version; None if the file was removed in it."""
        sql = "SELECT text FROM version WHERE uid = ? AND number = ? AND digest != x''"
        text = self._state.database().value(sql, (uid, number))
        return None if text is None else unpacked(text)

    def forget(self, uid: str, source: str = "", path: str = "") -> None:
        """Delete the versions and journal entries of a memory.

        With a path, only those of that file.
        """
        with self._state.transaction() as database:
            rows = [
                row
                for row in _versions(database, uid)
                if not path or (row.source, row.path) == (source, path)
            ]
            paths = any_of({name for row in rows for name in (row.path, row.moved_from)} - {""})
            digests = any_of({row.digest.hex() for row in rows} - {""})
            numbers = any_of(row.number for row in rows)
            database.execute(
                f"DELETE FROM version WHERE uid = ? AND number {ANY_OF}", (uid, numbers)
            )
            touched = database.execute(
                f"DELETE FROM step WHERE path {ANY_OF} OR place {ANY_OF}"
                f" OR lower(hex(before)) {ANY_OF}"
                " RETURNING change",
                (paths, paths, digests),
            )
            database.execute(
                f"DELETE FROM change WHERE id {ANY_OF} AND id NOT IN (SELECT change FROM step)",
                [any_of(change for (change,) in touched)],
            )

    def purge(self) -> None:
        """Overwrite deleted bytes in the file and its log."""
        database = self._state.database()
        database.execute("VACUUM")
        database.checkpoint()

    # --- the journal ------------------------------------------------------------------------------

    def begin(self, work: str, who: str, *, undone: bool = False) -> int:
        """Create a change without steps; return its id."""
        with self._state.transaction() as database:
            sql = "INSERT INTO change (at, work, who, undone) VALUES (?, ?, ?, ?) RETURNING id"
            return int(database.value(sql, (time.time(), work, who, undone)))

    def note(self, change: int, step: Step) -> int:
        """Record a step before a file is changed; return its id."""
        with self._state.transaction() as database:
            sql = (
                f"INSERT INTO step (change, {_STEP}) VALUES (?, NULL, ?, ?, ?, ?, ?, ?)"
                " RETURNING id"
            )
            return int(database.value(sql, (change, *step[1:])))

    def put_place(self, step: int, place: str) -> None:
        """Record the new path of a file."""
        with self._state.transaction() as database:
            database.execute("UPDATE step SET place = ? WHERE id = ?", (place, step))

    def take_back(self, step: int) -> bool:
        """Delete a step that was not done, and its change if it was the only step.

        Return whether the change was deleted.
        """
        with self._state.transaction() as database:
            change = database.value("DELETE FROM step WHERE id = ? RETURNING change", (step,))
            others = "EXISTS (SELECT 1 FROM step WHERE change = change.id)"
            return bool(
                database.execute(
                    f"DELETE FROM change WHERE id = ? AND NOT {others} RETURNING id", (change,)
                )
            )

    def last_change(self, sources: Sequence[str] = (), only: int | None = None) -> Change | None:
        """Return the last change that can be undone, or the change `only`.

        With `sources`, it must concern a file or a decision in one of them.
        """
        touched = f"EXISTS (SELECT 1 FROM step WHERE change = change.id AND source {ANY_OF})"
        decided = (
            "EXISTS (SELECT 1 FROM decision, json_each(uids) JOIN version ON uid = value"
            f" WHERE decision.change = change.id AND source {ANY_OF})"
        )
        where = f" AND ({touched} OR {decided})" if sources else ""
        rows = self._state.database().execute(
            "SELECT id, at, work, who FROM change WHERE NOT undone"
            f" AND (?1 IS NULL OR id = ?1){where}"
            " ORDER BY id DESC LIMIT 1",
            [only, any_of(sources), any_of(sources)] if sources else [only],
        )
        return Change(*rows[0]) if rows else None

    def decided(self, change: int) -> list[str]:
        """Return the ids of the memories with a review decision in a change."""
        sql = "SELECT DISTINCT value FROM decision, json_each(uids) WHERE change = ? ORDER BY value"
        return [uid for (uid,) in self._state.database().execute(sql, (change,))]

    def steps(self, change: int) -> list[Step]:
        """Return the steps of a change, in order."""
        sql = f"SELECT {_STEP} FROM step WHERE change = ? ORDER BY id"
        return [Step(*row) for row in self._state.database().execute(sql, (change,))]

    def mark_undone(self, change: int) -> None:
        """Mark a change as undone, so that it is not undone again."""
        with self._state.transaction() as database:
            database.execute("UPDATE change SET undone = 1 WHERE id = ?", (change,))


def _versions(database: Database, uid: str) -> list[Version]:
    sql = f"SELECT {_VERSION} FROM version WHERE uid = ? ORDER BY number DESC"
    return [Version(*row) for row in database.execute(sql, (uid,))]


def _carry_over(database: Database, was: str, uid: str) -> None:
    """Move the versions of a memory to its new id."""
    last = database.value("SELECT coalesce(max(number), 0) FROM version WHERE uid = ?", (uid,))
    database.execute(
        "UPDATE version SET uid = ?, number = number + ? WHERE uid = ?", (uid, last, was)
    )
