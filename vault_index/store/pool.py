"""A pool of read connections, one per concurrent reader."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vault_index.config.home import Home
from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.store.reader import IndexReader
from vault_index.store.state import State

_MOST_IDLE = 8
"""Maximum number of idle connections; each holds open files, pages and words."""


class Connections(NamedTuple):
    """The connections of one reader."""

    reader: IndexReader
    state: State
    file: tuple[int, int]
    """Device and inode of the index file; a rebuilt index is another file."""

    def close(self) -> None:
        """Close both databases."""
        self.reader.close()
        self.state.close()


class ReadPool:
    """Lends read connections, and keeps idle ones. Thread-safe."""

    def __init__(
        self, home: Home, open_reader: Callable[[Path], IndexReader] = IndexReader
    ) -> None:
        self._index, self._state = home.index_db, home.state_db
        self._open = open_reader
        self.sources: Collection[str] | None = None
        """Names of the configured sources; rows of others are hidden. None if unknown."""
        self._idle: list[Connections] = []
        self._lock = threading.Lock()

    @contextmanager
    def lend(self, *, snapshot: bool = True) -> Iterator[Connections]:
        """Lend a connection to the current index. Raises NotSetUpError if no index exists.

        A borrower that also writes meanwhile needs `snapshot=False`.
        """
        connections = self._take()
        sound = False
        try:
            connections.reader.begin(snapshot=snapshot)
            yield connections
            sound = True
        except (NotFoundError, UsageError):
            sound = True  # the request was wrong, the connection is fine
            raise
        except UnicodeEncodeError as error:  # a lone surrogate, which no database accepts
            raise UsageError("the request is not valid UTF-8", "send it as UTF-8") from error
        except VaultIndexError:
            raise
        except Exception as error:
            from vault_index.store.integrity import raise_damage

            raise_damage(self._index, error)
            raise
        finally:
            self._give_back(connections, sound)

    def _give_back(self, connections: Connections, sound: bool) -> None:
        if sound:
            connections.reader.end()
            with self._lock:
                if len(self._idle) < _MOST_IDLE:
                    self._idle.append(connections)
                    return
        connections.close()

    def close(self) -> None:
        """Close the idle connections."""
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
        reader = self._open(self._index)
        try:
            if self.sources is not None:
                reader.leave_out_all_but(self.sources)
            return Connections(reader, State(self._state), self._file())
        except BaseException:
            reader.close()
            raise

    def _file(self) -> tuple[int, int]:
        try:
            found = os.stat(self._index)
        except OSError:
            return (0, 0)
        return (found.st_dev, found.st_ino)
