"""Connections for reading, lent to one thread at a time, so that any number of threads may ask at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from vault_index.store.cache import Cache
from vault_index.store.reader import IndexReader

TYPE_CHECKING = False  # spares the import of the configuration; type checkers know the name
if TYPE_CHECKING:
    from vault_index.config import Home


_MOST_IDLE = 8
"""Each holds open files, pages and the words it has seen: what a crowd once needed is not kept for ever."""


@dataclass(frozen=True, slots=True)
class Connections:
    reader: IndexReader
    cache: Cache
    file: tuple[int, int]
    """Device and inode of the index they read: a rebuilt index is another file."""

    def close(self) -> None:
        self.reader.close()
        self.cache.close()


class ReadPool:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._idle: list[Connections] = []
        self._lock = threading.Lock()

    @contextmanager
    def lend(self) -> Iterator[Connections]:
        """Connections to the index as it is now. Raises NotSetUpError while there is none."""
        connections = self._take()
        try:
            yield connections
        except BaseException:
            connections.close()
            raise
        with self._lock:
            keep = len(self._idle) < _MOST_IDLE
            if keep:
                self._idle.append(connections)
        if not keep:
            connections.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connections in idle:
            connections.close()

    def _take(self) -> Connections:
        file = self._file()
        with self._lock:
            while self._idle:
                connections = self._idle.pop()
                if connections.file == file:
                    return connections
                connections.close()
        reader = IndexReader(self._home.index_db)
        try:
            return Connections(reader, Cache(self._home.cache_db), self._file())
        except BaseException:
            reader.close()
            raise

    def _file(self) -> tuple[int, int]:
        try:
            found = os.stat(self._home.index_db)
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)
