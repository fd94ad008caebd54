"""Parse the tool calls in rendered sessions: one line each, with tool, target and outcome."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

_EDITING = frozenset(
    {
        "edit", "multiedit", "write", "writefile", "notebookedit", "patch", "applypatch",
        "replace", "create", "createfile", "strreplace", "strreplaceeditor", "insert", "delete",
        "deletefile", "editor", "editedexistingfile", "newfilecreated", "applieddiff", "editfile",
        "editfilev", "searchreplace",
    }
)  # fmt: skip
_RUNNING = frozenset(
    {
        "bash", "shell", "shellcommand", "localshell", "localshellcall", "execcommand",
        "runshellcommand", "runcommand", "terminal", "powershell", "runcommands", "executecommand",
        "runterminalcmd", "runterminalcommandv",
    }
)  # fmt: skip
"""Tool names of the clients, in lower case and letters only."""
_NOT_LETTERS = re.compile(r"[^a-z]")
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (\S+)")
_WORD = re.compile(r"[^\s\"'`;|&()<>,=:]+")
_NO_MATCH = frozenset({"grep", "rg", "egrep", "diff", "cmp", "test", "[", "which", "pgrep"})
"""Programs for which exit code 1 is no failure."""
_WITH_VERB = frozenset(
    {
        "git",
        "gh",
        "npm",
        "npx",
        "pnpm",
        "yarn",
        "bun",
        "cargo",
        "go",
        "make",
        "just",
        "docker",
        "kubectl",
        "uv",
        "pip",
    }
)
"""Programs with a subcommand."""
_BEFORE_PROGRAM = re.compile(r"(?:\w+=\S*|sudo|env|time|nohup|exec|command|-\S+)\Z")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


class Call(NamedTuple):
    """One tool call in a rendered session."""

    line: int
    tool: str
    target: str
    outcome: str
    """`ok`, `exit 1`, `error: …`, `broken off`, `asked`."""

    @property
    def command(self) -> str:
        """The shell command; empty for other tools."""
        return self.target if _bare(self.tool) in _RUNNING else ""

    @property
    def done(self) -> bool:
        """Whether the call succeeded."""
        return self.outcome in ("ok", "exit 0")

    @property
    def failed(self) -> bool:
        """Whether the call failed; exit code 1 only means no match for some programs."""
        no_match = self.outcome == "exit 1" and program_of(self.target) in _NO_MATCH
        return self.outcome.startswith(("exit ", "error")) and not self.done and not no_match

    def edited(self) -> list[str]:
        """Return the names of the files that the call wrote."""
        if patched := _PATCHED.findall(self.target):
            return patched
        if _bare(self.tool) == "applypatch":
            return self.target.split(", ") if self.target else []
        return [self.target] if self.target and _bare(self.tool) in _EDITING else []

    def named(self) -> list[str]:
        """Return possible file names: the target, or the words of a command."""
        return _WORD.findall(self.target) if self.command else [*self.edited(), self.target]


def calls_in(text: str, first: int) -> Iterator[Call]:
    """Yield the calls in the lines of a transcript; `first` is the number of the first line."""
    for number, line in enumerate(text.split("\n"), start=first):
        if line.startswith("- ") and line.endswith(")") and (call := _read(line, number)):
            yield call


def program_of(command: str) -> str:
    """Return the program of a command, with its subcommand: `git commit`, `python -m http`.

    Skips `cd … &&`, shells, variables and wrappers such as `sudo`.
    """
    words = command.split(maxsplit=2)
    if len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc"):
        command = words[2].lstrip("'\"")
    while command.startswith("cd ") and "&&" in command:
        command = command.partition("&&")[2].lstrip()
    words = list(dropwhile(_BEFORE_PROGRAM.match, command.split()))
    program = os.path.basename(words[0].strip("'\"();")) if words else ""
    if words[1:2] == ["-m"]:
        return " ".join([program, *words[1:3]])
    return (
        f"{program} {words[1]}"
        if program in _WITH_VERB and words[1:] and words[1].isalpha()
        else program
    )


def _read(line: str, number: int) -> Call | None:
    """Parse a line as `sources.sessions.render` writes it, with the target as inline code."""
    tool, colon, rest = line[2:].partition(":")
    if not colon or not tool or " " in tool:
        return None
    target, rest = "", rest.lstrip(" ")
    if rest.startswith("`"):
        marks = rest[: len(rest) - len(rest.lstrip("`"))]
        target, _, rest = rest[len(marks) :].partition(marks)
        target = target[1:-1] if target.startswith(" ") and target.endswith(" ") else target
    outcome = rest.lstrip(" ")
    if outcome.startswith("→ [[") and "]] (" in outcome:
        outcome = outcome.partition("]] ")[2]
    return (
        Call(number, tool, target, outcome[1:-1].replace("`", ""))
        if outcome.startswith("(")
        else None
    )


@lru_cache(maxsize=256)
def _bare(tool: str) -> str:
    return _NOT_LETTERS.sub("", tool.lower())
