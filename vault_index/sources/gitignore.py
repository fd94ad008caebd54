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


_TOKEN = re.compile(r"\*+|\\.|[^*\\\[]|\[[!^]?+\]?+(?:\[:[^\]]*:\]|\\.|[^\]\\])*+\]", re.DOTALL)
"""Stars, an escaped character, a character, or a bracket expression."""
_IN_BRACKET = re.compile(
    r"(?!\[:[^\]]*:\])\\?(.)-\\?(.)|(?!\[:[^\]]*:\])\\?(.)|\[:([^\]]*):\]", re.DOTALL
)
"""A range, a character, or a named class."""
_Name = list[str]
"""Tokens of one name."""


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
    tokens, end = list[str](), 0
    while token := _TOKEN.match(glob, end):
        tokens.append(token[0])
        end = token.end()
    if end < len(glob):  # an open bracket, or a backslash at the end
        return None
    try:
        pattern = re.compile(_expression(_rows(tokens)), re.DOTALL)
        return Rule(ignores, folders_only, whole_path, pattern)
    except (KeyError, re.error):
        return None


def _rows(tokens: list[str]) -> list[list[_Name]]:
    """Split a pattern at `**` into rows of names."""
    names: list[_Name] = [[]]
    for token in tokens:
        if token in ("/", "\\/"):
            names.append([])
        else:
            names[-1].append(token)
    rows: list[list[_Name]] = [[]]
    for name in names:
        if len(name) != 1 or not name[0].startswith("**"):
            rows[-1].append(name)
        elif rows[-1] or len(rows) == 1:
            rows.append([])
    return rows if rows[-1] else [*rows[:-1], [["*"]]]  # `a/**` is `a/**/*`


def _expression(rows: list[list[_Name]]) -> str:
    """Return the regular expression for a whole path."""
    numbers = count()

    def first_match(expression: str) -> str:
        # An atomic group in other words, because Python 3.11.4 miscompiles nested ones.
        group = f"g{next(numbers)}"
        return f"(?=(?P<{group}>{expression}))(?P={group})"

    def name(tokens: _Name) -> str:
        pieces = [""]
        for token in tokens:
            if token.startswith("*"):
                pieces.append("")
            else:
                pieces[-1] += _character(token)
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


def _character(token: str) -> str:
    """Return the regular expression for one character. Raises KeyError for an unknown class."""
    if token == "?":
        return "[^/]"
    if not token.startswith("["):
        return re.escape(token[-1])
    negated = token[1] in "!^"
    parts = []
    for low, high, one, named in _IN_BRACKET.findall(token[1 + negated : -1]):
        if high:
            # As in git, a backward range (`z-a`) means only its first character.
            parts.append(f"[{re.escape(low)}-{re.escape(max(low, high))}]")
        else:
            parts.append(re.escape(one) if one else f"[{_CLASSES[named]}]")
    choice = "|".join(parts)
    return f"(?!{choice})[^/]" if negated else f"(?!/)(?:{choice})"
