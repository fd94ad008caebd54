"""`watch`: the daemon, in the foreground."""

import argparse
from typing import Any

from vault_index.cli.client import home_of
from vault_index.cli.options import Options


def add_watch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--log-format", choices=("text", "json"), help="how a line of the log looks: key=value pairs, or a JSON object"
    )


def run_watch(options: Options, args: dict[str, Any]) -> int:
    from vault_index.daemon.run import run

    level = "debug" if options.verbose else "warning" if options.quiet else "info"
    return run(home_of(options), log_level=level, log_format=args.get("log_format", "text"))
