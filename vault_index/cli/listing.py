"""`list`, `tags`, `stats`, `status`: what is in the index, and its state."""

import os
from typing import Any

from vault_index.cli.arguments import FILTER_OPTIONS, Options, absolute, argument, flag, natural, positive, takes
from vault_index.cli.client import ask, call
from vault_index.cli.present import show
from vault_index.fields import KINDS


@takes(
    argument(
        "--sort",
        choices=("created", "time", "updated", "access", "expires", "title", "content"),
        help="the order (default: created; time is the same)",
    ),
    argument("--order", choices=("asc", "desc"), help="upwards or downwards"),
    argument("--limit", metavar="N", type=positive, help="how many (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="leave out the first N"),
    FILTER_OPTIONS,
)
def run_list(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "list", args)


@takes(
    argument("--kind", choices=KINDS, help="of documents of this kind"),
    argument("--path", metavar="GLOB", help="of documents whose path matches"),
)
def run_tags(options: Options, args: dict[str, Any]) -> int:
    return ask(options, "tags", args)


@takes(
    flag("--tags", "count the documents of each tag instead"),
    flag("--agents", "count the documents of each agent or person instead"),
)
def run_stats(options: Options, args: dict[str, Any]) -> int:
    if "tags" not in args:
        return ask(options, "stats", args)
    if "agents" not in args:
        return ask(options, "tags", {})
    answers = {"tags": call(options, "tags", {}), "agents": call(options, "stats", {"agents": True})}
    show(options, "stats", {name: answer["results"] for name, answer in answers.items() if isinstance(answer, dict)})
    return 0


@takes(
    argument("file", nargs="?", metavar="FILE", help="say how this file or document is doing instead"),
    flag("--privacy", "list what was sent to which server, and when: paths and counts"),
)
def run_status(options: Options, args: dict[str, Any]) -> int:
    if "file" not in args:
        return ask(options, "status", args)
    file = args["file"]
    return ask(options, "file_status", {"ref": absolute(file) if os.path.exists(os.path.expanduser(file)) else file})
