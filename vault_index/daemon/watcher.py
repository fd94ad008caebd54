"""Watch the sources: turn watchdog's events into marks of paths."""

import contextlib
import errno
import logging
import os
import time
import warnings
from collections.abc import Callable, Sequence

from watchdog import events
from watchdog.events import FileSystemEvent

from vault_index.daemon import observers
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.observers import Mark, Watch
from vault_index.daemon.sessions import SessionWatch
from vault_index.disk import is_under
from vault_index.results.base import Problem
from vault_index.sources.files import is_document_name, is_folder_name
from vault_index.sources.sessions.source import SessionSource
from vault_index.sources.source import Source
from vault_index.sources.vault import VaultSource

log = logging.getLogger(__name__)

_NATIVE_AGAIN_SECONDS = 300.0
"""Seconds until a polled source is tried natively again, after watches ran out."""
# Without opening and closing, because the program's own reading would cause events.
_EVENTS = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    events.FileAttribEvent,
    events.FileMovedEvent,
    events.FileDeletedEvent,
    events.DirCreatedEvent,
    events.DirAttribEvent,
    events.DirMovedEvent,
    events.DirDeletedEvent,
]


class Watcher:
    """The separate watches of all sources. Call `start`, `tend` and `stop` from one thread.

    A source that cannot be watched natively is polled. `tend` watches a missing source when it
    appears.
    """

    def __init__(self, sources: Sequence[Source], mark: Mark, backend: str = "auto") -> None:
        vaults = [
            VaultWatch(source, mark, backend)
            for source in sources
            if isinstance(source, VaultSource)
        ]
        sessions = [
            SessionWatch(source, mark, backend)
            for source in sources
            if isinstance(source, SessionSource)
        ]
        self._watches: list[Watch] = [*vaults, *sessions]
        self._overflow = _OverflowAlarm(self._on_overflow)

    @property
    def backend(self) -> str | None:
        """`native`, `polling`, both, or None if nothing is watched."""
        kinds = {watch.backend for watch in self._watches if watch.backend is not None}
        return "+".join(sorted(kinds)) or None

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of all watches."""
        return tuple(watch.problem for watch in self._watches if watch.problem is not None)

    def start(self) -> None:
        """Start every watch."""
        logging.getLogger("watchdog").addHandler(self._overflow)
        # watchdog warns if it watches a new folder twice; as an error, the warning would end its
        # thread.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        for watch in self._watches:
            watch.start()

    def tend(self) -> None:
        """Check every watch, and restart those that need it. Call it every few seconds."""
        for watch in self._watches:
            watch.tend()

    def renew(self) -> None:
        """Restart every watch, because a change was missed."""
        for watch in self._watches:
            watch.renew()

    def stop(self) -> None:
        """Stop every watch."""
        logging.getLogger("watchdog").removeHandler(self._overflow)
        for watch in self._watches:
            watch.stop()

    def _on_overflow(self) -> None:
        for watch in self._watches:
            watch.mark_all()


class VaultWatch(Watch):
    """The watch on one source's root."""

    def __init__(self, source: VaultSource, mark: Mark, backend: str) -> None:
        super().__init__(source.config.name, os.path.abspath(source.config.path), mark)
        # A separate instance, because its ignore rules must not be shared with the writer's thread.
        self._source = VaultSource(source.config)
        # The real path, because inotify does not follow links, even at the root.
        self._real_root = os.path.realpath(self._root)
        self._wanted = backend
        self._identity: tuple[int, int] | None = None
        self._native_again = 0.0
        # Set by the observer's thread; reset before acting on them, so that no change is lost.
        self._may_watch_more = self._has_new_folders = False
        self._links: dict[str, str] = {}
        """Targets outside the root by real path, and the link to each, relative to the root."""
        self._denied: set[str] = set()
        """Folders that cannot be watched until they are readable."""

    def start(self) -> None:
        """Watch the root natively if possible, else poll it; do nothing if it is missing."""
        self._identity = _identity(self._root)
        if self._identity is None:
            log_event(log, logging.WARNING, "source not there", source=self._name)
            return
        self._real_root = os.path.realpath(self._root)
        self._may_watch_more = self._has_new_folders = False
        self._links = (
            _links_out(self._real_root) if self._source.config.follow_outside_links else {}
        )
        self._denied.clear()
        silent = observers.silent_filesystem(self._root) if self._wanted == "auto" else ""
        if silent or self._wanted == "polling":
            self._poll()
        elif error := self._observe_natively():
            self._poll(error)
        why = {"filesystem": silent} if silent else {}
        log_event(log, logging.INFO, "watching", source=self._name, backend=self.backend, **why)

    def tend(self) -> None:
        """Restart the watch if the root came or went, if the watch died, or if folders changed."""
        identity = _identity(self._root)
        if identity != self._identity:
            log_event(
                log,
                logging.INFO,
                "source went" if identity is None else "source came",
                source=self._name,
            )
            if identity is not None:
                self.renew()
            else:
                self.stop()
                self._identity = None
                self.mark_all()
        elif identity is not None and not (self._observer and observers.works(self._observer)):
            log_event(
                log,
                logging.WARNING,
                "watch died, begun again",
                source=self._name,
                backend=self.backend,
            )
            self.renew()
        elif self.backend == "native":
            self._tend_native()
        elif self.problem is not None and time.monotonic() >= self._native_again:
            self.renew()

    def _tend_native(self) -> None:
        if self._may_watch_more:  # ignore rules changed, or a folder may have become readable
            self.renew()
        elif self._has_new_folders:
            self._has_new_folders = False
            if error := observers.exhausted(self._real_root):
                self._poll(error)
                self.mark_all()

    def _observe_natively(self) -> OSError | None:
        try:
            observer = observers.native_observer(self._needs_watch)
            places = (self._real_root, *self._links)
            self._observer = observers.started(
                observer, self, *places, recursive=True, event_filter=_EVENTS
            )
        except OSError as error:
            return error
        self.backend = "native"
        return observers.exhausted(self._real_root)

    def _poll(self, error: OSError | None = None) -> None:
        self.stop()
        if error is not None:
            self.problem = _exhaustion(self._name, error)
            self._native_again = time.monotonic() + _NATIVE_AGAIN_SECONDS
            log_event(log, logging.WARNING, self.problem.message, hint=self.problem.hint)
        # Use all poll events: a file that came, was indexed with its folder, and went between two
        # polls only shows as a modified folder.
        with contextlib.suppress(OSError):  # `tend` starts it again
            places = (self._real_root, *self._links)
            self._observer = observers.started(
                observers.polling_observer(), self, *places, recursive=True
            )
        self.backend = "polling"

    def _needs_watch(self, real_path: str) -> bool:
        relative = self._relative(real_path)
        needed = self._source.may_hold(relative) or self._source.holds_rules(relative)
        if needed and not os.access(real_path, os.R_OK):
            self._denied.add(real_path)
        return needed

    def _relative(self, real_path: str) -> str:
        """Return the path in the source, also behind a link."""
        target = next((one for one in self._links if is_under(one, real_path)), None)
        if target is None:
            return real_path.removeprefix(self._real_root).strip("/")
        return f"{self._links[target]}{real_path.removeprefix(target)}"

    # --- the observer's thread --------------------------------------------------------------------

    def dispatch(self, event: FileSystemEvent) -> None:
        """Mark the paths of an event; on an unexpected error, mark the whole root."""
        try:
            self._handle(event)
        except Exception as error:  # noqa: BLE001 - an error in this thread would silently end the watch
            log_event(log, logging.ERROR, "event failed", error=error_location(error))
            self._mark(self._root, folder=True)

    def _handle(self, event: FileSystemEvent) -> None:
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path or "")
        self._mark_event_path(
            source, folder=event.is_directory, gone=event.event_type in ("deleted", "moved")
        )
        if event.is_directory and os.access(source, os.R_OK):
            self._may_watch_more |= any(is_under(source, folder) for folder in tuple(self._denied))
        if target:
            self._mark_event_path(target, folder=event.is_directory)

    def _mark_event_path(self, real_path: str, *, folder: bool, gone: bool = False) -> None:
        self._has_new_folders |= folder and not gone
        relative = self._relative(real_path)
        path = f"{self._root}/{relative}".rstrip("/")
        if self._source.config.follow_outside_links and os.path.islink(path):
            self._may_watch_more = True
        if self._source.changes_rules(relative):
            self._may_watch_more = True
            above = relative.rpartition("/")[0]
            self._mark(self._root if above.startswith(".") else os.path.dirname(path), folder=True)
        elif is_noise(relative, folder=folder) and not _may_lead_to_folder(path, gone=gone):
            return
        else:
            self._mark(path, folder=folder, gone=gone)


def _links_out(root: str) -> dict[str, str]:
    """Return the targets, outside the root, of links below it, with the path of each link."""
    found = {}
    for folder, folders, files in os.walk(root):
        folders[:] = filter(is_folder_name, folders)
        for name in (*folders, *filter(is_document_name, files)):
            link = os.path.join(folder, name)
            target = os.path.realpath(link) if os.path.islink(link) else root
            if os.path.exists(target) and not is_under(root, target):
                found[target] = os.path.relpath(link, root)
    return found


def is_noise(relative: str, *, folder: bool) -> bool:
    """Return whether an event at this relative path cannot concern a document."""
    *above, name = relative.split("/")
    could_be = is_folder_name if folder else is_document_name
    return not all(map(is_folder_name, above)) or (name != "" and not could_be(name))


def _may_lead_to_folder(path: str, *, gone: bool) -> bool:
    """Return whether a file event may concern a link to a folder, judged by name if it is gone."""
    return (
        "." not in os.path.basename(path) if gone else os.path.islink(path) and os.path.isdir(path)
    )


class _OverflowAlarm(logging.Handler):
    """Detects events that the kernel dropped, which watchdog (since 7.1) only logs."""

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


def _exhaustion(name: str, error: OSError) -> Problem:
    limit = "max_user_instances=1024" if error.errno == errno.EMFILE else "max_user_watches=524288"
    return Problem(
        "watch_polling",
        f"source {name!r} is polled: the system cannot watch it ({error.strerror})",
        f"raise the limit: `sudo sysctl fs.inotify.{limit}`; the daemon retries every few minutes",
    )
