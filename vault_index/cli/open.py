"""`open`: the page, in the user's browser."""

import os
import sys
import time
from typing import Any

from vault_index.access import Tokens
from vault_index.callers import Caller
from vault_index.cli.agents import home_options
from vault_index.cli.arguments import Options, flag, takes
from vault_index.cli.client import home_of
from vault_index.cli.present import remark, show_value
from vault_index.errors import VaultIndexError
from vault_index.serve.place import address_for_browsers, where_it_serves

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vault_index.config import Home
    from vault_index.config.schema import ServeConfig

_CODE_SECONDS = 300.0
_START_SECONDS = 20.0
_LOOK_SECONDS = 0.05


@takes(
    flag("--print", "only say the address, as for a browser on another machine"),
    description="Open the page in the browser, signed in: search and read, look through sessions, review what agents "
    "left, see how the index is doing. `serve` is started if need be. The address signs in once, within five minutes.",
)
def run_open(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config import load_config

    home = home_of(options)
    settings = load_config(home).serve
    words = home_options(options)
    where = where_it_serves(home.serve_file) or ("" if words else _service(settings))
    where = where or _started(home, words, settings.listen)
    now = time.time()
    caller = Caller(
        f"page-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}", writes=True, owner=True
    )
    code = Tokens(home.tokens_file).add(caller, created=now, expires=now + _CODE_SECONDS, once=True)
    address = f"{where}/#token={code}"
    show_value(options, "open", {"address": address}, address)
    if "print" in args:
        return
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        remark(
            options, "There is no display here: open this address in a browser. It signs in once."
        )
        return
    import webbrowser

    if not webbrowser.open(address):
        remark(
            options, "No browser could be started: open this address yourself. It signs in once."
        )


def _service(settings: "ServeConfig") -> str:
    """Where the service serves, which may write nothing and so tells systemd alone; empty without."""
    from vault_index.service.detect import service_here

    try:
        state = service_here(serve=True).state()
    except VaultIndexError:
        return ""
    where = state.said.removeprefix("serving on ")
    return (
        address_for_browsers(where, settings)
        if state.active == "active" and where != state.said
        else ""
    )


def _started(home: "Home", options: tuple[str, ...], listen: str) -> str:
    """Where a `serve` that is begun serves: as configured, or at a port of its own where that one is taken."""
    from vault_index.daemon.system import launch

    host = listen.rpartition(":")[0]
    for command in (("serve",), ("serve", "--listen", f"{host}:0")):
        process = launch(home, options, *command)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if where := where_it_serves(home.serve_file):
                return where
            if process.poll() is not None:
                break
            time.sleep(_LOOK_SECONDS)
    raise VaultIndexError("the page could not be started", "see why: vault-index serve")
