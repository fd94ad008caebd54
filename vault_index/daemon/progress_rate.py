"""Compute rate and remaining time of long work from its progress reports."""

import threading
from collections.abc import Callable

from vault_index.results.status import WorkStatus

_SHORT = 1.0
"""Work shorter than this many seconds shows no rate."""
_SILENCE = 30.0
"""Seconds without a report after which the work counts as over."""


class ProgressRate:
    """The progress of one piece of work. Safe for several threads.

    The rate is the mean since the stage began. Work interrupted for a saved file counts from zero
    again but keeps its rate.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._stage = ""
        self._done = self._total = 0
        self._earlier = 0
        """The count of the earlier parts, without what was done at the first report."""
        self._began = self._reported = 0.0

    def report(self, stage: str, done: int, total: int) -> None:
        """Record the progress of a stage, as a `Progress` callback."""
        now = self._clock()
        with self._lock:
            if stage != self._stage or now - self._reported > _SILENCE:
                self._stage, self._began, self._earlier = stage, now, -done
            elif done < self._done:
                self._earlier += self._done
            self._done, self._total, self._reported = done, total, now

    def over(self) -> None:
        """End the current work."""
        with self._lock:
            self._stage = ""

    def state(self) -> WorkStatus | None:
        """Return the progress; None if there is no long work."""
        with self._lock:
            seconds, silence = self._reported - self._began, self._clock() - self._reported
            if not self._stage or seconds < _SHORT or silence > _SILENCE:
                return None
            rate = (self._earlier + self._done) / seconds
            left = round((self._total - self._done) / rate) if rate and self._total else None
            return WorkStatus(self._stage, self._done, self._total, round(rate, 1), left)
