"""The queue of missing vectors, with retries and the requests that wait for its end."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.daemon.work_queue import Job, Work
from vault_index.errors import VaultIndexError
from vault_index.results.base import Problem
from vault_index.results.changes import EmbedReport, SyncReport

log = logging.getLogger(__name__)

_FIRST_RETRY, _LAST_RETRY = 5.0, 300.0


class EmbedIndex(Protocol):
    """The part of Runtime that embedding needs."""

    def embed_step(self, renew: bool) -> EmbedReport:
        """Embed one small batch; with `renew`, first discard all vectors."""

    def shrink(self) -> None:
        """Free disk space and memory that only writing needs."""

    def close(self) -> None:
        """Close the index."""


@dataclass(slots=True)
class Stepper:
    """Runs single embedding steps.

    Slow steps (a server) run `apart`, in a thread and with an index of their own.
    """

    open: Callable[[], EmbedIndex]
    apart: bool = False
    _index: EmbedIndex | None = field(default=None, init=False)

    def step(self, renew: bool) -> EmbedReport:
        """Embed one batch; `renew` discards all vectors first.

        Errors become problems of the report.
        """
        try:
            if self._index is None:
                self._index = self.open()
            return self._index.embed_step(renew)
        except VaultIndexError as error:
            problem = Problem(error.code, error.message, error.hint)
        except Exception as error:  # noqa: BLE001 - one step must not end the daemon
            log_event(log, logging.ERROR, "step failed", error=error_location(error))
            problem = Problem(
                "failed",
                f"embedding failed: {type(error).__name__}",
                "see the daemon's log: vault-index logs",
            )
        return EmbedReport(0, 0, 0, 0.0, (problem,))

    def shrink(self) -> None:
        """Free memory that only embedding needs. Call it between steps."""
        if self.apart and self._index is not None:
            self._index.shrink()

    def close(self) -> None:
        """Close the index after the last step."""
        if self.apart and self._index is not None:
            self._index.close()

    def forget(self) -> None:
        """Reopen the index before the next step, because its file was replaced."""
        self._index = None


@dataclass(slots=True)
class _Waiting:
    """A request that is answered when embedding is complete or fails."""

    job: Job
    report: SyncReport | EmbedReport
    started: float

    def add(self, step: EmbedReport, pending: int) -> None:
        self.report = replace(
            self.report,
            embedded=self.report.embedded + step.embedded,
            cached=self.report.cached + step.cached,
            pending=pending,
            problems=(*self.report.problems, *step.problems),
        )
        done = self.report.embedded + self.report.cached
        self.job.report("embed", done, done + pending)

    def finish(self, now: float) -> None:
        self.job.answer.set_result(
            replace(self.report, seconds=round(self.report.seconds + now - self.started, 3))
        )


class EmbeddingQueue:
    """The schedule of embedding steps, with retries, and the requests that wait for their end.

    For the writer's thread only, except `pending` and `problems`, which any thread may read.
    """

    def __init__(
        self,
        stepper: Stepper,
        post: Callable[[Work], object],
        rate: ProgressRate,
        clock: Callable[[], float],
    ) -> None:
        self.pending = 0
        self.problems: tuple[Problem, ...] = ()
        self.busy_apart = False
        """Whether another thread is running a step."""
        self._next_at: float | None = None
        self._stepper = stepper
        self._post = post
        self._rate = rate
        self._clock = clock
        self._filled = 0
        """Vectors filled since the queue was empty."""
        self._waiting: list[_Waiting] = []
        self._retry_seconds = 0.0
        self._renew = False
        self._once_more = False
        # Whether the next step continues after the last one, and so misses texts before it that
        # changed since.
        self._resumes = False

    @property
    def next_at(self) -> float | None:
        """When the next step is due; None if there is none, or one is running."""
        return None if self.busy_apart else self._next_at

    def use(self, stepper: Stepper) -> None:
        """Replace the stepper after a change of the settings, and schedule a step."""
        old, self._stepper = self._stepper, stepper
        if not self.busy_apart:
            old.close()
        self._retry_seconds, self.problems = 0.0, ()
        self.more()

    def rest(self) -> None:
        """Free memory of the separate index after an idle time."""
        if not self.busy_apart:
            self._stepper.shrink()

    def index_was_replaced(self) -> None:
        """Reopen the index before the next step."""
        self._stepper.forget()

    def more(self, pending: int | None = None) -> None:
        """Schedule a step for new texts; a failing embedder is not retried sooner."""
        if pending is not None:
            self.pending = pending
        if not self.problems:
            self._step_now()

    def answer_when_full(self, job: Job, report: SyncReport | EmbedReport, *, renew: bool) -> None:
        """Answer `job` when embedding completes or fails, with `report` plus what was embedded."""
        self._waiting.append(_Waiting(job, report, self._clock()))
        self._renew |= renew
        self._step_now()

    def step(self) -> None:
        """Run the step that is due, in another thread if the stepper runs `apart`."""
        renew, self._renew = self._renew, False
        self._once_more, self._next_at = self._once_more and self._resumes, None
        stepper = self._stepper
        if not stepper.apart:
            self._after(stepper.step(renew))
            return
        self.busy_apart = True

        def after(report: EmbedReport) -> None:
            self.busy_apart = False
            self._after(report)
            if stepper is not self._stepper:  # the settings changed meanwhile
                stepper.close()

        def apart() -> None:
            report = stepper.step(renew)
            self._post(lambda: after(report))

        threading.Thread(target=apart, name="embedding", daemon=True).start()

    def _step_now(self) -> None:
        self._once_more = True
        self._next_at = self._clock()

    def _after(self, report: EmbedReport) -> None:
        for problem in report.problems:
            if problem not in self.problems:
                log_event(
                    log,
                    logging.WARNING,
                    "embedder failed",
                    code=problem.code,
                    message=problem.message,
                )
        self.problems = report.problems
        self._resumes = not report.finished
        if report.problems:
            self._retry_seconds = min(max(self._retry_seconds * 2, _FIRST_RETRY), _LAST_RETRY)
            self._next_at = self._clock() + self._retry_seconds
        else:
            self.pending = report.pending
            self._retry_seconds = 0.0
            self._next_at = None if report.finished and not self._once_more else self._clock()
        self._filled += report.embedded + report.cached
        self._rate.report("embed", self._filled, self._filled + self.pending)
        for waiting in self._waiting:
            waiting.add(report, self.pending)
        if report.problems or self._next_at is None:
            self._filled = 0
            ended, self._waiting = self._waiting, []
            for waiting in ended:
                waiting.finish(self._clock())
