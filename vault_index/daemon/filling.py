"""When the writer fills vectors, when it tries a failing embedder again, and who waits for the last of them."""

import logging
from typing import Any

from vault_index.daemon.jobs import Job
from vault_index.daemon.log import say
from vault_index.models import EmbedReport, Problem

log = logging.getLogger(__name__)

_FIRST_RETRY, _LAST_RETRY = 5.0, 300.0


class Vectors:
    """Whether there are vectors to fill, and when to try again after an embedder failed."""

    def __init__(self) -> None:
        self.pending = 0
        self.problems: tuple[Problem, ...] = ()
        self.going_on = False
        self.next_at: float | None = None
        self._retry_seconds = 0.0

    def due(self, now: float) -> bool:
        return self.next_at is not None and self.next_at <= now

    def more(self, pending: int | None, *, changed: bool, now: float, at_once: bool = False) -> None:
        """There may be new texts. While an embedder fails, only `at_once` shortens the wait."""
        if pending is not None:
            self.pending = pending
        if changed and (at_once or not self.problems):
            self.going_on, self.next_at = True, now

    def stepped(self, report: EmbedReport, now: float) -> None:
        new = [problem for problem in report.problems if problem not in self.problems]
        for problem in new:
            say(log, logging.WARNING, "embedder failed", code=problem.code, message=problem.message)
        self.problems = report.problems
        if report.problems:
            self._retry_seconds = min(max(self._retry_seconds * 2, _FIRST_RETRY), _LAST_RETRY)
            self.going_on, self.next_at = False, now + self._retry_seconds
        else:
            self._retry_seconds = 0.0
            moved = report.embedded + report.cached > 0 or report.pending != self.pending
            self.going_on = report.pending > 0 and moved
            self.next_at = now if self.going_on else None
        self.pending = report.pending


class Fill:
    """A request that is answered when the vectors are complete, or cannot be for now."""

    def __init__(self, job: Job, result: dict[str, Any], now: float) -> None:
        self.job = job
        self._result = result
        self._started = now
        self._embedded = 0
        self._cached = 0
        self._report: EmbedReport | None = None

    def stepped(self, report: EmbedReport) -> None:
        self._embedded += report.embedded
        self._cached += report.cached
        self._report = report
        done = self._embedded + self._cached
        self.job.report("vectors", done, done + report.pending)

    def finish(self, now: float) -> None:
        report = self._report
        problems = [_as_dict(problem) for problem in report.problems] if report else []
        known = self._result.get("problems", [])
        self.job.finish(
            self._result
            | {
                "embedded": self._result.get("embedded", 0) + self._embedded,
                "cached": self._result.get("cached", 0) + self._cached,
                "pending": report.pending if report else 0,
                "seconds": round(self._result.get("seconds", 0.0) + now - self._started, 3),
                "problems": [*known, *problems],
            }
        )


def _as_dict(problem: Problem) -> dict[str, str]:
    return {"code": problem.code, "message": problem.message, "hint": problem.hint}
