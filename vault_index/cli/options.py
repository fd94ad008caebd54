"""The options every command has, before or after its name."""

import argparse
from typing import NamedTuple

FORMATS = ("auto", "toon", "json", "jsonl", "markdown", "human")
WITH_VALUE = ("--home", "--config", "--format", "--source")
"""Global options that take the next argument."""


class Options(NamedTuple):
    """Their values; a named tuple, because `dataclasses` would cost every command 5 ms."""

    home: str | None = None
    config: str | None = None
    format: str = "auto"
    source: str | None = None
    quiet: bool = False
    verbose: bool = False


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("global options, before or after the command")
    group.add_argument("--home", metavar="DIR", help="keep configuration, databases and socket in this folder")
    group.add_argument("--config", metavar="PATH", help="use this configuration file")
    group.add_argument(
        "--format",
        choices=FORMATS,
        help="how to print the answer; auto is human on a terminal and TOON in a pipe",
    )
    for name in FORMATS[1:]:
        if name != "jsonl":
            text = f"short for --format {name}"
            group.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=text)
    group.add_argument("--source", metavar="NAME", help="only this source")
    group.add_argument("--quiet", action="store_true", help="print no progress and no remarks")
    group.add_argument("--verbose", action="store_true", help="say more, and show tracebacks")
    group.add_argument("--version", action="store_true", help="print the version")
    group.add_argument("--help", "-h", action="store_true", help="print this help")
