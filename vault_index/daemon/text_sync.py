"""Keep the texts of the index up to date: marked files at once, everything at intervals."""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import EmbeddingQueue
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.disk import is_under
from vault_index.errors import BusyError, NotInSourceError, UsageError, VaultIndexError
from vault_index.progress import CancelToken, Progress
from vault_index.results.base import Problem
from vault_index.results.changes import SyncReport
from vault_index.results.status import WatchStatus
from vault_index.times import iso_time_or_none

log = logging.getLogger(__name__)

_MANY_PATHS = 500
"""Number of paths above which a full scan is cheaper."""
_TOGETHER_SECONDS = 1.5
"""Extra seconds that a sync of saved files may delay other work, because a restart with the rest
takes a second.
"""
_AGAIN_SECONDS = 1.0
"""Seconds after which a new folder is read again: its files may be older than its watch."""
_BUSY_RETRY, _ERROR_RETRY, _LONGEST_RETRY = 1.0, 30.0, 60.0


class TextIndex(Protocol):
    """The part of VaultIndex that text sync needs."""

    def sync(
        self,
        paths: Sequence[str] | None = None,
        *,
        embed: bool = ...,
        progress: Progress = ...,
        cancel: CancelToken | None = ...,
    ) -> SyncReport:
        """Sync the given paths, or everything, as `VaultIndex.sync` does."""


class TextSync:
    """The schedule of marked paths and full comparisons.

    Any thread may call `mark`, `watch`, `waiting` and `problems`; all else belongs to the writer's
    thread.
    """

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
        """Whether a full comparison has finished since the sources or the index last changed."""
        self._found_so_far = 0
        """Changes that an interrupted reconcile has found so far."""
        self._problems: tuple[Problem, ...] = ()
        self._rebuilt: tuple[Problem, ...] = ()
        self._failing: tuple[Problem, ...] = ()
        self._waits: dict[str, float] = {}
        """The last retry interval in seconds, by path."""

    def configure(self, marks: Debounce, reconcile_seconds: float) -> None:
        """Apply new intervals (0: no timer), and reconcile soon.

        Changes found by this reconcile do not count as missed, because no event reports documents
        that new settings show or hide.
        """
        with self._lock:
            now = self._clock()
            for path in self._marks.take_all():
                marks.mark(path, now)
            self._marks = marks
            self._reconciled = False
            self._reconcile_seconds = reconcile_seconds
            self.reconcile_at = now

    def mark(self, path: str, *, folder: bool = False, gone: bool = False) -> float:
        """Schedule `path` to be read; return when it is due. An existing folder is read twice."""
        with self._lock:
            now = self._clock()
            self._events += 1
            self._last_event = time.time()
            if folder and not gone:
                self._marks.mark_later(path, now + _AGAIN_SECONDS)
            return self._marks.mark(path, now, folder=folder, gone=gone)

    def watch(self) -> WatchStatus:
        """Return times and counts of the watch for `status`, without the backend."""
        with self._lock:
            return WatchStatus(
                None,
                iso_time_or_none(self._last_event),
                iso_time_or_none(self._last_reconcile),
                self._missed,
            )

    @property
    def waiting(self) -> int:
        """The number of marked paths."""
        with self._lock:
            return len(self._marks)

    def problems(self) -> tuple[Problem, ...]:
        """Return what keeps texts out of the index, and the problems of the last reconcile."""
        with self._lock:
            # Leave out what `status` checks itself; a rebuilt index stays reported until the daemon
            # ends.
            passing = (
                p
                for p in self._problems
                if p.code not in ("index_rebuilt", "source_vanished", "state_damaged")
            )
            return (*self._failing, *self._rebuilt, *passing)

    # --- the writer's thread ----------------------------------------------------------------------

    def next_marked(self) -> float | None:
        """Return when a marked path is due."""
        with self._lock:
            return self._marks.next_due()

    def save_due(self) -> None:
        """Sync the marked paths that are due."""
        with self._lock:
            due = self._marks.due(self._clock())
        if due:
            self.save(due)

    def save(self, paths: tuple[str, ...]) -> bool:
        """Sync these paths; failed ones are retried. False if interrupted by waiting work."""
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
        self._clear_waits([""] if everything else paths)
        self._note(report, everything=everything)
        if _changes(report) or report.failed:
            _log_sync("saved", report, paths=len(paths), seconds=self._clock() - started)
        return True

    def reconcile(self) -> bool:
        """Compare everything. A change without an event counts as missed by the watcher.

        False if it did not finish; it is then repeated.
        """
        started = self._clock()
        self.reconcile_at = started + _ERROR_RETRY  # in case of an unexpected error
        if self._reconciled and not self._save_waiting():
            self.reconcile_at = self._clock()
            return False
        events = self._events
        try:
            report = self._sync(None, started)
        except VaultIndexError as error:
            log_event(
                log,
                logging.ERROR,
                "not reconciled",
                code=error.code,
                message=error.message,
                hint=error.hint,
            )
            self._set_failing(error)
            self.reconcile_at = self._clock() + (
                _BUSY_RETRY if isinstance(error, BusyError) else _ERROR_RETRY
            )
            return False
        if not report.finished:
            self._found_so_far += self._without_event(report, events)
            self.reconcile_at = self._clock()
            return False
        self._clear_waits([""])
        self._note(report, everything=True)
        found = self._found_so_far + self._without_event(report, events) if self._reconciled else 0
        with self._lock:
            self._reconciled, self._found_so_far = True, 0
            self._last_reconcile = time.time()
            self._missed += found
        self.reconcile_at = (
            self._clock() + self._reconcile_seconds if self._reconcile_seconds > 0 else None
        )
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
        except Exception as error:  # every failure is retried and reported
            log_event(log, logging.ERROR, "job failed", error=error_location(error))
            raise VaultIndexError(
                f"a defect of vault-index: {type(error).__name__}",
                "see the daemon's log: vault-index logs",
            ) from error

    def _save_waiting(self) -> bool:
        """Sync the marked paths first, because they were not missed. False if interrupted."""
        with self._lock:
            waiting = self._marks.take_all()
        return not waiting or self.save(waiting)

    def _without_event(self, report: SyncReport, events: int) -> int:
        """Count the changes without an event, given the number of events before."""
        return max(0, _changes(report) - (self._events - events))

    def _not_saved(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        of_one_path = type(error) in (VaultIndexError, UsageError, NotInSourceError)
        if of_one_path and 1 < len(paths) <= _MANY_PATHS:
            for path in paths:  # one unreadable file must not delay the others
                self.save((path,))
        elif isinstance(error, NotInSourceError):  # of a removed source
            log_event(log, logging.WARNING, "not saved", code=error.code, message=error.message)
        else:
            self._try_again(paths, error)

    def _try_again(self, paths: tuple[str, ...], error: VaultIndexError) -> None:
        """Retry failed paths at growing intervals, without limit."""
        waits = {
            path: min(max(self._waits.get(path, 0.0) * 2, _BUSY_RETRY), _LONGEST_RETRY)
            for path in paths
        }
        self._waits |= waits
        level = logging.INFO if isinstance(error, BusyError) else logging.ERROR
        log_event(
            log,
            level,
            "not saved",
            code=error.code,
            message=error.message,
            again_in=max(waits.values()),
        )
        self._set_failing(error)
        with self._lock:
            for path, seconds in waits.items():
                self._marks.mark_later(path, self._clock() + seconds)

    def _clear_waits(self, places: Sequence[str]) -> None:
        waits = self._waits.items()
        self._waits = {
            path: wait for path, wait in waits if not any(is_under(place, path) for place in places)
        }

    def _set_failing(self, error: VaultIndexError) -> None:
        """Report in `status` what keeps files out of the index, until they are indexed."""
        if not isinstance(error, BusyError):
            with self._lock:
                self._failing = (
                    Problem(
                        "not_saved", f"changes wait to be indexed: {error.message}", error.hint
                    ),
                )

    def _note(self, report: SyncReport, *, everything: bool) -> None:
        # Broken frontmatter is stored in the index for `status`, and its text must not be logged.
        problems = tuple(problem for problem in report.problems if problem.code != "frontmatter")
        for problem in problems:
            if problem not in self._problems:
                log_event(
                    log, logging.WARNING, problem.message, code=problem.code, hint=problem.hint
                )
        rebuilt = tuple(problem for problem in problems if problem.code == "index_rebuilt")
        with self._lock:
            self._failing = self._failing if self._waits else ()
            if everything or problems:
                self._problems = problems
            self._rebuilt = rebuilt or self._rebuilt
        if rebuilt:
            self._reconciled = False
            self._vectors.index_was_replaced()
            if not everything:  # the new index holds only these files
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
