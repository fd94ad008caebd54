"""`serve`, `token`: answer callers over HTTP, and the tokens that say what each caller may do and see."""

import gc
import time
from datetime import datetime
from functools import partial
from typing import Any

from vault_index.access import Token, Tokens
from vault_index.api.scopes import doubts, end_of, read_scope, token_row
from vault_index.callers import Caller
from vault_index.cli.agents import home_options
from vault_index.cli.arguments import SEVERAL, Group, Options, argument, flag, takes
from vault_index.cli.client import home_of
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.errors import UsageError
from vault_index.times import iso_time, local_day


@takes(
    argument(
        "--listen",
        metavar="HOST:PORT",
        help="where to listen (default: serve.listen, 127.0.0.1:7341)",
    ),
    argument(
        "--log-format", choices=("text", "json"), help="how a line of the log looks, as in watch"
    ),
    description="Answer callers with a token over HTTP until it is stopped: the API at /api (see /openapi.json), MCP "
    "at /mcp, and what changes at /events. The daemon does the work; one is started where none runs.",
)
def run_serve(options: Options, args: dict[str, Any]) -> int:
    from vault_index.serve.run import run

    gc.enable()
    level = "debug" if options.verbose else "warning" if options.quiet else "info"
    return run(
        home_of(options),
        home_options(options),
        listen=args.get("listen", ""),
        log_level=level,
        log_format=args.get("log_format", "text"),
        say=partial(remark, options),
    )


@takes(
    argument(
        "name",
        metavar="NAME",
        help="how to call it, as laptop or ci; what is written with it is signed so",
    ),
    Group("", flag("--read", "it may ask"), flag("--write", "it may ask, and write memories")),
    argument("--source", dest="sources", help="it sees these sources only", **SEVERAL),
    argument(
        "--folder",
        dest="folders",
        metavar="DIR",
        action="append",
        help="only what lies below this folder",
    ),
    argument(
        "--project",
        dest="projects",
        metavar="NAME",
        action="append",
        help="only what is of this project",
    ),
    argument(
        "--expires",
        metavar="DATE",
        help="the last day it is good for, as 2027-03-01 or 'in 3 months'",
    ),
    description="Make a token for a caller of `serve`, and print it: only its hash is kept, so it is not shown again. "
    "--folder and --project may be repeated; without them and --source it sees everything.",
)
def run_token_add(options: Options, args: dict[str, Any]) -> None:
    from vault_index.config import load_config

    if "read" not in args and "write" not in args:
        raise UsageError("may it write?", "say --read or --write")
    home, now = home_of(options), datetime.now().astimezone()
    config = load_config(home)
    scope, absent = read_scope(config, args, dashes="--")
    expires = end_of(args["expires"], now, option="--expires") if "expires" in args else None
    caller = Caller(args["name"], "write" in args, scope)
    token = Token(caller, now.timestamp(), expires)
    secret = Tokens(home.tokens_file).add(caller, created=token.created, expires=expires)
    show_value(options, "token_add", {"token": secret, **token_row(token, token.created)}, secret)
    words = _in_words(token, token.created)
    remark(options, f"{caller.name} {words}. The token is shown this once: only its hash is kept.")
    for doubt in doubts(config, caller, absent):
        remark(options, doubt)


@takes()
def run_token_list(options: Options, args: dict[str, Any]) -> None:
    now, tokens = time.time(), Tokens(home_of(options).tokens_file).all()
    for token in tokens:
        if token.isolated:
            name = token.caller.name
            remark(options, f"{name} is refused (--isolated): vault-index token revoke {name}")
    if answer_format(options, "token_list") == "human":
        wide = max((len(token.caller.name) for token in tokens), default=0)
        lines = [f"{token.caller.name:<{wide}}  {_in_words(token, now)}" for token in tokens]
        show_value(options, "token_list", {}, "\n".join(lines) or "no tokens yet")
        return
    rows = [token_row(token, now) for token in tokens]
    show(options, "token_list", {"results": rows, "total": len(rows)})


@takes(argument("name", metavar="NAME", help="the name of the token"))
def run_token_revoke(options: Options, args: dict[str, Any]) -> None:
    Tokens(home_of(options).tokens_file).revoke(args["name"])
    answer = {"name": args["name"], "revoked": True}
    show_value(
        options, "token_revoke", answer, f"revoked {args['name']}: it is refused from now on"
    )


# --- what is shown -------------------------------------------------------------------------------------------------


def _in_words(token: Token, now: float) -> str:
    """As `reads notes, below work/acme, of the project acme (made 2026-11-21, until 2027-02-21T23:59:59+01:00)`."""
    scope = token.caller.scope
    seen = (
        ", ".join(scope.sources) or ("" if scope.folders or scope.projects else "everything"),
        f"below {' or '.join(scope.folders)}" if scope.folders else "",
        f"of the project {' or '.join(scope.projects)}" if scope.projects else "",
    )
    expired = "EXPIRED: " if token.expired(now) else ""
    until = f", until {iso_time(token.expires)}" if token.expires is not None else ""
    does = "reads and writes" if token.caller.writes else "reads"
    return (
        f"{expired}{does} {', '.join(filter(None, seen))} (made {local_day(token.created)}{until})"
    )
