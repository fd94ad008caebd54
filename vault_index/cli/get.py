"""`get`: the text of documents, or of parts of them."""

import argparse
from typing import Any

from vault_index.cli.arguments import natural, positive
from vault_index.cli.call import ask
from vault_index.cli.options import Options


def add_get(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Print documents or parts of them. In a pipe each text stands as it is under one comment line, "
        "`<!-- id path:lines (tokens) -->`; --toon and --json wrap it."
    )
    parser.add_argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="an id or its beginning, id:10-42, a path, path:10-42, or [[Note#Heading]]",
    )
    parser.add_argument("--full", action="store_true", help="add all metadata")
    parser.add_argument("--max-tokens", metavar="N", type=positive, help="cut the text, and say where it goes on")
    parser.add_argument("--neighbors", metavar="N", type=natural, help="add N passages before and after")


def run_get(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "get", args)
