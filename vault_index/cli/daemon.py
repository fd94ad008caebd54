"""Talks to a running daemon about itself: reload the configuration, say pid and version."""

import os
import signal
import time
from typing import Any

from vault_index.cli.arguments import Options
from vault_index.cli.client import home_of
from vault_index.config.home import Home
from vault_index.daemon.client import Client, OtherProtocol, Unreachable, Untrusted, connect, ping
from vault_index.errors import VaultIndexError

_DEADLINE = 5.0
_PAUSE = 0.05


def reload_daemon(options: Options, source: str = "") -> bool:
    """Send SIGHUP to the daemon if there is one; with `source`, wait until it knows that source.

    Returns whether a daemon is running. One that is busy reloads later: that is no failure of this command.
    """
    try:
        client = connect(home_of(options).socket_path)
    except Untrusted:
        return False
    if client is None:
        return False
    with client:
        try:
            client.greet()
        except (Unreachable, OtherProtocol):  # that of another version has to be restarted anyway
            return False
        pid = client.daemon.get("pid")
        if not isinstance(pid, int) or pid <= 1:
            return True
        try:
            os.kill(pid, signal.SIGHUP)
        except OSError:  # it ended
            return True
        deadline = time.monotonic() + _DEADLINE
        while source and time.monotonic() < deadline and not _knows(client, source):
            time.sleep(_PAUSE)
    return True


def _knows(client: Client, source: str) -> bool:
    try:
        status = client.call("status")
    except VaultIndexError:
        return True  # the daemon ended: nothing to wait for
    return isinstance(status, dict) and any(known["name"] == source for known in status.get("sources", ()))


def daemon_at(home: Home) -> dict[str, Any]:
    """Whether a daemon runs for this home, with its pid, start time and version."""
    try:
        daemon = ping(home.socket_path)
    except OtherProtocol:
        return {"running": True}
    if daemon is None:
        return {"running": False}
    return {"running": True} | {key: daemon.get(key) for key in ("pid", "since", "version")}
