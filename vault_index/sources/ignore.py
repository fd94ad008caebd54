"""Compile ignore rules in the syntax of gitignore(5), and match them against paths.

We do not use `pathspec`: it differs from git for rules with exceptions (`*`, `!*/`, `!*.md`), and
takes 28 ms to import.

Matching takes linear time in the length of the path. A usual rule becomes one regular expression,
in which each repetition ends at the next `/`. Other rules use `re` only for pieces without
repetition. They take the first match of each piece, because a later one could not help the pieces
after it.
"""

import re
import unicodedata
from collections.abc import Iterable
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


_SHORT = 64
"""Longest rule, in characters, that becomes one regular expression."""


class _Piece(NamedTuple):
    """The characters between two stars: a fixed number, without `/`."""

    pattern: re.Pattern[str]
    length: int


_Part = tuple[_Piece, ...]
"""Pattern of one name in a path: pieces with stars between them."""

_Glob = tuple[tuple[_Part, ...], ...]
"""Rows of names, with any number of folders between the rows."""


class Rule(NamedTuple):
    """One line of a rule file."""

    ignores: bool
    """False for a line that begins with `!`."""
    folders_only: bool
    whole_path: bool
    """Whether it matches the path relative to the rule file; otherwise only the last name."""
    glob: _Glob
    at_once: re.Pattern[str] | None
    """The whole rule as one expression, if possible."""


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
            if rule.at_once.fullmatch(text) if rule.at_once else _matches(rule.glob, text):
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
        rows = _glob(glob)
        return Rule(
            ignores, folders_only, whole_path, rows, _at_once(rows) if len(glob) <= _SHORT else None
        )
    except (ValueError, re.error):
        return None


def _at_once(glob: _Glob) -> re.Pattern[str] | None:
    """Return the rule as one expression; None if it has two stars in a name, or two `**`.

    More stars could cause backtracking.
    """
    if len(glob) > 2 or not glob[-1] or any(len(part) > 2 for row in glob for part in row):
        return None
    rows = [
        "/".join("[^/]*".join(piece.pattern.pattern for piece in part) for part in row)
        for row in glob
    ]
    between = ("/" if glob[0] else "") + "(?:.*/)?"
    return re.compile(between.join(rows), re.DOTALL)


def _matches(glob: _Glob, path: str) -> bool:
    names = path.split("/")
    first, *others = glob
    if not others:
        return len(names) == len(first) and _row_matches(first, names, 0)
    begin, end = len(first), len(names) - len(others[-1])
    if begin > end or not (_row_matches(first, names, 0) and _row_matches(others[-1], names, end)):
        return False
    for row in others[:-1]:
        last = end - len(row)
        begin = next(
            (at for at in range(begin, last + 1) if _row_matches(row, names, at)), end
        ) + len(row)
        if begin > end:
            return False
    return True


def _row_matches(row: tuple[_Part, ...], names: list[str], begin: int) -> bool:
    return all(_name_matches(part, names[at]) for at, part in enumerate(row, begin))


def _name_matches(part: _Part, name: str) -> bool:
    first, *others = part
    end = len(name) - (others[-1].length if others else 0)
    if not first.pattern.match(name) or (first.length > end if others else first.length != end):
        return False
    if not others:
        return True
    begin = first.length
    for piece in others[:-1]:
        found = piece.pattern.search(name, begin, end)
        if not found:
            return False
        begin = found.end()
    return others[-1].pattern.match(name, end) is not None


def _glob(glob: str) -> _Glob:
    """Parse a pattern. Raises ValueError if it is incomplete."""
    rows: list[list[list[list[str]]]] = [[[[]]]]
    position = 0
    while position < len(glob):
        begin, step = position, 1
        if glob[position] == "*":
            step = len(glob) - position - len(glob[position:].lstrip("*"))
            folders = step > 1 and (begin == 0 or glob[begin - 1] == "/")
            if folders and glob.startswith("/", begin + step):
                rows[-1].pop()
                rows.append([[[]]])
                step += 1
            else:
                if folders and begin + step == len(glob):  # everything inside
                    rows[-1].pop()
                    rows.append([[[]]])
                rows[-1][-1].append([])
        elif glob.startswith(("/", "\\/"), position):
            step = glob.index("/", position) + 1 - position
            rows[-1].append([[]])
        else:
            one, step = _one(glob, position)
            rows[-1][-1][-1].append(one)
        position += step
    return tuple(
        tuple(
            tuple(_Piece(re.compile("".join(one), re.DOTALL), len(one)) for one in part)
            for part in row
        )
        for row in rows
    )


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
