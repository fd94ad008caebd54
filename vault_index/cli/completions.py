"""`completions`: the completion scripts that shtab generates from the parsers."""

import argparse
from typing import Any

import shtab

from vault_index.cli.arguments import GLOBAL_OPTIONS, Options, add_arguments, argument, takes
from vault_index.cli.commands import ALIASES, COMMANDS, GROUPS
from vault_index.cli.parser import PROGRAM, build_parser
from vault_index.cli.present import write

_FILES = ("DIR", "FILE", "FILE|DIR", "PATH", "PATH[:LINE]", "REF", "VAULT")
"""Placeholders of arguments that shells complete with file names."""
_FOR_VX = {
    "bash": "complete -o bashdefault -F _shtab_vault_index vx",
    "fish": f"complete -c vx -w {PROGRAM}",
}
"""The line that gives `vx` the completions of `vault-index`."""


@takes(
    argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"),
    description="Print the completion script for a shell. bash: add `eval "
    '"$(vault-index completions bash)"` to ~/.bashrc. '
    "zsh: write the script to a file named _vault-index in a folder of $fpath. fish: write it to "
    "~/.config/fish/completions/vault-index.fish.",
)
def run_completions(options: Options, args: dict[str, Any]) -> None:
    """Print the completion script for a shell."""
    shell = args["shell"]
    script = shtab.complete(_whole_parser(), shell)
    if shell == "zsh":
        write(script.replace(f"#compdef {PROGRAM}", f"#compdef {PROGRAM} vx", 1))
    else:
        write(f"{script}\n{_FOR_VX[shell]}")


def _whole_parser() -> argparse.ArgumentParser:
    """Return one parser with all commands, as shtab expects it."""
    whole = argparse.ArgumentParser(PROGRAM, add_help=False)
    add_arguments(whole, [GLOBAL_OPTIONS])
    commands = whole.add_subparsers()
    groups: dict[str, Any] = {}
    for command in COMMANDS:
        first, _, second = command.name.partition(" ")
        if second and first not in groups:
            groups[first] = commands.add_parser(
                first, help=GROUPS[first], add_help=False
            ).add_subparsers()
        aliases = [alias for alias, name in ALIASES.items() if name == command.name]
        parser, _ = build_parser(command)
        for action in parser.declared:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
        place = groups.get(first, commands)
        place.add_parser(
            second or first, help=command.summary, aliases=aliases, parents=[parser], add_help=False
        )
    return whole
