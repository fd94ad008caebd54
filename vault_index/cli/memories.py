"""`add`, `update`, `delete`, `archive`, `prune`, `capture`, `export`, `import`: memories written, removed, moved."""

import os
import stat
import sys
from collections.abc import Mapping
from typing import Any

from vault_index.cli.arguments import (
    FIELD_OPTIONS,
    NO_EMBED,
    SEVERAL,
    Options,
    absolute,
    argument,
    flag,
    natural,
    positive,
    takes,
)
from vault_index.cli.client import (
    ask,
    ask_of_several,
    call,
    call_with_progress,
    home_of,
    with_source,
)
from vault_index.cli.present import remark, show, write
from vault_index.config.home import working_directory
from vault_index.errors import NotFoundError, UsageError

_STDIO = "-"
"""Stands for stdin or stdout where a file is named."""

_MOST_BYTES = 3 * 1024 * 1024
"""The size of a text that a request to the daemon can hold."""

_FORCE = flag("--force", "store it even where it looks like a credential")


@takes(
    argument(
        "text",
        nargs="*",
        metavar="TEXT",
        help="the memory; without it (or as -) what is piped in, or --file",
    ),
    argument("--file", metavar="PATH", help="the file that holds the text"),
    argument(
        "--path", metavar="NAME", help="its name in the memory folder, as handoffs/2026-01-01"
    ),
    argument("--tags", help="its tags", **SEVERAL),
    FIELD_OPTIONS,
    _FORCE,
    description="Store a memory: a markdown file in the memory folder of the vault, found by search as soon as the "
    "command ends. What says the same already is not stored twice: it takes over new tags and dates. Frontmatter at "
    "the top of the text says what the options do not. Also called store.",
)
def run_add(options: Options, args: dict[str, Any]) -> None:
    places, text = _typed_in(args), given_text(args)
    if text is None and "title" not in args:
        raise UsageError(
            "what shall be remembered?", 'give it as words: vault-index add "…", or pipe it in'
        )
    ask(options, "add", {**places, **args, **_project(args), "text": text or ""})


@takes(
    argument("ref", metavar="REF", help="its id or the beginning, or its path or name"),
    argument("text", nargs="*", metavar="TEXT", help="the new text, as --content"),
    argument("--content", metavar="TEXT", help="the new text; - for what is piped in"),
    argument("--file", metavar="PATH", help="the file that holds the new text"),
    flag("--append", "put the text after what is there"),
    argument("--section", metavar="HEADING", help="change only what stands under this heading"),
    argument("--tags", help="its tags, instead of the old ones", **SEVERAL),
    argument("--add-tags", help="more tags", **SEVERAL),
    argument("--remove-tags", help="tags it loses", **SEVERAL),
    flag("--allow-empty", "take an empty text as the new one"),
    FIELD_OPTIONS,
    _FORCE,
    description="Change what is named of one memory, and nothing else of its file. An empty value takes a field away. "
    "Exit code 5 when the file changed meanwhile: it stays, and the new text is kept beside it.",
)
def run_update(options: Options, args: dict[str, Any]) -> None:
    places = _typed_in(args)
    words, content, file = args.pop("text", None), args.pop("content", None), args.pop("file", None)
    if sum(one is not None for one in (words or None, content, file)) > 1:
        raise UsageError("the text is given twice", "give it as words, as --content or as --file")
    content = " ".join(words) if words else content
    # With a field and without a text, stdin is not read: it may be a pipe that never ends.
    wants_text = "append" in args or "section" in args or set(args) == {"ref"}
    if content == _STDIO or (content is None and file is None and wants_text):
        content = _stdin_text()
    elif file is not None:
        content = _read_text(file)
    ask(
        options,
        "update",
        {**places, **args, **_project(args), **({} if content is None else {"content": content})},
    )


@takes(
    argument(
        "file", nargs="?", metavar="FILE", help="what the agent wrote; without it what is piped in"
    ),
    argument(
        "--by",
        "--entered-by",
        dest="by",
        metavar="NAME",
        help="who says so (default: auto-extract)",
    ),
    argument("--project", metavar="NAME", help="the project they are for, or its folder"),
    argument("--session", metavar="ID", help="the session it was said in"),
    flag("--statements", "plain decisions and preferences of a user, too: we decided, never …"),
    flag("--inbox", "keep them in the folder inbox of the memories"),
    flag("--auto", "keep them where agents.capture says, or not at all"),
    flag("--dry-run", "show them, and store nothing"),
    _FORCE,
    description="Take every `*Remember*: …` out of the output of an agent as a memory of its own, up to a blank line "
    "or the next one. Tags and expiry are inferred from its words; what is known already is not stored twice.",
)
def run_capture(options: Options, args: dict[str, Any]) -> int:
    places, text = _typed_in(args), given_text(args)
    if text is None:
        raise UsageError("what shall be looked through?", "name a file, or pipe the text in")
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is stored")
    return ask_of_several(options, "capture", {**places, **args, **_project(args), "text": text})


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="a memory: its id or the beginning, or its path or name",
    ),
    flag("--permanent", "delete them for good"),
    description="Move memories to the .trash/ of their vault, where Obsidian finds them, too.",
)
def run_delete(options: Options, args: dict[str, Any]) -> int:
    return ask_of_several(options, "delete", args)


_MEMORY = argument(
    "ref", metavar="REF", help="its id or the beginning, or its path; also of one that was deleted"
)


@takes(
    _MEMORY,
    argument("--limit", metavar="N", type=positive, help="how many (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="leave out the first N"),
    description="List what a memory said before, the newest version first: the last 50 that were seen, by whom, and "
    "what was done, hand edits included. Where the vault is a git repository, its commits are listed, too.",
)
def run_history(options: Options, args: dict[str, Any]) -> None:
    ask(options, "history", args)


@takes(
    _MEMORY,
    argument(
        "--before",
        metavar="VERSION",
        help="the older one: a number, or a commit (default: the one before)",
    ),
    argument("--after", metavar="VERSION", help="the newer one (default: the last one)"),
    description="Print what changed between two versions of a memory, as a unified diff.",
)
def run_diff(options: Options, args: dict[str, Any]) -> None:
    ask(options, "diff", args)


@takes(
    _MEMORY,
    argument(
        "--to",
        metavar="VERSION",
        help="a number, or a commit (default: the last one that says something else)",
    ),
    description="Have the file of a memory say again, byte for byte, what it said in a version. One that was deleted "
    "comes back. That is a version, too, and undo takes it back.",
)
def run_revert(options: Options, args: dict[str, Any]) -> None:
    ask(options, "revert", args)


@takes(
    description="Put the files that the last command touched (add, update, delete, prune, capture, import …) back as "
    "they were; called again, those of the one before. What was created goes to .trash/. Exit code 5 when a file has "
    "changed since: nothing is undone then. What `delete --permanent` deleted is gone.",
)
def run_undo(options: Options, args: dict[str, Any]) -> int:
    return ask_of_several(options, "undo", args)


@takes(
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="a memory: its id or the beginning, or its path or name",
    ),
    flag("--restore", "have them found again"),
    description="Leave memories out of search and recall, unless is:archived asks for them. Their files stay in "
    "place, and links to them hold.",
)
def run_archive(options: Options, args: dict[str, Any]) -> int:
    return ask_of_several(options, "archive", args)


@takes(
    argument(
        "--before",
        metavar="DATE",
        help="those older than this day instead, expired or not, as '90 days ago'",
    ),
    flag("--dry-run", "show them, and move none"),
    argument("--force", "--yes", action="store_true", help="do not ask"),
    description="Move memories that have expired to the .trash/ of their vault. On a terminal it shows them and asks "
    "first.",
)
def run_prune(options: Options, args: dict[str, Any]) -> int:
    force = args.pop("force", False)
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is moved")
    elif not force and not _confirmed(options, "prune", args, "Move {} to .trash/?"):
        return 0
    return ask_of_several(options, "prune", args)


@takes(
    argument("ref", nargs="*", metavar="SESSION", help="its id, or its path"),
    argument("--project", metavar="NAME", help="those of this project that there are now"),
    argument("--client", metavar="NAME", help="those of this client, as codex"),
    argument(
        "--before", metavar="DATE", help="those that went on last before this day, as '90 days ago'"
    ),
    flag("--dry-run", "show them, and delete none"),
    argument("--force", "--yes", action="store_true", help="do not ask"),
    description="Delete sessions, with those of their subagents, from the index, the vectors, what was kept of them, "
    "and the vault, so that no file of vault-index says anything of them. What their client still has stays there, and "
    "is not read again. Filters mean what there is now, and not what is to come: for that, sessions.<client>.exclude. "
    "There is no undo. On a terminal it shows them and asks first.",
)
def run_forget(options: Options, args: dict[str, Any]) -> int:
    force = args.pop("force", False)
    if not args.get("ref"):
        args.pop("ref", None)
    if "dry_run" in args:
        remark(options, "vault-index: a dry run: nothing is deleted")
    elif not force and not _confirmed(options, "forget", args, "Delete {} for good?"):
        return 0
    return ask_of_several(options, "forget", args)


def _confirmed(options: Options, method: str, args: dict[str, Any], question: str) -> bool:
    """Show the plan and ask. False if there is nothing to do, or the answer is no."""
    plan = call(options, method, with_source(options, {**args, "dry_run": True}))
    count = len(plan["results"])
    if count and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"{method} needs confirmation ({count} found): nothing was changed",
            "look first with --dry-run, then add --yes",
        )
    show(options, method, plan)
    if not count:
        return False
    print(f"{question.format(count)} [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    remark(options, f"vault-index: nothing was {'moved' if method == 'prune' else 'deleted'}")
    return False


@takes(
    argument("file", metavar="FILE", help="where to; - is stdout"),
    flag("--force", "overwrite what is there"),
    description="Write the memories of a vault to a JSON file (one array, every key); to a markdown file, when its "
    "name ends with .md, or with --markdown; to a folder of markdown, when the name is that of a folder, ends with /, "
    "or has no ending (with --markdown). `import` brings them back as they were. Only you can read what is written.",
)
def run_export(options: Options, args: dict[str, Any]) -> None:
    source, name = with_source(options, {}), args["file"]
    markdown = options.format == "markdown" or (
        options.format == "auto" and name.lower().endswith(".md")
    )
    if name == _STDIO:
        from vault_index.api import VaultIndex

        with VaultIndex.open(home_of(options)) as index:
            write(index.export_json(markdown=markdown, **source).removesuffix("\n"))
        return
    place = absolute(name)
    # `--markdown notes` is a folder, `--markdown notes.md` a file.
    folder = (
        name.endswith("/") or os.path.isdir(place) or (markdown and not os.path.splitext(name)[1])
    )
    params = {
        **source,
        "path": place,
        "folder": folder,
        "markdown": markdown,
        "force": "force" in args,
    }
    show(options, "export", call(options, "export", params))


@takes(
    argument("path", metavar="FILE|DIR", help="what to import"),
    flag("--force", "store even what looks like a credential"),
    flag("--dry-run", "say what would be stored, and store nothing"),
    NO_EMBED,
    description="Store the memories of an export, or of another program: a JSON array (LLMemory, agmem, mem0), a "
    "folder of markdown, or the .opencode/memory of OpenCodeKit. What is here already stays as it is, so that "
    "importing twice changes nothing. A memory that cannot be read is named, and the others are stored.",
)
def run_import(options: Options, args: dict[str, Any]) -> int:
    params = with_source(options, {**args, "path": absolute(args["path"])})
    answer = call_with_progress(options, "import", params)
    show(options, "import", answer)
    return 1 if answer["failed"] else 0


# --- texts that are given as words, in a file, or on stdin ----------------------------------------------------------


def _typed_in(args: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say where a text was typed: the folder a command runs in, that of the file with its text, and
    the session. Each may be private."""
    file, here, session = (
        args.get("file"),
        working_directory(),
        os.environ.get("VAULT_INDEX_SESSION"),
    )
    more = [os.path.dirname(os.path.join(here, file))] if file and file != _STDIO else []
    return {"directory": [here, *more], **({"session": session} if session else {})}


def _project(args: Mapping[str, Any]) -> dict[str, Any]:
    """A folder that is named from here; `acme/shop` is the name of a project."""
    project = args.get("project", "")
    named_from_here = project in (".", "..") or project.startswith(("./", "../", "~"))
    return {"project": absolute(project)} if named_from_here else {}


def given_text(args: dict[str, Any]) -> str | None:
    """Removes the text from the arguments and returns it: the words, else the content of `--file`, else
    stdin; None if there is none."""
    words, file = args.pop("text", None), args.pop("file", None)
    text = " ".join(words) if isinstance(words, list) else words
    if text and file is not None:
        raise UsageError("the text is given twice, as words and as a file", "give one of them")
    if text == _STDIO or file == _STDIO:
        return _stdin_text() or ""
    if file is not None:
        return _read_text(file)
    return text or _stdin_text()


def _stdin_text() -> str | None:
    """The text on stdin; None if that is a terminal or a device such as `/dev/null`."""
    try:
        if stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
            return None
    except (AttributeError, OSError, ValueError):  # closed, or no file at all
        return None
    return _decoded(sys.stdin.buffer.read(_MOST_BYTES + 1), "what is piped in")


def _read_text(path: str) -> str:
    """The text of a file. Raises NotFoundError, and UsageError for a file that is not UTF-8 or too large."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return _decoded(file.read(_MOST_BYTES + 1), path)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no file {path}", "check the path") from error
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", "name a file, or pipe the text in"
        ) from error


def _decoded(data: bytes, what: str) -> str:
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{what} has more than {_MOST_BYTES // 2**20} MiB", "give less of it")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} is not valid UTF-8", "give it in UTF-8") from error
