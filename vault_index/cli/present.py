"""Answers to stdout in the format asked for, errors and remarks to stderr."""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from vault_index.cli.arguments import Options
from vault_index.errors import VaultIndexError

if TYPE_CHECKING:  # spares the import of the renderers' package
    from vault_index.output import Format


def answer_format(options: Options, method: str) -> "Format":
    """The format to print in; `auto` is human on a terminal, and in a pipe TOON, or markdown for `get` and `recall`."""
    if options.format != "auto":
        return cast("Format", options.format)
    if sys.stdout.isatty():
        return "human"
    return "markdown" if method in ("get", "recall") else "toon"


def show(options: Options, method: str, answer: dict[str, Any] | str) -> None:
    """Print an answer; a string was rendered by the daemon already, in the format of `answer_format`."""
    terminal = sys.stdout.isatty()
    form = answer_format(options, method)
    if not isinstance(answer, str):
        from vault_index.output import render

        color = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        answer = render(method, answer, form, width=_width(), color=color, terminal=terminal)
    if terminal and form not in ("human", "json"):
        answer = _safe(answer)
    write(answer)


def show_value(options: Options, method: str, answer: dict[str, Any], text: str) -> None:
    """Print an answer of one value: as plain text, for people and for `$(…)`, unless a format was asked for."""
    if options.format in ("auto", "human"):
        write(_safe(text) if sys.stdout.isatty() else text)
    else:
        show(options, method, answer)


def write(text: str) -> None:
    """Print to stdout with a final newline; lone surrogates (from file names that are not UTF-8) become `?`."""
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "replace").decode(encoding), flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has enough
        raise
    except OSError as error:
        message = f"the answer cannot be written: {error.strerror}"
        raise VaultIndexError(
            message, "the command was carried out; look at the disk, and ask again"
        ) from error


def remark(options: Options, text: str) -> None:
    """Print a remark to stderr, unless `--quiet`: for people, so not where an error would be JSON."""
    if not options.quiet and options.format not in ("json", "jsonl"):
        _say(_safe(text))


def print_error(error: VaultIndexError, *, as_json: bool) -> None:
    if as_json:
        from vault_index.output import render_json

        told = {"code": error.code, "message": error.message, "hint": error.hint}
        _say(render_json({"error": told}))
        return
    hint = f"\n  hint: {_safe(error.hint)}" if error.hint else ""
    _say(f"vault-index: error: {_safe(error.message)}{hint}")


def _say(text: str) -> None:
    """Print to stderr; where nobody reads it, the command goes on."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def _safe(text: str) -> str:
    from vault_index.output.clean import clean

    return clean(text)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # no terminal, or no file at all
        return 80
