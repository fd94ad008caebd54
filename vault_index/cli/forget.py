"""`delete`, `prune`: memories put away."""

import argparse
import sys
from typing import Any

from vault_index.cli.call import answer_of_several, ask_of_several
from vault_index.cli.options import Options
from vault_index.cli.present import remark, show
from vault_index.errors import UsageError


def add_delete(parser: argparse.ArgumentParser) -> None:
    parser.description = "Move memories to the .trash/ of their vault, where Obsidian finds them, too."
    parser.add_argument("ref", nargs="+", metavar="REF", help="a memory: its id or the beginning, or its path or name")
    parser.add_argument("--permanent", action="store_true", help="delete them for good")


def run_delete(options: Options, args: dict[str, Any]) -> int:
    return ask_of_several(options, "delete", args)


def add_prune(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Move memories that have expired to the .trash/ of their vault. On a terminal it shows them and asks first."
    )
    parser.add_argument("--before", metavar="DATE", help="only those that expired before this day, as '30 days ago'")
    parser.add_argument("--dry-run", action="store_true", help="show them, and move none")
    parser.add_argument("--force", action="store_true", help="do not ask")


def run_prune(options: Options, args: dict[str, Any]) -> int:
    force = args.pop("force", False)
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is moved")
    elif not force and not _confirmed(options, args):
        return 0
    return ask_of_several(options, "prune", args)


def _confirmed(options: Options, args: dict[str, Any]) -> bool:
    """Ask a person. False where there is nothing to do, or the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            "prune asks before it moves memories, and here is nobody to ask",
            "look first with --dry-run, then add --force",
        )
    plan = answer_of_several(options, "prune", {**args, "dry_run": True})
    show(options, "prune", plan)
    if not plan["results"]:
        return False
    print(f"Move {len(plan['results'])} to .trash/? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    remark(options, "vault-index: nothing was moved")
    return False
