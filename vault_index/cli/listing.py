"""`list`, `tags`, `stats`, `status`: what there is and how it is doing."""

import argparse
import os
from typing import Any

from vault_index.cli.arguments import absolute, add_filters, natural, positive
from vault_index.cli.client import ask, call
from vault_index.cli.options import Options
from vault_index.cli.present import show


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
    parser.add_argument("--tags", action="store_true", help="count the documents of each tag instead")
    parser.add_argument("--agents", action="store_true", help="count the documents of each agent or person instead")


def run_stats(options: Options, args: dict[str, Any]) -> int:
    if "tags" not in args:
        return ask(options, "stats", args)
    if "agents" not in args:
        return ask(options, "tags", {})
    answers = {"tags": call(options, "tags", {}), "agents": call(options, "stats", {"agents": True})}
    show(options, "stats", {name: answer["results"] for name, answer in answers.items() if isinstance(answer, dict)})
    return 0


def add_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="say how this file or document is doing instead")
    parser.add_argument(
        "--privacy", action="store_true", help="list what was sent to which server, and when: paths and counts"
    )


def run_status(options: Options, args: dict[str, Any]) -> int:
    if "file" not in args:
        return ask(options, "status", args)
    file = args["file"]
    return ask(options, "file_status", {"ref": absolute(file) if os.path.exists(os.path.expanduser(file)) else file})
