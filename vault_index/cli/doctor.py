"""`doctor`: what is wrong and what mends it, and which notes are hard to find."""

import argparse
from typing import Any

from vault_index.cli.call import ask, call_here
from vault_index.cli.options import Options
from vault_index.cli.present import show


def add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recall",
        action="store_true",
        help="look for notes by their own titles, aliases, link texts and headings; name those hard to find",
    )


def run_doctor(options: Options, args: dict[str, Any]) -> int:
    if "recall" not in args:
        return ask(options, "doctor", args)
    # Hundreds of questions: the daemon would be silent for longer than a client waits.
    params = args if options.source is None else {**args, "source": options.source}
    show(options, "doctor", call_here(options, "doctor", params))
    return 0
