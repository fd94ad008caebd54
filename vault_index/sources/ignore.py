"""Compiles ignore rules, written as in `.gitignore`, and asks them about paths.

Own code rather than `pathspec`: that matches a path through its folders, and so answers differently from git where
rules take something back (`*`, `!*/`, `!*.md`); it would also cost 28 ms to import. Rules as in gitignore(5).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

# What a bracket expression may name, without `/`, which no bracket matches.
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


_FOLDERS = "(?:[^/]+/)*"
_STAR = "[^/]*"


class Rule(NamedTuple):
    """One line."""

    ignores: bool
    """False for a line that begins with `!`."""
    folders_only: bool
    whole_path: bool
    """Matches the path from the rule file on; otherwise the last name alone."""
    pattern: re.Pattern[str]


class Rules:
    """The lines of one rule file, or of one list in the configuration. Paths are relative to where it stands."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.bad_lines: list[int] = []
        """Numbers of the lines that are no valid pattern; the others hold."""
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
        """True: ignored. False: explicitly not. None: no line says anything. A folder's path ends with `/`.

        Only of the path itself: the caller asks about the folders around it first.
        """
        path = _composed(path)
        is_folder = path.endswith("/")
        path = path.rstrip("/")
        name = path[path.rfind("/") + 1 :]
        for rule in self._last_first:
            if (is_folder or not rule.folders_only) and rule.pattern.fullmatch(path if rule.whole_path else name):
                return rule.ignores
        return None

    def covers(self, path: str) -> bool:
        """Whether a line matches a file or a folder around it; the innermost that says anything decides."""
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
        return text + " "  # `\ ` keeps one
    return text


def _rule(text: str) -> Rule | None:
    ignores = not text.startswith("!")
    glob = text if ignores else text[1:]
    folders_only = glob.endswith("/")
    glob = glob.removesuffix("/")
    whole_path = "/" in glob
    glob = glob.removeprefix("/")
    if not glob:
        return None
    try:
        return Rule(ignores, folders_only, whole_path, re.compile(_regex(glob), re.DOTALL))
    except (ValueError, re.error):
        return None


def _regex(glob: str) -> str:
    """The glob as a regular expression for `fullmatch`; ValueError for one that ends too early."""
    regex = []
    position = 0
    while position < len(glob):
        rest = glob[position:]
        step = 1
        if rest[0] == "*":
            step = len(rest) - len(rest.lstrip("*"))
            folders = step > 1 and (position == 0 or glob[position - 1] == "/")
            if folders and rest[step:].startswith("/"):
                regex.append(_FOLDERS)
                step += 1
            else:
                regex.append(".+" if folders and step == len(rest) else _STAR)
        elif rest[0] == "?":
            regex.append("[^/]")
        elif rest[0] == "[":
            bracket, step = _bracket(rest)
            regex.append(bracket)
        elif rest[0] == "\\":
            regex.append(re.escape(rest[1]) if len(rest) > 1 else _fail("nothing after the backslash"))
            step = 2
        else:
            regex.append(re.escape(rest[0]))
        position += step
    return _in_one_way("".join(regex), (_FOLDERS, _STAR), count())


def _in_one_way(regex: str, gaps: Sequence[str], names: Iterator[int]) -> str:
    """The same, where every gap but the last is as short as what follows it allows, and is not tried longer.

    A longer one would find nothing more, and with many stars it would be looked for through ages. The group within a
    lookahead is an atomic group as all versions of Python know it.
    """
    if not gaps:
        return regex
    first, *others = (_in_one_way(part, gaps[1:], names) for part in regex.split(gaps[0]))
    shortest = (
        f"(?=(?P<_{name}>{gaps[0]}?{part}))(?P=_{name})" for part, name in zip(others[:-1], names, strict=False)
    )
    return first + "".join(shortest) + (gaps[0] + others[-1] if others else "")


def _bracket(rest: str) -> tuple[str, int]:
    """A bracket expression at the beginning of `rest`, and its length."""
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
        if rest[position : position + 1] == "-" and rest[position + 1 : position + 2] not in ("]", ""):
            high, position = _character(rest, position + 1)
            # A backward range is its first character, as in git.
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
