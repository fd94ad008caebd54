"""What the writer has to do, ordered by priority, and the requests of clients among it."""

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
from vault_index.models import Progress
from vault_index.results.changes import SyncReport

Work = Callable[[], object]

_PROGRESS_SECONDS = 0.1
"""At most one progress line in this time."""


class Priority(IntEnum):
    """The order of what is due at the same time, the most urgent first."""

    MEMORY = 0
    """A request that takes no longer than a few documents, for which an agent waits."""
    SAVED_FILES = 1
    INTERNAL = 2
    """Calls of the daemon itself: new settings, results of another thread."""
    REQUEST = 3
    RECONCILE = 4
    VECTORS = 5
    REST = 6


class Timer(NamedTuple):
    """Work that is due at a time its owner knows (None: not now), on the clock of the queue."""

    at: Callable[[], float | None]
    work: Work


class WorkQueue:
    """Filled by any thread, emptied by the writer's. Work of one priority is done in its order."""

    def __init__(self, timers: Mapping[Priority, Timer], clock: Callable[[], float]) -> None:
        self.closed = False
        self._timers = timers
        self._clock = clock
        self._changed = threading.Condition()
        self._waiting: list[tuple[Priority, int, Work]] = []
        self._numbers = count(1)
        self._wakes_at = 0.0
        """When `wait` returns by itself; 0 while nobody waits."""

    def put(self, priority: Priority, work: Work, *, first: bool = False) -> bool:
        """Add work behind (or with `first` before) all of its priority; False once the queue is closed."""
        with self._changed:
            if not self.closed:
                number = next(self._numbers)
                heappush(self._waiting, (priority, -number if first else number, work))
                self._changed.notify()
            return not self.closed

    def wake_by(self, at: float) -> None:
        """The timers have changed, so that work is due at `at`."""
        with self._changed:
            if at < self._wakes_at:
                self._changed.notify()

    def close(self) -> None:
        """Have `wait` return, and `put` take nothing more."""
        with self._changed:
            self.closed = True
            self._changed.notify()

    def take(self) -> Work | None:
        """The most urgent work that is due."""
        with self._changed:
            due = min(self._due_timers(), default=None)
            if self._waiting and (due is None or self._waiting[0][0] < due):
                return heappop(self._waiting)[2]
            return self._timers[due].work if due is not None else None

    def wait(self) -> None:
        """Return as soon as work is due or the queue is closed."""
        with self._changed:
            while not (self.closed or self._waiting or self._due_timers()):
                times = [at for timer in self._timers.values() if (at := timer.at()) is not None]
                self._wakes_at = min(times, default=float("inf"))
                self._changed.wait(min(max(self._wakes_at - self._clock(), 0.0), threading.TIMEOUT_MAX))
            self._wakes_at = 0.0

    def is_due(self, *priorities: Priority) -> bool:
        """Whether work of one of these priorities could be done now."""
        with self._changed:
            return any(priority in priorities for priority, _, _ in self._waiting) or bool(self._due_timers(priorities))

    def count(self, *priorities: Priority) -> int:
        """How much was put and not yet taken."""
        with self._changed:
            return sum(priority in priorities for priority, _, _ in self._waiting)

    def _due_timers(self, among: Iterable[Priority] = Priority) -> list[Priority]:
        now = self._clock()
        timers = [(priority, self._timers[priority]) for priority in among if priority in self._timers]
        return [priority for priority, timer in timers if (at := timer.at()) is not None and at <= now]


class Job:
    """A client's request. The writer's thread carries it out, whether or not the client's still waits for `answer`."""

    def __init__(self, method: str, params: Mapping[str, Any]) -> None:
        self.method = method
        self.params = dict(params)
        self.step = ("waiting", 0, 0)
        """How far it is: the stage, what is done of it and the total, 0 where that is not known."""
        self.answer: Future[Any] = Future()
        """A dataclass of `results`, or a VaultIndexError."""
        self._earlier: list[SyncReport] = []
        """What was done before each interruption."""

    def report(self, stage: str, done: int, total: int) -> None:
        self.step = stage, done, total

    def follow(self, progress: Progress) -> Any:
        """The answer, in the thread of whoever waits for it, who is told how far it is: each change, but not too many,
        and one at least every heartbeat."""
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
        """Make this the request for the rest: an interrupted rebuild has marked all rows, and goes on as a sync."""
        self._earlier.append(done)
        self.method = "sync"

    def whole(self, answer: Any) -> Any:
        """The answer with what was done before the interruptions, which the last part found unchanged."""
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
    """What a request fails with that the daemon does not get to any more."""
    return BusyError("the daemon is stopping", "run the command again; it works without a daemon")
