"""`list`, `sessions`, `resume`, `tags`, `stats`, `status`: list the contents and the state."""

import os
import sys
from typing import Any

from vault_index.cli.arguments import (
    FILTER,
    FILTER_OPTIONS,
    Options,
    absolute,
    argument,
    flag,
    natural,
    positive,
    project_named,
    takes,
)
from vault_index.cli.client import ask, call, passes_on, with_source
from vault_index.cli.present import remark, show, show_value
from vault_index.errors import NotFoundError, UsageError
from vault_index.fields import KINDS, SORTS
from vault_index.output.text import when

_PROBLEMS = 3
"""Problems that the summary names."""
_CHOICES = 200
"""The latest sessions, from which `resume` lets the user choose."""
_HERE = (".", "..", f".{os.sep}", f"..{os.sep}", "~")
"""Beginnings of paths that are relative to the working folder or the user's home."""


run_list = passes_on(
    "list",
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


run_tags = passes_on(
    "tags",
    argument(
        "--kind", choices=KINDS, metavar="KIND", help="note, memory or session (default: all)"
    ),
    argument("--path", metavar="GLOB", help="count only documents with a matching path"),
)


run_stats = passes_on(
    "stats",
    flag("--agents", "count the documents of each agent or person"),
)


@takes(
    argument(
        "file", nargs="?", metavar="FILE", help="show the state of this file or document only"
    ),
    flag("--privacy", "list what was sent to each server: days, paths, counts"),
)
def run_status(options: Options, args: dict[str, Any]) -> None:
    """Print the state of the index, or of one file."""
    if (file := args.get("file")) is None:
        ask(options, "status", args)
    else:
        ask(
            options,
            "file_status",
            {"ref": absolute(file) if os.path.exists(os.path.expanduser(file)) else file},
        )


@takes()
def run_summary(options: Options, args: dict[str, Any]) -> None:
    """Print what is indexed, how many memories wait for review, and the first problems."""
    state = call(options, "status", args)
    index = state["index"]
    answer = {
        "documents": index["documents"],
        "sources": [{key: one[key] for key in ("name", "documents")} for one in state["sources"]],
        "pending": index["pending"],
        "daemon": "running" if state["daemon"]["running"] else "not running",
        "to_review": call(options, "review", {"limit": 1})["total"],
        "problems": state["problems"][:_PROBLEMS],
        "next": "vault-index search WORDS, vault-index status, vault-index --help",
    }
    show(options, "summary", answer)


@takes(
    argument("--project", metavar="NAME", help="sessions of this project, or in this folder (.)"),
    FILTER["client"],
    argument("--file", metavar="PATH", help="sessions that wrote or read this path"),
    argument(
        "--since",
        metavar="DATE",
        help="start: 2026-11-21, yesterday, 3 days ago, 2 hours ago",
    ),
    argument("--until", metavar="DATE", help="last day, written as for --since"),
    flag(
        "--summary",
        "summarize the work by project (default: last 7 days)",
    ),
    flag("--subagents", "also list sessions of subagents"),
    argument("--limit", metavar="N", type=positive, help="maximum number (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N (default: 0)"),
    description="List the agent sessions of all clients, newest first. --summary shows time, "
    "written files, commands and failed commands per project, taken from the sessions without a "
    "language model.",
)
def run_sessions(options: Options, args: dict[str, Any]) -> None:
    """List sessions, or summarize the work in them."""
    params = dict(args)
    if project := args.get("project"):
        params["project"] = project_named(project)
    if (file := args.get("file", "")) in _HERE[:2] or file.startswith(_HERE[2:]):
        params["file"] = absolute(file)
    if params.get("summary"):  # the summary always counts subagents
        params.pop("subagents", None)
    ask(options, "sessions", params)


@takes(
    argument(
        "ref",
        nargs="*",
        metavar="REF",
        help="id in vault-index or in the client, its prefix, path, or words of the title "
        "(default: choose one on the terminal; needs prompt_toolkit)",
    ),
    flag("--exec", "run the command in the session's folder instead of printing it"),
    description="Print the command that resumes a session in its client and its folder.",
)
def run_resume(options: Options, args: dict[str, Any]) -> None:
    """Print the command that resumes a session, or run it."""
    ref = " ".join(args.get("ref", ())) or _chosen_session(options)
    if not ref:
        return
    answer = call(options, "resume", with_source(options, {"ref": ref}))
    if answer.get("instead_of"):
        remark(
            options,
            f"vault-index: “{answer['instead_of']}” is a subagent's session; using its parent",
        )
    if args.get("exec"):
        _run(answer)
    if not answer["there"]:
        folder = answer["directory"] or "unknown"
        remark(options, f"vault-index: the folder of the session does not exist: {folder}")
    show_value(options, "resume", answer, answer["shell"])


def _chosen_session(options: Options) -> str:
    """Let the user choose a session; return its id, or an empty string."""
    from vault_index.cli import picker  # slow to import

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("a session is missing", "list sessions: vault-index sessions")
    sessions = call(options, "sessions", with_source(options, {"limit": _CHOICES}))["results"]
    rows = [
        picker.Choice(
            f"{one['title']} · {one['client']} · {when(one['updated'])}", one["digest"] or "", one
        )
        for one in sessions
    ]

    def find(words: str) -> list[picker.Choice]:
        return [one for one in rows if all(w in one.row.lower() for w in words.lower().split())]

    chosen = picker.choose(find)
    return str(chosen[1]["id"]) if chosen else ""


def _run(answer: dict[str, Any]) -> None:
    """Replace this process with the program.

    It is located before changing to the session's folder, which may contain another program of
    this name. Raises NotFoundError for a missing program or folder.
    """
    from shutil import which

    program, *_ = answer["command"]
    if (found := which(program)) is None:
        raise NotFoundError(
            f"program not found: {program}", "install it, or add its folder to PATH"
        )
    if not answer["there"]:
        folder = answer["directory"] or "unknown"
        raise NotFoundError(
            f"the folder of the session does not exist: {folder}",
            f"create the folder, or run in another one: {answer['shell']}",
        )
    found = os.path.abspath(found)
    os.chdir(answer["directory"])
    os.execv(found, answer["command"])
