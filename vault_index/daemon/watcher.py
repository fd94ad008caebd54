"""Notices that something happened in a source: watchdog's events become marks of paths, and nothing else."""

import errno
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserverVFS

from vault_index.daemon.log import say, where
from vault_index.models import Problem

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0
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


class Source(Protocol):
    """What the watcher needs of a source."""

    @property
    def name(self) -> str: ...

    @property
    def root(self) -> Path: ...

    def relative(self, path: str | Path, /) -> str | None: ...


class Mark(Protocol):
    def __call__(self, path: str, *, folder: bool = False, gone: bool = False) -> None: ...


class Watcher:
    """Watches every source, each on its own; `start`, `tend` and `stop` are called from one thread.

    A source that cannot be watched natively is polled, one that is not there is looked for by `tend`.
    """

    def __init__(self, sources: Sequence[Source], mark: Mark, backend: str = "auto") -> None:
        self._watches = [_Watch(source, mark, backend) for source in sources]
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


class _Watch:
    """The watch on one source's root."""

    def __init__(self, source: Source, mark: Mark, backend: str) -> None:
        self._source = source
        self._mark = mark
        self._wanted = backend
        self._observer: BaseObserver | None = None
        self._identity: tuple[int, int] | None = None
        self._handler = _Handler(source, mark, os.path.realpath(source.root))
        self.backend: str | None = None
        self.problem: Problem | None = None

    def start(self) -> None:
        self._identity = _identity(self._source.root)
        if self._identity is None:
            say(log, logging.WARNING, "source not there", source=self._source.name)
            return
        # The real path, because inotify does not follow a link even where it is the root.
        self._handler = _Handler(self._source, self._mark, os.path.realpath(self._source.root))
        if self._wanted == "polling" or not self._start_native():
            self._start_polling()
        say(log, logging.INFO, "watching", source=self._source.name, backend=self.backend)

    def stop(self) -> None:
        if self._observer is not None:
            _stop(self._observer)
        self._observer, self.backend, self.problem = None, None, None

    def mark_all(self) -> None:
        self._mark(str(self._source.root), folder=True)

    def tend(self) -> None:
        identity = _identity(self._source.root)
        if identity == self._identity and (identity is None or self._works()):
            if self.backend == "native" and self._handler.take_new_folders() and (error := _exhausted(self._root)):
                self._fall_back(error)
            return
        say(log, logging.INFO, "source went" if identity is None else "source came", source=self._source.name)
        self.stop()
        if identity is None:
            self._identity = None
        else:
            self.start()
        self.mark_all()

    @property
    def _root(self) -> str:
        return self._handler.real_root

    def _works(self) -> bool:
        observer = self._observer
        return observer is not None and observer.is_alive() and all(one.is_alive() for one in observer.emitters)

    def _start_native(self) -> bool:
        error = self._observe(Observer, self._root) or _exhausted(self._root)
        if error is None:
            self.backend = "native"
            return True
        self.stop()
        self.problem = _exhaustion(self._source.name, error)
        say(log, logging.WARNING, self.problem.message, hint=self.problem.hint)
        return False

    def _start_polling(self) -> None:
        problem = self.problem
        error = self._observe(_polling_observer, self._root)
        if error is None:
            self.backend, self.problem = "polling", problem
        else:
            self._identity = None  # it went while we looked: `tend` tries again

    def _fall_back(self, error: OSError) -> None:
        self.stop()
        self.problem = _exhaustion(self._source.name, error)
        say(log, logging.WARNING, self.problem.message, hint=self.problem.hint)
        self._start_polling()
        self.mark_all()

    def _observe(self, kind: Callable[[], BaseObserver], root: str) -> OSError | None:
        observer = None
        try:
            observer = kind()
            observer.schedule(self._handler, root, recursive=True, event_filter=_event_filter())
            observer.start()
        except OSError as error:
            if observer is not None:
                _stop(observer)
            return error
        self._observer = observer
        return None


class _Handler(FileSystemEventHandler):
    """Called in the observer's thread."""

    def __init__(self, source: Source, mark: Mark, real_root: str) -> None:
        self._source = source
        self._mark = mark
        self._root = str(source.root)
        self._events = 0
        self._new_folders = False
        self.real_root = real_root

    def take_new_folders(self) -> bool:
        """Whether a folder appeared since this was asked last."""
        new, self._new_folders = self._new_folders, False
        return new

    def dispatch(self, event: FileSystemEvent) -> None:
        try:
            self._take(event)
        except Exception as error:  # noqa: BLE001 - an error in this thread would end the watch in silence
            say(log, logging.ERROR, "event failed", error=where(error))
            self._mark(self._root, folder=True)

    def _take(self, event: FileSystemEvent) -> None:
        self._events += 1
        if self._events % _STORM_EVENTS == 0:
            self._mark(self._root, folder=True)
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path or "")
        gone = event.event_type in ("deleted", "moved")
        self._look(source, folder=event.is_directory, gone=gone)
        if target:
            self._look(target, folder=event.is_directory)

    def _look(self, real_path: str, *, folder: bool, gone: bool = False) -> None:
        path = self._root + real_path.removeprefix(self.real_root)
        if folder and not gone:
            self._new_folders = True
        place = interesting(path[len(self._root) :].strip("/"))
        if place is None:
            return
        if place.endswith("/") or not place:
            self._mark(os.path.join(self._root, place).rstrip("/"), folder=True)
        elif folder or self._source.relative(path) is not None:
            self._mark(path, folder=folder, gone=gone)


def interesting(relative: str) -> str | None:
    """The place to look at for an event at `relative` (to the root, with `/`): itself, a folder (with a final `/`,
    empty for the root) whose rules changed with it, or None for noise in hidden files and folders."""
    parts = relative.split("/") if relative else []
    if relative == ".obsidian/app.json":
        return ""
    if parts and parts[-1] == ".vaultignore" and not any(part.startswith(".") for part in parts[:-1]):
        return "".join(f"{part}/" for part in parts[:-1])
    return None if any(part.startswith(".") for part in parts) else relative


class _OverflowAlarm(logging.Handler):
    """Since 7.1 watchdog logs when the kernel dropped events, and there is no other way to learn of it."""

    def __init__(self, alarm: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._alarm = alarm

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            self._alarm()


def _identity(root: Path) -> tuple[int, int] | None:
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
        probe = Observer()
        probe.schedule(FileSystemEventHandler(), root, event_filter=[events.DirDeletedEvent])
        probe.start()
    except OSError as error:
        return error if error.errno == errno.ENOSPC else None
    finally:
        if probe is not None:
            _stop(probe)
    return None


def _exhaustion(name: str, error: OSError) -> Problem:
    limit = "max_user_instances" if error.errno == errno.EMFILE else "max_user_watches"
    return Problem(
        "watch_polling",
        f"source {name!r} is polled: the system cannot watch it ({error.strerror})",
        f"raise the limit, as `sudo sysctl fs.inotify.{limit}=524288`, then restart the daemon",
    )


def _stop(observer: BaseObserver) -> None:
    observer.stop()
    if observer.is_alive():
        observer.join()


def _polling_observer() -> BaseObserver:
    return PollingObserverVFS(os.stat, _visible, polling_interval=POLL_SECONDS)


def _visible(folder: str | None) -> Iterator[os.DirEntry[str]]:
    """What a poll compares: all but hidden files and folders, some of which (`.git`) are large."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or entry.name in (".obsidian", ".vaultignore"):
                yield entry
