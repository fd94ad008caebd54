"""`list`, `tags`, `stats`, `status`: what is in the index, and its state."""

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
        help="the order (default: created; time is the same)",
    ),
    argument("--order", choices=("asc", "desc"), help="upwards or downwards"),
    argument("--limit", metavar="N", type=positive, help="how many (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="leave out the first N"),
    FILTER_OPTIONS,
)
def run_list(options: Options, args: dict[str, Any]) -> None:
    ask(options, "list", args)


@takes(
    argument("--kind", choices=KINDS, help="of documents of this kind"),
    argument("--path", metavar="GLOB", help="of documents whose path matches"),
)
def run_tags(options: Options, args: dict[str, Any]) -> None:
    ask(options, "tags", args)


@takes(
    flag("--tags", "count the documents of each tag instead"),
    flag("--agents", "count the documents of each agent or person instead"),
)
def run_stats(options: Options, args: dict[str, Any]) -> None:
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
        "file", nargs="?", metavar="FILE", help="say how this file or document is doing instead"
    ),
    flag("--privacy", "list what was sent to which server, and when: paths and counts"),
)
def run_status(options: Options, args: dict[str, Any]) -> None:
    file = args.get("file")
    if file is None:
        ask(options, "status", args)
    else:
        ask(
            options,
            "file_status",
            {"ref": absolute(file) if os.path.exists(os.path.expanduser(file)) else file},
        )
