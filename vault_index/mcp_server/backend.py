"""Carries out the methods behind the tools: by the daemon, by one that is started, or in this process."""

import contextlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from vault_index.api.methods import WRITING
from vault_index.config.home import Home
from vault_index.daemon.client import Client, connect
from vault_index.errors import BusyError, UsageError, VaultIndexError

TYPE_CHECKING = False  # spares the import of the index, which only a call without a daemon needs
if TYPE_CHECKING:
    from vault_index.api import VaultIndex

log = logging.getLogger(__name__)

_DAEMON_SECONDS = 5.0
"""How long a call waits for the daemon that was started; then this process answers."""

_POLL_SECONDS = 0.05
_SYNC_SECONDS = 60.0
"""Without a daemon, the index is brought up to date again when it was asked this long after the last time."""


class Backend:
    """Its calls may come from several threads at once. `options` name the home for a daemon that is started."""

    def __init__(self, home: Home, options: Sequence[str] = ()) -> None:
        self._home = home
        self._options = options
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._launched_at: float | None = None
        self._index: VaultIndex | None = None
        self._synced_at: float | None = None

    def prepare(self) -> None:
        """Have a daemon started, if none runs and the setting allows; what is wrong shows at the first call."""
        with contextlib.suppress(VaultIndexError):
            client = self._connect()
            if client is not None:
                client.close()
            elif self._may_start():
                self._launch()

    def call(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The answer, as `--json` gives it. Raises the VaultIndexError of the method."""
        client = self._daemon()
        if client is not None:
            with client:
                try:
                    answer = client.call(method, dict(params))
                    assert isinstance(answer, dict)  # no format was asked for
                    return answer
                except BusyError:
                    if method in WRITING:
                        raise
        return self._call_here(method, params)

    # --- inside ------------------------------------------------------------------------------------------------

    def _connect(self) -> Client | None:
        return connect(self._home.socket_path)

    def _daemon(self) -> Client | None:
        """A connection of this call's own; None where no daemon runs and none comes up."""
        try:
            client = self._connect()
            if client is None and self._may_start():
                self._launch()
                client = self._wait()
        except UsageError as error:  # it speaks another version of the protocol, or the configuration is wrong
            log.warning("answering without the daemon: %s", error.message)
            return None
        return client

    def _wait(self) -> Client | None:
        """A connection to the daemon that was launched, once it is up."""
        assert self._launched_at is not None
        client = None
        while client is None and time.monotonic() < self._launched_at + _DAEMON_SECONDS:
            time.sleep(_POLL_SECONDS)
            client = self._connect()
        return client

    def _may_start(self) -> bool:
        """Raises NotSetUpError without a configuration, ConfigError for a wrong one."""
        from vault_index.config import load_config

        return load_config(self._home).agents.start_daemon

    def _launch(self) -> None:
        """At most once: a daemon that does not come up, or was stopped by its user, is not started again and again."""
        from vault_index.daemon.launch import launch

        with self._lock:
            if self._launched_at is None:
                launch(self._home, self._options)
                self._launched_at = time.monotonic()

    def _call_here(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        from vault_index.api import VaultIndex, dispatch

        with self._lock:
            if self._index is None:
                self._index = VaultIndex.open(self._home)
            index = self._index
            if self._synced_at is None or time.monotonic() > self._synced_at + _SYNC_SECONDS:
                self._synced_at = time.monotonic()
                threading.Thread(target=self._sync, daemon=True).start()
        if method not in WRITING:
            return dispatch(index, method, params)
        with self._writing:
            return dispatch(index, method, params)

    def _sync(self) -> None:
        """In a thread and with an index of its own: writing belongs to one thread."""
        from vault_index.api import VaultIndex

        try:
            with VaultIndex.open(self._home) as index:
                index.sync()
        except VaultIndexError as error:
            log.warning("the index could not be brought up to date: %s", error.message)
