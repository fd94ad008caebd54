"""The calls of tools in a session as it is rendered: a line each, with the tool, its subject, and how it ended."""

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

_EDITING = frozenset(
    {
        "edit", "multiedit", "write", "writefile", "notebookedit", "patch", "applypatch", "replace", "create",
        "createfile", "strreplace", "strreplaceeditor", "insert", "delete", "deletefile",
    }
)  # fmt: skip
_RUNNING = frozenset(
    {
        "bash", "shell", "shellcommand", "localshell", "localshellcall", "execcommand", "runshellcommand", "runcommand",
        "terminal", "powershell",
    }
)  # fmt: skip
"""What the clients call their tools, without case and marks."""
_NOT_LETTERS = re.compile(r"[^a-z]")
_PATCHED = re.compile(r"\*\*\* (?:Add|Update|Delete) File: (\S+)")
_WORD = re.compile(r"[^\s\"'`;|&()<>,=:]+")
_NO_ANSWER = frozenset({"grep", "rg", "egrep", "diff", "cmp", "test", "[", "which", "pgrep"})
"""Programs that end with 1 to say no."""
_WITH_VERB = frozenset(
    {"git", "gh", "npm", "npx", "pnpm", "yarn", "bun", "cargo", "go", "make", "just", "docker", "kubectl", "uv", "pip"}
)
"""Programs of which the next word says what they do."""
_BEFORE_PROGRAM = re.compile(r"(?:\w+=\S*|sudo|env|time|nohup|exec|command|-\S+)\Z")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})


class Call(NamedTuple):
    line: int
    tool: str
    target: str
    outcome: str
    """`ok`, `exit 1`, `error: …`, `broken off`, `asked`."""

    @property
    def command(self) -> str:
        """What a shell was asked to run; empty for other tools."""
        return self.target if _bare(self.tool) in _RUNNING else ""

    @property
    def done(self) -> bool:
        return self.outcome in ("ok", "exit 0")

    @property
    def failed(self) -> bool:
        said_no = self.outcome == "exit 1" and program_of(self.target) in _NO_ANSWER
        return self.outcome.startswith(("exit ", "error")) and not self.done and not said_no

    def edited(self) -> list[str]:
        """The files that it wrote, as they are named."""
        if patched := _PATCHED.findall(self.target):
            return patched
        if _bare(self.tool) == "applypatch":
            return self.target.split(", ") if self.target else []
        return [self.target] if self.target and _bare(self.tool) in _EDITING else []

    def named(self) -> list[str]:
        """What may be the name of a file that it read or wrote: its subject, or the words of a command."""
        return _WORD.findall(self.target) if self.command else [*self.edited(), self.target]


def calls_in(text: str, first: int) -> Iterator[Call]:
    """The calls in lines of a transcript, of which the first has the number `first`."""
    for number, line in enumerate(text.split("\n"), start=first):
        if line.startswith("- ") and line.endswith(")") and (call := _read(line, number)):
            yield call


def program_of(command: str) -> str:
    """What a command runs, in the folder it changes to, without what stands before a program: `git commit`, `pytest`,
    `python -m http`."""
    words = command.split(maxsplit=2)
    if len(words) == 3 and os.path.basename(words[0]) in _SHELLS and words[1] in ("-c", "-lc"):
        command = words[2].lstrip("'\"")
    while command.startswith("cd ") and "&&" in command:
        command = command.partition("&&")[2].lstrip()
    words = list(dropwhile(_BEFORE_PROGRAM.match, command.split()))
    program = os.path.basename(words[0].strip("'\"();")) if words else ""
    if words[1:2] == ["-m"]:
        return " ".join([program, *words[1:3]])
    return f"{program} {words[1]}" if program in _WITH_VERB and words[1:] and words[1].isalpha() else program


def _read(line: str, number: int) -> Call | None:
    """As `sources.opencode.render` writes it: the subject stands between backticks, more than it has in a row."""
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
    return Call(number, tool, target, outcome[1:-1].replace("`", "")) if outcome.startswith("(") else None


@lru_cache(maxsize=256)
def _bare(tool: str) -> str:
    return _NOT_LETTERS.sub("", tool.lower())
