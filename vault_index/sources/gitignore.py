"""Compile ignore rules in the syntax of gitignore(5), and match them against paths.

We do not use `pathspec`: it differs from git for rules with exceptions (`*`, `!*/`, `!*.md`), and
takes 28 ms to import.

A rule becomes one regular expression that never backtracks over a star: it takes the first match of
what follows the star, because a later one could not help the rest.
"""

import re
import unicodedata
from collections.abc import Iterable
from itertools import count
from typing import NamedTuple

# The named classes of a bracket expression, without `/`, which no bracket matches.
_CLASSES = {
    "alnum": r"^\W_",
    "alpha": r"^\W\d_",
    "blank": r" \t",
    "digit": r"\d",
    "lower": "a-z",
    "punct": r"!-.:-@\[-`{-~",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}

_LONGEST = 4096
"""Longest rule, in characters; no path is longer."""


_Row = list[list[str]]
"""Names of folders and files. Each is a list of regular expressions, with stars between them."""


class Rule(NamedTuple):
    """One line of a rule file."""

    ignores: bool
    """False for a line that begins with `!`."""
    folders_only: bool
    whole_path: bool
    """Whether it matches the path relative to the rule file; otherwise only the last name."""
    pattern: re.Pattern[str]


class Rules:
    """The rules of a file or a configured list. Paths are relative to its folder."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.bad_lines: list[int] = []
        """Numbers (from 1) of invalid lines, which are skipped."""
        rules = []
        for number, line in enumerate(lines, start=1):
            text = _without_trailing_spaces(_composed(line))
            if text and not text.startswith("#"):
                if rule := _rule(text):
                    rules.append(rule)
                else:
                    self.bad_lines.append(number)
        self._last_first = tuple(reversed(rules))

    def verdict(self, path: str) -> bool | None:
        """Return True if ignored, False if re-included, None if no line matches.

        A folder's path ends with `/`. The caller checks the parent folders first.
        """
        path = _composed(path)
        is_folder = path.endswith("/")
        path = path.rstrip("/")
        name = path[path.rfind("/") + 1 :]
        for rule in self._last_first:
            if rule.folders_only and not is_folder:
                continue
            text = path if rule.whole_path else name
            if rule.pattern.fullmatch(text):
                return rule.ignores
        return None

    def covers(self, path: str) -> bool:
        """Return whether the rules ignore a file; the verdict on the innermost path decides."""
        covered = False
        end = 0
        while end < len(path):
            end = path.find("/", end) + 1 or len(path)
            verdict = self.verdict(path[:end])
            covered = covered if verdict is None else verdict
        return covered


def _composed(text: str) -> str:
    # macOS may write `é` as two code points where a rule has one.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _without_trailing_spaces(line: str) -> str:
    text = line.rstrip(" ")
    if len(text) < len(line) and (len(text) - len(text.rstrip("\\"))) % 2:
        return text + " "  # `\ ` keeps one space
    return text


def _rule(text: str) -> Rule | None:
    ignores = not text.startswith("!")
    glob = text if ignores else text[1:]
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    whole_path = "/" in glob
    glob = glob.removeprefix("/")
    if not glob or len(glob) > _LONGEST:
        return None
    try:
        pattern = re.compile(_expression(_parse(glob)), re.DOTALL)
        return Rule(ignores, folders_only, whole_path, pattern)
    except (ValueError, re.error):
        return None


def _expression(rows: list[_Row]) -> str:
    """Return the regular expression for a whole path."""
    numbers = count()

    def first_match(expression: str) -> str:
        # An atomic group in other words, because Python 3.11.4 miscompiles nested ones.
        group = f"g{next(numbers)}"
        return f"(?=(?P<{group}>{expression}))(?P={group})"

    def name(pieces: list[str]) -> str:
        first, *others = pieces
        if not others:
            return first
        middle = "".join(first_match(f"[^/]*?{one}") for one in others[:-1])
        return f"{first}{middle}[^/]*{others[-1]}"

    first, *others = ("/".join(map(name, row)) for row in rows)
    if not others:
        return first
    begin = f"{first}/" if rows[0] else ""
    between = "".join(first_match(f"(?:[^/]*/)*?{row}/") for row in others[:-1])
    return f"{begin}{between}(?:[^/]*/)*{others[-1]}"


def _parse(glob: str) -> list[_Row]:
    """Split a pattern at `**`, `/` and `*`. Raises ValueError if it is incomplete."""
    rows = [[[""]]]
    position = 0
    while position < len(glob):
        begin, step = position, 1
        if glob[position] == "*":
            step = len(glob) - position - len(glob[position:].lstrip("*"))
            rest = glob[begin + step :]
            folders = step > 1 and glob[:begin][-1:] in ("", "/") and rest[:1] in ("", "/")
            if folders:
                rows[-1].pop()
                if rows[-1] or len(rows) == 1:
                    rows.append([])
                rows[-1].append([""])
            if folders and rest:
                step += 1
            else:
                rows[-1][-1].append("")
        elif glob.startswith(("/", "\\/"), position):
            step = glob.index("/", position) + 1 - position
            rows[-1].append([""])
        else:
            one, step = _one(glob, position)
            rows[-1][-1][-1] += one
        position += step
    return rows


def _one(glob: str, position: int) -> tuple[str, int]:
    """Return the regular expression for one character, and its length in `glob`."""
    if glob[position] == "?":
        return "[^/]", 1
    if glob[position] == "[":
        return _bracket(glob[position:])
    escaped = glob[position] == "\\"
    if escaped and position + 1 == len(glob):
        _fail("nothing after the backslash")
    return re.escape(glob[position + escaped]), 1 + escaped


def _bracket(rest: str) -> tuple[str, int]:
    """Return the regular expression for a bracket at the beginning of `rest`, and its length."""
    position = 1
    negated = rest[1:2] in ("!", "^")
    position += negated
    parts = []
    begin = position
    while position == begin or rest[position : position + 1] != "]":
        if rest.startswith("[:", position) and (end := rest.find(":]", position)) > 0:
            name = rest[position + 2 : end]
            parts.append(f"[{_CLASSES[name]}]" if name in _CLASSES else _fail(f"no class {name}"))
            position = end + 2
            continue
        low, position = _character(rest, position)
        if rest[position : position + 1] == "-" and rest[position + 1 : position + 2] not in (
            "]",
            "",
        ):
            high, position = _character(rest, position + 1)
            # As in git, a backward range (`z-a`) means only its first character.
            parts.append(f"[{re.escape(low)}-{re.escape(high if low <= high else low)}]")
        else:
            parts.append(re.escape(low))
    choice = f"(?:{'|'.join(parts)})"
    return (f"(?!{choice})[^/]" if negated else f"(?!/){choice}"), position + 1


def _character(rest: str, position: int) -> tuple[str, int]:
    if rest[position : position + 1] == "\\":
        position += 1
    if position >= len(rest):
        _fail("the bracket is not closed")
    return rest[position], position + 1


def _fail(reason: str) -> str:
    raise ValueError(reason)
