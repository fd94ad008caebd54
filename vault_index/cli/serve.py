"""The command `serve`."""

import gc
from functools import partial
from typing import Any

from vault_index.cli.agents import home_options
from vault_index.cli.arguments import Options, argument, takes
from vault_index.cli.client import home_of
from vault_index.cli.present import remark


@takes(
    argument("--listen", metavar="HOST:PORT", help="where to listen (default: serve.listen, 127.0.0.1:7341)"),
    argument("--log-format", choices=("text", "json"), help="how a line of the log looks, as in watch"),
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
