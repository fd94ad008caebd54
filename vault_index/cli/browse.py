"""`list`, `tags`, `stats`, `status`: what there is and how it is doing."""

import argparse
from typing import Any

from vault_index.cli.arguments import add_filters, natural, positive
from vault_index.cli.call import ask
from vault_index.cli.options import Options


def add_list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sort",
        choices=("created", "time", "updated", "access", "expires", "title", "content"),
        help="the order (default: created; time is the same)",
    )
    parser.add_argument("--order", choices=("asc", "desc"), help="upwards or downwards")
    parser.add_argument("--limit", metavar="N", type=positive, help="how many (default: 20)")
    parser.add_argument("--offset", metavar="N", type=natural, help="leave out the first N")
    add_filters(parser)


def run_list(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "list", args)


def add_tags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kind", choices=("note", "memory", "session"), help="of documents of this kind")
    parser.add_argument("--path", metavar="GLOB", help="of documents whose path matches")


def run_tags(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "tags", args)


def add_stats(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--tags", action="store_true", help="count the tags instead")
    which.add_argument("--agents", action="store_true", help="count the documents of each agent or person instead")


def run_stats(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "tags", {}) if "tags" in args else ask(options, "stats", args)


def add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--privacy", action="store_true", help="list what was sent to which server, and when: paths and counts"
    )


def run_status(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "status", args)
