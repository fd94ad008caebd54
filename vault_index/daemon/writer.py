"""The one thread that writes to the index, in the order of `Priority`."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.api.methods import LONG
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import EmbeddingQueue, Stepper
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.daemon.system import give_way
from vault_index.daemon.text_sync import TextIndex, TextSync
from vault_index.daemon.work_queue import Job, Priority, Timer, Work, WorkQueue, stopping
from vault_index.errors import DefectError, VaultIndexError
from vault_index.progress import CancelToken, Progress
from vault_index.results.base import Problem
from vault_index.results.changes import EmbedReport
from vault_index.results.status import WatchStatus, WorkStatus

log = logging.getLogger(__name__)

Call = Callable[[str, dict[str, Any], Progress, CancelToken], Any]
"""Runs a method with its parameters; returns a dataclass of `results`, or a JSON value."""

_INTERRUPTIBLE = frozenset({"sync", "rebuild"})
"""Methods that stop between two documents to let a memory be written."""
_SLICE_SECONDS = 0.5
"""Seconds that the daemon's own sync may delay saved files and requests."""
_REST_SECONDS = 30.0
"""Idle seconds after which the resources for work are freed."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the writer."""

    debounce: Debounce
    stepper: Stepper
    reconcile_seconds: float
    """0: only at the start."""
    reconciled: Work | None = None
    """Called after each reconcile."""
    rested: Work | None = None
    """Called after an idle time."""
    worked: Work = lambda: None
    """Called after each piece of work."""


@dataclass(frozen=True, slots=True)
class WriterState:
    """The state of the writer for `status`."""

    watch: WatchStatus
    """Without the backend, which the watcher adds."""
    waiting: int
    """Number of paths and requests."""
    pending: int
    """Number of chunks without a vector."""
    problems: tuple[Problem, ...]
    work: WorkStatus | None


class Writer:
    """Owns all writing of the process. Any thread may call `mark`, `submit`, `call` and `state`."""

    def __init__(
        self,
        index: TextIndex,
        call: Call,
        settings: Settings,
        *,
        on_missed: Work = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call = call
        self._clock = clock
        self._rate = ProgressRate(clock)
        self._vectors = EmbeddingQueue(settings.stepper, self.call, self._rate, clock)
        self._texts = TextSync(
            index, self._vectors, self._others_wait, on_missed, self._rate, clock
        )
        self._texts.configure(settings.debounce, settings.reconcile_seconds)
        self._settings = settings
        self._rest_at: float | None = None
        timers = {
            Priority.SAVED_FILES: Timer(self._texts.next_marked, self._texts.save_due),
            Priority.RECONCILE: Timer(lambda: self._texts.reconcile_at, self._reconcile),
            Priority.VECTORS: Timer(lambda: self._vectors.next_at, self._vectors.step),
            Priority.REST: Timer(lambda: self._rest_at, self._rest),
        }
        self._queue = WorkQueue(timers, clock)
        self._lock = threading.Lock()
        self._jobs: list[Job] = []
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    # --- any thread -------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the writer's thread."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Return whether the writer's thread runs."""
        return self._thread.is_alive()

    @property
    def busy_apart(self) -> bool:
        """Whether another thread is running an embedding step."""
        return self._vectors.busy_apart

    def stop(self, timeout: float) -> bool:
        """Stop after the current document.

        False if the thread did not end within `timeout` seconds.
        """
        self._queue.close()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Schedule `path` to be read. An existing folder is read again a little later."""
        self._queue.wake_by(self._texts.mark(path, folder=folder, gone=gone))

    def submit(self, method: str, params: Mapping[str, Any]) -> Job:
        """Queue a client's request."""
        job = Job(method, params)
        with self._lock:
            self._jobs = [*(known for known in self._jobs if not known.answer.done()), job]
        priority = Priority.REQUEST if method in LONG else Priority.MEMORY
        if not self._queue.put(priority, lambda: self._carry_out(job)):
            job.answer.set_exception(stopping())
        return job

    def call(self, function: Work) -> None:
        """Queue `function` for the writer's thread; its errors are logged."""
        self._queue.put(Priority.INTERNAL, function)

    def state(self) -> WriterState:
        """Return the state for `status`."""
        return WriterState(
            watch=self._texts.watch(),
            waiting=self._texts.waiting + self._queue.count(Priority.MEMORY, Priority.REQUEST),
            pending=self._vectors.pending,
            problems=(*self._texts.problems(), *self._vectors.problems),
            work=self._rate.state(),
        )

    # --- the writer's thread ----------------------------------------------------------------------

    def configure(self, settings: Settings) -> None:
        """Apply new settings and reconcile. Only in the writer's thread (`call`)."""
        self._settings = settings
        self._vectors.use(settings.stepper)
        self._texts.configure(settings.debounce, settings.reconcile_seconds)

    def _run(self) -> None:
        give_way()
        while not self._queue.closed:
            if (work := self._queue.take()) is None:
                if not self._vectors.busy_apart:
                    self._rate.over()
                self._queue.wait()
                continue
            self._rest_at = self._clock() + _REST_SECONDS
            try:
                work()
            except VaultIndexError as error:
                log_event(
                    log,
                    logging.ERROR,
                    "failed",
                    code=error.code,
                    message=error.message,
                    hint=error.hint,
                )
            except Exception as error:  # noqa: BLE001 - one piece of work must not end the daemon
                log_event(log, logging.ERROR, "job failed", error=error_location(error))
            self._settings.worked()
        with self._lock:
            unanswered = [job for job in self._jobs if not job.answer.done()]
        for job in unanswered:
            job.answer.set_exception(stopping())

    def _reconcile(self) -> None:
        if self._texts.reconcile() and self._settings.reconciled is not None:
            self.call(self._settings.reconciled)

    def _rest(self) -> None:
        self._rest_at = None
        self._vectors.rest()
        if self._settings.rested is not None:
            self._settings.rested()

    def _carry_out(self, job: Job) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            self._rate.report(stage, done, total)
            job.report(stage, done, total)

        def leave() -> bool:
            return self._queue.closed or (
                job.method in _INTERRUPTIBLE and self._queue.is_due(Priority.MEMORY)
            )

        text, fill = _split(job.method, job.params)
        try:
            answer = EmbedReport(0, 0, 0, 0.0)
            if text is not None:
                answer = self._call(job.method, text, progress, CancelToken(leave))
        except VaultIndexError as error:
            job.answer.set_exception(error)
        except Exception as error:  # noqa: BLE001 - one request must not end the daemon
            log_event(
                log, logging.ERROR, "request failed", method=job.method, error=error_location(error)
            )
            job.answer.set_exception(
                DefectError(
                    f"{job.method} failed: {type(error).__name__}",
                    "see the daemon's log: vault-index logs",
                )
            )
        else:
            self._after(job, answer, fill=fill)

    def _after(self, job: Job, answer: Any, *, fill: bool) -> None:
        if not getattr(answer, "finished", True):
            if not self._queue.closed:  # else `_run` answers that the daemon is stopping
                job.interrupted(answer)
                self._queue.put(Priority.REQUEST, lambda: self._carry_out(job), first=True)
        elif fill:
            self._vectors.answer_when_full(
                job, job.whole(answer), renew=bool(job.params.get("rebuild"))
            )
        else:
            job.answer.set_result(job.whole(answer))
            self._vectors.more()

    def _others_wait(self, since: float) -> bool:
        """Return whether a sync that began at `since` should yield to more urgent work."""
        if self._queue.closed or self._queue.is_due(Priority.MEMORY):
            return True
        long = self._clock() - since > _SLICE_SECONDS
        return long and self._queue.is_due(Priority.SAVED_FILES, Priority.REQUEST)


def _split(method: str, params: dict[str, Any]) -> tuple[dict[str, Any] | None, bool]:
    """Split a request into text work (None: nothing) and whether vectors follow in small steps."""
    wanted = {name for name, value in params.items() if value}
    if method == "embed" and wanted <= {"rebuild"}:
        return None, True
    if method in ("sync", "rebuild") and params.get("embed", True) and not params.get("dry_run"):
        return params | {"embed": False}, True
    return params, False
