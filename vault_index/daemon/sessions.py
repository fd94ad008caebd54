"""Notices that OpenCode wrote something: its databases' logs are watched, and asked from time to time as well.

What changed stands in no event. A mark of the data folder means "compare the sessions", which costs next to nothing
while the database says that nothing was written.
"""

import logging
import os
from collections.abc import Callable

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

from vault_index.daemon.log import log_event
from vault_index.results.base import Problem
from vault_index.sources.opencode.source import OpenCodeSource

log = logging.getLogger(__name__)


class SessionWatch:
    """The watch on the folders of the databases, not on what lies deeper: OpenCode keeps whole git trees there."""

    def __init__(self, source: OpenCodeSource, mark: Callable[[str], object], backend: str) -> None:
        self._source = source
        self._root = str(source.config.path)
        self._mark = mark
        self._native = backend != "polling"
        self._observer: BaseObserver | None = None
        self._folders: tuple[str, ...] = ()
        self._version: object = None
        self.backend: str | None = None
        self.problem: Problem | None = None

    def start(self) -> None:
        self._folders = tuple(str(folder) for folder in self._source.watched() if folder.is_dir())
        self._version = self._source.version()
        if not self._folders:
            log_event(log, logging.WARNING, "source not there", source=self._source.config.name)
            return
        self.backend = "native" if self._native and self._observe() else "polling"
        log_event(log, logging.INFO, "watching", source=self._source.config.name, backend=self.backend)

    def stop(self) -> None:
        if self._observer is not None:
            self._observer.stop()
            if self._observer.is_alive():
                self._observer.join()
        self._observer, self.backend = None, None

    def mark_all(self) -> None:
        self._mark(self._root)

    def tend(self) -> None:
        """Ask the databases: some writes make no event, and a folder may have come or gone."""
        folders = tuple(str(folder) for folder in self._source.watched() if folder.is_dir())
        died = self._observer is not None and not self._observer.is_alive()
        if folders != self._folders or died:
            self.stop()
            self.start()
            self.mark_all()
            return
        version = self._source.version()
        if version != self._version:
            self._version = version
            self.mark_all()

    def _observe(self) -> bool:
        observer = Observer()
        try:
            for folder in self._folders:
                observer.schedule(_Handler(self._source, self.mark_all), os.path.realpath(folder), recursive=False)
            observer.start()
        except OSError as error:  # no watch is left: `tend` asks often enough
            log_event(log, logging.WARNING, "sessions are polled", error=error.strerror)
            return False
        self._observer = observer
        return True


class _Handler(FileSystemEventHandler):
    """Called in the observer's thread."""

    def __init__(self, source: OpenCodeSource, changed: Callable[[], object]) -> None:
        self._source = source
        self._changed = changed

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.is_directory or event.event_type in ("opened", "closed", "closed_no_write"):
            return
        names = (os.path.basename(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path)
        if any(self._source.concerns(name) for name in names):
            self._changed()
