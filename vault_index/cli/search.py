"""`search` and `why`: passages that answer a query, and why one does or does not."""

import argparse
from typing import Any

from vault_index.cli.arguments import add_filters, likeness, natural, positive
from vault_index.cli.client import ask
from vault_index.cli.options import Options


def add_search(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "query",
        nargs="+",
        metavar="QUERY",
        help='words, "exact phrases", prefix*, -without, AND, OR, NOT, and filters like tag:x; several are one query',
    )
    parser.add_argument("--limit", metavar="N", type=positive, help="how many hits (default: 10)")
    parser.add_argument("--offset", metavar="N", type=natural, help="leave out the first N hits")
    parser.add_argument("--explain", action="store_true", help="say why each hit is where it is")
    _add_asking(parser)
    add_filters(parser)


def run_search(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "search", {**args, "query": " ".join(args["query"])})


def add_why(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Say why a search finds the passage at a place, or why not: its number and what its score is made of, or what "
        "leaves it out. Takes the options of search."
    )
    parser.add_argument("query", metavar="QUERY", help="as search takes it, in quotes if it has several words")
    parser.add_argument(
        "ref", metavar="PATH[:LINE]", help="a path, with a line or lines (10-42); or an id, or [[Note#Heading]]"
    )
    parser.add_argument("--limit", metavar="N", type=positive, help="how many hits the answer has (default: 10)")
    _add_asking(parser)
    add_filters(parser)


def run_why(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "why", args)


def _add_asking(parser: argparse.ArgumentParser) -> None:
    """How a question is read and ranked."""
    parser.add_argument(
        "--mode",
        choices=("hybrid", "text", "vector"),
        help="by keywords and meaning (the default), by keywords only, by meaning only",
    )
    parser.add_argument(
        "--match", choices=("any", "all"), help="any: one word may be enough (the default); all: every word is needed"
    )
    parser.add_argument("--per-document", metavar="N", type=positive, help="the most hits of one document (default: 3)")
    parser.add_argument(
        "--fuzzy",
        action=argparse.BooleanOptionalAction,
        help="read words that no text holds as words that are spelled almost so (the default), or as they are",
    )
    parser.add_argument(
        "--threshold",
        metavar="SHARE",
        type=likeness,
        help="how alike a word must be to be meant, from 0.5 to 1 (default: 0.7)",
    )
    parser.add_argument(
        "--as-of", metavar="DATE", help="ask as on that day: without what was created later, with what held then"
    )
    parser.add_argument("--include-expired", action="store_true", help="show memories past `expires`, too")
    parser.add_argument("--include-superseded", action="store_true", help="show memories that were replaced, too")


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
