"""The commands that store, change, delete, restore, export and import memories."""

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
    passes_on,
    with_source,
)
from vault_index.cli.present import remark, show, write
from vault_index.config.home import working_directory
from vault_index.errors import NotFoundError, UsageError

_STDIO = "-"
"""The file name that means stdin or stdout."""

_MOST_BYTES = 3 * 1024 * 1024
"""The largest text in a request to the daemon."""

_FORCE = flag("--force", "store text that looks like a credential")


@takes(
    argument(
        "text",
        nargs="*",
        metavar="TEXT",
        help="text of the memory (default: --file or stdin; - reads stdin)",
    ),
    argument("--file", metavar="PATH", help="read the text from this file"),
    argument(
        "--path",
        metavar="NAME",
        help="file name in the memory folder, such as handoffs/2026-01-01 (default: from date and "
        "title)",
    ),
    argument("--tags", help="tags", **SEVERAL),
    FIELD_OPTIONS,
    _FORCE,
    description="Store a memory as a markdown file in the memory folder of the vault. Search finds "
    "it as soon as the command ends. A duplicate is not stored: the existing memory takes over new "
    "tags and dates. Frontmatter at the top of the text sets fields, unless an option sets them. "
    "`store` is an alias.",
)
def run_add(options: Options, args: dict[str, Any]) -> None:
    """Store a memory."""
    places, text = _origin(args), given_text(args)
    if text is None and "title" not in args:
        raise UsageError(
            "the text of the memory is missing",
            'pass it as an argument (vault-index add "…"), or pipe it in',
        )
    ask(options, "add", {**places, **args, **_project(args), "text": text or ""})


@takes(
    argument("ref", metavar="REF", help="id or its prefix, path or name of the memory"),
    argument("text", nargs="*", metavar="TEXT", help="new text, like --content"),
    argument("--content", metavar="TEXT", help="new text; - reads stdin"),
    argument("--file", metavar="PATH", help="read the new text from this file"),
    flag("--append", "append the text instead of replacing the old one"),
    argument("--section", metavar="HEADING", help="change only the text under this heading"),
    argument("--tags", help="replace all tags", **SEVERAL),
    argument("--add-tags", help="add tags", **SEVERAL),
    argument("--remove-tags", help="remove tags", **SEVERAL),
    flag("--allow-empty", "allow an empty new text"),
    FIELD_OPTIONS,
    _FORCE,
    description="Change the named parts of one memory; the rest of its file stays as it is. An "
    "empty value removes a field. If the file changed in the meantime, it is not overwritten: the "
    "new text is saved next to it, and the exit code is 5.",
)
def run_update(options: Options, args: dict[str, Any]) -> None:
    """Change a memory."""
    places = _origin(args)
    words, content, file = args.pop("text", None), args.pop("content", None), args.pop("file", None)
    if sum(one is not None for one in (words or None, content, file)) > 1:
        raise UsageError(
            "the text is given twice", "use only one of TEXT, --content TEXT and --file PATH"
        )
    content = " ".join(words) if words else content
    # With a field and without a text, do not read stdin: it may be a pipe that never ends.
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
    argument("file", nargs="?", metavar="FILE", help="text of the agent (default: stdin)"),
    argument(
        "--by",
        "--entered-by",
        dest="by",
        metavar="NAME",
        help="author (default: auto-extract)",
    ),
    argument("--project", metavar="NAME", help="project of the memories, or its folder"),
    argument("--session", metavar="ID", help="session of the text"),
    flag("--statements", "also store decisions and preferences: we decided …, never …"),
    flag("--inbox", "store in the folder inbox of the memories"),
    flag("--auto", "obey the setting agents.capture: inbox, direct or off"),
    flag("--dry-run", "print the memories without storing them"),
    _FORCE,
    description="Store every passage `*Remember*: …` in an agent's output as a memory. A passage "
    "ends at a blank line or at the next mark. Tags and expiry are inferred from its words. "
    "Duplicates are not stored.",
)
def run_capture(options: Options, args: dict[str, Any]) -> int:
    """Store the marked passages of a text; return 1 if one failed."""
    places, text = _origin(args), given_text(args)
    if text is None:
        raise UsageError(
            "the text is missing", "name a file (vault-index capture FILE), or pipe the text in"
        )
    if "dry_run" in args:
        remark(options, "vault-index: dry run: nothing is stored")
    return ask_of_several(options, "capture", {**places, **args, **_project(args), "text": text})


run_delete = passes_on(
    "delete",
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="id or its prefix, path or name of a memory",
    ),
    flag("--permanent", "delete the files instead of moving them"),
    description="Move memories to the folder .trash/ of their vault, which Obsidian uses too.",
    several=True,
)


_MEMORY = argument(
    "ref", metavar="REF", help="id or its prefix, or path of the memory, which may be deleted"
)


run_history = passes_on(
    "history",
    _MEMORY,
    argument("--limit", metavar="N", type=positive, help="maximum number (default: 20)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N (default: 0)"),
    description="List the versions of a memory, newest first, with author and change. The last 50 "
    "versions are kept, including edits by hand. If the vault is a git repository, its commits are "
    "listed too.",
)


run_diff = passes_on(
    "diff",
    _MEMORY,
    argument(
        "--before",
        metavar="VERSION",
        help="older version: a number or a commit (default: the one before the newer)",
    ),
    argument("--after", metavar="VERSION", help="newer version (default: the last)"),
    description="Print the difference between two versions of a memory as a unified diff.",
)


run_revert = passes_on(
    "revert",
    _MEMORY,
    argument(
        "--to",
        metavar="VERSION",
        help="number or commit of a version (default: the last with another text)",
    ),
    description="Restore the file of a memory, byte for byte, to an earlier version. A deleted "
    "memory is restored too. The result is a new version, and `vault-index undo` undoes it.",
)


run_undo = passes_on(
    "undo",
    description="Undo the last command that changed memories (add, update, delete, prune, capture, "
    "import …); run again to undo the one before. New files move to .trash/. If a file has changed "
    "since, nothing is undone, and the exit code is 5. `delete --permanent` cannot be undone.",
    several=True,
)


run_archive = passes_on(
    "archive",
    argument(
        "ref",
        nargs="+",
        metavar="REF",
        help="id or its prefix, path or name of a memory",
    ),
    flag("--restore", "show the memories in search again"),
    description="Hide memories from search and recall; the query is:archived still finds them. "
    "Their files stay in place, and links to them still work.",
    several=True,
)


@takes(
    argument(
        "--before",
        metavar="DATE",
        help="move memories created before this day, expired or not: '90 days ago'",
    ),
    flag("--dry-run", "list the memories without moving them"),
    argument("--force", "--yes", action="store_true", help="do not ask for confirmation"),
    description="Move expired memories to the folder .trash/ of their vault. On a terminal, the "
    "command lists them and asks for confirmation.",
)
def run_prune(options: Options, args: dict[str, Any]) -> int:
    """Move expired memories to the trash after a confirmation."""
    force = args.pop("force", False)
    if "dry_run" in args:
        remark(options, "vault-index: dry run: nothing is moved")
    elif not force and not _confirmed(options, "prune", args, "Move {} to .trash/?"):
        return 0
    return ask_of_several(options, "prune", args)


@takes(
    argument("ref", nargs="*", metavar="SESSION", help="id or path of a session"),
    argument("--project", metavar="NAME", help="sessions of this project"),
    argument("--client", metavar="NAME", help="sessions of this client, such as codex"),
    argument(
        "--before", metavar="DATE", help="sessions last used before this day, such as '90 days ago'"
    ),
    flag("--dry-run", "list the sessions without deleting them"),
    argument("--force", "--yes", action="store_true", help="do not ask for confirmation"),
    description="Delete sessions and their subagents permanently from the index, the vectors, the "
    "session archive and the vault. The client's own files stay and are not indexed again. Filters "
    "apply to existing sessions only; to exclude future sessions, set sessions.<client>.exclude. "
    "There is no undo. On a terminal, the command lists the sessions and asks for confirmation.",
)
def run_forget(options: Options, args: dict[str, Any]) -> int:
    """Delete sessions permanently after a confirmation."""
    force = args.pop("force", False)
    if not args.get("ref"):
        args.pop("ref", None)
    if "dry_run" in args:
        remark(options, "vault-index: dry run: nothing is deleted")
    elif not force and not _confirmed(options, "forget", args, "Delete {} permanently?"):
        return 0
    return ask_of_several(options, "forget", args)


def _confirmed(options: Options, method: str, args: dict[str, Any], question: str) -> bool:
    """Print the plan and ask; return False if there is nothing to do or the user declines.

    Raises UsageError without a terminal.
    """
    plan = call(options, method, with_source(options, {**args, "dry_run": True}))
    count = len(plan["results"])
    if count and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError(
            f"{method} needs confirmation ({count} found): nothing was changed",
            "check with --dry-run, then add --yes",
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
    argument("file", metavar="FILE", help="output file or folder; - is stdout"),
    flag("--force", "overwrite existing files"),
    description="Export the memories of a vault to a JSON file (one array, all keys). If FILE is a "
    "folder, ends with /, or with --markdown, write a folder of markdown files, without the counts "
    "of use. `import` restores them unchanged. Only you can read the files.",
)
def run_export(options: Options, args: dict[str, Any]) -> None:
    """Write the memories to a file, a folder or stdout."""
    source, name = with_source(options, {}), args["file"]
    if name == _STDIO:
        from vault_index.api import VaultIndex

        with VaultIndex.open(home_of(options)) as index:
            write(index.export_json(**source).removesuffix("\n"))
        return
    place = absolute(name)
    folder = name.endswith("/") or os.path.isdir(place) or options.format == "markdown"
    if name.lower().endswith(".md"):
        raise UsageError(
            "an export is a JSON file, or a folder of markdown files",
            "give a name such as memories.json or memories/",
        )
    params = {**source, "path": place, "folder": folder, "force": "force" in args}
    show(options, "export", call(options, "export", params))


@takes(
    argument("path", metavar="FILE|DIR", help="export file or folder"),
    flag("--force", "store text that looks like a credential"),
    flag("--dry-run", "print the memories without storing them"),
    NO_EMBED,
    description="Import memories from an export or from another program: a JSON array (LLMemory, "
    "agmem, mem0), a folder of markdown files, or the folder .opencode/memory of OpenCodeKit. An "
    "export of Claude or ChatGPT (ZIP or conversations.json) is stored as sessions. "
    "Existing memories stay unchanged, so importing twice changes nothing. If a memory cannot be "
    "read, it is reported and the others are stored.",
)
def run_import(options: Options, args: dict[str, Any]) -> int:
    """Store the memories of a file or folder; return 1 if one failed."""
    params = with_source(options, {**args, "path": absolute(args["path"])})
    answer = call_with_progress(options, "import", params)
    show(options, "import", answer)
    return 1 if answer["failed"] else 0


# --- Text from arguments, a file or stdin ---------------------------------------------------------


def _origin(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return where the text comes from: working folder, folder of its file, and session.

    Each of them may be private.
    """
    file, here, session = (
        args.get("file"),
        working_directory(),
        os.environ.get("VAULT_INDEX_SESSION"),
    )
    more = [os.path.dirname(os.path.join(here, file))] if file and file != _STDIO else []
    return {"directory": [here, *more], **({"session": session} if session else {})}


def _project(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the absolute path of a project's folder; `acme/shop` is a name, not a folder."""
    project = args.get("project", "")
    is_folder = project in (".", "..") or project.startswith(("./", "../", "~"))
    return {"project": absolute(project)} if is_folder else {}


def given_text(args: dict[str, Any]) -> str | None:
    """Remove the text from the arguments and return it: the words, else `--file`, else stdin.

    Return None if there is no text. Raises UsageError for words and a file, and NotFoundError.
    """
    words, file = args.pop("text", None), args.pop("file", None)
    text = " ".join(words) if isinstance(words, list) else words
    if text and file is not None:
        raise UsageError("the text is given twice, as TEXT and as --file", "use only one of them")
    if text == _STDIO or file == _STDIO:
        return _stdin_text() or ""
    if file is not None:
        return _read_text(file)
    return text or _stdin_text()


def _stdin_text() -> str | None:
    """Return the text on stdin, or None for a terminal or a device such as `/dev/null`."""
    try:
        if stat.S_ISCHR(os.fstat(sys.stdin.fileno()).st_mode):
            return None
    except (AttributeError, OSError, ValueError):  # closed, or not a file
        return None
    return _decoded(sys.stdin.buffer.read(_MOST_BYTES + 1), "stdin")


def _read_text(path: str) -> str:
    """Return the text of a file.

    Raises NotFoundError, and UsageError if the file is not UTF-8, too large or unreadable.
    """
    try:
        with open(os.path.expanduser(path), "rb") as file:
            return _decoded(file.read(_MOST_BYTES + 1), path)
    except FileNotFoundError as error:
        raise NotFoundError(f"file not found: {path}", "check the path") from error
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}", "name a readable file, or pipe the text in"
        ) from error


def _decoded(data: bytes, what: str) -> str:
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{what} is larger than {_MOST_BYTES // 2**20} MiB", "pass a shorter text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{what} is not valid UTF-8", "convert it to UTF-8") from error
