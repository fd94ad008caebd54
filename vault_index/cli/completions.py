"""`completions`: completion scripts for shells, generated from the parsers."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from vault_index.cli.arguments import Options, argument, takes
from vault_index.cli.commands import ALIASES, COMMANDS, GROUPS
from vault_index.cli.parser import PROGRAM, build_parser
from vault_index.cli.present import write


class _Words(NamedTuple):
    """The completions of one command: its options with their help, and the values of options with choices."""

    command: str
    summary: str
    options: dict[str, str]
    choices: dict[str, tuple[str, ...]]


@takes(
    argument("shell", choices=("bash", "zsh", "fish"), metavar="SHELL", help="bash, zsh or fish"),
    description='Print the completions of a shell. bash: put `eval "$(vault-index completions bash)"` into ~/.bashrc. '
    "zsh: write them to a file _vault-index in a folder of $fpath. fish: write them to "
    "~/.config/fish/completions/vault-index.fish.",
)
def run_completions(options: Options, args: dict[str, Any]) -> None:
    write({"bash": _bash, "zsh": _zsh, "fish": _fish}[args["shell"]]())


def _commands() -> Iterator[_Words]:
    for command in COMMANDS:
        parser, _ = build_parser(command)
        options = {}
        choices = {}
        for action in parser._actions:
            for option in action.option_strings:
                if option.startswith("--"):
                    options[option] = (action.help or "").split(";")[0]
                    if action.choices:
                        choices[option] = tuple(map(str, action.choices))
        yield _Words(command.name, command.summary, options, choices)


def _firsts() -> dict[str, str]:
    """The words a command may begin with."""
    names = {command.name: command.summary for command in COMMANDS if " " not in command.name}
    return names | {alias: f"the same as {name}" for alias, name in ALIASES.items()} | GROUPS


def _bash() -> str:
    cases = []
    for words in _commands():
        key = "|".join([words.command, *(alias for alias, name in ALIASES.items() if name == words.command)])
        values = "".join(
            f' {option}) COMPREPLY=($(compgen -W "{" ".join(found)}" -- "$cur")); return;;'
            for option, found in words.choices.items()
        )
        chosen = f'case "$prev" in{values} esac; ' if values else ""
        cases.append(f'    "{key}") '.replace("|", '"|"') + f'{chosen}options="{" ".join(words.options)}";;')
    groups = "\n".join(
        f'    {group}) COMPREPLY=($(compgen -W "{" ".join(_seconds(group))}" -- "$cur")); return;;' for group in GROUPS
    )
    return f"""\
_vault_index() {{
  local cur="${{COMP_WORDS[COMP_CWORD]}}" prev="${{COMP_WORDS[COMP_CWORD-1]}}" options="" command="" word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$word" in -*) continue;; esac
  command="${{command:+$command }}$word"
  case "$command" in {"|".join(GROUPS)}) ;; *) break;; esac
  done
  case "$command" in
    "") COMPREPLY=($(compgen -W "{" ".join(_firsts())}" -- "$cur")); return;;
{groups}
{chr(10).join(cases)}
  esac
  case "$cur" in -*) COMPREPLY=($(compgen -W "$options" -- "$cur"));; esac
}}
complete -o default -F _vault_index {PROGRAM} vx"""


def _zsh() -> str:
    cases = []
    for words in _commands():
        specs = " ".join(
            _quoted(
                f"{option}[{_plain(text)}]"
                + (f":value:({' '.join(words.choices[option])})" if option in words.choices else "")
            )
            for option, text in words.options.items()
        )
        cases.append(f"    {_quoted(words.command)}) _arguments {specs} '*:file:_files';;")
    groups = "\n".join(f"    {group}) _values 'command' {_listed(_seconds(group))};;" for group in GROUPS)
    return f"""\
#compdef {PROGRAM} vx
local command="" word
for word in ${{words[2,CURRENT-1]}}; do
  case "$word" in -*) continue;; esac
  command="${{command:+$command }}$word"
  case "$command" in {"|".join(GROUPS)}) ;; *) break;; esac
done
case "$command" in
    "") _values 'command' {_listed(_firsts())};;
{groups}
{chr(10).join(cases)}
esac"""


def _fish() -> str:
    lines = [
        f"complete -c {PROGRAM} -n __fish_use_subcommand -a {first} -d {_quoted(text)}"
        for first, text in _firsts().items()
    ]
    for words in _commands():
        first, _, second = words.command.partition(" ")
        seen = f"__fish_seen_subcommand_from {first}"
        if second:
            others = " ".join(_seconds(first))
            lines.append(
                f"complete -c {PROGRAM} -n {_quoted(f'{seen}; and not __fish_seen_subcommand_from {others}')}"
                f" -a {second} -d {_quoted(words.summary)}"
            )
            seen = f"{seen}; and __fish_seen_subcommand_from {second}"
        for option, text in words.options.items():
            values = f" -xa {_quoted(' '.join(words.choices[option]))}" if option in words.choices else ""
            lines.append(f"complete -c {PROGRAM} -n {_quoted(seen)} -l {option[2:]} -d {_quoted(text)}{values}")
    return "\n".join([*lines, f"complete -c vx -w {PROGRAM}"])


def _seconds(group: str) -> dict[str, str]:
    return {command.name.split()[1]: command.summary for command in COMMANDS if command.name.startswith(f"{group} ")}


def _listed(words: dict[str, str]) -> str:
    """Words with their descriptions, for zsh."""
    return " ".join(_quoted(f"{word}[{_plain(text)}]") for word, text in words.items())


def _plain(text: str) -> str:
    """Without the characters that have a meaning in a zsh specification."""
    return text.translate(str.maketrans("[]:\\", "(),/"))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
