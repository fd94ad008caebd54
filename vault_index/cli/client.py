"""Carries out one method: by the daemon when one is alive, otherwise in this process."""

import os
from typing import Any

from vault_index.api.methods import METHODS, READING
from vault_index.cli.arguments import Options
from vault_index.cli.present import answer_format, remark, show
from vault_index.config.home import Home, find_home
from vault_index.errors import BusyError, VaultIndexError

TYPE_CHECKING = False  # spares the import of the index; type checkers know the name
if TYPE_CHECKING:
    from vault_index.cli.progress import Progress


def home_of(options: Options) -> Home:
    return find_home(options.home, options.config)


def ask(options: Options, method: str, params: dict[str, Any]) -> int:
    """Call a method and show its answer; the daemon renders what is not for people, to spare the imports."""
    form = answer_format(options, method)
    format = None if form in ("human", "json") else form
    show(options, method, call(options, method, _with_source(options, params), format=format))
    return 0


def ask_of_several(options: Options, method: str, params: dict[str, Any]) -> int:
    """The same for a method that reports on each of several; 1 where it failed for one of them."""
    answer = answer_of_several(options, method, params)
    show(options, method, answer)
    return VaultIndexError.exit_code if answer["failed"] else 0


def answer_of_several(options: Options, method: str, params: dict[str, Any]) -> dict[str, Any]:
    answer = call(options, method, _with_source(options, params))
    assert isinstance(answer, dict)  # no format was asked for
    return answer


def call(
    options: Options,
    method: str,
    params: dict[str, Any],
    *,
    format: str | None = None,
    progress: "Progress | None" = None,
) -> dict[str, Any] | str:
    """The answer as a dict; or, with a `format`, perhaps as a text in it.

    A reading method does not depend on the daemon: when that is busy, stopping or of another version, this process
    answers, as it does for every method that the daemon does not get to. With `--config` it answers at once, for the
    daemon may have been started with another configuration.
    """
    socket = home_of(options).socket_path
    here = not METHODS[method].remote or (method in READING and options.config)
    if here or not os.path.exists(socket):
        return call_here(options, method, params, progress=progress)
    from vault_index.daemon.client import OtherProtocol, Unreachable, connect  # 5 ms, and only where there may be one

    client = connect(socket)
    if client is not None:
        with client:
            try:
                return client.call(method, params, format=format, on_progress=progress)
            except Unreachable:
                pass  # nothing was begun
            except (BusyError, OtherProtocol) as error:
                if method not in READING:
                    raise
                remark(options, f"vault-index: answering without the daemon: {error.message}")
    return call_here(options, method, params, progress=progress)


def _with_source(options: Options, params: dict[str, Any]) -> dict[str, Any]:
    return params if options.source is None else {**params, "source": options.source}


def call_here(
    options: Options, method: str, params: dict[str, Any], *, progress: "Progress | None" = None
) -> dict[str, Any]:
    """The same in this process, daemon or not."""
    from vault_index.api import VaultIndex, dispatch

    with VaultIndex.open(home_of(options)) as index:
        return dispatch(index, method, params, progress)
