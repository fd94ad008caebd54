"""Run the methods of the tools: by the daemon, by one that is started, or in this process."""

import contextlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from vault_index.api import VaultIndex
from vault_index.api.methods import WRITING
from vault_index.callers import Caller, caller_to_json
from vault_index.config.home import Home
from vault_index.daemon.client import Client, OtherProtocol, Unreachable, connect
from vault_index.errors import BusyError, UsageError, VaultIndexError

log = logging.getLogger(__name__)

_DAEMON_SECONDS = 5.0
"""Seconds that a call waits for a started daemon before this process answers."""

_POLL_SECONDS = 0.05
_SYNC_SECONDS = 60.0
"""If no daemon runs, a call syncs the index in the background when the last sync began this many
seconds ago.
"""


class Backend:
    """Runs methods; safe for several threads. `options` select the home of a daemon to start."""

    def __init__(self, home: Home, options: Sequence[str] = ()) -> None:
        self._home = home
        self._options = options
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._launched_at: float | None = None
        self._kept: list[Client] = []
        """Idle connections for callers with a token, for reuse."""
        self._index: VaultIndex | None = None
        self._synced_at: float | None = None

    def prepare(self) -> None:
        """Start a daemon if none runs and `agents.start_daemon` allows it.

        Errors are left to the first call.
        """
        with contextlib.suppress(VaultIndexError):
            if (client := self._daemon(seconds=0.0)) is not None:
                client.close()

    def call(
        self, method: str, params: Mapping[str, Any], caller: Caller | None = None
    ) -> dict[str, Any]:
        """Return the result of a method, as with `--json`.

        With a `caller` (a token), only a daemon answers. Raises the VaultIndexError of the method.
        """
        if caller is not None:
            return self._serve(caller, method, params)
        client = None
        try:
            client = self._daemon(_DAEMON_SECONDS)
        # Invalid configuration, or a socket that may belong to another user.
        except (UsageError, Unreachable) as error:
            log.warning("answering without the daemon: %s", error.message)
        if client is not None:
            with client:
                try:
                    answer = client.call(method, dict(params), reading=method not in WRITING)
                    assert isinstance(answer, dict)  # no format was requested
                    return answer
                except (Unreachable, OtherProtocol) as error:
                    log.warning("answering without the daemon: %s", error.message)
                except BusyError:
                    if method in WRITING:
                        raise
        return self._call_here(method, params)

    def _serve(self, caller: Caller, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Call by a pooled connection; return it to the pool after success."""
        asked = {"caller": caller_to_json(caller), "method": method, "params": dict(params)}
        # Two methods of the page write.
        reading = method not in WRITING and method not in ("page/sign_in", "page/tokens")
        for retry in (reading, False):  # the daemon may have restarted
            client = self._connection()
            try:
                answer = client.call("served", asked, reading=reading)
            except BaseException as error:
                client.close()
                if not (retry and isinstance(error, BusyError)):
                    raise
            else:
                self._kept.append(client)
                break
        assert isinstance(answer, dict)  # no format was requested
        return answer

    def _connection(self) -> Client:
        """Return a pooled connection that is still open, or a new one."""
        with contextlib.suppress(IndexError):
            while True:
                client = self._kept.pop()
                if client.is_open():
                    return client
                client.close()
        if (opened := self._daemon(_DAEMON_SECONDS)) is None:
            raise BusyError("the daemon is not running", "start it: vault-index watch")
        return opened

    def _daemon(self, seconds: float) -> Client | None:
        """Return a new connection; start a daemon if none runs and `agents.start_daemon` allows it.

        None if it does not listen after `seconds`. Raises NotSetUpError without a configuration,
        ConfigError for an invalid one.
        """
        from vault_index.config import load_config

        client = connect(self._home.socket_path)
        if client is None and load_config(self._home).agents.start_daemon:
            deadline = self._launch() + seconds
            while client is None and time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                client = connect(self._home.socket_path)
        return client

    def _launch(self) -> float:
        """Start the daemon once per process; return the start time (monotonic seconds).

        A daemon that fails or is stopped by the user is not started again.
        """
        from vault_index.daemon.system import launch

        with self._lock:
            if self._launched_at is None:
                launch(self._home, self._options)
                self._launched_at = time.monotonic()
            return self._launched_at

    def _call_here(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        from vault_index.api import VaultIndex, dispatch

        with self._lock:
            if self._index is None:
                self._index = VaultIndex.open(self._home)
            index = self._index
            if self._synced_at is None or time.monotonic() > self._synced_at + _SYNC_SECONDS:
                self._synced_at = time.monotonic()
                threading.Thread(target=self._sync, daemon=True).start()
        with self._writing if method in WRITING else contextlib.nullcontext():
            return dispatch(index, method, params)

    def _sync(self) -> None:
        """Sync with a separate VaultIndex, because an instance writes from one thread only."""
        from vault_index.api import VaultIndex

        try:
            with VaultIndex.open(self._home) as index:
                index.sync()
        except VaultIndexError as error:
            log.warning("the index could not be brought up to date: %s", error.message)
