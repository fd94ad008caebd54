"""Run one method, in the daemon or in this process; reload the daemon; tell whether it runs."""

import gc
import os
import time
from pathlib import Path
from typing import Any

from vault_index.api.methods import LONG, METHODS, READING
from vault_index.cli.arguments import Argument, Group, Options, Runner
from vault_index.cli.present import Progress, answer_format, remark, show
from vault_index.config.home import Home, find_home
from vault_index.errors import BusyError, VaultIndexError

_HUNG_SECONDS = 20.0
"""Avoid a daemon for this long after a request to it timed out; same as in the plugin's link.ts."""


def home_of(options: Options) -> Home:
    """Return the home that the options select."""
    return find_home(options.home, options.config)


def ask(options: Options, method: str, params: dict[str, Any]) -> None:
    """Call a method and print its answer.

    For most formats the daemon renders the answer, so that this process imports less.
    """
    form = answer_format(options, method)
    format = None if form in ("human", "json") else form
    show(options, method, _call(options, method, with_source(options, params), format=format))


def ask_of_several(options: Options, method: str, params: dict[str, Any]) -> int:
    """Call a method that handles several items and print its answer.

    Return exit code 1 if any item failed.
    """
    answer = call(options, method, with_source(options, params))
    show(options, method, answer)
    return VaultIndexError.exit_code if answer.get("failed") else 0


def passes_on(
    method: str, *arguments: Argument | Group, description: str = "", several: bool = False
) -> Runner:
    """Declare a command that calls `method` with its arguments, as `ask` does.

    `several` is whether it exits with 1 if an item failed.
    """
    run = ask_of_several if several else ask
    return Runner(lambda options, args: run(options, method, args), arguments, description)


def call(
    options: Options, method: str, params: dict[str, Any], *, progress: "Progress | None" = None
) -> dict[str, Any]:
    """Return the answer of a method.

    Reading methods do not depend on the daemon: if it is busy, stopping or of another version, this
    process answers. So it does for every method if the daemon is unreachable. With `--config`, this
    process answers reading methods, because the daemon may use another configuration.
    """
    answer = _call(options, method, params, progress=progress)
    assert isinstance(answer, dict)  # no format was asked for
    return answer


def call_with_progress(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Call a method that may take minutes, with a progress bar."""
    from vault_index.cli.present import progress_bar

    with progress_bar(quiet=options.quiet) as progress:
        return call(options, method, params, progress=progress)


def _call(
    options: Options,
    method: str,
    params: dict[str, Any],
    *,
    format: str | None = None,
    progress: "Progress | None" = None,
) -> dict[str, Any] | str:
    """Call a method like `call`; with a `format`, the daemon may return rendered text."""
    socket = home_of(options).socket_path
    # `status` always asks the daemon, to report whether it still hangs.
    hung = method in READING and method != "status" and _hung(socket)
    here = hung or not METHODS[method].remote or (method in READING and options.config)
    # The plugin sets this variable after the daemon has timed out.
    if here or os.environ.get("VAULT_INDEX_DAEMON") == "off" or not os.path.exists(socket):
        return call_here(options, method, params, progress=progress)
    from vault_index.daemon.client import (  # takes 5 ms, so only if a daemon may run
        OtherProtocol,
        Unreachable,
        Untrusted,
        connect,
    )

    try:
        if (client := connect(socket)) is not None:
            with client:
                return client.call(
                    method, params, format=format, on_progress=progress, reading=method in READING
                )
    except (BusyError, OtherProtocol) as error:
        begun = not isinstance(error, Unreachable)
        if begun and method not in READING:
            raise
        if begun or isinstance(error, Untrusted):
            remark(options, f"vault-index: running without the daemon: {error.message}")
        else:
            from contextlib import suppress

            with suppress(OSError):  # without the mark, the next request waits again
                _mark(socket).touch(0o600)
    return call_here(options, method, params, progress=progress)


def _mark(path: "Path") -> "Path":
    """Return the file whose modification time is the time of the last timeout."""
    return path.with_suffix(".hung")


def _hung(socket: "Path") -> bool:
    """Return whether this daemon timed out recently; a daemon started since has a newer socket."""
    try:
        timed_out = os.stat(_mark(socket)).st_mtime
        return os.stat(socket).st_mtime < timed_out and time.time() - timed_out < _HUNG_SECONDS
    except OSError:
        return False


def with_source(options: Options, params: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters with the source that `--source` names."""
    return params if options.source is None else {**params, "source": options.source}


def call_here(
    options: Options, method: str, params: dict[str, Any], *, progress: "Progress | None" = None
) -> dict[str, Any]:
    """Call a method in this process, even if a daemon runs."""
    from vault_index.api import VaultIndex, dispatch

    if method in LONG:
        gc.enable()
    with VaultIndex.open(home_of(options)) as index:
        return dispatch(index, method, params, progress)


# --- about the daemon -----------------------------------------------------------------------------


def reload_daemon(options: Options) -> bool:
    """Make the daemon reload its configuration, and wait for it; return whether a daemon runs."""
    from vault_index.daemon.client import Unreachable, connect

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
    from vault_index.daemon.client import OtherProtocol, ping

    try:
        daemon = ping(home.socket_path)
    except OtherProtocol:
        return {"running": True}
    if daemon is None:
        return {"running": False}
    return {"running": True} | {key: daemon.get(key) for key in ("pid", "since", "version")}
