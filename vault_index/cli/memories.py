"""`add`, `update`, `capture`: memories written."""

import argparse
import sys
from typing import Any

from vault_index.cli.arguments import names
from vault_index.cli.client import answer_of_several, ask, ask_of_several
from vault_index.cli.options import Options
from vault_index.cli.present import remark, show
from vault_index.cli.text_input import given_text, read_text, stdin_text
from vault_index.errors import UsageError


def add_add(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Store a memory: a markdown file in the memory folder of the vault, found by search as soon as the command "
        "ends. What says the same already is not stored twice: it takes over new tags and dates. Frontmatter "
        "at the top of the text says what the options do not. Also called store."
    )
    parser.add_argument(
        "text", nargs="*", metavar="TEXT", help="the memory; without it (or as -) what is piped in, or --file"
    )
    parser.add_argument("--file", metavar="PATH", help="the file that holds the text")
    parser.add_argument("--path", metavar="NAME", help="its name in the memory folder, as handoffs/2026-01-01")
    parser.add_argument("--tags", metavar="A,B", type=names, action="extend", help="its tags")
    _add_fields(parser)
    _add_force(parser)


def run_add(options: Options, args: dict[str, Any]) -> int:
    text = given_text(args)
    if text is None and "title" not in args:
        raise UsageError("what shall be remembered?", 'give it as words: vault-index add "…", or pipe it in')
    return ask(options, "add", {**args, "text": text or ""})


def add_update(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Change what is named of one memory, and nothing else of its file. An empty value takes a field away. Exit "
        "code 5 when the file changed meanwhile: it stays, and the new text is kept beside it."
    )
    parser.add_argument("ref", metavar="REF", help="its id or the beginning, or its path or name")
    parser.add_argument("text", nargs="*", metavar="TEXT", help="the new text, as --content")
    parser.add_argument("--content", metavar="TEXT", help="the new text; - for what is piped in")
    parser.add_argument("--file", metavar="PATH", help="the file that holds the new text")
    parser.add_argument("--append", action="store_true", help="put the text after what is there")
    parser.add_argument("--section", metavar="HEADING", help="change only what stands under this heading")
    parser.add_argument("--tags", metavar="A,B", type=names, action="extend", help="its tags, instead of the old ones")
    parser.add_argument("--add-tags", metavar="A,B", type=names, action="extend", help="more tags")
    parser.add_argument("--remove-tags", metavar="A,B", type=names, action="extend", help="tags it loses")
    _add_fields(parser)
    _add_force(parser)


def run_update(options: Options, args: dict[str, Any]) -> int:
    words, content, file = args.pop("text", None), args.pop("content", None), args.pop("file", None)
    if sum(one is not None for one in (words or None, content, file)) > 1:
        raise UsageError("the text is given twice", "give it as words, as --content or as --file")
    content = " ".join(words) if words else content
    # A command that names a field and no text leaves stdin alone: it may be a pipe that never ends.
    wants_text = "append" in args or "section" in args or set(args) == {"ref"}
    if content == "-" or (content is None and file is None and wants_text):
        content = stdin_text()
    elif file is not None:
        content = read_text(file)
    return ask(options, "update", args if content is None else {**args, "content": content})


def add_capture(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Take every `*Remember*: …` out of the output of an agent as a memory of its own, up to a blank line or the "
        "next one. Tags and expiry are inferred from its words; what is known already is not stored twice."
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="what the agent wrote; without it what is piped in")
    parser.add_argument("--by", "--entered-by", dest="by", metavar="NAME", help="who says so (default: auto-extract)")
    parser.add_argument("--project", metavar="NAME", help="the project they are for, or its folder")
    parser.add_argument("--session", metavar="ID", help="the session it was said in")
    parser.add_argument(
        "--statements", action="store_true", help="plain decisions and preferences of a user, too: we decided, never …"
    )
    parser.add_argument("--inbox", action="store_true", help="keep them in the folder inbox of the memories")
    parser.add_argument("--auto", action="store_true", help="keep them where agents.capture says, or not at all")
    parser.add_argument("--dry-run", action="store_true", help="show them, and store nothing")
    _add_force(parser)


def run_capture(options: Options, args: dict[str, Any]) -> int:
    text = given_text(args)
    if text is None:
        raise UsageError("what shall be looked through?", "name a file, or pipe the text in")
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is stored")
    return ask_of_several(options, "capture", {**args, "text": text})


def _add_fields(parser: argparse.ArgumentParser) -> None:
    """What is said of a memory beside its text and its tags."""
    group = parser.add_argument_group("what is said of it")
    group.add_argument("--title", metavar="TEXT", help="its title (default: its first heading or sentence)")
    group.add_argument("--subtitle", metavar="TEXT", help="a line under the title")
    group.add_argument("--digest", metavar="TEXT", help="what search shows of it (default: its first sentences)")
    group.add_argument(
        "--type",
        metavar="TYPE",
        help="note (the default), decision, bugfix, feature, pattern, discovery, learning or warning",
    )
    group.add_argument("--project", metavar="NAME", help="the project it is for; without one it is for every project")
    group.add_argument("--by", "--entered-by", dest="by", metavar="NAME", help="the person or agent it comes from")
    group.add_argument(
        "--expires", metavar="DATE", help="hidden from search after this day: 2027-02-01, in 3 months, Q1 2027"
    )
    group.add_argument("--valid-until", metavar="DATE", help="marked as outdated after this day")
    group.add_argument("--confidence", metavar="HOW", help="how sure it is: high, medium or low")
    group.add_argument(
        "--facts", "--fact", dest="facts", metavar="TEXT", action="append", help="a fact of it; once for each"
    )
    group.add_argument("--concepts", metavar="A,B", type=names, action="extend", help="concepts it is about")
    group.add_argument("--files-read", metavar="A,B", type=names, action="extend", help="files it was learned from")
    group.add_argument("--files-modified", metavar="A,B", type=names, action="extend", help="files that were changed")
    group.add_argument("--bead", "--bead-id", dest="bead", metavar="ID", help="the bead it belongs to")
    group.add_argument(
        "--supersedes",
        metavar="REF,REF",
        type=names,
        action="extend",
        help="memories it replaces: they are marked, and no longer found",
    )


def _add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="store it even where it looks like a credential")


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
