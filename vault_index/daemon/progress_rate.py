"""How far long work is, how fast it goes, and how long it will take: what was reported of it in, what to tell out."""

import threading
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from vault_index.results.status import WorkStatus

_SHORT = 1.0
"""Work of so few seconds is over before anybody has read how long it takes."""
_WINDOW = 30.0
"""Seconds whose rate counts: long enough to be even, short enough to notice that a machine got busy."""
_BREATH = 0.25
"""Seconds between two moments that are remembered."""


class _Moment(NamedTuple):
    at: float
    done: int
    """Since the stage began, over all parts of it."""


class ProgressRate:
    """Work that is interrupted for a saved file begins to count anew and keeps its rate. For any thread."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._stage = ""
        self._done = self._total = 0
        self._earlier = 0
        """What was done in the parts before this one."""
        self._moments: deque[_Moment] = deque()

    def report(self, stage: str, done: int, total: int) -> None:
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
        """Nothing is left to do; what comes next is another piece of work."""
        with self._lock:
            self._stage = ""
            self._moments.clear()

    def state(self) -> WorkStatus | None:
        """None while there is no long work."""
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
