"""`search`: passages that answer a query."""

import argparse
from typing import Any

from vault_index.cli.arguments import add_filters, natural, positive
from vault_index.cli.call import ask
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
    parser.add_argument(
        "--mode",
        choices=("hybrid", "text", "vector"),
        help="by keywords and meaning (the default), by keywords only, by meaning only",
    )
    parser.add_argument(
        "--match", choices=("any", "all"), help="any: one word may be enough (the default); all: every word is needed"
    )
    parser.add_argument("--per-document", metavar="N", type=positive, help="the most hits of one document (default: 3)")
    add_filters(parser)


def run_search(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "search", {**args, "query": " ".join(args["query"])})
