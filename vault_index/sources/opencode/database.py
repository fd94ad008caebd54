"""Read OpenCode's database while OpenCode may write to it.

Access is read-only, limited, and restricted to the tables named here, because the file also holds
account tokens.
"""

import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw

from vault_index.sources.opencode.entries import (
    Held,
    RawMessage,
    RawPart,
    Revert,
    read_revert,
    stamp_of,
)
from vault_index.sources.sessions.client_database import (
    LARGEST_VALUE,
    DamagedError,
    SessionDatabase,
    blob_of,
    bounded,
    decoded,
)
from vault_index.sources.sessions.json_access import read_object
from vault_index.sources.sessions.model import Listed, Session

_LIVELY = 100
"""Number of recent sessions to check each time for changed parts: compaction edits old messages.

Other sessions are checked once per connection, because OpenCode has no index for that column.
"""
_NEEDED = {
    "session": ("id", "title", "directory", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "message_id", "session_id", "time_created", "data"),
}
_V2_NEEDED = ("id", "session_id", "type", "time_created", "time_updated", "data")
_DATA = bounded("data")


class Database(SessionDatabase):
    """An open database."""

    title = "OpenCode"
    needed = _NEEDED
    optional = "migration", "project", "session_message"
    version_sql = "SELECT id FROM migration ORDER BY id DESC LIMIT 1"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._written: dict[str, int] = {}
        """Time of the last write to a part, in ms, by session."""

    def sessions(self, problems: list[str], id_: str | None = None) -> list[Listed]:
        """Return all sessions, or one; add unreadable ones to `problems`."""
        values = () if id_ is None else (id_,)
        where, one = ("", "") if id_ is None else ("WHERE session.id = ?", "WHERE session_id = ?")
        with self._translated(), self._snapshot():
            self._check()
            rows = self._rows(
                f"{self._sessions_sql()} {where} ORDER BY session.time_created, session.id", values
            )
            tables = ("message", "session_message") if self._has_v2() else ("message",)
            counts = " UNION ALL ".join(_COUNT.format(table, one) for table in tables)
            messages = {
                id_: rest
                for id_, *rest in self._connection.rows(_SUM.format(counts), values * len(tables))
            }
            parts = dict(
                self._connection.rows(
                    f"SELECT session_id, count(*) FROM part {one} GROUP BY session_id", values
                )
            )
            unfinished = {
                id_: rest
                for id_, *rest in self._connection.rows(
                    _UNFINISHED.format(where, LARGEST_VALUE), values
                )
            }
            if "time_updated" in self._columns["part"]:
                self._read_write_times(
                    rows, messages, [message for message, _ in unfinished.values()]
                )
        found = []
        for row in rows:
            if (known := _session(row, problems)) is not None:
                session, revert = known
                number, changed, first = messages.get(session.id, (0, 0, session.created))
                changed = max(session.updated, self._written.get(session.id, 0), changed)
                # Leave out the answer that is still being written.
                whole = parts.get(session.id, 0) - unfinished.get(session.id, ("", 0))[1]
                stamp = stamp_of(session, revert, changed, number, whole)
                found.append(Listed(session, stamp, number, first, Held(self, revert)))
        return found

    def times(self, session: str) -> list[int]:
        """Return the times of the messages in ms; a fork keeps those of its original."""
        sql = "SELECT time_created FROM message WHERE session_id = ? ORDER BY time_created"
        with self._translated():
            return [time for (time,) in self._connection.rows(sql, (session,))]

    def messages(self, session: str, problems: list[str]) -> Generator[RawMessage]:
        """Yield the messages sorted by (time, id); consume the parts of each before the next.

        Reads row by row, because a session may be larger than the memory limit.
        """
        try:
            with self._translated():
                known: set[str] = set()
                self._connection.begin_work()
                for id_, created, data, kind in self._connection.execute(
                    self._messages_sql(), {"session": session}
                ):
                    if kind and id_ in known:
                        continue
                    known.add(id_)
                    parts = self._parts(id_, problems) if not kind else ()
                    yield RawMessage(
                        str(id_),
                        created if isinstance(created, int) else 0,
                        blob_of(data),
                        parts,
                        kind,
                    )
        except DamagedError as error:
            problems.append(f"session {session}: {error.message}; the rest is missing")

    # --- inside -----------------------------------------------------------------------------------

    def _read_write_times(
        self,
        rows: Sequence[tuple[Any, ...]],
        messages: Mapping[str, Sequence[int]],
        unfinished: Sequence[str],
    ) -> None:
        """Update `_written`, except for answers that are still being written."""
        changed = {str(row[0]): messages[row[0]][1] for row in rows if row[0] in messages}
        asked = {
            *sorted(changed, key=changed.__getitem__)[-_LIVELY:],
            *(changed.keys() - self._written.keys()),
        }
        with suppress(apsw.CorruptError):  # reading a damaged session reports it
            self._written |= self._connection.rows(
                _WRITTEN, (json.dumps(list(asked)), json.dumps(unfinished))
            )

    def _parts(self, message: str, problems: list[str]) -> Iterator[RawPart]:
        sql = f"SELECT id, {_DATA} FROM part WHERE message_id = ? ORDER BY time_created, id"
        try:
            with self._translated():
                for id_, data in self._connection.execute(sql, (message,)):
                    yield str(id_), blob_of(data)
        except DamagedError as error:
            problems.append(f"message {message}: {error.message}; parts are missing")

    def _messages_sql(self) -> str:
        own = (
            f"SELECT id, time_created, {_DATA}, '' AS kind FROM message WHERE session_id = :session"
        )
        if not self._has_v2():
            return f"{own} ORDER BY time_created, id"
        # A client may write both tables; `message` wins for equal ids.
        newer = (
            f"SELECT id, time_created, {_DATA}, type FROM session_message"
            " WHERE session_id = :session"
        )
        return f"{own} UNION ALL {newer} ORDER BY 2, 1, 4"

    def _sessions_sql(self) -> str:
        project = {"id", "worktree"} <= self._columns["project"] and "project_id" in self._columns[
            "session"
        ]
        worktree, join = (
            (
                "CAST(project.worktree AS BLOB)",
                "LEFT JOIN project ON project.id = session.project_id",
            )
            if project
            else ("NULL", "")
        )
        return (
            "SELECT session.id, {session.title}, {session.directory}, "
            f"{worktree}, "
            "{session.parent_id}, {session.version}, session.time_created, session.time_updated,"
            f" {{session.revert}} FROM session {join}"
        )

    def _has_v2(self) -> bool:
        return set(_V2_NEEDED) <= self._columns["session_message"]


_COUNT = (
    "SELECT session_id, count(*) AS number, max(time_updated) AS changed,"
    " min(time_created) AS first FROM {} {} GROUP BY session_id"
)
_SUM = "SELECT session_id, sum(number), max(changed), min(first) FROM ({}) GROUP BY session_id"
_WRITTEN = """
SELECT session_id, max(time_updated) FROM part
WHERE session_id IN (SELECT value FROM json_each(?))
    AND message_id NOT IN (SELECT value FROM json_each(?))
GROUP BY session_id
"""
_UNFINISHED = """
SELECT session.id, message.id, (SELECT count(*) FROM part WHERE part.message_id = message.id)
FROM session JOIN message ON message.id =
    (SELECT id FROM message WHERE session_id = session.id
    ORDER BY time_created DESC, id DESC LIMIT 1)
    AND CASE WHEN octet_length(message.data) > {1} THEN 0 WHEN json_valid(message.data)
        THEN json_extract(message.data, '$.role') = 'assistant'
        AND json_extract(message.data, '$.time.completed') IS NULL ELSE 0 END
{0}
"""


def _session(row: tuple[Any, ...], problems: list[str]) -> tuple[Session, Revert | None] | None:
    id_, title, directory, worktree, parent, version, created, updated, revert = row
    if not isinstance(created, int) or not isinstance(updated, int):
        problems.append(f"session {id_} has no valid creation or update time")
        return None
    session = Session(
        id=str(id_),
        title=decoded(title),
        directory=decoded(directory),
        worktree=decoded(worktree),
        parent=decoded(parent),
        version=decoded(version),
        created=created,
        updated=updated,
    )
    return session, read_revert(read_object(blob_of(revert), "the revert", []) or {})
