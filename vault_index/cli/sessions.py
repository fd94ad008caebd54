"""`sessions`, `resume`: what was worked on with agents, and going on with it."""

import os
from typing import Any

from vault_index.cli.arguments import (
    FILTER,
    Options,
    absolute,
    argument,
    flag,
    natural,
    positive,
    project_named,
    takes,
)
from vault_index.cli.client import ask, call, with_source
from vault_index.cli.present import remark, show_value
from vault_index.errors import NotFoundError

_HERE = (".", "..", f".{os.sep}", f"..{os.sep}", "~")
"""How a path begins that is one of this shell's."""


@takes(
    argument(
        "--project", metavar="NAME", help="of this project, or held in this folder: --project ."
    ),
    FILTER["client"],
    argument("--file", metavar="PATH", help="that wrote or read this file or folder: src/app.py"),
    argument(
        "--since",
        metavar="DATE",
        help="on this day or later: 2026-11-21, yesterday, 3 days ago, 2 hours ago",
    ),
    argument("--until", metavar="DATE", help="on this day or earlier"),
    flag(
        "--summary",
        "say what was worked on instead, by project (without --since: of the last week)",
    ),
    flag("--subagents", "list those, too, that another session began for a part of its work"),
    argument("--limit", metavar="N", type=positive, help="how many (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="leave out the first N"),
    description="List sessions with agents, of all clients, those first that were held last. With --summary: time, "
    "files that were written, commands that were run and failed, as the sessions tell; no model is asked.",
)
def run_sessions(options: Options, args: dict[str, Any]) -> None:
    params = dict(args)
    if project := args.get("project"):
        params["project"] = project_named(project)
    if (file := args.get("file", "")) in _HERE[:2] or file.startswith(_HERE[2:]):
        params["file"] = absolute(file)
    if params.get("summary"):  # it counts them
        params.pop("subagents", None)
    ask(options, "sessions", params)


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="its id, or that in its client, or its beginning; a path; words of its title",
    ),
    flag("--exec", "run it there, in place of this command"),
    description="Print the command with which the client of a session goes on with it, in the folder it was held in.",
)
def run_resume(options: Options, args: dict[str, Any]) -> None:
    answer = call(options, "resume", with_source(options, {"ref": " ".join(args["ref"])}))
    if answer.get("instead_of"):
        remark(
            options,
            f"vault-index: “{answer['instead_of']}” is a subagent's; this is the session that asked for it",
        )
    if args.get("exec"):
        _run(answer)
    if not answer["there"]:
        told = answer["directory"] or "which is not known"
        remark(options, f"vault-index: the folder it was held in is gone: {told}")
    show_value(options, "resume", answer, answer["shell"])


def _run(answer: dict[str, Any]) -> None:
    """Become that program. It is looked for before the folder is changed, which is not to be trusted."""
    from shutil import which

    program, *_ = answer["command"]
    found = which(program)
    if found is None:
        raise NotFoundError(
            f"there is no program {program!r}", "install it, or see that PATH names its folder"
        )
    if not answer["there"]:
        told = answer["directory"] or "not known"
        hint = f"make the folder again, or run in another one: {answer['shell']}"
        raise NotFoundError(f"the folder it was held in is gone: {told}", hint)
    found = os.path.abspath(found)
    os.chdir(answer["directory"])
    os.execv(found, answer["command"])
