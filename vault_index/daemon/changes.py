"""Tell clients whether the documents that they may see changed (request `changes`).

The documents of a scope are read again only if the files of the index changed.
"""

import os
import threading
import time
from typing import Any, NamedTuple

from vault_index.callers import Scope
from vault_index.errors import NotSetUpError
from vault_index.runtime import Runtime
from vault_index.store.documents import fingerprint

_RECENT_NS = 100_000_000
"""A file written this recently may be written again with the same time stamp."""
_PAUSE = 10
"""After reading documents, wait at least this many times the duration; 25,000 take 40 ms."""
_MOST_SCOPES = 16


class _Documents(NamedTuple):
    """The documents of a scope, when they were last read."""

    counts: dict[str, int]
    """Number of documents by kind."""
    fingerprint: int
    files: tuple[object, ...]
    read_again_at: float


class Changes:
    """The documents of recently requested scopes. Safe for several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._start = f"{time.time_ns():x}"
        """The beginning of serials, because another process has other fingerprints."""
        self._by_scope: dict[Scope, _Documents] = {}

    def since(self, serial: str, scope: Scope, runtime: Runtime) -> dict[str, Any]:
        """Return the current serial and counts, and whether documents changed since `serial`.

        An unknown serial, such as that of a stopped daemon, counts as changed.
        """
        with self._lock:
            documents = _read(runtime, self._by_scope.pop(scope, None))
            self._by_scope[scope] = documents
            if len(self._by_scope) > _MOST_SCOPES:
                del self._by_scope[next(iter(self._by_scope))]
        current = f"{self._start}.{documents.fingerprint % 2**64:x}"
        return {
            "serial": current,
            "changed": serial not in ("", current),
            "documents": documents.counts,
        }


def _read(runtime: Runtime, known: _Documents | None) -> _Documents:
    """Return the documents; `known` if the files of the index are the same."""
    files, began = _files_state(os.fspath(runtime.home.index_db)), time.monotonic()
    if known and (files == known.files or began < known.read_again_at):
        return known
    try:
        with runtime.pool.lend() as connections:
            counts, current = fingerprint(connections.reader)
    except NotSetUpError:  # the index is being rebuilt; until then report no change
        counts, current = (known.counts, known.fingerprint) if known else ({}, 0)
    return _Documents(counts, current, files, began + _PAUSE * (time.monotonic() - began))


def _files_state(index_db: str) -> tuple[object, ...]:
    """Return a value that changes with the index files; unique if they changed just now."""
    found: list[object] = []
    for file in (index_db, f"{index_db}-wal"):
        try:
            state = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))
            if time.time_ns() - state.st_mtime_ns < _RECENT_NS:
                found.append(object())
    return tuple(found)
