"""`related` and `timeline`: what lies around a document."""

import argparse
from typing import Any

from vault_index.cli.arguments import add_filters, natural, positive
from vault_index.cli.client import ask
from vault_index.cli.options import Options


def add_related(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Find the documents that one links to (link), that link to it (backlink), and that are near it in meaning "
        "(near): linked both ways first, then one way, then the nearest. The filters concern what is found."
    )
    parser.add_argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="an id or its beginning, a path, or [[Note]]; of path:10-42 and [[Note#Heading]] only that part counts",
    )
    parser.add_argument("--limit", metavar="N", type=positive, help="how many (default: 10)")
    parser.add_argument("--offset", metavar="N", type=natural, help="leave out the first N")
    add_filters(parser)


def run_related(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "related", _one_ref(args))


def add_timeline(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "List the documents created before and after one, oldest first. The filters concern its neighbours."
    )
    parser.add_argument("ref", nargs="*", metavar="REF", help="an id or its beginning, a path, or [[Note]]")
    parser.add_argument("--query", metavar="TEXT", help="around the best hit of a search, instead of REF")
    parser.add_argument("--depth-before", metavar="N", type=natural, help="how many before (default: 5)")
    parser.add_argument("--depth-after", metavar="N", type=natural, help="how many after (default: 5)")
    parser.add_argument("--kind", choices=("note", "memory", "session"), help="documents of this kind")
    parser.add_argument("--type", metavar="TYPE", help="memories of this type, as decision or bugfix")
    parser.add_argument("--project", metavar="NAME", help="documents of this project")


def run_timeline(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "timeline", _one_ref(args))


def _one_ref(args: dict[str, Any]) -> dict[str, Any]:
    """A note's name may have blanks, and few people quote it: all words are one reference."""
    return {**args, "ref": " ".join(args["ref"])} if args.get("ref") else args
