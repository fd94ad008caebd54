"""Run one command from its arguments to its exit code; only this module prints errors."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise

from vault_index.cli.commands import GROUPS
from vault_index.cli.parser import (
    PROGRAM,
    build_parser,
    find_command,
    group_overview,
    overview,
    parse,
    unknown_command,
)
from vault_index.cli.present import print_error, write
from vault_index.errors import VaultIndexError

INTERRUPTED = 130


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; print an error instead of raising it."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _command(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(
            f"\n{PROGRAM}: interrupted; nothing is lost, run the same command to continue",
            file=sys.stderr,
        )
        return INTERRUPTED
    except BrokenPipeError:
        # The reader, such as `head`, closed the pipe. Python would print an error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - instead of a traceback
        if "--verbose" in arguments:
            import traceback

            traceback.print_exc()
        reported = error if isinstance(error, VaultIndexError) else _unexpected(error)
        print_error(reported, as_json=_wants_json(arguments))
        return reported.exit_code
    return code


def _unexpected(error: Exception) -> VaultIndexError:
    if isinstance(error, OSError) and error.filename:  # the file system failed, not this program
        return VaultIndexError(
            f"{error.filename}: {error.strerror}", "check its owner, its permissions and the disk"
        )
    hint = "this is a bug in vault-index: run it again with --verbose and report the output"
    return VaultIndexError(f"{type(error).__name__}: {error}", hint)


def _command(arguments: list[str]) -> int:
    flags = _flags(arguments)
    found = find_command(arguments)
    if not found.word and not {"--version", "--help", "-h"} & set(flags):
        terminal = sys.stdin.isatty() and sys.stdout.isatty() and find_spec("prompt_toolkit")
        words = ["search", "--interactive"] if terminal else ["summary"]
        found = find_command([*words, *arguments])
    if "--version" in flags:
        write(_versions())
        return 0
    if found.command is None:
        if "--help" in flags or "-h" in flags:
            write(group_overview(found.word) if found.word in GROUPS else overview())
            return 0
        raise unknown_command(found.word)
    parser, command = build_parser(found.command)
    if "--help" in flags or "-h" in flags:
        write(parser.format_help().rstrip("\n"))
        return 0
    options, args = parse(parser, found.rest)
    return command(options, args) or 0


def _flags(arguments: Sequence[str]) -> Sequence[str]:
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def _versions() -> str:
    """Return the program's version on the first line, then the versions of its parts."""
    import platform

    from vault_index.embeddings.spaces import ENGLISH
    from vault_index.store.integrity import versions
    from vault_index.version import __version__

    parts = {"Python": platform.python_version(), **versions(), "model": ENGLISH.model}
    return "\n".join(
        [f"vault-index {__version__}", *(f"{name} {version}" for name, version in parts.items())]
    )


def _wants_json(arguments: Sequence[str]) -> bool:
    """Return whether errors are printed as JSON.

    This does not use the parser, because it is needed for the parser's own errors.
    """
    named = [
        word.removeprefix("--format=").removeprefix("--")
        for before, word in pairwise(["", *_flags(arguments)])
        if before == "--format"
        or word.startswith("--format=")
        or word in ("--json", "--toon", "--markdown", "--human")
    ]
    return named[-1:] in (["json"], ["jsonl"])
