"""Finds the command in the arguments and builds its parser only: the parsers of all commands take 10 ms."""

import argparse
import os
import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from vault_index.cli.arguments import GLOBAL_OPTIONS, SOURCE, WITH_VALUE, Group, Options, Run, Runner, add_arguments
from vault_index.cli.commands import (
    ALIASES,
    COMMANDS,
    GROUPS,
    OTHER_NAMES,
    OTHER_OPTIONS,
    SECTIONS,
    WITHOUT_SOURCE,
    Command,
)
from vault_index.errors import UsageError, nearest

PROGRAM = "vault-index"
_LEFT_OUT = re.compile(r"-[^\W\d_]\w")
# argparse asks gettext for its words, which imports locale and looks for files: a millisecond for translations that
# nobody has made.
argparse._ = str  # type: ignore[attr-defined]


class Found(NamedTuple):
    """The command, the arguments without it, and the word that stands in its place."""

    command: Command | None
    rest: list[str]
    word: str


class _Plain:
    """A theme without colours, as argparse asks for its parts."""

    def __getattr__(self, part: str) -> str:
        return ""


class _HelpFormatter(argparse.HelpFormatter):
    """A formatter with a given width and without colours: for these argparse would import shutil (4 ms) and, since
    Python 3.14, dataclasses, with every command."""

    def __init__(self, prog: str) -> None:
        columns = os.environ.get("COLUMNS", "")
        super().__init__(prog, max_help_position=28, width=min(int(columns), 100) if columns.isdigit() else 80)

    def _set_color(self, color: object) -> None:
        self._theme = _Plain()
        self._decolor = str


class Parser(argparse.ArgumentParser):
    """Raises UsageError instead of exiting; options that were not given are absent from the result."""

    def __init__(self, command: Command, runner: Runner) -> None:
        super().__init__(
            prog=f"{PROGRAM} {command.name}",
            description=runner.description or f"{command.summary[0].upper()}{command.summary[1:]}.",
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            add_help=False,
            formatter_class=_HelpFormatter,
        )
        self._command = command
        left_out = SOURCE if command.name in WITHOUT_SOURCE else None
        shared = (one for one in GLOBAL_OPTIONS.arguments if one != left_out)
        add_arguments(self, (*runner.arguments, Group(GLOBAL_OPTIONS.title, *shared)))

    def format_help(self) -> str:
        places = [action for action in self._actions if not action.option_strings]
        formatter = self._get_formatter()
        words = [formatter._format_args(action, str(action.metavar or action.dest)) for action in places]
        self.usage = " ".join([self.prog, "[OPTION…]", *words])
        return super().format_help()

    def _parse_optional(self, arg_string: str) -> Any:
        """None for a word or a value: in a search `-word` is one, unless it is an option that lacks a dash."""
        known = self._command.name != "search" or f"-{arg_string}" in self._option_string_actions
        return super()._parse_optional(arg_string) if known or not _LEFT_OUT.match(arg_string) else None

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self._hint(message))

    def _hint(self, message: str) -> str:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            word = unknown.split()[0].split("=")[0].replace("_", "-")
            if word == "--source":
                return f"{self._command.name} is not about one source: leave it out"
            if word in OTHER_OPTIONS:
                return OTHER_OPTIONS[word]
            # Without the dashes, which all of them have in common.
            names = [name.removeprefix("--") for name in self._option_string_actions if name.startswith("--")]
            near = nearest(word.strip("-"), names)
            if near and (word.startswith("--") or near == word[1:]):
                return f"did you mean --{near}?"
            if self._command.name == "add" and word.startswith("-"):
                return "put the text in quotes, or after --, when a word of it begins with a dash"
        return f"see: {self.prog} --help"


def find_command(argv: Sequence[str]) -> Found:
    """The first one or two words that are no global option; None if there is no such word."""
    rest = list(argv)
    position = _next_word(rest, 0)
    if position is None:
        return Found(None, rest, "")
    word = rest.pop(position)
    if word in GROUPS:
        second = _next_word(rest, position)
        word = f"{word} {rest.pop(second)}" if second is not None else word
    name = ALIASES.get(word) or OTHER_NAMES.get(word.replace("_", "-"), word)
    command = next((command for command in COMMANDS if command.name == name), None)
    return Found(command, rest, word)


def _next_word(argv: Sequence[str], start: int) -> int | None:
    position = start
    while position < len(argv):
        if argv[position] == "--":
            return None
        if not argv[position].startswith("-") or argv[position] in OTHER_NAMES:
            return position
        position += 2 if argv[position] in (*WITH_VALUE, "--db") else 1
    return None


def build_parser(command: Command) -> tuple[Parser, Run]:
    module = import_module(f"vault_index.cli.{command.module}")
    runner: Runner = getattr(module, f"run_{command.name.replace(' ', '_').replace('-', '_')}")
    return Parser(command, runner), runner.run


def parse(parser: Parser, argv: Sequence[str]) -> tuple[Options, dict[str, Any]]:
    # Intermixed: `search docker --limit 3 compose` is one query of two words. It cannot cope with `--`.
    known = parser.parse_args(argv) if "--" in argv else parser.parse_intermixed_args(argv)
    args = vars(known)
    options = Options(**{name: args.pop(name) for name in Options._fields if name in args})
    return options, args


def unknown_command(word: str) -> UsageError:
    """The error for a command that does not exist; its hint names the nearest one."""
    group = word.split()[0]
    if group in GROUPS:
        names = [command.name.split()[1] for command in COMMANDS if command.name.startswith(f"{group} ")]
        choices = f"{group} has the commands {', '.join(names)}"
        if word == group:
            return UsageError(f"{group} needs a command", choices)
        near = nearest(word.split(maxsplit=1)[1], names)
        return UsageError(f"no command {word!r}", f"did you mean {group} {near}?" if near else choices)
    near = nearest(word, [*(command.name for command in COMMANDS if " " not in command.name), *ALIASES, *GROUPS])
    return UsageError(f"no command {word!r}", f"did you mean {near}?" if near else f"see: {PROGRAM} --help")


def overview() -> str:
    """The text of `vault-index --help`."""
    sections = "\n\n".join(f"{title}\n{_rows(commands)}" for title, commands in SECTIONS.items())
    return (
        f"usage: {PROGRAM} COMMAND [OPTION…]\n\n"
        "Searches the markdown of your vaults, your sessions with agents, and what agents remember.\n\n"
        f"Begin with\n  {PROGRAM} init ~/Vault         index your notes\n"
        f'  {PROGRAM} search "a question"  ask them\n'
        f"  {PROGRAM} service install      keep the index up to date\n\n"
        f"{sections}\n\n`{PROGRAM} COMMAND --help` explains one; vx is short for {PROGRAM}.\n"
        "Every command takes --home DIR, --config PATH, --format FORMAT (or --json, --toon, --markdown, --human),\n"
        "--quiet (-q), --verbose, --version and --help; those that ask or write, --source NAME."
    )


def _rows(commands: Sequence[Command]) -> str:
    """A line for each command; the commands of a group share one."""
    firsts = {command.name.split()[0]: command.summary for command in commands}
    shown = {f"{name} …" if name in GROUPS else name: GROUPS.get(name, text) for name, text in firsts.items()}
    return "\n".join(f"  {name:<13}  {summary}" for name, summary in shown.items())


def group_overview(group: str) -> str:
    rows = [command for command in COMMANDS if command.name.startswith(f"{group} ")]
    listed = "\n".join(f"  {command.name:<14}  {command.summary}" for command in rows)
    return f"usage: {PROGRAM} {group} COMMAND [OPTION…]\n\n{listed}"
