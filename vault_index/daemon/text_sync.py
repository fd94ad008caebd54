"""Keeping the texts of the index up to date: files that were marked, and everything from time to time."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from vault_index.cancel import CancelToken
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import EmbeddingQueue
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.disk import is_under
from vault_index.errors import BusyError, NotInSourceError, UsageError, VaultIndexError
from vault_index.models import Progress
from vault_index.results.base import Problem
from vault_index.results.changes import SyncReport
from vault_index.results.status import WatchStatus
from vault_index.times import iso_time_or_none

log = logging.getLogger(__name__)

_MANY_PATHS = 500
"""More paths than this are cheaper to find by a full scan."""
_TOGETHER_SECONDS = 1.5
"""So much longer what was saved may keep other work waiting: to begin once more with the rest takes a second."""
_AGAIN_SECONDS = 1.0
"""A new folder is looked at once more after this time: its files may be older than the watch on it."""
_BUSY_RETRY, _ERROR_RETRY, _LONGEST_RETRY = 1.0, 30.0, 60.0


class TextIndex(Protocol):
    """What this needs of VaultIndex."""

    def sync(
        self,
        paths: Sequence[str] | None = None,
        *,
        embed: bool = ...,
        progress: Progress = ...,
        cancel: CancelToken | None = ...,
    ) -> SyncReport: ...


class TextSync:
    """`mark`, `watch`, `waiting` and `problems` may be called by any thread, the rest belongs to the writer's."""

    def __init__(
        self,
        index: TextIndex,
        vectors: EmbeddingQueue,
        others_wait: Callable[[float], bool],
        on_missed: Callable[[], object],
        rate: ProgressRate,
        clock: Callable[[], float],
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._others_wait = others_wait
        self._on_missed = on_missed
        self._rate = rate
        self._clock = clock
        self._lock = threading.Lock()
        self._marks = Debounce(0.0, 0.0)
        self._events = 0
        self._last_event: float | None = None
        self._last_reconcile: float | None = None
        self._missed = 0
        self._reconcile_seconds = 0.0
        self.reconcile_at: float | None = None
        self._reconciled = False
        """Whether everything was compared since what there is to index was last another."""
        self._untold = 0
        """What a reconcile that was interrupted has found so far."""
        self._problems: tuple[Problem, ...] = ()
        self._rebuilt: tuple[Problem, ...] = ()
        self._failing: tuple[Problem, ...] = ()
        self._waits: dict[str, float] = {}
        """How many seconds what fails has waited for its last try."""

    def configure(self, marks: Debounce, reconcile_seconds: float) -> None:
        """Take new times (0: no timer), and reconcile as soon as possible. What that finds, nobody missed: no event
        tells what other settings show or hide."""
        with self._lock:
            now = self._clock()
            for path in self._marks.take_all():
                marks.mark(path, now)
            self._marks = marks
            self._reconciled = False
            self._reconcile_seconds = reconcile_seconds
            self.reconcile_at = now

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> float:
        """Have `path` looked at soon; returns when. A folder that is there is looked at again a little later."""
        with self._lock:
            now = self._clock()
            self._events += 1
            self._last_event = time.time()
            if folder and not gone:
                self._marks.mark_later(path, now + _AGAIN_SECONDS)
            return self._marks.mark(path, now, folder=folder, gone=gone)

    def watch(self) -> WatchStatus:
        with self._lock:
            return WatchStatus(
                None, iso_time_or_none(self._last_event), iso_time_or_none(self._last_reconcile), self._missed
            )

    @property
    def waiting(self) -> int:
        """Marked paths."""
        with self._lock:
            return len(self._marks)

    def problems(self) -> tuple[Problem, ...]:
        """What keeps texts out of the index, and what the last reconcile reported."""
        with self._lock:
            # Whether a source is there, or the state is sound, the status sees for itself; that the index was damaged
            # is told to the end.
            passing = (p for p in self._problems if p.code not in ("index_rebuilt", "source_vanished", "state_damaged"))
            return (*self._failing, *self._rebuilt, *passing)

    # --- the writer's thread -------------------------------------------------------------------------------

    def next_marked(self) -> float | None:
        """When a marked path will be due."""
        with self._lock:
            return self._marks.next_due()

    def save_due(self) -> None:
        """Bring the marked paths that are due up to date."""
        with self._lock:
            due = self._marks.due(self._clock())
        if due:
            self.save(due)

    def save(self, paths: tuple[str, ...]) -> bool:
        """Bring these up to date. What fails is tried again; when others wait for long, the rest comes later: False."""
        started = self._clock()
        everything = len(paths) > _MANY_PATHS
        try:
            report = self._sync(None if everything else paths, started + _TOGETHER_SECONDS)
        except VaultIndexError as error:
            self._not_saved(paths, error)
            return True
        if not report.finished:
            with self._lock:
                for path in paths:
                    self._marks.mark(path, self._clock())
            return False
        self._got_in([""] if everything else paths)
        self._note(report, everything=everything)
        if _changes(report) or report.failed:
            _log_sync("saved", report, paths=len(paths), seconds=self._clock() - started)
        return True

    def reconcile(self) -> bool:
        """Compare everything. What it finds although no event told of it, the watcher missed.

        False where that did not come to its end; it is tried again.
        """
        started = self._clock()
        self.reconcile_at = started + _ERROR_RETRY  # should this end by an error nobody thought of
        if self._reconciled and not self._save_waiting():
            self.reconcile_at = self._clock()
            return False
        events = self._events
        try:
            report = self._sync(None, started)
        except VaultIndexError as error:
            log_event(log, logging.ERROR, "not reconciled", code=error.code, message=error.message, hint=error.hint)
            self._fails(error)
            self.reconcile_at = self._clock() + (_BUSY_RETRY if isinstance(error, BusyError) else _ERROR_RETRY)
            return False
        if not report.finished:
            self._untold += self._without_event(report, events)
            self.reconcile_at = self._clock()
            return False
        self._got_in([""])
        self._note(report, everything=True)
        found = self._untold + self._without_event(report, events) if self._reconciled else 0
        with self._lock:
            self._reconciled, self._untold = True, 0
            self._last_reconcile = time.time()
            self._missed += found
        self.reconcile_at = self._clock() + self._reconcile_seconds if self._reconcile_seconds > 0 else None
        _log_sync("reconciled", report, missed=found, seconds=self._clock() - started)
        if found:
            self._on_missed()
        return True

    def _sync(self, paths: Sequence[str] | None, started: float) -> SyncReport:
        try:
            cancel = CancelToken(lambda: self._others_wait(started))
            return self._index.sync(paths, embed=False, progress=self._rate.report, cancel=cancel)
        except VaultIndexError:
            raise
        except Exception as error:  # whatever fails is tried again, and named
            log_event(log, logging.ERROR, "job failed", error=error_location(error))
            raise VaultIndexError(
                f"a defect of vault-index: {type(error).__name__}", "the daemon's log says where"
            ) from error

    def _save_waiting(self) -> bool:
        """What events told of and waits for its turn was not missed. False where that was interrupted."""
        with self._lock:
            waiting = self._marks.take_all()
        return not waiting or self.save(waiting)

    def _without_event(self, report: SyncReport, events: int) -> int:
        """Changes that no event told of, given how many events there had been before."""
        return max(0, _changes(report) - (self._events - events))

    def _not_saved(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        of_one_path = type(error) in (VaultIndexError, UsageError, NotInSourceError)
        if of_one_path and 1 < len(paths) <= _MANY_PATHS:
            for path in paths:  # one file that cannot be read shall not keep the others waiting
                self.save((path,))
        elif isinstance(error, NotInSourceError):  # of a source that is configured no longer
            log_event(log, logging.WARNING, "not saved", code=error.code, message=error.message)
        else:
            self._try_again(paths, error)

    def _try_again(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        """What could not be looked at now is looked at later, at growing intervals; it is never dropped."""
        waits = {path: min(max(self._waits.get(path, 0.0) * 2, _BUSY_RETRY), _LONGEST_RETRY) for path in paths}
        self._waits |= waits
        level = logging.INFO if isinstance(error, BusyError) else logging.ERROR
        log_event(log, level, "not saved", code=error.code, message=error.message, again_in=max(waits.values()))
        self._fails(error)
        with self._lock:
            for path, seconds in waits.items():
                self._marks.mark_later(path, self._clock() + seconds)

    def _got_in(self, places: Sequence[str]) -> None:
        waits = self._waits.items()
        self._waits = {path: wait for path, wait in waits if not any(is_under(place, path) for place in places)}

    def _fails(self, error: VaultIndexError) -> None:
        """Have `status` name what keeps files out of the index, until they get in."""
        if not isinstance(error, BusyError):
            with self._lock:
                self._failing = (Problem("not_saved", f"changes wait to be indexed: {error.message}", error.hint),)

    def _note(self, report: SyncReport, *, everything: bool) -> None:
        # A broken frontmatter is in the index for the status to see, and its words are of no use in a log.
        problems = tuple(problem for problem in report.problems if problem.code != "frontmatter")
        for problem in problems:
            if problem not in self._problems:
                log_event(log, logging.WARNING, problem.message, code=problem.code, hint=problem.hint)
        rebuilt = tuple(problem for problem in problems if problem.code == "index_rebuilt")
        with self._lock:
            self._failing = self._failing if self._waits else ()
            if everything or problems:
                self._problems = problems
            self._rebuilt = rebuilt or self._rebuilt
        if rebuilt:
            self._reconciled = False
            self._vectors.index_was_replaced()
            if not everything:  # the new index holds these few files alone
                self.reconcile_at = self._clock()
        if everything or _changes(report):
            self._vectors.more(report.pending)


def _changes(report: SyncReport) -> int:
    return report.added + report.changed + report.moved + report.removed


def _log_sync(event: str, report: SyncReport, **fields: Any) -> None:
    figures = {
        name: value
        for name in ("added", "changed", "moved", "removed", "chunks", "pending")
        if (value := getattr(report, name))
    }
    log_event(log, logging.INFO, event, **figures, failed=len(report.failed), **fields)
