"""Carries out one method: by the daemon when one is alive, otherwise in this process."""

import gc
import os
import time
from typing import TYPE_CHECKING, Any

from vault_index.api.methods import LONG, METHODS, READING
from vault_index.cli.arguments import Options
from vault_index.cli.present import answer_format, remark, show
from vault_index.config.home import Home, find_home
from vault_index.errors import BusyError, VaultIndexError

if TYPE_CHECKING:  # most commands are over before anybody looks for a bar
    from pathlib import Path

    from vault_index.cli.progress import Progress


_HUNG_SECONDS = 20.0
"""How long a question does not wait for a daemon that kept another one waiting in vain, as in the plugin's link.ts."""


def home_of(options: Options) -> Home:
    return find_home(options.home, options.config)


def ask(options: Options, method: str, params: dict[str, Any]) -> None:
    """Call a method and show its answer; the daemon renders what is not for people, to spare the imports."""
    form = answer_format(options, method)
    format = None if form in ("human", "json") else form
    show(options, method, _call(options, method, with_source(options, params), format=format))


def ask_of_several(options: Options, method: str, params: dict[str, Any]) -> int:
    """The same for a method that reports on each of several; 1 where it failed for one of them."""
    answer = call(options, method, with_source(options, params))
    show(options, method, answer)
    return VaultIndexError.exit_code if answer.get("failed") else 0


def call(
    options: Options, method: str, params: dict[str, Any], *, progress: "Progress | None" = None
) -> dict[str, Any]:
    """The answer of a method.

    A reading method does not depend on the daemon: when that is busy, stopping or of another version, this process
    answers, as it does for every method that the daemon does not get to. With `--config` it answers at once, for the
    daemon may have been started with another configuration.
    """
    answer = _call(options, method, params, progress=progress)
    assert isinstance(answer, dict)  # no format was asked for
    return answer


def call_with_progress(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """The same with a progress bar, for a method that may take minutes."""
    from vault_index.cli.progress import progress_bar

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
    """The same; with a `format`, perhaps as a text in it."""
    socket = home_of(options).socket_path
    hung = (
        method in READING and method != "status" and _hung(socket)
    )  # status tells whether it still does
    here = hung or not METHODS[method].remote or (method in READING and options.config)
    # The plugin says so when it found out that the daemon hangs.
    if here or os.environ.get("VAULT_INDEX_DAEMON") == "off" or not os.path.exists(socket):
        return call_here(options, method, params, progress=progress)
    from vault_index.daemon.client import (  # 5 ms, and only where there may be one
        OtherProtocol,
        Unreachable,
        Untrusted,
        connect,
    )

    try:
        client = connect(socket)
        if client is not None:
            with client:
                return client.call(
                    method, params, format=format, on_progress=progress, reading=method in READING
                )
    except (BusyError, OtherProtocol) as error:
        begun = not isinstance(error, Unreachable)
        if begun and method not in READING:
            raise
        if begun or isinstance(error, Untrusted):
            remark(options, f"vault-index: answering without the daemon: {error.message}")
        else:
            from contextlib import suppress

            with suppress(OSError):  # else the next question waits again
                _mark(socket).touch(0o600)
    return call_here(options, method, params, progress=progress)


def _mark(path: "Path") -> "Path":
    """The file whose time says when the daemon kept somebody waiting in vain."""
    return path.with_suffix(".hung")


def _hung(socket: "Path") -> bool:
    """Whether it did so a moment ago; one that began since is another."""
    try:
        at = os.stat(_mark(socket)).st_mtime
        return os.stat(socket).st_mtime < at and time.time() - at < _HUNG_SECONDS
    except OSError:
        return False


def with_source(options: Options, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with the source that `--source` names."""
    return params if options.source is None else {**params, "source": options.source}


def call_here(
    options: Options, method: str, params: dict[str, Any], *, progress: "Progress | None" = None
) -> dict[str, Any]:
    """The same in this process, daemon or not."""
    from vault_index.api import VaultIndex, dispatch

    if method in LONG:
        gc.enable()
    with VaultIndex.open(home_of(options)) as index:
        return dispatch(index, method, params, progress)
