"""Watch the files of clients, and also poll their databases, for new sessions.

Events do not say what changed in a database. A mark of the data folder means "compare the
sessions", which is cheap if nothing changed.
"""

import logging
import os

from watchdog.events import FileSystemEvent
from watchdog.observers import Observer

from vault_index.daemon.log import log_event
from vault_index.daemon.observers import Mark, Watch, exhausted, silent_filesystem, started
from vault_index.sources.sessions.source import SessionSource

log = logging.getLogger(__name__)


class SessionWatch(Watch):
    """The watch on the folders of one client; recursive only if its sessions are in subfolders."""

    def __init__(self, source: SessionSource, mark: Mark, backend: str) -> None:
        super().__init__(source.config.name, str(source.config.path), mark)
        self._source = source
        self._wanted = backend
        self._folders: tuple[str, ...] = ()
        self._version: object = None

    def start(self) -> None:
        """Watch the existing folders, or poll them if they cannot be watched."""
        self._folders = self._present()
        self._version = self._source.version()
        if not self._folders:
            level = logging.WARNING if self._source.configured else logging.DEBUG
            log_event(log, level, "source not there", source=self._name)
            return
        self.backend = "polling"
        if self._wanted != "polling":
            try:
                folders, deep = [*map(os.path.realpath, self._folders)], self._source.client.deep
                self._observer = started(Observer(), self, *folders, recursive=deep)
                # watchdog does not report unwatched subfolders, nor writes by other machines.
                silent = next(filter(None, map(silent_filesystem, folders)), "") if deep else ""
                if silent or (deep and exhausted(folders[0])):
                    self.stop()
                    log_event(log, logging.WARNING, "sessions are polled", filesystem=silent)
                self.backend = "polling" if self._observer is None else "native"
            except OSError as error:  # no watch is left; `tend` polls often enough
                log_event(log, logging.WARNING, "sessions are polled", error=error.strerror)
        log_event(log, logging.INFO, "watching", source=self._name, backend=self.backend)

    def mark_all(self) -> None:
        """Mark the data folder, which compares all sessions."""
        self._mark(self._root)

    def tend(self) -> None:
        """Poll databases, unwatched files and missing folders, for changes without an event."""
        if self._present() != self._folders or not (
            self._observer is None or self._observer.is_alive()
        ):
            self.renew()
        if self.backend == "native" and self._source.client.deep:
            return
        seen, self._version = self._version, self._source.version()
        if self._version != seen:
            self.mark_all()

    def dispatch(self, event: FileSystemEvent) -> None:
        """Mark the sessions that an event may concern."""
        if event.event_type in ("opened", "closed", "closed_no_write"):
            return
        client = self._source.client
        if event.is_directory:  # files in a new folder may be older than its watch
            if client.deep and event.event_type != "modified":
                self._mark(self._root, folder=True)
            return
        for path in (os.fsdecode(path) for path in (event.src_path, event.dest_path) if path):
            if client.concerns(path):
                self._mark(path if client.deep else self._root)

    def _present(self) -> tuple[str, ...]:
        return tuple(str(folder) for folder in self._source.watched() if folder.is_dir())
