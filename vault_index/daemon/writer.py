"""The one thread that writes: memories first, which somebody waits for, then saved files, other requests, the
reconcile timer, and vectors last."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import EmbeddingQueue, Stepper
from vault_index.daemon.jobs import Job, stopping, with_earlier
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.daemon.system import give_way
from vault_index.daemon.text_sync import TextIndex, TextSync
from vault_index.errors import VaultIndexError
from vault_index.indexer.sync import Interrupted
from vault_index.models import Progress
from vault_index.results import Problem, WorkStatus

log = logging.getLogger(__name__)

Dispatch = Callable[[str, dict[str, Any], Progress], dict[str, Any]]


_AT_ONCE = frozenset({"add", "update", "delete", "prune", "capture"})
"""Requests that take no longer than a few documents: they wait for one document, never for a whole sync."""
_INTERRUPTIBLE = frozenset({"sync", "rebuild"})
_REST_SECONDS = 30.0
"""Without work for so long, and what only work needs is given back."""


class _Stop(BaseException):
    """Raised inside a progress call to leave a job between two documents, because the daemon stops."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration says about the writer's work."""

    debounce: Debounce
    stepper: Stepper
    reconcile_seconds: float
    """0: only at the start."""
    reconciled: Callable[[], object] | None = None
    """What there is to do after each reconcile."""
    rested: Callable[[], object] | None = None
    """What there is to do when work has ended and none came for a while."""


@dataclass(frozen=True, slots=True)
class WriterState:
    """What `status` tells of the writer. Times are ISO 8601 with zone."""

    last_event: str | None
    last_reconcile: str | None
    missed: int
    waiting: int
    """Paths and requests."""
    pending: int
    """Chunks without a vector."""
    problems: tuple[Problem, ...]
    work: WorkStatus | None


class Writer:
    """Owns all writing of the process. `mark`, `submit`, `call` and `state` may be called from any thread."""

    def __init__(
        self,
        index: TextIndex,
        dispatch: Dispatch,
        settings: Settings,
        *,
        on_missed: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dispatch = dispatch
        self._clock = clock
        self._wake = threading.Condition()
        self._wakes_at = 0.0
        self._urgent: deque[Job] = deque()
        self._jobs: deque[Job] = deque()
        self._calls: deque[Callable[[], object]] = deque()
        self._rate = ProgressRate(clock)
        self._vectors = EmbeddingQueue(settings.stepper, self.call, self._rate, clock)
        self._texts = TextSync(index, self._vectors, self._others_wait, on_missed, self._rate, clock)
        self._texts.configure(settings.debounce, settings.reconcile_seconds)
        self._reconciled = settings.reconciled
        self._rested = settings.rested
        self._rest_at: float | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    # --- from any thread -----------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    @property
    def busy_apart(self) -> bool:
        """Whether a step of embedding is under way in another thread."""
        return self._vectors.busy_apart

    def stop(self, timeout: float) -> bool:
        """Leave the current job between two documents; False when it did not come to an end in time."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Have `path` looked at soon. A folder that is there is looked at once more a little later."""
        due = self._texts.mark(path, folder=folder, gone=gone)
        with self._wake:
            if due < self._wakes_at:
                self._wake.notify_all()

    def submit(self, method: str, params: Mapping[str, Any]) -> Job:
        """Queue a client's request."""
        job = Job(method, params)
        with self._wake:
            if self._stopping:
                job.fail(stopping())
            else:
                (self._urgent if method in _AT_ONCE else self._jobs).append(job)
                self._wake.notify_all()
        return job

    def call(self, function: Callable[[], object]) -> None:
        """Have `function` called by the writer's thread, between two jobs; a VaultIndexError of it is logged."""
        with self._wake:
            self._calls.append(function)
            self._wake.notify_all()

    def state(self) -> WriterState:
        texts = self._texts.state()
        with self._wake:
            waiting = texts.waiting + len(self._urgent) + len(self._jobs)
        return WriterState(
            last_event=texts.last_event,
            last_reconcile=texts.last_reconcile,
            missed=texts.missed,
            waiting=waiting,
            pending=self._vectors.pending,
            problems=(*texts.problems, *self._vectors.problems),
            work=self._rate.state(),
        )

    # --- the writer's thread -------------------------------------------------------------------------------

    def configure(self, settings: Settings) -> None:
        """Take new settings, and reconcile now. By way of `call`."""
        self._vectors.use(settings.stepper)
        self._texts.configure(settings.debounce, settings.reconcile_seconds)
        self._reconciled = settings.reconciled
        self._rested = settings.rested

    def _run(self) -> None:
        give_way()
        while (step := self._next_step()) is not None:
            self._rest_at = self._clock() + _REST_SECONDS
            try:
                step()
            except _Stop:
                break
            except Exception as error:  # noqa: BLE001 - one job must not end the daemon
                log_event(log, logging.ERROR, "job failed", error=error_location(error))
        self._fail_all()

    def _next_step(self) -> Callable[[], object] | None:
        """Waits until there is something to do; None when the daemon stops."""
        with self._wake:
            while not self._stopping:
                now = self._clock()
                if step := self._ready(now):
                    self._wakes_at = 0.0
                    return step
                if not self._vectors.busy_apart:
                    self._rate.over()
                times = (self._texts.next_marked(), self._texts.reconcile_at, self._vectors.next_at, self._rest_at)
                self._wakes_at = max(min((at for at in times if at is not None), default=float("inf")), now)
                self._wake.wait(min(self._wakes_at - now, threading.TIMEOUT_MAX))
        return None

    def _ready(self, now: float) -> Callable[[], object] | None:
        if self._urgent:
            urgent = self._urgent.popleft()
            return lambda: self._carry_out(urgent)
        if paths := self._texts.due():
            return lambda: self._texts.save(paths)
        if self._calls:
            return self._guarded(self._calls.popleft())
        if self._jobs:
            job = self._jobs.popleft()
            return lambda: self._carry_out(job)
        for work, at in (
            (self._reconcile, self._texts.reconcile_at),
            (self._vectors.step, self._vectors.next_at),
            (self._rest, self._rest_at),
        ):
            if at is not None and at <= now:
                return work
        return None

    def _reconcile(self) -> None:
        if self._texts.reconcile() and self._reconciled is not None:
            self.call(self._reconciled)

    def _rest(self) -> None:
        self._rest_at = None
        self._guarded(self._vectors.rest)()
        if self._rested is not None:
            self._guarded(self._rested)()

    def _guarded(self, function: Callable[[], object]) -> Callable[[], object]:
        def guarded() -> None:
            try:
                function()
            except VaultIndexError as error:
                log_event(log, logging.ERROR, "failed", code=error.code, message=error.message, hint=error.hint)

        return guarded

    def _carry_out(self, job: Job) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            if self._stopping:
                raise _Stop
            if self._urgent and job.method in _INTERRUPTIBLE:
                raise Interrupted
            self._rate.report(stage, done, total)
            job.report(stage, done, total)

        text, fill = _split(job.method, job.params)
        try:
            result = {} if text is None else self._dispatch(job.method, text, progress)
            result = with_earlier(result, job.earlier)
        except Interrupted as interrupted:
            with self._wake:
                self._jobs.appendleft(job.rest(interrupted.report))
            return
        except VaultIndexError as error:
            job.fail(error)
            return
        except _Stop:
            job.fail(stopping())
            raise
        except Exception as error:  # noqa: BLE001 - one request must not end the daemon
            log_event(log, logging.ERROR, "request failed", method=job.method, error=error_location(error))
            job.fail(VaultIndexError(f"{job.method} failed: {type(error).__name__}", "the daemon's log says where"))
            return
        if fill:
            self._vectors.answer_when_full(job, result, renew=bool(job.params.get("rebuild")))
        else:
            job.finish(result)
            self._vectors.more()

    def _others_wait(self) -> bool:
        """Asked between two documents. Leaves the work when the daemon stops, or a memory is to be written."""
        if self._stopping:
            raise _Stop
        if self._urgent:
            raise Interrupted
        return bool(self._jobs)

    def _fail_all(self) -> None:
        with self._wake:
            self._stopping = True
            jobs = [*self._urgent, *self._jobs]
            self._urgent.clear()
            self._jobs.clear()
        for job in jobs:
            job.fail(stopping())
        self._vectors.fail_all(stopping())


def _split(method: str, params: dict[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """A request as text work now (None: nothing) and whether vectors follow, in small steps between saves."""
    wanted = {name for name, value in params.items() if value}
    if method == "embed" and wanted <= {"rebuild"}:
        return None, True
    if method in ("sync", "rebuild") and params.get("embed", True) and not params.get("dry_run"):
        return params | {"embed": False}, True
    return params, False
