"""Notices that something happened in a source: watchdog's events become marks of paths, and nothing else."""

import errno
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver

from vault_index.daemon import observers
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.observers import silent_filesystem
from vault_index.daemon.sessions import SessionWatch
from vault_index.results.base import Problem
from vault_index.sources.names import is_document_name, is_folder_name
from vault_index.sources.opencode.source import OpenCodeSource
from vault_index.sources.source import Source
from vault_index.sources.vault import VaultSource

log = logging.getLogger(__name__)

_NATIVE_AGAIN_SECONDS = 300.0
"""When a source that is polled for want of watches is given another try."""
_STORM_EVENTS = 4000
"""The kernel drops events beyond 16384 unread ones, and a file has up to four: after so many, trust none."""

# Opening and closing are left out: the program's own reading would come back as events.
_EVENT_NAMES = (
    "FileCreatedEvent",
    "FileModifiedEvent",
    "FileAttribEvent",
    "FileMovedEvent",
    "FileDeletedEvent",
    "DirCreatedEvent",
    "DirMovedEvent",
    "DirDeletedEvent",
)


class Mark(Protocol):
    def __call__(self, path: str, *, folder: bool = False, gone: bool = False) -> None: ...


class Watcher:
    """Watches every source, each on its own; `start`, `tend` and `stop` are called from one thread.

    A source that cannot be watched natively is polled, one that is not there is looked for by `tend`.
    """

    def __init__(self, sources: Sequence[Source], mark: Mark, backend: str = "auto") -> None:
        self._watches = [watch for source in sources if (watch := _watch(source, mark, backend)) is not None]
        self._overflow = _OverflowAlarm(self._on_overflow)

    @property
    def backend(self) -> str | None:
        """`native`, `polling`, both, or None when nothing is watched."""
        kinds = {watch.backend for watch in self._watches if watch.backend is not None}
        return "+".join(sorted(kinds)) or None

    @property
    def problems(self) -> tuple[Problem, ...]:
        return tuple(watch.problem for watch in self._watches if watch.problem is not None)

    def start(self) -> None:
        logging.getLogger("watchdog").addHandler(self._overflow)
        # watchdog warns when it watches a folder it just found a second time; as an error that would end its thread.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        for watch in self._watches:
            watch.start()

    def tend(self) -> None:
        """Every few seconds: notice folders that went or came back, and watches that died."""
        for watch in self._watches:
            watch.tend()

    def renew(self) -> None:
        """Begin every watch anew: something slipped through the present ones."""
        for watch in self._watches:
            watch.stop()
            watch.start()
            watch.mark_all()

    def stop(self) -> None:
        logging.getLogger("watchdog").removeHandler(self._overflow)
        for watch in self._watches:
            watch.stop()

    def _on_overflow(self) -> None:
        for watch in self._watches:
            watch.mark_all()


def _watch(source: Source, mark: Mark, backend: str) -> "_Watch | SessionWatch | None":
    if isinstance(source, VaultSource):
        return _Watch(source, mark, backend)
    return SessionWatch(source, mark, backend) if isinstance(source, OpenCodeSource) else None


class _Watch:
    """The watch on one source's root."""

    def __init__(self, source: VaultSource, mark: Mark, backend: str) -> None:
        # One of its own: what it knows of the ignore rules is not shared with the thread that writes.
        self._source = source = VaultSource(source.config)
        self._name = source.config.name
        self._root = os.path.abspath(source.config.path)
        self._mark = mark
        self._wanted = backend
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None
        self._handler = _Handler(source, mark)
        self._native_again = 0.0
        self.backend: str | None = None
        self.problem: Problem | None = None

    def start(self) -> None:
        self._identity = _identity(self._root)
        if self._identity is None:
            log_event(log, logging.WARNING, "source not there", source=self._name)
            return
        self._handler = _Handler(self._source, self._mark)
        silent = silent_filesystem(self._root) if self._wanted == "auto" else ""
        if silent or self._wanted == "polling" or not self._start_native():
            self._start_polling()
        why = {"filesystem": silent} if silent else {}
        log_event(log, logging.INFO, "watching", source=self._name, backend=self.backend, **why)

    def stop(self) -> None:
        if self._observer is not None:
            observers.stop(self._observer)
        self._observer, self.backend, self.problem = None, None, None

    def mark_all(self) -> None:
        self._mark(self._root, folder=True)

    def tend(self) -> None:
        identity = _identity(self._root)
        if identity != self._identity:
            log_event(log, logging.INFO, "source went" if identity is None else "source came", source=self._name)
            self._begin_again(there=identity is not None)
        elif identity is not None and not (self._observer and observers.works(self._observer)):
            log_event(log, logging.WARNING, "watch died, begun again", source=self._name, backend=self.backend)
            self._begin_again()
        elif self.backend == "native":
            self._tend_native()
        elif self.problem is not None and time.monotonic() >= self._native_again:
            self._begin_again()

    def _tend_native(self) -> None:
        if self._handler.take_new_rules():  # other folders are left out now
            self._begin_again()
        elif self._handler.take_new_folders() and (error := _exhausted(self._handler.real_root)):
            self._fall_back(error)

    def _begin_again(self, *, there: bool = True) -> None:
        self.stop()
        self._identity = None
        if there:
            self.start()
        self.mark_all()

    def _start_native(self) -> bool:
        error = self._observe(lambda: observers.native_observer(self._handler.wants), _event_filter())
        error = error or _exhausted(self._handler.real_root)
        if error is None:
            self.backend = "native"
            return True
        self.stop()
        self._refused(error)
        return False

    def _refused(self, error: OSError) -> None:
        self.problem = _exhaustion(self._name, error)
        self._native_again = time.monotonic() + _NATIVE_AGAIN_SECONDS
        log_event(log, logging.WARNING, self.problem.message, hint=self.problem.hint)

    def _start_polling(self) -> None:
        # All its events: a file that came and went between two polls, and was indexed with its folder meanwhile, shows
        # in none but that its folder was modified.
        self._observe(observers.polling_observer, None)
        self.backend = "polling"

    def _fall_back(self, error: OSError) -> None:
        self.stop()
        self._refused(error)
        self._start_polling()
        self.mark_all()

    def _observe(
        self, kind: Callable[[], BaseObserver], event_filter: list[type[FileSystemEvent]] | None
    ) -> OSError | None:
        observer = None
        try:
            observer = kind()
            observer.schedule(self._handler, self._handler.real_root, recursive=True, event_filter=event_filter)
            observer.start()
        except OSError as error:
            if observer is not None:
                observers.stop(observer)
            return error
        self._observer = observer
        return None


class _Handler(FileSystemEventHandler):
    """Called in the observer's thread."""

    def __init__(self, source: VaultSource, mark: Mark) -> None:
        self._source = source
        self._mark = mark
        self._root = os.path.abspath(source.config.path)
        # The real path is watched, because inotify does not follow a link even where it is the root.
        self.real_root = os.path.realpath(self._root)
        self._events = 0
        # Counted here, and compared with what was seen by the thread that asks: a flag might be lost between the two.
        self._folder_events = self._folders_seen = 0
        self._rule_events = self._rules_seen = 0

    def wants(self, real_path: str) -> bool:
        """Whether a folder needs a watch, given its real path."""
        relative = real_path.removeprefix(self.real_root).strip("/")
        return self._source.may_hold(relative) or self._source.holds_rules(relative)

    def take_new_rules(self) -> bool:
        """Whether what is left out may have changed since this was asked last."""
        before, self._rules_seen = self._rules_seen, self._rule_events
        return self._rules_seen != before

    def take_new_folders(self) -> bool:
        """Whether a folder appeared since this was asked last."""
        before, self._folders_seen = self._folders_seen, self._folder_events
        return self._folders_seen != before

    def dispatch(self, event: FileSystemEvent) -> None:
        try:
            self._take(event)
        except Exception as error:  # noqa: BLE001 - an error in this thread would end the watch in silence
            log_event(log, logging.ERROR, "event failed", error=error_location(error))
            self._mark(self._root, folder=True)

    def _take(self, event: FileSystemEvent) -> None:
        self._events += 1
        if self._events % _STORM_EVENTS == 0:
            self._mark(self._root, folder=True)
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path or "")
        self._look(source, folder=event.is_directory, gone=event.event_type in ("deleted", "moved"))
        if target:
            self._look(target, folder=event.is_directory)

    def _look(self, real_path: str, *, folder: bool, gone: bool = False) -> None:
        self._folder_events += folder and not gone
        relative = real_path.removeprefix(self.real_root).strip("/")
        path = f"{self._root}/{relative}".rstrip("/")
        if self._source.changes_rules(relative):
            self._rule_events += 1
            above = relative.rpartition("/")[0]
            self._mark(self._root if above.startswith(".") else os.path.dirname(path), folder=True)
        elif is_noise(relative, folder=folder) and not _may_lead_to_folder(path, gone=gone):
            return
        else:
            self._mark(path, folder=folder, gone=gone)


def is_noise(relative: str, *, folder: bool) -> bool:
    """Whether an event at this path (relative to the root, with `/`) cannot concern a document."""
    *above, name = relative.split("/")
    if not all(is_folder_name(part) for part in above):
        return True
    return not (is_folder_name(name) if folder else is_document_name(name)) if name else False


def _may_lead_to_folder(path: str, *, gone: bool) -> bool:
    """Links to folders come as files; of one that is gone only the name tells."""
    return "." not in os.path.basename(path) if gone else os.path.islink(path) and os.path.isdir(path)


class _OverflowAlarm(logging.Handler):
    """Since 7.1 watchdog logs when the kernel dropped events, and there is no other way to learn of it."""

    def __init__(self, alarm: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._alarm = alarm

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            self._alarm()


def _identity(root: str) -> tuple[int, int] | None:
    try:
        state = os.stat(root)
    except OSError:
        return None
    return (state.st_dev, state.st_ino) if os.path.isdir(root) else None


def _event_filter() -> list[type[FileSystemEvent]]:
    found: Iterable[Any] = (getattr(events, name, None) for name in _EVENT_NAMES)
    return [kind for kind in found if kind is not None]


def _exhausted(root: str) -> OSError | None:
    """ENOSPC when the system grants no further inotify watch.

    watchdog says so only for the root and leaves subfolders unwatched in silence, so one more watch is tried.
    """
    probe = None
    try:
        probe = observers.native_observer(lambda _: True)
        probe.schedule(FileSystemEventHandler(), root, event_filter=[events.DirDeletedEvent])
        probe.start()
    except OSError as error:
        return error if error.errno in (errno.ENOSPC, errno.EMFILE) else None
    finally:
        if probe is not None:
            observers.stop(probe)
    return None


def _exhaustion(name: str, error: OSError) -> Problem:
    limit = "max_user_instances=1024" if error.errno == errno.EMFILE else "max_user_watches=524288"
    return Problem(
        "watch_polling",
        f"source {name!r} is polled: the system cannot watch it ({error.strerror})",
        f"raise the limit, as `sudo sysctl fs.inotify.{limit}`; the daemon tries again every few minutes",
    )
