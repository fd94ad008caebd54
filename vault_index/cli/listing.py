"""`list`, `tags`, `stats`, `status`: list the contents and the state of the index."""

import os
from typing import Any

from vault_index.cli.arguments import (
    FILTER_OPTIONS,
    Options,
    absolute,
    argument,
    flag,
    natural,
    positive,
    takes,
)
from vault_index.cli.client import ask, call, with_source
from vault_index.cli.present import show
from vault_index.fields import KINDS, SORTS


@takes(
    argument(
        "--sort",
        choices=SORTS,
        help="sort key (default: created; time is an alias of created)",
    ),
    argument("--order", choices=("asc", "desc"), help="sort order (default: depends on --sort)"),
    argument("--limit", metavar="N", type=positive, help="maximum number (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N (default: 0)"),
    FILTER_OPTIONS,
)
def run_list(options: Options, args: dict[str, Any]) -> None:
    """List documents."""
    ask(options, "list", args)


@takes(
    argument(
        "--kind", choices=KINDS, metavar="KIND", help="note, memory or session (default: all)"
    ),
    argument("--path", metavar="GLOB", help="count only documents with a matching path"),
)
def run_tags(options: Options, args: dict[str, Any]) -> None:
    """List tags with their number of documents."""
    ask(options, "tags", args)


@takes(
    flag("--tags", "count the documents of each tag"),
    flag("--agents", "count the documents of each agent or person"),
)
def run_stats(options: Options, args: dict[str, Any]) -> None:
    """Print counts of documents, chunks and tags, or of one of them in detail."""
    if "tags" not in args:
        ask(options, "stats", args)
    elif "agents" not in args:
        ask(options, "tags", {})
    else:
        source = with_source(options, {})
        tags, agents = (
            call(options, "tags", source),
            call(options, "stats", {**source, "agents": True}),
        )
        show(options, "stats", {"tags": tags["results"], "agents": agents["results"]})


@takes(
    argument(
        "file", nargs="?", metavar="FILE", help="show the state of this file or document only"
    ),
    flag("--privacy", "list what was sent to each server: days, paths, counts"),
)
def run_status(options: Options, args: dict[str, Any]) -> None:
    """Print the state of the index, or of one file."""
    file = args.get("file")
    if file is None:
        ask(options, "status", args)
    else:
        ask(
            options,
            "file_status",
            {"ref": absolute(file) if os.path.exists(os.path.expanduser(file)) else file},
        )
