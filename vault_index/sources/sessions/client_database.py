"""Open a client's SQLite database read-only and within limits, because the file is untrusted.

A view could recurse forever, a value could have a gigabyte, and damaged pages could form a cycle.
"""

import time
from pathlib import Path
from typing import Any

import apsw

LARGEST_VALUE = 32 << 20
"""Largest value in bytes. Queries skip larger ones by `octet_length`, which does not read them."""
_MOST_BYTES = 256 << 20
"""Largest result in bytes: enough for titles and ids of half a million sessions."""
_ROW_BYTES = 500
"""Approximate memory of a row without its texts, in bytes."""
_SECONDS = 30.0
"""Limit of CPU time for a query, or for reading and rendering a session (about 1 s per 10 MB)."""
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
