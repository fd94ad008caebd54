"""Watch folders with watchdog: no watches on folders without notes, and cheap polling."""

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
from vault_index.sources.files import mounts_under

POLL_SECONDS = 1.0
_MOST_POLL_SECONDS = 30.0
_POLL_SHARE = 0.01
"""Maximum share of one processor for polling a vault, down to one poll per `_MOST_POLL_SECONDS`."""

Wanted = Callable[[str], bool]
"""Whether a folder, given by its real path, needs a watch."""


class Mark(Protocol):
    """The callback of a watch."""

    def __call__(self, path: str, *, folder: bool = False, gone: bool = False) -> None:
        """Schedule `path` to be read; `gone` if it was deleted or moved away."""


class Watch(FileSystemEventHandler, ABC):
    """The watch on one source.

    `dispatch` runs in the observer's thread, everything else in the owner's.
    """

    def __init__(self, name: str, root: str, mark: Mark) -> None:
        self._name = name
        self._root = root
        self._mark = mark
        self._observer: BaseObserver | None = None
        self.backend: str | None = None
        """`native` or `polling`; None while nothing is watched."""
        self.problem: Problem | None = None

    @abstractmethod
    def start(self) -> None:
        """Start watching; if the source is missing, `tend` starts when it appears."""

    @abstractmethod
    def tend(self) -> None:
        """Restart the watch if the source came or went, or if it died. Call it regularly."""

    def mark_all(self) -> None:
        """Mark the whole source as changed."""
        self._mark(self._root, folder=True)

    def stop(self) -> None:
        """Stop watching."""
        if self._observer is not None:
            stop(self._observer)
        self._observer = self.backend = self.problem = None

    def renew(self) -> None:
        """Restart the watch and mark the whole source as changed."""
        self.stop()
        self.start()
        self.mark_all()


def native_observer(wanted: Wanted) -> BaseObserver:
    """Return the system's observer. OSError if its limits are reached."""
    return _choosy(wanted) if sys.platform == "linux" else Observer()


def polling_observer() -> BaseObserver:
    """Return an observer that compares the files of a folder repeatedly."""
    return BaseObserver(_Poller, timeout=POLL_SECONDS, listdir=_visible)


class _Poller(PollingEmitter):
    """Polls in its own thread, because a share may be slow, and pauses accordingly."""

    _pause = 0.0

    def on_thread_start(self) -> None:
        """Do nothing here, so that starting does not block."""

    def run(self) -> None:
        try:
            self._measured(super().on_thread_start)
        except OSError:
            return  # the folder was removed meanwhile; `tend` notices the ended thread
        # A change between the full comparison and the first snapshot is in neither, so mark
        # everything.
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


def started(
    observer: BaseObserver, handler: FileSystemEventHandler, *folders: str, **options: Any
) -> BaseObserver:
    """Start an observer and return it. On OSError nothing is left running."""
    try:
        for folder in folders:
            observer.schedule(handler, folder, **options)
        observer.start()
    except OSError:
        stop(observer)
        raise
    return observer


def exhausted(root: str) -> OSError | None:
    """Return ENOSPC or EMFILE if the system grants no further inotify watch, else None.

    watchdog reports it only for the root and silently skips subfolders, so this tries one more
    watch.
    """
    try:
        probe = native_observer(lambda _: True)
        stop(started(probe, FileSystemEventHandler(), root, event_filter=[DirDeletedEvent]))
    except OSError as error:
        return error if error.errno in (errno.ENOSPC, errno.EMFILE) else None
    return None


def works(observer: BaseObserver) -> bool:
    """Return whether all its threads are alive."""
    reader = getattr(observer, "reader", observer)
    return all(thread.is_alive() for thread in (observer, reader, *observer.emitters))


def stop(observer: BaseObserver) -> None:
    """Stop an observer and wait for its thread."""
    observer.stop()
    if observer.is_alive():
        observer.join()


def _choosy(wanted: Wanted) -> BaseObserver:
    from watchdog.observers.inotify import InotifyEmitter, InotifyObserver
    from watchdog.observers.inotify_c import (
        CallbackId,
        InotifyFD,
        Mask,
        WatchCallback,
        WatchDescriptor,
    )

    # A folder made while watchdog walks its parent is reported twice, with the same watch; that is
    # harmless.
    warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)

    class Reader(InotifyFD):
        def add_callback(
            self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
        ) -> WatchDescriptor:
            # watchdog skips a subfolder on PermissionError.
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
    """Yield the entries to poll, without hidden ones, some of which (`.git`) are large."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(".") or entry.name in (".obsidian", ".vaultignore"):
                yield entry


# Changes by another machine reach no watch: network shares, folders of the host, most FUSE file
# systems.
_SILENT = frozenset(
    {
        "9p",
        "drvfs",
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smbfs",
        "virtiofs",
        "vboxsf",
        "fuse",
        "ceph",
        "afs",
    }
)


def silent_filesystem(folder: str) -> str:
    """Return the type of the first file system at or under `folder` without events.

    Empty if none or unknown.
    """
    kinds = (mount.kind for mount in mounts_under(folder))
    return next((kind for kind in kinds if kind in _SILENT or kind.startswith("fuse.")), "")
