"""Opens a client's SQLite database to read its tables, and nothing else: the file is input from a stranger.

A view could recurse forever, a value could have a gigabyte, and damaged pages could lead in circles.
"""

import time
from pathlib import Path
from typing import Any

import apsw

LARGEST_VALUE = 32 << 20
"""Bytes of one value. Queries leave out larger ones (`octet_length` does not read them), or fail with TooBigError."""
_MOST_BYTES = 256 << 20
"""Of all rows of one answer: titles and ids of half a million sessions fit."""
_ROW_BYTES = 500
"""Memory of a row beside its texts, about."""
_SECONDS = 30.0
"""Of computing, for an answer or for a whole session with its rendering, which takes a second for some 10 MB."""
_OPERATIONS = 1000
"""Of SQLite between two looks at the clock: few, because one may copy a whole value."""


class ClientDatabase(apsw.Connection):
    """Opens a regular file read-only. Raises apsw.Error, also for a view, a virtual table, and an exceeded limit."""

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
        """Start the time limit anew."""
        self._until = time.thread_time() + _SECONDS

    def rows(self, sql: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """All rows of an answer."""
        self.begin_work()
        rows, size = [], 0
        for row in self.execute(sql, values):
            rows.append(row)
            size += _ROW_BYTES + sum(len(value) for value in row if isinstance(value, bytes | str))
            if size > _MOST_BYTES:
                raise apsw.TooBigError(f"more than {_MOST_BYTES >> 20} MiB of rows")
        return rows
