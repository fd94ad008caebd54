"""What a watch is, and watchdog's observers as vaults need them: none on what holds no notes, and cheap polling."""

import errno
import os
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from watchdog.events import DirCreatedEvent, DirDeletedEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingEmitter

from vault_index.results.base import Problem
from vault_index.sources.mounts import mounts_under

POLL_SECONDS = 1.0
_MOST_POLL_SECONDS = 30.0
_POLL_SHARE = 0.01
"""The part of one processor that polling a vault may take, as long as that leaves it often enough."""

Wanted = Callable[[str], bool]
"""Whether a folder, given by its real path, needs a watch."""


class Mark(Protocol):
    def __call__(self, path: str, *, folder: bool = False, gone: bool = False) -> None: ...


class Watch(FileSystemEventHandler, ABC):
    """The watch on one source. `dispatch` is called in the observer's thread, all else in that of its owner."""

    def __init__(self, name: str, root: str, mark: Mark) -> None:
        self._name = name
        self._root = root
        self._mark = mark
        self._observer: BaseObserver | None = None
        self.backend: str | None = None
        """`native` or `polling`, None while nothing is watched."""
        self.problem: Problem | None = None

    @abstractmethod
    def start(self) -> None:
        """Watch what is there; where nothing is, `tend` begins when it comes."""

    @abstractmethod
    def tend(self) -> None:
        """Every few seconds: notice what went or came back, and a watch that died."""

    def mark_all(self) -> None:
        self._mark(self._root, folder=True)

    def stop(self) -> None:
        if self._observer is not None:
            stop(self._observer)
        self._observer = self.backend = self.problem = None

    def renew(self) -> None:
        self.stop()
        self.start()
        self.mark_all()


def native_observer(wanted: Wanted) -> BaseObserver:
    """What the system has. OSError where it grants no further one."""
    return _choosy(wanted) if sys.platform == "linux" else Observer()


def polling_observer() -> BaseObserver:
    """Compares the files of a folder again and again."""
    return BaseObserver(_Poller, timeout=POLL_SECONDS, listdir=_visible)


class _Poller(PollingEmitter):
    """Looks in its own thread from the first time on, for a share may be slow, and rests by how long that took."""

    _pause = 0.0

    def on_thread_start(self) -> None:
        """Nothing yet: whoever starts it has other things to do."""

    def run(self) -> None:
        try:
            self._measured(super().on_thread_start)
        except OSError:
            return  # it went while we looked: who tends the watch finds it ended
        # What changed between the comparison of everything and the first look is in neither.
        self.queue_event(DirCreatedEvent(self.watch.path))
        super().run()

    def queue_events(self, timeout: float) -> None:
        pause = min(max(timeout, self._pause), max(timeout, _MOST_POLL_SECONDS))
        if not self.stopped_event.wait(pause):
            self._measured(lambda: super(_Poller, self).queue_events(0))

    def _measured(self, look: Callable[[], object]) -> None:
        started = time.thread_time()
        look()
        self._pause = (time.thread_time() - started) / _POLL_SHARE


def started(observer: BaseObserver, handler: FileSystemEventHandler, *folders: str, **options: Any) -> BaseObserver:
    """The observer at work. OSError where the system does not grant that, and then nothing is left of it."""
    try:
        for folder in folders:
            observer.schedule(handler, folder, **options)
        observer.start()
    except OSError:
        stop(observer)
        raise
    return observer


def exhausted(root: str) -> OSError | None:
    """ENOSPC when the system grants no further inotify watch.

    watchdog says so only for the root and leaves subfolders unwatched in silence, so one more watch is tried.
    """
    try:
        probe = native_observer(lambda _: True)
        filtered = [DirDeletedEvent]
        stop(started(probe, FileSystemEventHandler(), root, event_filter=filtered))
    except OSError as error:
        return error if error.errno in (errno.ENOSPC, errno.EMFILE) else None
    return None


def works(observer: BaseObserver) -> bool:
    """Whether all its threads are alive."""
    reader = getattr(observer, "reader", observer)
    return all(thread.is_alive() for thread in (observer, reader, *observer.emitters))


def stop(observer: BaseObserver) -> None:
    observer.stop()
    if observer.is_alive():
        observer.join()


def _choosy(wanted: Wanted) -> BaseObserver:
    from watchdog.observers.inotify import InotifyEmitter, InotifyObserver
    from watchdog.observers.inotify_c import CallbackId, InotifyFD, Mask, WatchCallback, WatchDescriptor

    # Of a folder that is made while watchdog walks the one above it, which is no fault: the watch is the same.
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)

    class Reader(InotifyFD):
        def add_callback(self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId) -> WatchDescriptor:
            # watchdog passes over a subfolder that it may not watch.
            if not wanted(os.fsdecode(path)):
                raise PermissionError(errno.EACCES, "not wanted")
            return super().add_callback(path, mask, callback, id_)

    class Chosen(InotifyObserver):
        def __init__(self) -> None:
            self.reader = self._inotify_fd = Reader()
            self.reader.start()
            BaseObserver.__init__(self, InotifyEmitter, inotify_fd=self.reader)

    return Chosen()


def _visible(folder: str | None) -> Iterator[os.DirEntry[str]]:
    """What a poll compares: all but hidden files and folders, some of which (`.git`) are large."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or entry.name in (".obsidian", ".vaultignore"):
                yield entry


# What another machine changes reaches no watch: shares, folders of the host, everything in user space but local disks.
_SILENT = frozenset(
    {"9p", "drvfs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "virtiofs", "vboxsf", "fuse", "ceph", "afs"}
)


def silent_filesystem(folder: str) -> str:
    """The kind of the first file system under `folder`, itself included, that gives no events; empty where all do, and
    where the system does not tell."""
    kinds = (mount.kind for mount in mounts_under(folder))
    return next((kind for kind in kinds if kind in _SILENT or kind.startswith("fuse.")), "")
