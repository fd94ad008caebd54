"""Tell waiting clients that the index changed (request `changes`).

Nothing is stored, and nothing runs without clients. The index of a scope counts as changed when a
document that the scope may see was added, changed or removed.
"""

import os
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from vault_index.errors import BusyError, NotSetUpError, UsageError
from vault_index.runtime import Runtime
from vault_index.store.counts import fingerprint

_LONGEST_SECONDS = 20.0
"""Maximum wait: clients give up after 30 seconds of silence."""
_POLL_SECONDS = 0.25
_SETTLED_NS = 100_000_000
"""A file written this recently may be written again with the same time stamp."""
_REST = 10
"""After a comparison, wait at least this many times its duration; 25,000 documents take 40 ms."""
_MOST_WAITING = 12
"""Maximum number of waiting requests, of the daemon's 64 connections."""
_MOST_FEEDS = 16
_IDLE_SECONDS = 60.0

Progress = Callable[[], dict[str, Any]]
"""Returns the progress of the daemon's work, as JSON."""


class Feeds:
    """One feed per recently requested scope. Safe for several threads."""

    def __init__(self) -> None:
        self._feeds: dict[Hashable, Feed] = {}
        self._lock = threading.Lock()
        self._waiting = 0
        self._stopping = threading.Event()

    def ask(
        self,
        scope: Hashable,
        runtime: Callable[[], Runtime],
        since: str,
        wait: float,
        progress: Progress | None,
    ) -> dict[str, Any]:
        """Return the state of the index when it differs from the serial `since`.

        After `wait` seconds, return the unchanged state. Raises BusyError if too many requests
        wait, UsageError for an invalid serial or wait.
        """
        is_number = isinstance(wait, int | float) and not isinstance(wait, bool)
        if not isinstance(since, str) or not is_number or not wait >= 0:
            raise UsageError(
                "since must be the serial of an earlier answer, and wait a number of seconds",
                "see docs/protocol.md",
            )
        feed = self._feed(scope, runtime, progress)
        deadline = time.monotonic() + min(wait, _LONGEST_SECONDS)
        with self._lock:
            if wait and self._waiting >= _MOST_WAITING:
                raise BusyError("too many requests wait for changes", "retry with wait 0")
            self._waiting += 1
        try:
            while True:
                answer = feed.since(since)
                expired = time.monotonic() >= deadline or self._stopping.is_set()
                if answer["serial"] != since or expired:
                    return answer
                self._stopping.wait(_POLL_SECONDS)
        finally:
            with self._lock:
                self._waiting -= 1

    def tend(self) -> None:
        """Delete feeds without recent requests."""
        with self._lock:
            now = time.monotonic()
            self._feeds = {
                key: feed for key, feed in self._feeds.items() if now - feed.asked < _IDLE_SECONDS
            }

    def stop(self) -> None:
        """Answer all waiting requests."""
        self._stopping.set()

    def _feed(
        self, scope: Hashable, runtime: Callable[[], Runtime], progress: Progress | None
    ) -> "Feed":
        with self._lock:
            feed = self._feeds.pop(scope, None) or Feed(runtime, progress)
            while len(self._feeds) >= _MOST_FEEDS:
                self._feeds.pop(next(iter(self._feeds)))
            self._feeds[scope] = feed
        return feed


class Feed:
    """The state of one scope's index, with a number that grows with each change of it."""

    def __init__(self, runtime: Callable[[], Runtime], progress: Progress | None) -> None:
        self.asked = time.monotonic()
        self._runtime = runtime
        self._progress = progress
        self._lock = threading.Lock()
        self._name = f"{time.time_ns():x}"
        """The prefix of its serials, which distinguishes them from those of other feeds."""
        self._number = 0
        self._changed_at = 0
        """The number of the last change of documents; later ones are progress."""
        self._files: tuple[object, ...] = ()
        self._next_poll = 0.0
        self._documents: dict[str, int] = {}
        self._fingerprint: int | None = None
        self._last_progress: dict[str, Any] | None = None
        self._progress_at = 0.0

    def since(self, serial: str) -> dict[str, Any]:
        """Return the current state, and whether documents changed since this serial.

        An unknown serial, such as that of a stopped daemon, counts as changed.
        """
        with self._lock:
            self.asked = time.monotonic()
            self._poll()
            self._poll_progress()
            name, _, number = serial.rpartition("-")
            numbers = range(self._changed_at, self._number + 1)
            ours = name == self._name and number.isdecimal() and len(number) < 19
            known = not serial or (ours and int(number) in numbers)
            progress = {} if self._last_progress is None else {"progress": self._last_progress}
            return {
                "serial": f"{self._name}-{self._number}",
                "changed": not known,
                "documents": self._documents,
                **progress,
            }

    def _poll(self) -> None:
        """Compare the documents, if the index files changed."""
        runtime = self._runtime()
        files, began = _state(os.fspath(runtime.home.index_db)), time.monotonic()
        if self._files and (files == self._files or began < self._next_poll):
            return
        try:
            with runtime.pool.lend() as connections:
                self._documents, current = fingerprint(connections.reader)
        except NotSetUpError:  # the index is being rebuilt; until then report no change
            current = self._fingerprint or 0
        self._files, self._next_poll = files, began + _REST * (time.monotonic() - began)
        if self._fingerprint not in (None, current):
            self._number += 1
            self._changed_at = self._number
        self._fingerprint = current

    def _poll_progress(self) -> None:
        """Update the progress at most once a second, because it changes with every document."""
        if self._progress is not None and time.monotonic() >= self._progress_at + 1.0:
            self._progress_at = time.monotonic()
            current = self._progress()
            if current != self._last_progress:
                self._number += self._last_progress is not None
                self._last_progress = current


def _state(index_db: str) -> tuple[object, ...]:
    """Return a value that changes with the index files; unique if they changed just now."""
    found: list[object] = []
    for file in (index_db, f"{index_db}-wal"):
        try:
            state = os.stat(file)
        except OSError:
            found.append(None)
        else:
            found.append((state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns))
            if time.time_ns() - state.st_mtime_ns < _SETTLED_NS:
                found.append(object())
    return tuple(found)
