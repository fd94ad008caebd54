"""Find the command among the arguments, and parse its options.

Only the parser of this command is built: the parsers of all commands take 10 ms.
"""

import argparse
import os
from collections import deque
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

from vault_index.cli.arguments import (
    GLOBAL_OPTIONS,
    SOURCE,
    WITH_VALUE,
    Group,
    Options,
    Run,
    Runner,
    add_arguments,
)
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
_USAGES: dict[int | str | None, str] = {
    None: "{0}",
    "?": "[{0}]",
    "*": "[{0} ...]",
    "+": "{0} [{0} ...]",
}
"""The form of a positional argument in the usage line, by its `nargs`."""


class Found(NamedTuple):
    """The command, the remaining arguments, and the word at the command's position."""

    command: Command | None
    rest: list[str]
    word: str


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter with the width of COLUMNS; argparse would import shutil for it."""
    columns = os.environ.get("COLUMNS", "")
    width = min(int(columns), 100) if columns.isdigit() else 80
    return argparse.HelpFormatter(prog, max_help_position=28, width=width)


class Parser(argparse.ArgumentParser):
    """Parser of one command.

    It raises UsageError instead of exiting. Options that are not given are absent from the result.
    """

    def __init__(self, command: Command, runner: Runner) -> None:
        super().__init__(
            prog=f"{PROGRAM} {command.name}",
            description=runner.description or f"{command.summary[0].upper()}{command.summary[1:]}.",
            argument_default=argparse.SUPPRESS,
            allow_abbrev=False,
            add_help=False,
            formatter_class=_formatter,
        )
        self.color = False  # an option of argparse since Python 3.14
        self._command = command
        self.own = add_arguments(self, _grouped(runner))
        left_out = SOURCE if command.name in WITHOUT_SOURCE else None
        shared = [one for one in GLOBAL_OPTIONS.arguments if one != left_out]
        self.declared = [*self.own, *add_arguments(self, [Group(GLOBAL_OPTIONS.title, *shared)])]
        self._takes_value = {
            name: one.nargs != 0 for one in self.declared for name in one.option_strings
        }
        positional = [one for one in self.own if not one.option_strings]
        words = [_USAGES[one.nargs].format(one.metavar or one.dest) for one in positional]
        self.usage = " ".join([self.prog, "[OPTION…]", *words])

    def arranged(self, argv: Sequence[str]) -> list[str]:
        """Return the arguments with the options first, each joined with its value, then the words.

        argparse needs adjacent words, and reads a word or a value that begins with a dash as an
        option.
        """
        options: list[str] = []
        words: list[str] = []
        rest = deque(argv)
        while rest:
            word = rest.popleft()
            if word == "--":
                words += rest
                break
            if self._is_word(word):
                words.append(word)
            elif self._takes_value.get(word) and rest and self._is_word(rest[0]):
                options.append(f"{word}={rest.popleft()}")
            else:
                options.append(word)
        return [*options, "--", *words] if words else options

    def _is_word(self, text: str) -> bool:
        """Return whether this is a word or a value, not an option.

        In a search, `-word` excludes the word, unless it is an option that lacks a dash.
        """
        if not text.startswith("-") or " " in text.partition("=")[0]:
            return True
        if text.startswith("--"):
            return False
        if not text[1:2].isalpha():  # a number, or a dash alone
            return True
        return (
            self._command.name == "search" and len(text) > 2 and f"-{text}" not in self._takes_value
        )

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with a hint."""
        message = message.replace(" -- ", " ", 1)  # `arranged` has added it
        raise UsageError(message, self._hint(message))

    def _hint(self, message: str) -> str:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown != message:
            word = unknown.split(" ")[0].split("=")[0].replace("_", "-")
            if word == "--source":
                return f"{self._command.name} has no option --source: leave it out"
            if word in OTHER_OPTIONS:
                return OTHER_OPTIONS[word]
            # Compare without the dashes, which all names share.
            names = [name.removeprefix("--") for name in self._takes_value if name.startswith("--")]
            near = nearest(word.strip("-"), names)
            if near and (word.startswith("--") or near == word[1:]):
                return f"did you mean --{near}?"
            if self._command.name == "add" and word.startswith("-"):
                return "put text with a leading dash in quotes or after --"
        return f"see: {self.prog} --help"


def _grouped(runner: Runner) -> list[Group]:
    """Group the arguments of a command under argparse's own titles.

    Adding an argument to a group is faster than adding it to the parser.
    """
    titled = [one for one in runner.arguments if isinstance(one, Group) and one.title]
    others = [one for one in runner.arguments if one not in titled]
    positional = [
        one for one in others if not isinstance(one, Group) and not one[0][0].startswith("-")
    ]
    options = [one for one in others if one not in positional]
    return [Group("positional arguments", *positional), Group("options", *options), *titled]


def find_command(argv: Sequence[str]) -> Found:
    """Find the command: the first one or two words that are not global options.

    `command` is None if there is no such word or no such command.
    """
    rest = list(argv)
    if (position := _next_word(rest, 0)) is None:
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
    """Import the module of a command; return its parser and its function."""
    module = import_module(f"vault_index.cli.{command.module}")
    runner: Runner = getattr(module, f"run_{command.name.replace(' ', '_').replace('-', '_')}")
    return Parser(command, runner), runner.run


def parse(parser: Parser, argv: Sequence[str]) -> tuple[Options, dict[str, Any]]:
    """Parse the arguments of a command into global options and its own arguments."""
    args = vars(parser.parse_args(parser.arranged(argv)))
    options = Options(**{name: args.pop(name) for name in Options._fields if name in args})
    return options, args


def unknown_command(word: str) -> UsageError:
    """Return the error for an unknown command; its hint names the nearest one."""
    group, _, second = word.partition(" ")
    if group not in GROUPS:
        names = [*(command.name for command in COMMANDS), *ALIASES, *GROUPS]
        near = nearest(word, names)
        hint = f"did you mean {near}?" if near else f"see: {PROGRAM} --help"
        return UsageError(f"unknown command {word!r}", hint)
    names = [one.name.split()[1] for one in COMMANDS if one.name.startswith(f"{group} ")]
    choices = f"{group} has the commands {', '.join(names)}"
    if not second:
        return UsageError(f"{group} needs a command", choices)
    near = nearest(second, names)
    return UsageError(
        f"unknown command {word!r}", f"did you mean {group} {near}?" if near else choices
    )


def overview() -> str:
    """Return the text of `vault-index --help`."""
    sections = "\n\n".join(f"{title}\n{_rows(commands)}" for title, commands in SECTIONS.items())
    return (
        f"usage: {PROGRAM} COMMAND [OPTION…]\n\n"
        "Search your markdown notes, your agent sessions and the memories of agents.\n\n"
        f"Get started\n  {PROGRAM} init ~/Vault         index your notes\n"
        f'  {PROGRAM} search "a question"  search them\n'
        f"  {PROGRAM} service install      keep the index up to date\n\n"
        f"{sections}\n\nFor one command: {PROGRAM} COMMAND --help. vx is an alias of {PROGRAM}.\n"
        "Global options: --home DIR, --config PATH, --format FORMAT (or --json, --toon,\n"
        "--markdown, --human), --quiet (-q), --verbose, --version, --help; for most\n"
        "commands, also --source NAME."
    )


def _rows(commands: Sequence[Command]) -> str:
    """Return a line per command; the commands of a group share one line."""
    firsts = {command.name.split()[0]: command.summary for command in commands}
    shown = {
        f"{name} …" if name in GROUPS else name: GROUPS.get(name, text)
        for name, text in firsts.items()
    }
    return "\n".join(f"  {name:<13}  {summary}" for name, summary in shown.items())


def group_overview(group: str) -> str:
    """Return the help of a group of commands, such as `config`."""
    rows = [command for command in COMMANDS if command.name.startswith(f"{group} ")]
    listed = "\n".join(f"  {command.name:<14}  {command.summary}" for command in rows)
    return f"usage: {PROGRAM} {group} COMMAND [OPTION…]\n\n{listed}"
