"""The queue of missing vectors: filled in small steps, retried after a failure, with whoever waits for its end."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from vault_index.daemon.jobs import Job
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.errors import VaultIndexError
from vault_index.models import Progress
from vault_index.results import EmbedReport, Problem

log = logging.getLogger(__name__)

_FIRST_RETRY, _LAST_RETRY = 5.0, 300.0


class EmbedIndex(Protocol):
    """What filling needs of VaultIndex."""

    def embed_step(self) -> EmbedReport: ...

    def embed(self, *, rebuild: bool = ..., progress: Progress = ...) -> Any: ...

    def shrink(self) -> None: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Stepper:
    """Carries out single steps. `apart` steps may take long (a server) and run in a thread of their own, which
    needs an index of its own."""

    open: Callable[[], EmbedIndex]
    apart: bool = False
    _index: EmbedIndex | None = field(default=None, init=False)

    def step(self, renew: bool) -> EmbedReport:
        """One step; `renew` begins all vectors anew. What fails is a problem of the report, never raised."""
        try:
            if self._index is None:
                self._index = self.open()
            return _begin(self._index) if renew else self._index.embed_step()
        except VaultIndexError as error:
            problem = Problem(error.code, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - one step must not end the daemon
            log_event(log, logging.ERROR, "step failed", error=error_location(error))
            problem = Problem("failed", f"embedding failed: {type(error).__name__}", "the daemon's log says where")
        return EmbedReport(0, 0, 0, 0.0, (problem,))

    def shrink(self) -> None:
        """Give back what only work needs; no step is under way."""
        if self.apart and self._index is not None:
            self._index.shrink()

    def close(self) -> None:
        """There will be no more steps, and none is under way."""
        if self.apart and self._index is not None:
            self._index.close()
            self._index = None

    def forget(self) -> None:
        """Open the index again before the next step: its file was replaced."""
        if self.apart:
            self._index = None


class _Begun(BaseException):
    """Leaves `embed` after its first step: the others are done one by one, between saves."""


def _begin(index: EmbedIndex) -> EmbedReport:
    reached = [0, 0]

    def leave(stage: str, done: int, total: int) -> None:
        reached[:] = done, total
        raise _Begun

    try:
        report = index.embed(rebuild=True, progress=leave)
    except _Begun:
        return EmbedReport(reached[0], 0, reached[1] - reached[0], 0.0)
    assert isinstance(report, EmbedReport)
    return report


class EmbeddingQueue:
    """Used by the writer's thread alone, but for `pending` and `problems`, which anybody may read."""

    def __init__(
        self,
        stepper: Stepper,
        post: Callable[[Callable[[], object]], None],
        rate: ProgressRate,
        clock: Callable[[], float],
    ) -> None:
        self.pending = 0
        self.problems: tuple[Problem, ...] = ()
        self._next_at: float | None = None
        self._stepper = stepper
        self._post = post
        self._rate = rate
        self._clock = clock
        self._filled = 0
        """Vectors since there were none missing."""
        self._waiting: list[_Waiting] = []
        self._retry_seconds = 0.0
        self._renew = False
        self._under_way = False
        self._once_more = False

    @property
    def busy_apart(self) -> bool:
        """Whether another thread is in the middle of a step."""
        return self._under_way

    @property
    def next_at(self) -> float | None:
        """When the next step is due; None when there is none to do, or one is under way."""
        return None if self._under_way else self._next_at

    def use(self, stepper: Stepper) -> None:
        old, self._stepper = self._stepper, stepper
        if not self._under_way:
            old.close()
        self._retry_seconds, self.problems = 0.0, ()
        self.more()

    def rest(self) -> None:
        """Nothing was to do for a while. The index that steps have for themselves holds as much memory as any."""
        if not self._under_way:
            self._stepper.shrink()

    def index_was_replaced(self) -> None:
        self._stepper.forget()

    def more(self, pending: int | None = None) -> None:
        """There may be new texts. A failing embedder is not tried sooner for them."""
        if pending is not None:
            self.pending = pending
        if not self.problems:
            self._now()

    def answer_when_full(self, job: Job, result: dict[str, Any], *, renew: bool) -> None:
        """Finish `job` with `result` and what was embedded, when nothing is left to embed or it fails."""
        self._waiting.append(_Waiting(job, result, self._clock()))
        self._renew |= renew
        self._now()

    def step(self) -> None:
        renew, self._renew = self._renew, False
        self._once_more, self._next_at = False, None
        stepper = self._stepper
        if not stepper.apart:
            self._after(stepper.step(renew))
            return
        self._under_way = True

        def after(report: EmbedReport) -> None:
            self._under_way = False
            self._after(report)
            if stepper is not self._stepper:  # there are new settings since
                stepper.close()

        def apart() -> None:
            report = stepper.step(renew)
            self._post(lambda: after(report))

        threading.Thread(target=apart, name="embedding", daemon=True).start()

    def fail_all(self, error: VaultIndexError) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.job.fail(error)

    def _now(self) -> None:
        self._once_more = True
        self._next_at = self._clock()

    def _after(self, report: EmbedReport) -> None:
        for problem in report.problems:
            if problem not in self.problems:
                log_event(log, logging.WARNING, "embedder failed", code=problem.code, message=problem.message)
        # The step after the last one moves nothing, but it is the one that lets new vectors serve.
        moved = report.embedded + report.cached > 0 or report.pending != self.pending
        self.problems = report.problems
        if not report.problems:
            self.pending = report.pending
        self._filled += report.embedded + report.cached
        self._rate.report("embed", self._filled, self._filled + self.pending)
        for one in self._waiting:
            one.after(report, self.pending)
        if report.problems:
            self._retry_seconds = min(max(self._retry_seconds * 2, _FIRST_RETRY), _LAST_RETRY)
            self._next_at = self._clock() + self._retry_seconds
        else:
            self._retry_seconds = 0.0
            self._next_at = self._clock() if moved or self._once_more else None
        if report.problems or self._next_at is None:
            self._filled = 0
            waiting, self._waiting = self._waiting, []
            for one in waiting:
                one.finish(self._clock(), self.pending)


class _Waiting:
    """A request that is answered when the vectors are complete, or cannot be for now."""

    def __init__(self, job: Job, result: dict[str, Any], now: float) -> None:
        self.job = job
        self._result = result
        self._started = now
        self._embedded = 0
        self._cached = 0
        self._problems: tuple[Problem, ...] = ()

    def after(self, report: EmbedReport, pending: int) -> None:
        self._embedded += report.embedded
        self._cached += report.cached
        self._problems = report.problems
        done = self._embedded + self._cached
        self.job.report("embed", done, done + pending)

    def finish(self, now: float, pending: int) -> None:
        problems = [
            {"code": problem.code, "message": problem.message, "hint": problem.hint} for problem in self._problems
        ]
        self.job.finish(
            self._result
            | {
                "embedded": self._result.get("embedded", 0) + self._embedded,
                "cached": self._result.get("cached", 0) + self._cached,
                "pending": pending,
                "seconds": round(self._result.get("seconds", 0.0) + now - self._started, 3),
                "problems": [*self._result.get("problems", []), *problems],
            }
        )
