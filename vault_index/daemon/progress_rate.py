"""Compute rate and remaining time of long work from its progress reports."""

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from vault_index.results.status import WorkStatus

_SHORT = 1.0
"""Work shorter than this many seconds shows no rate."""
_WINDOW = 30.0
"""Seconds over which the rate is measured: long enough to be stable, short enough to adapt."""
_BREATH = 0.25
"""Minimum seconds between two stored points."""


class _Moment(NamedTuple):
    at: float
    done: int
    """The count since the stage began, over all parts."""


class ProgressRate:
    """The progress of one piece of work. Safe for several threads.

    Work interrupted for a saved file counts from zero again but keeps its rate.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._stage = ""
        self._done = self._total = 0
        self._earlier = 0
        """The count of the earlier parts."""
        self._moments: deque[_Moment] = deque()

    def report(self, stage: str, done: int, total: int) -> None:
        """Record the progress of a stage, as a `Progress` callback."""
        now = self._clock()
        with self._lock:
            if stage != self._stage or (self._moments and now - self._moments[-1].at > _WINDOW):
                self._moments.clear()
                self._stage, self._earlier = stage, -done
            elif done < self._done:
                self._earlier += self._done
            self._done, self._total = done, total
            self._remember(_Moment(now, self._earlier + done))

    def over(self) -> None:
        """End the current work."""
        with self._lock:
            self._stage = ""
            self._moments.clear()

    def state(self) -> WorkStatus | None:
        """Return the progress; None if there is no long work."""
        with self._lock:
            if not self._moments:
                return None
            first, last = self._moments[0], self._moments[-1]
            seconds, done = last.at - first.at, last.done - first.done
            if seconds < _SHORT or self._clock() - last.at > _WINDOW:
                return None
            rate = done / seconds
            left = round((self._total - self._done) / rate) if rate and self._total else None
            return WorkStatus(self._stage, self._done, self._total, round(rate, 1), left)

    def _remember(self, moment: _Moment) -> None:
        if len(self._moments) > 1 and moment.at - self._moments[-2].at < _BREATH:
            self._moments.pop()
        self._moments.append(moment)
        while len(self._moments) > 2 and moment.at - self._moments[0].at > _WINDOW:
            self._moments.popleft()
