"""Open a client's SQLite database read-only and within limits, because the file is untrusted.

A view could recurse forever, a value could have a gigabyte, and damaged pages could form a cycle.
The file is never copied or opened as immutable, because recent data (at first all data) are in its
`-wal` file.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from vault_index.errors import BusyError, VaultIndexError
from vault_index.sources.sessions.model import Listed

_BUSY_MS = 2000
LARGEST_VALUE = 32 << 20
"""Largest value in bytes. Queries skip larger ones by `octet_length`, which does not read them."""
_MOST_BYTES = 256 << 20
"""Largest result in bytes: enough for titles and ids of half a million sessions."""
_ROW_BYTES = 500
"""Approximate memory of a row without its texts, in bytes."""
_SECONDS = 30.0
"""Limit of CPU time for a query, or for reading and rendering a session (about 1 s per 10 MB)."""
_COLUMN = re.compile(r"\{(?P<table>\w+)\.(?P<name>\w+)\}")
_OPERATIONS = 1000
"""SQLite operations between clock checks: few, because one may copy a whole value."""


class ClientDatabase(apsw.Connection):
    """A read-only connection. Views, virtual tables and exceeded limits raise apsw.Error."""

    def __init__(self, path: Path, busy_ms: int) -> None:
        super().__init__(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        self.set_busy_timeout(busy_ms)
        self.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        self.config(apsw.SQLITE_DBCONFIG_ENABLE_VIEW, 0)
        self.drop_modules(["json_each"])  # our own queries use it
        self.limit(apsw.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
        self.begin_work()
        self.set_progress_handler(lambda: time.thread_time() > self._until, _OPERATIONS)
        self.pragma("cell_size_check", True)

    def begin_work(self) -> None:
        """Restart the time limit."""
        self._until = time.thread_time() + _SECONDS

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return all rows of a query."""
        self.begin_work()
        rows, size = [], 0
        for row in self.execute(sql, values):
            rows.append(row)
            size += _ROW_BYTES + sum(len(value) for value in row if isinstance(value, bytes | str))
            if size > _MOST_BYTES:
                raise apsw.TooBigError(f"more than {_MOST_BYTES >> 20} MiB of rows")
        return rows


class UnknownSchemaError(VaultIndexError):
    """The database lacks required tables or columns."""

    code = "client_schema"


class DamagedError(VaultIndexError):
    """The database is permanently damaged; other errors may be temporary."""


class SessionDatabase(ABC):
    """An open database of a client.

    Methods raise UnknownSchemaError, BusyError, or VaultIndexError if the database is unreadable.
    """

    title: str
    """Product name of the client."""
    needed: Mapping[str, Sequence[str]]
    """Required columns by table; others differ between versions."""
    optional: Sequence[str] = ()
    """Other tables that queries use if they exist."""
    version_sql = ""
    """Query for a description of the schema version, on the first of the optional tables."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._translated():
            self._connection = ClientDatabase(path, _BUSY_MS)
            try:
                self._schema = -1
                self._check()
            except BaseException:
                self._connection.close()
                raise

    @abstractmethod
    def sessions(self, problems: list[str], id_: str | None = None) -> list[Listed]:
        """Return all sessions, or one, with `place` (this database, …); add unreadable ones."""

    def session(self, id_: str) -> Listed | None:
        """Return one session, or None."""
        return next(iter(self.sessions([], id_)), None)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def data_version(self) -> int:
        """Return a number that changes after each write by another process, for this connection."""
        with self._translated():
            return int(self._connection.pragma("data_version"))

    def _rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return all rows of a query; `{table.column}` in it is a value as bytes, or NULL."""
        with self._translated():
            self._check()
            return self._connection.rows(_COLUMN.sub(self._column, sql), values)

    def _column(self, named: re.Match[str]) -> str:
        known = named["name"] in self._columns[named["table"]]
        return bounded(f"{named['table']}.{named['name']}") if known else "NULL"

    def _check(self) -> None:
        """Read the names of the columns if the schema has changed. Raises UnknownSchemaError."""
        schema = int(self._connection.pragma("schema_version"))
        if schema == self._schema:
            return
        self._columns = {
            table: {str(row[1]) for row in self._connection.rows(f"PRAGMA table_info({table})")}
            for table in (*self.needed, *self.optional)
        }
        lacking = [
            f"{table}.{name}"
            for table, names in self.needed.items()
            for name in names
            if name not in self._columns[table]
        ]
        if lacking:
            raise UnknownSchemaError(
                f"{self._path} has an unknown schema ({self._version()}): no {', '.join(lacking)}",
                f"upgrade vault-index, or report a bug with {self.title}'s version;"
                " the index is kept",
            )
        self._schema = schema

    def _version(self) -> str:
        """Return a description of the schema version: the last migration."""
        if self.version_sql and self._columns[self.optional[0]]:
            for row in self._connection.rows(self.version_sql):
                return f"its last migration is {row[0]}"
        return f"user_version {self._connection.pragma('user_version')}, no migration is recorded"

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Run several queries on one snapshot; a read transaction does not block writers."""
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except (apsw.BusyError, apsw.LockedError) as error:
            raise BusyError(
                f"{self._path} is locked by {self.title}", "try again in a moment"
            ) from error
        except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
            raise DamagedError(
                f"{self._path} is damaged ({error})",
                f"start {self.title} once, or recover the data with `sqlite3 FILE .recover`",
            ) from error
        except apsw.Error as error:
            raise VaultIndexError(
                f"{self._path} cannot be read ({error})",
                "its folder must be readable, and writable if the `-shm` file is missing;"
                f" otherwise report a bug with {self.title}'s version (the index is kept)",
            ) from error


def bounded(column: str) -> str:
    """Return SQL for a value as bytes, because it may be invalid UTF-8; NULL if it is too large."""
    return f"CASE WHEN octet_length({column}) <= {LARGEST_VALUE} THEN CAST({column} AS BLOB) END"


def blob_of(data: Any) -> bytes:
    """Return bytes that `bounded` selected; empty for NULL."""
    return data if isinstance(data, bytes) else b""


def decoded(data: Any) -> str:
    """Return such bytes as text."""
    return blob_of(data).decode("utf-8", "replace")
