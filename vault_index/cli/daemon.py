"""Requests to a running daemon: reload the configuration, get its pid and version."""

from typing import Any

from vault_index.cli.arguments import Options
from vault_index.cli.client import home_of
from vault_index.cli.present import remark
from vault_index.config.home import Home
from vault_index.daemon.client import OtherProtocol, Unreachable, connect, ping
from vault_index.errors import BusyError, VaultIndexError


def reload_daemon(options: Options) -> bool:
    """Make the daemon reload its configuration, and wait for it; return whether a daemon runs."""
    try:
        if (client := connect(home_of(options).socket_path)) is None:
            return False
        with client:
            client.call("reload", on_progress=_give_up)
    except VaultIndexError as error:
        remark(
            options,
            f"vault-index: the daemon has not loaded the new settings yet: {error.in_one_line}",
        )
        return not isinstance(error, Unreachable)
    return True


def _give_up(stage: str, done: int, total: int) -> None:
    """Stop waiting: the daemon reports progress only if it is busy for more than a few seconds."""
    raise BusyError("the daemon is busy", "it loads the settings when it is done")


def daemon_at(home: Home) -> dict[str, Any]:
    """Return whether a daemon runs for this home, with its pid, start time and version."""
    try:
        daemon = ping(home.socket_path)
    except OtherProtocol:
        return {"running": True}
    if daemon is None:
        return {"running": False}
    return {"running": True} | {key: daemon.get(key) for key in ("pid", "since", "version")}
