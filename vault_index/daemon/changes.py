"""Report changed documents to waiting clients (request `changes`).

Nothing is stored, and nothing runs without clients. The first request of a scope stores the
documents it may see. Later ones compare them whenever the index files change, so a scope only
learns about its own documents.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable
from typing import Any

from vault_index.errors import BusyError, NotSetUpError, UsageError
from vault_index.runtime import Runtime
from vault_index.store.counts import contents

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
_MOST_KEPT = 1000
"""Maximum number of changes kept for repeated requests; a client further behind must reload."""

Progress = Callable[[], dict[str, Any]]
"""Returns the progress of the daemon's work, as JSON."""
_Contents = dict[tuple[str, str], tuple[str, str, bytes]]


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
        """Return the changes after the serial `since`, or none after `wait` seconds.

        Raises BusyError if too many requests wait, UsageError for an invalid serial or wait.
        """
        if (
            not isinstance(since, str)
            or isinstance(wait, bool)
            or not isinstance(wait, int | float)
            or not wait >= 0
        ):
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
                answer = feed.after(since)
                if (
                    answer["serial"] != since
                    or time.monotonic() >= deadline
                    or self._stopping.is_set()
                ):
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
    """The documents of one scope, and their changes since the first request."""

    def __init__(self, runtime: Callable[[], Runtime], progress: Progress | None) -> None:
        self.asked = time.monotonic()
        self._runtime = runtime
        self._progress = progress
        self._lock = threading.Lock()
        self._name = f"{time.time_ns():x}"
        """The prefix of its serials, which distinguishes them from those of other feeds."""
        self._number = 0
        self._complete = 0
        """The first number since which all changes are kept."""
        self._kept: deque[tuple[int, dict[str, str]]] = deque()
        self._files: tuple[object, ...] = ()
        self._next_poll = 0.0
        self._seen: _Contents | None = None
        self._last_progress: dict[str, Any] | None = None
        self._progress_at = 0.0

    def after(self, serial: str) -> dict[str, Any]:
        """Return the changes after `serial`, as JSON; `reset` if they are no longer all stored."""
        with self._lock:
            self.asked = time.monotonic()
            self._poll()
            self._poll_progress()
            name, _, number = serial.partition("-")
            known = (
                name == self._name and number.isascii() and number.isdigit() and len(number) < 19
            )
            since = int(number) if known else -1
            reset = bool(serial) and not self._complete <= since <= self._number
            changes = (
                [] if reset or not serial else [change for at, change in self._kept if at > since]
            )
            return {
                "serial": f"{self._name}-{self._number}",
                "reset": reset,
                "changes": changes,
                **({} if self._last_progress is None else {"progress": self._last_progress}),
            }

    def _poll(self) -> None:
        """Compare the documents, if the index files changed."""
        runtime = self._runtime()
        files, began = _state(os.fspath(runtime.home.index_db)), time.monotonic()
        if self._seen is not None and (files == self._files or began < self._next_poll):
            return
        try:
            with runtime.pool.lend() as connections:
                now: _Contents = contents(connections.reader)
        except NotSetUpError:  # the index is being rebuilt; until then report no change
            now = self._seen or {}
        self._files, self._next_poll = files, began + _REST * (time.monotonic() - began)
        before, self._seen = self._seen, now
        if before is None or before == now:
            return
        gone = [("removed", place, before[place]) for place in before.keys() - now.keys()]
        new = [("added", place, now[place]) for place in now.keys() - before.keys()]
        changed = [
            ("changed", place, now[place])
            for place in now.keys() & before.keys()
            if now[place] != before[place]
        ]
        changes = [*sorted(gone), *sorted(new + changed, key=lambda one: one[1])]
        self._number += 1
        if len(changes) > _MOST_KEPT:
            self._kept.clear()
            self._complete = self._number
            return
        for change, (source, path), (uid, kind, _) in changes:
            entry = {"change": change, "id": uid, "kind": kind, "source": source, "path": path}
            self._kept.append((self._number, entry))
        while len(self._kept) > _MOST_KEPT:
            self._complete = self._kept.popleft()[0]

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
