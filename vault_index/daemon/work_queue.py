"""The queue of the writer's work by priority, with the requests of clients."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple

from vault_index.daemon import protocol
from vault_index.errors import BusyError
from vault_index.progress import Progress
from vault_index.results.changes import SyncReport

Work = Callable[[], object]

_PROGRESS_SECONDS = 0.1
"""Minimum seconds between progress lines."""


class Priority(IntEnum):
    """The order of due work, the most urgent first."""

    MEMORY = 0
    """A short request, for which an agent waits."""
    SAVED_FILES = 1
    INTERNAL = 2
    """Calls of the daemon itself: new settings, results of another thread."""
    REQUEST = 3
    RECONCILE = 4
    VECTORS = 5
    REST = 6


class Timer(NamedTuple):
    """Work that is due at a time given by its owner (None: not now), on the clock of the queue."""

    at: Callable[[], float | None]
    work: Work


class WorkQueue:
    """Filled by any thread, emptied by the writer's; first in, first out within a priority."""

    def __init__(self, timers: Mapping[Priority, Timer], clock: Callable[[], float]) -> None:
        self.closed = False
        self._timers = timers
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: list[tuple[Priority, int, Work]] = []
        self._numbers = count(1)
        self._wakes_at = 0.0
        """When `wait` returns by itself; 0 while no thread waits."""

    def put(self, priority: Priority, work: Work, *, first: bool = False) -> bool:
        """Add work after (or with `first` before) all of its priority.

        False if the queue is closed.
        """
        with self._changed:
            if not self.closed:
                number = next(self._numbers)
                heappush(self._waiting, (priority, -number if first else number, work))
                self._changed.notify()
            return not self.closed

    def wake_by(self, at: float) -> None:
        """Wake the writer if work is due at `at`, before it would wake."""
        with self._changed:
            if at < self._wakes_at:
                self._changed.notify()

    def close(self) -> None:
        """Make `wait` return, and `put` refuse work."""
        with self._changed:
            self.closed = True
            self._changed.notify()

    def take(self) -> Work | None:
        """Return the most urgent due work."""
        with self._changed:
            due = min(self._due_timers(), default=None)
            if self._waiting and (due is None or self._waiting[0][0] < due):
                return heappop(self._waiting)[2]
            return self._timers[due].work if due is not None else None

    def wait(self) -> None:
        """Wait until work is due or the queue is closed."""
        with self._changed:
            while not (self.closed or self._waiting or self._due_timers()):
                times = [at for timer in self._timers.values() if (at := timer.at()) is not None]
                self._wakes_at = min(times, default=float("inf"))
                self._changed.wait(
                    min(max(self._wakes_at - self._clock(), 0.0), threading.TIMEOUT_MAX)
                )
            self._wakes_at = 0.0

    def is_due(self, *priorities: Priority) -> bool:
        """Return whether work of one of these priorities is due."""
        with self._changed:
            return any(priority in priorities for priority, _, _ in self._waiting) or bool(
                self._due_timers(priorities)
            )

    def count(self, *priorities: Priority) -> int:
        """Count the queued work of these priorities."""
        with self._changed:
            return sum(priority in priorities for priority, _, _ in self._waiting)

    def _due_timers(self, among: Iterable[Priority] = Priority) -> list[Priority]:
        now = self._clock()
        timers = [
            (priority, self._timers[priority]) for priority in among if priority in self._timers
        ]
        return [
            priority for priority, timer in timers if (at := timer.at()) is not None and at <= now
        ]


class Job:
    """A client's request.

    The writer's thread runs it, even if the client no longer waits for `answer`.
    """

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = dict(params)
        self.step = ("waiting", 0, 0)
        """The progress: stage, done, total (0 if unknown)."""
        self.answer: Future[Any] = Future()
        """A dataclass of `results`, or a VaultIndexError."""
        self._earlier: list[SyncReport] = []
        """The reports before each interruption."""

    def report(self, stage: str, done: int, total: int) -> None:
        """Record the progress, as a `Progress` callback."""
        self.step = stage, done, total

    def follow(self, progress: Progress) -> Any:
        """Wait for the answer and return it, in the thread of the client's connection.

        Reports progress at each change, at a limited rate, and at every heartbeat.
        """
        seen, beat = self.step, time.monotonic()
        while True:
            try:
                return self.answer.result(_PROGRESS_SECONDS)
            except TimeoutError:
                step, now = self.step, time.monotonic()
                if step != seen or now >= beat + protocol.HEARTBEAT_SECONDS:
                    progress(*step)
                    seen, beat = step, now

    def interrupted(self, done: SyncReport) -> None:
        """Continue as a sync of the rest: an interrupted rebuild has already marked all rows."""
        self._earlier.append(done)
        self.method = "sync"

    def whole(self, answer: Any) -> Any:
        """Add the counts before interruptions, which the last part counts as unchanged."""
        for done in self._earlier:
            answer = replace(
                answer,
                added=answer.added + done.added,
                changed=answer.changed + done.changed,
                moved=answer.moved + done.moved,
                removed=answer.removed + done.removed,
                unchanged=answer.unchanged - done.added - done.changed - done.moved,
                chunks=answer.chunks + done.chunks,
                seconds=round(answer.seconds + done.seconds, 3),
            )
        return answer


def stopping() -> BusyError:
    """Return the error for a request that a stopping daemon does not process."""
    return BusyError("the daemon is stopping", "run the command again; it works without a daemon")
