"""The one thread that writes: saved files first, then clients' requests, the reconcile timer, and vectors last."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from vault_index.daemon.debounce import Debounce
from vault_index.daemon.filling import Filling, Stepper
from vault_index.daemon.jobs import Job, Progress, stopping
from vault_index.daemon.log import say, where
from vault_index.errors import BusyError, UsageError, VaultIndexError
from vault_index.models import Problem, SyncReport

log = logging.getLogger(__name__)

_MANY_PATHS = 500
"""More paths than this are cheaper to find by a full scan."""
_AGAIN_SECONDS = 1.0
"""A new folder is looked at once more after this time: its files may be older than the watch on it."""
_PREEMPT_SECONDS = 0.5
"""How long a reconcile may keep a saved file waiting."""
_BUSY_RETRY, _ERROR_RETRY, _LONGEST_RETRY = 1.0, 30.0, 60.0


class Index(Protocol):
    """What the writer needs of VaultIndex."""

    def sync(
        self,
        paths: Sequence[str] | None = None,
        *,
        embed: bool = True,
        progress: Progress = ...,
    ) -> SyncReport: ...


Dispatch = Callable[[str, dict[str, Any], Progress], dict[str, Any]]


class _Leave(BaseException):
    """Raised inside a progress call to leave a long job between two documents; not an Exception, so that
    nothing that guards one document swallows it."""


class _Stop(_Leave):
    """The daemon stops."""


class _Preempt(_Leave):
    """A saved file waits."""


@dataclass(frozen=True, slots=True)
class WriterState:
    """What `status` tells of the writer. Times are ISO 8601 with zone."""

    last_event: str | None = None
    last_reconcile: str | None = None
    missed: int = 0
    """Changes that only a later reconcile found."""
    waiting: int = 0
    pending: int = 0
    problems: tuple[Problem, ...] = ()


class Writer:
    """Owns all writing of the process. `mark`, `submit` and `state` may be called from any thread."""

    def __init__(
        self,
        index: Index,
        dispatch: Dispatch,
        debounce: Debounce,
        stepper: Stepper,
        *,
        reconcile_seconds: float,
        on_missed: Callable[[], object] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index = index
        self._dispatch = dispatch
        self._marks = debounce
        self._reconcile_seconds = reconcile_seconds
        self._on_missed = on_missed
        self._clock = clock
        self._wake = threading.Condition()
        self._wakes_at = 0.0
        self._jobs: deque[Job] = deque()
        self._calls: deque[Callable[[], object]] = deque()
        self._events = 0
        self._last_event: float | None = None
        self._last_reconcile: float | None = None
        self._missed = 0
        self._reconcile_at: float | None = clock()
        self._reconciled = False
        self._vectors = Filling(stepper, self.call, clock)
        self._sync_problems: tuple[Problem, ...] = ()
        self._rebuilt: tuple[Problem, ...] = ()
        self._retry_seconds = 0.0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    # --- from any thread -----------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self, timeout: float) -> bool:
        """Leave the current job between two documents; False when it did not come to an end in time."""
        with self._wake:
            self._stopping = True
            self._wake.notify_all()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Have `path` looked at soon. A folder that is there is looked at once more a little later."""
        with self._wake:
            now = self._clock()
            self._events += 1
            self._last_event = time.time()
            due = self._marks.mark(path, now, folder=folder, gone=gone)
            if folder and not gone:
                self._marks.mark_later(path, now + _AGAIN_SECONDS)
            if due < self._wakes_at:
                self._wake.notify_all()

    def submit(self, method: str, params: Mapping[str, Any]) -> Job:
        """Queue a client's request."""
        job = Job(method, params)
        with self._wake:
            if self._stopping:
                job.fail(stopping())
            else:
                self._jobs.append(job)
                self._wake.notify_all()
        return job

    def call(self, function: Callable[[], object]) -> None:
        """Have `function` called by the writer's thread, between two jobs; a VaultIndexError of it is logged."""
        with self._wake:
            self._calls.append(function)
            self._wake.notify_all()

    @property
    def busy_apart(self) -> bool:
        """Whether a step of embedding is under way in another thread."""
        return self._vectors.busy_apart

    def configure(self, debounce: Debounce, stepper: Stepper, reconcile_seconds: float) -> None:
        """Take new settings, and reconcile now. Called by the writer's thread."""
        self._vectors.use(stepper)
        with self._wake:
            for path in self._marks.take_all():
                debounce.mark(path, self._clock())
            self._marks = debounce
            self._reconcile_seconds = reconcile_seconds
            self._reconcile_at = self._clock()
            self._wake.notify_all()

    def state(self) -> WriterState:
        with self._wake:
            return WriterState(
                last_event=_iso(self._last_event),
                last_reconcile=_iso(self._last_reconcile),
                missed=self._missed,
                waiting=len(self._marks) + len(self._jobs),
                pending=self._vectors.pending,
                problems=(*self._lasting_problems(), *self._vectors.problems),
            )

    def _lasting_problems(self) -> tuple[Problem, ...]:
        # Whether a source is there, the status looks for itself; that the index was damaged is told until the end.
        known = (*self._rebuilt, *(problem for problem in self._sync_problems if problem.code != "index_rebuilt"))
        return tuple(problem for problem in known if problem.code != "source_vanished")

    # --- the writer's thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while (step := self._next_step()) is not None:
            try:
                step()
            except _Stop:
                break
            except Exception as error:  # noqa: BLE001 - one job must not end the daemon
                say(log, logging.ERROR, "job failed", error=where(error))
        self._fail_all()

    def _next_step(self) -> Callable[[], object] | None:
        """Waits until there is something to do; None when the daemon stops."""
        with self._wake:
            while not self._stopping:
                now = self._clock()
                step = self._ready(now)
                if step is not None:
                    self._wakes_at = 0.0
                    return step
                self._wakes_at = self._next_time(now)
                self._wake.wait(min(self._wakes_at - now, threading.TIMEOUT_MAX))
        return None

    def _ready(self, now: float) -> Callable[[], object] | None:
        if paths := self._marks.due(now):
            return lambda: self._save(paths)
        if self._calls:
            return self._run_call(self._calls.popleft())
        if self._jobs:
            job = self._jobs.popleft()
            return lambda: self._carry_out(job)
        if self._reconcile_at is not None and self._reconcile_at <= now:
            return self._reconcile
        vectors_at = self._vectors.next_at
        return self._vectors.step if vectors_at is not None and vectors_at <= now else None

    def _next_time(self, now: float) -> float:
        times = (self._marks.next_due(), self._reconcile_at, self._vectors.next_at)
        return max(min((t for t in times if t is not None), default=float("inf")), now)

    def _run_call(self, function: Callable[[], object]) -> Callable[[], object]:
        def guarded() -> None:
            try:
                function()
            except VaultIndexError as error:
                say(log, logging.ERROR, "failed", code=error.code, message=error.message, hint=error.hint)

        return guarded

    # --- saved files and the timer -------------------------------------------------------------------------

    def _save(self, paths: tuple[str, ...]) -> None:
        started = self._clock()
        everything = len(paths) > _MANY_PATHS
        try:
            report = self._index.sync(
                None if everything else paths, embed=False, progress=self._leave_for_saves(started)
            )
        except _Preempt:  # a large folder came: go on with it after the others
            with self._wake:
                for path in paths:
                    self._marks.mark(path, self._clock())
        except VaultIndexError as error:
            self._not_saved(paths, error)
        else:
            self._retry_seconds = 0.0
            self._note(report, everything=everything)
            if _changes(report) or report.failed:
                _log_sync("saved", report, paths=len(paths), seconds=self._clock() - started)

    def _not_saved(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        of_one_path = isinstance(error, UsageError) or type(error) is VaultIndexError
        if of_one_path and 1 < len(paths) <= _MANY_PATHS:
            for path in paths:  # one file that cannot be read shall not keep the others waiting
                self._save((path,))
        elif isinstance(error, UsageError):  # of a source that is configured no longer
            say(log, logging.WARNING, "not saved", code=error.code, message=error.message)
        else:
            self._try_again(paths, error)

    def _try_again(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        """What could not be looked at now is looked at later, at growing intervals; it is never dropped."""
        self._retry_seconds = min(max(self._retry_seconds * 2, _BUSY_RETRY), _LONGEST_RETRY)
        level = logging.INFO if isinstance(error, BusyError) else logging.ERROR
        say(log, level, "not saved", code=error.code, message=error.message, again_in=self._retry_seconds)
        with self._wake:
            for path in paths:
                self._marks.mark_later(path, self._clock() + self._retry_seconds)

    def _reconcile(self) -> None:
        """Compare everything. What it finds although no event told of it, the watcher missed."""
        with self._wake:
            waiting = self._marks.take_all()
            first, self._reconcile_at = not self._reconciled, None
        started, found, events = self._clock(), 0, self._events
        try:
            if waiting and not first:
                self._save(waiting)
            report = self._index.sync(None, embed=False, progress=self._leave_for_saves(started))
        except _Preempt:
            self._reconcile_at = self._clock()
            return
        except VaultIndexError as error:
            say(log, logging.ERROR, "not reconciled", code=error.code, message=error.message, hint=error.hint)
            self._reconcile_at = self._clock() + (_BUSY_RETRY if isinstance(error, BusyError) else _ERROR_RETRY)
            return
        self._note(report, everything=True)
        found = 0 if first else max(0, _changes(report) - (self._events - events))
        with self._wake:
            self._reconciled = True
            self._last_reconcile = time.time()
            self._missed += found
            if self._reconcile_seconds > 0:
                self._reconcile_at = self._clock() + self._reconcile_seconds
        _log_sync("reconciled", report, missed=found, seconds=self._clock() - started)
        if found:
            self._on_missed()

    def _note(self, report: SyncReport, *, everything: bool) -> None:
        for problem in report.problems:
            if problem not in self._sync_problems:
                say(log, logging.WARNING, problem.message, code=problem.code, hint=problem.hint)
        if everything or report.problems:
            self._sync_problems = report.problems
        rebuilt = tuple(problem for problem in report.problems if problem.code == "index_rebuilt")
        if rebuilt:
            self._rebuilt = rebuilt
            self._vectors.index_was_replaced()
            if not everything:  # the new index holds these few files alone
                self._reconcile_at = self._clock()
        if everything or _changes(report):
            self._vectors.more(report.pending)

    def _stop_or_go_on(self, stage: str, done: int, total: int) -> None:
        if self._stopping:
            raise _Stop

    def _leave_for_saves(self, started: float) -> Progress:
        def check(stage: str, done: int, total: int) -> None:
            self._stop_or_go_on(stage, done, total)
            now = self._clock()
            if now - started > _PREEMPT_SECONDS:
                with self._wake:
                    due = self._marks.next_due()
                    waits = bool(self._jobs) or (due is not None and due <= now)
                if waits:
                    raise _Preempt

        return check

    # --- requests and vectors ------------------------------------------------------------------------------

    def _carry_out(self, job: Job) -> None:
        def progress(stage: str, done: int, total: int) -> None:
            self._stop_or_go_on(stage, done, total)
            job.report(stage, done, total)

        text, fill = _split(job.method, job.params)
        try:
            result = {} if text is None else self._dispatch(job.method, text, progress)
        except VaultIndexError as error:
            job.fail(error)
            return
        except _Stop:
            job.fail(stopping())
            raise
        except Exception as error:  # noqa: BLE001 - one request must not end the daemon
            say(log, logging.ERROR, "request failed", method=job.method, error=where(error))
            job.fail(VaultIndexError(f"{job.method} failed: {type(error).__name__}", "the daemon's log says where"))
            return
        if fill:
            self._vectors.answer_when_full(job, result, renew=bool(job.params.get("rebuild")))
        else:
            job.finish(result)
            self._vectors.more()

    def _fail_all(self) -> None:
        with self._wake:
            self._stopping = True
            jobs = list(self._jobs)
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


def _changes(report: SyncReport) -> int:
    return report.added + report.changed + report.moved + report.removed


def _log_sync(event: str, report: SyncReport, **fields: Any) -> None:
    figures = {
        name: value
        for name in ("added", "changed", "moved", "removed", "chunks", "pending")
        if (value := getattr(report, name))
    }
    say(log, logging.INFO, event, **figures, failed=len(report.failed), **fields)


def _iso(seconds: float | None) -> str | None:
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")
