"""Declare the arguments of commands, parse their values, and define the options they share."""

import argparse
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from vault_index.fields import FIELDS, FILTERS, LIST, Declared, Field, Filter

FORMATS = ("auto", "toon", "json", "jsonl", "markdown", "human")
WITH_VALUE = ("--home", "--config", "--format", "--source")
"""Global options that take the next argument."""


class Options(NamedTuple):
    """The values of the global options.

    It is a named tuple, because importing `dataclasses` would cost every command 5 ms.
    """

    home: str | None = None
    config: str | None = None
    format: str = "auto"
    source: str | None = None
    quiet: bool = False
    verbose: bool = False

    @property
    def log_level(self) -> str:
        """The level at which the daemon and the server log."""
        if self.verbose:
            return "debug"
        return "warning" if self.quiet else "info"


Run = Callable[[Options, dict[str, Any]], int | None]
"""Runs a command and returns its exit code, or None for 0.

The `dict` holds the given arguments by their names in the Python interface.
"""


Argument = tuple[tuple[str, ...], dict[str, Any]]
"""The names and the settings of an argument, as passed to `add_argument`."""


class Group:
    """Arguments under a title in the help; without a title, mutually exclusive arguments."""

    def __init__(self, title: str, *arguments: "Argument | Group") -> None:
        self.title, self.arguments = title, arguments


class Runner:
    """A command: its function, its arguments, and a description (default: its summary)."""

    def __init__(self, run: Run, arguments: Sequence[Argument | Group], description: str) -> None:
        self.run, self.arguments, self.description = run, arguments, description


def takes(*arguments: Argument | Group, description: str = "") -> Callable[[Run], Runner]:
    """Declare the arguments of the command that the decorated function runs."""
    return lambda run: Runner(run, arguments, description)


def argument(*names: str, **settings: Any) -> Argument:
    """Declare an argument with the names and settings of `add_argument`."""
    return names, settings


def flag(name: str, help: str) -> Argument:
    """Declare an option without a value."""
    return argument(name, action="store_true", help=help)


def add_arguments(
    parser: argparse._ActionsContainer, arguments: Sequence[Argument | Group]
) -> list[argparse.Action]:
    """Add the arguments, including those of groups, and return the actions in this order."""
    added = []
    for one in arguments:
        if not isinstance(one, Group):
            names, settings = one
            added.append(parser.add_argument(*names, **settings))
        elif one.title:
            added += add_arguments(parser.add_argument_group(one.title), one.arguments)
        else:
            added += add_arguments(parser.add_mutually_exclusive_group(), one.arguments)
    return added


# --- Values ---------------------------------------------------------------------------------------


def _whole(text: str, low: int) -> int:
    try:
        number = int(text)
    except ValueError:
        number = low - 1
    if number < low:
        raise argparse.ArgumentTypeError(f"must be a whole number of {low} or more, not {text!r}")
    return number


positive, natural = partial(_whole, low=1), partial(_whole, low=0)


def likeness(text: str) -> float:
    """Parse a similarity from 0.5 to 1."""
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.5 <= share <= 1.0:
        raise argparse.ArgumentTypeError(f"must be a number from 0.5 to 1, not {text!r}")
    return share


def names(text: str) -> list[str]:
    """Split comma-separated values."""
    return [name for part in text.split(",") if (name := part.strip())]


def absolute(path: str) -> str:
    """Return an absolute path, because the daemon has another working directory."""
    return os.path.abspath(os.path.expanduser(path))


def project_named(given: str) -> str:
    """Return the name of a project, or the absolute path of its folder (`.`, `~/code/shop`)."""
    is_folder = os.sep in given or given.startswith("~") or given in (".", "..")
    return absolute(given) if is_folder and not given.startswith("[[") else given


# --- Arguments of several commands ----------------------------------------------------------------

SEVERAL = {"metavar": LIST, "type": names, "action": "extend"}
"""Settings of an option with comma-separated values, which may be repeated."""


def _flags(declared: Declared) -> tuple[str, ...]:
    return declared.flags or (f"--{declared.name.replace('_', '-')}",)


def _of_filter(declared: Filter) -> Argument:
    settings: dict[str, Any] = {"dest": declared.name, "help": declared.help}
    if declared.metavar == LIST:
        settings |= SEVERAL
    elif declared.choices:
        settings |= {"choices": declared.choices, "metavar": declared.name.upper()}
    else:
        settings["metavar"] = declared.metavar
        settings["action"] = "append" if declared.kind == "property" else "store"
    return _flags(declared), settings


def _of_field(declared: Field) -> Argument:
    settings: dict[str, Any] = {
        "dest": declared.name,
        "metavar": declared.metavar,
        "help": declared.help,
    }
    if declared.kind == "names":
        settings |= {"type": names, "action": "extend"}
    elif declared.kind == "lines":
        settings["action"] = "append"
    return _flags(declared), settings


FILTER = {name: _of_filter(declared) for name, declared in FILTERS.items() if declared.help}
"""The option of each filter."""

FILTER_OPTIONS = Group("filters", *FILTER.values())
"""Options that restrict the documents, named as in the query language."""

FIELD_OPTIONS = Group(
    "metadata",
    *(_of_field(declared) for name, declared in FIELDS.items() if name != "tags"),
)
"""Options for the fields of a memory, except its text and its tags."""

LIMIT_AND_OFFSET = (
    argument("--limit", metavar="N", type=positive, help="maximum number (default: 10)"),
    argument("--offset", metavar="N", type=natural, help="skip the first N (default: 0)"),
)

NO_EMBED = argument(
    "--no-embed",
    dest="embed",
    action="store_false",
    help="index the text only, without vectors",
)

SOURCE = argument("--source", metavar="NAME", help="use only this source (default: all)")

GLOBAL_OPTIONS = Group(
    "global options, before or after the command",
    argument("--home", metavar="DIR", help="folder of configuration, databases and socket"),
    argument("--config", metavar="PATH", help="configuration file"),
    argument(
        "--format",
        choices=FORMATS,
        metavar="FORMAT",
        help=f"auto (default), {', '.join(FORMATS[1:])}",
    ),
    *(
        argument(
            f"--{name}",
            dest="format",
            action="store_const",
            const=name,
            help=f"short for --format {name}",
        )
        for name in ("toon", "json", "markdown", "human")
    ),
    SOURCE,
    argument("--quiet", "-q", action="store_true", help="print no progress and no remarks"),
    flag("--verbose", "log more, and print tracebacks"),
    flag("--version", "print the version"),
    argument("--help", "-h", action="store_true", help="print this help"),
)
