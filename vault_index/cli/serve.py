"""`serve`, `open`, `token`: serve HTTP clients, open the page, manage access tokens."""

import gc
import os
import sys
import time
from datetime import datetime
from functools import partial
from typing import Any

from vault_index.access import Token, Tokens
from vault_index.api.scopes import end_of, read_scope, scope_warnings, token_row
from vault_index.callers import Caller
from vault_index.cli.arguments import SEVERAL, Group, Options, argument, flag, takes
from vault_index.cli.client import home_of
from vault_index.cli.connect import home_options
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.config import Home
from vault_index.config.schema import ServeConfig
from vault_index.errors import UsageError, VaultIndexError
from vault_index.serve.address import address_for_browsers, published_address
from vault_index.times import iso_time, local_day

_CODE_SECONDS = 300.0
_START_SECONDS = 20.0
_LOOK_SECONDS = 0.05


@takes(
    argument(
        "--listen",
        metavar="HOST:PORT",
        help="address to listen on (default: serve.listen, 127.0.0.1:7341)",
    ),
    flag("--pool", "answer from the team's pool instead, to the tokens of its members"),
    description="Serve clients with a token over HTTP: the API at /api (see /openapi.json), MCP at "
    "/mcp and change events at /events. The daemon does the work; the command starts one if "
    "needed.",
)
def run_serve(options: Options, args: dict[str, Any]) -> int:
    """Serve HTTP until it is stopped; return the exit code."""
    from vault_index.serve.run import run

    gc.enable()
    return run(
        home_of(options),
        home_options(options),
        listen=args.get("listen", ""),
        pool="pool" in args,
        log_level=options.log_level,
        say=partial(remark, options),
    )


@takes(
    argument(
        "name",
        metavar="NAME",
        help="name of the token, such as laptop or ci; also the author of memories it writes",
    ),
    Group("", flag("--read", "allow reading"), flag("--write", "allow reading and writing")),
    argument("--source", dest="sources", help="show these sources only (default: all)", **SEVERAL),
    argument(
        "--folder",
        dest="folders",
        metavar="DIR",
        action="append",
        help="show this folder only; repeatable (default: all)",
    ),
    argument(
        "--project",
        dest="projects",
        metavar="NAME",
        action="append",
        help="show this project only; repeatable (default: all)",
    ),
    argument(
        "--expires",
        metavar="DATE",
        help="last valid day: 2027-03-01, 'in 3 months' (default: no expiry)",
    ),
    description="Create an access token for `serve` and print it. Only its hash is stored, so it "
    "cannot be shown again. Without --source, --folder and --project, the token gives access to "
    "everything.",
)
def run_token_add(options: Options, args: dict[str, Any]) -> None:
    """Create a token, print it once, and warn about doubtful scopes."""
    from vault_index.config import load_config

    if "read" not in args and "write" not in args:
        raise UsageError("the permission of the token is missing", "add --read or --write")
    home, now = home_of(options), datetime.now().astimezone()
    config = load_config(home)
    scope, absent = read_scope(config, args, dashes="--")
    expires = end_of(args["expires"], now, option="--expires") if "expires" in args else None
    caller = Caller(args["name"], "write" in args, scope)
    token = Token(caller, now.timestamp(), expires)
    secret = Tokens(home.tokens_file).add(caller, created=token.created, expires=expires)
    show_value(options, "token_add", {"token": secret, **token_row(token, token.created)}, secret)
    words = _in_words(token, token.created)
    remark(
        options, f"{caller.name} {words}. The token is not shown again: only its hash is stored."
    )
    for warning in scope_warnings(config, caller, absent):
        remark(options, warning)


@takes()
def run_token_list(options: Options, args: dict[str, Any]) -> None:
    """List the tokens with permissions, scopes and lifetimes."""
    now, tokens = time.time(), Tokens(home_of(options).tokens_file).all()
    if answer_format(options, "token_list") == "human":
        width = max((len(token.caller.name) for token in tokens), default=0)
        lines = [f"{token.caller.name:<{width}}  {_in_words(token, now)}" for token in tokens]
        show_value(options, "token_list", {}, "\n".join(lines) or "no tokens yet")
        return
    rows = [token_row(token, now) for token in tokens]
    show(options, "token_list", {"results": rows, "total": len(rows)})


@takes(argument("name", metavar="NAME", help="the name of the token"))
def run_token_revoke(options: Options, args: dict[str, Any]) -> None:
    """Revoke a token."""
    Tokens(home_of(options).tokens_file).revoke(args["name"])
    answer = {"name": args["name"], "revoked": True}
    show_value(options, "token_revoke", answer, f"revoked the token {args['name']}")


# --- Output ---------------------------------------------------------------------------------------


def _in_words(token: Token, now: float) -> str:
    """Describe the permissions and the lifetime of a token.

    Example: `reads notes, below work/acme, of the project acme (created 2026-11-21, until
    2027-02-21T23:59:59+01:00)`.
    """
    scope = token.caller.scope
    visible = (
        ", ".join(scope.sources) or ("" if scope.folders or scope.projects else "everything"),
        f"below {' or '.join(scope.folders)}" if scope.folders else "",
        f"of the project {' or '.join(scope.projects)}" if scope.projects else "",
    )
    until = f", until {iso_time(token.expires)}" if token.expires is not None else ""
    access = "reads and writes" if token.caller.writes else "reads"
    parts = (
        f"{'EXPIRED: ' if token.expired(now) else ''}{access}",
        ", ".join(filter(None, visible)),
        f"(created {local_day(token.created)}{until})",
    )
    return " ".join(parts)


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
