"""Print answers to stdout in the chosen format, and errors, remarks and progress to stderr."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast

from vault_index.cli.arguments import Options
from vault_index.errors import VaultIndexError

if TYPE_CHECKING:  # avoids importing the renderers
    from vault_index.output import Format

Progress = Callable[[str, int, int], None]
"""Callback of long work: the stage, the number of finished items, and the total (0 if unknown)."""

_LABELS = {
    "read": "reading",
    "import": "importing",
    "text": "indexing",
    "embed": "embedding",
    "waiting": "waiting for the daemon",
}


def answer_format(options: Options, method: str) -> "Format":
    """Return the output format.

    `auto` is human on a terminal; in a pipe it is markdown for `get` and `recall`, else TOON.
    """
    if options.format != "auto":
        return cast("Format", options.format)
    if sys.stdout.isatty():
        return "human"
    return "markdown" if method in ("get", "recall") else "toon"


def show(options: Options, method: str, answer: dict[str, Any] | str) -> None:
    """Print an answer; a string is already rendered by the daemon, in `answer_format`."""
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
    """Print an answer with one value: as plain text, unless `--format` names a format."""
    if options.format in ("auto", "human"):
        write(_safe(text) if sys.stdout.isatty() else text)
    else:
        show(options, method, answer)


def write(text: str) -> None:
    """Print to stdout with a final newline; lone surrogates of file names become `?`.

    Raises VaultIndexError if the output cannot be written.
    """
    encoding = sys.stdout.encoding or "utf-8"
    try:
        print(text.encode(encoding, "replace").decode(encoding), flush=True)
    except BrokenPipeError:  # the reader, such as `head`, has ended
        raise
    except OSError as error:
        message = f"cannot write the output: {error.strerror}"
        raise VaultIndexError(
            message, "the command itself succeeded; check the disk and run it again"
        ) from error


def remark(options: Options, text: str) -> None:
    """Print a remark to stderr, except with `--quiet` and in the JSON formats."""
    if not options.quiet and options.format not in ("json", "jsonl"):
        _print_to_stderr(_safe(text))


def print_error(error: VaultIndexError, *, as_json: bool) -> None:
    """Print an error and its hint to stderr."""
    if as_json:
        from vault_index.output import render_json

        fields = {"code": error.code, "message": error.message, "hint": error.hint}
        _print_to_stderr(render_json({"error": fields}))
        return
    hint = f"\n  hint: {_safe(error.hint)}" if error.hint else ""
    _print_to_stderr(f"vault-index: error: {_safe(error.message)}{hint}")


def _print_to_stderr(text: str) -> None:
    """Print to stderr; ignore errors, so that the command continues."""
    with suppress(OSError):
        print(text, file=sys.stderr)


def _safe(text: str) -> str:
    from vault_index.output.text import clean

    return clean(text)


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):  # not a terminal, or not a file
        return 80


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[Progress]:
    """Yield a callback that draws one line per stage, with rate and remaining time."""
    if quiet or not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    import rich.progress
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    with rich.progress.Progress(
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", style="dim"),
        TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
    ) as bar:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                for earlier in tasks.values():
                    bar.stop_task(earlier)
                tasks[stage] = bar.add_task(_LABELS.get(stage, stage), total=total or None, rate="")
            task = next(task for task in bar.tasks if task.id == tasks[stage])
            speed = task.speed or 0
            digits = 0 if speed >= 10 else 1
            rate = f"{speed:,.{digits}f}/s" if speed else ""
            bar.update(tasks[stage], completed=done, total=total or None, rate=rate)

        yield show
