"""`open`: open the web page in the user's browser, signed in."""

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
from vault_index.serve.address import address_for_browsers, published_address

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vault_index.config import Home
    from vault_index.config.schema import ServeConfig

_CODE_SECONDS = 300.0
_START_SECONDS = 20.0
_LOOK_SECONDS = 0.05


@takes(
    flag("--print", "print the address without opening a browser"),
    description="Open the web page in the browser, signed in. The page searches and shows "
    "documents and sessions, reviews memories and shows the state of the index. The command starts "
    "`serve` if needed. The address signs in once, within five minutes.",
)
def run_open(options: Options, args: dict[str, Any]) -> None:
    """Create a sign-in code, print its address, and open it."""
    from vault_index.config import load_config

    home = home_of(options)
    settings = load_config(home).serve
    words = home_options(options)
    where = published_address(home.serve_file) or ("" if words else _service(settings))
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
        remark(options, "No display found: open this address in a browser. It signs in once.")
        return
    import webbrowser

    if not webbrowser.open(address):
        remark(options, "Could not start a browser: open this address yourself. It signs in once.")


def _service(settings: "ServeConfig") -> str:
    """Return the address of the service, or an empty string if it does not run.

    The sandboxed service cannot write its address to a file, so it reports it to systemd.
    """
    from vault_index.service import service_here

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
    """Start `serve` and return its address; if the configured port is taken, use a free one.

    Raises VaultIndexError if `serve` does not start.
    """
    from vault_index.daemon.system import launch

    host = listen.rpartition(":")[0]
    for command in (("serve",), ("serve", "--listen", f"{host}:0")):
        process = launch(home, options, *command)
        deadline = time.monotonic() + _START_SECONDS
        while time.monotonic() < deadline:
            if where := published_address(home.serve_file):
                return where
            if process.poll() is not None:
                break
            time.sleep(_LOOK_SECONDS)
    raise VaultIndexError("the page cannot be started", "see the reason: vault-index serve")
