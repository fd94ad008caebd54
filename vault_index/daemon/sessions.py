"""Notices that OpenCode wrote something: its databases' logs are watched, and asked from time to time as well.

What changed stands in no event. A mark of the data folder means "compare the sessions", which costs next to nothing
while the database says that nothing was written.
"""

import logging
import os

from watchdog.events import FileSystemEvent
from watchdog.observers import Observer

from vault_index.daemon.log import log_event
from vault_index.daemon.observers import Mark, Watch, started
from vault_index.sources.opencode.source import OpenCodeSource

log = logging.getLogger(__name__)


class SessionWatch(Watch):
    """The watch on the folders of the databases, not on what lies deeper: OpenCode keeps whole git trees there."""

    def __init__(self, source: OpenCodeSource, mark: Mark, backend: str) -> None:
        super().__init__(source.config.name, str(source.config.path), mark)
        self._source = source
        self._wanted = backend
        self._folders: tuple[str, ...] = ()
        self._version: object = None

    def start(self) -> None:
        self._folders = self._present()
        self._version = self._source.version()
        if not self._folders:
            log_event(log, logging.WARNING, "source not there", source=self._name)
            return
        self.backend = "polling"
        if self._wanted != "polling":
            try:
                self._observer = started(Observer(), self, *map(os.path.realpath, self._folders))
                self.backend = "native"
            except OSError as error:  # no watch is left: `tend` asks often enough
                log_event(log, logging.WARNING, "sessions are polled", error=error.strerror)
        log_event(log, logging.INFO, "watching", source=self._name, backend=self.backend)

    def mark_all(self) -> None:
        self._mark(self._root)

    def tend(self) -> None:
        """Ask the databases: some writes make no event, and a folder may have come or gone."""
        if self._present() != self._folders or not (self._observer is None or self._observer.is_alive()):
            self.renew()
        seen, self._version = self._version, self._source.version()
        if self._version != seen:
            self.mark_all()

    def dispatch(self, event: FileSystemEvent) -> None:
        if event.is_directory or event.event_type in ("opened", "closed", "closed_no_write"):
            return
        names = (os.path.basename(os.fsdecode(path)) for path in (event.src_path, event.dest_path) if path)
        if any(self._source.concerns(name) for name in names):
            self.mark_all()

    def _present(self) -> tuple[str, ...]:
        return tuple(str(folder) for folder in self._source.watched() if folder.is_dir())
