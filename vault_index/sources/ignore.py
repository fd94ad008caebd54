"""Compiles ignore rules, written as in `.gitignore`, and asks them about paths."""

import re
import unicodedata
import warnings
from collections.abc import Iterable

from pathspec import GitIgnoreSpec


class Rules:
    """The lines of one rule file, or of one list in the configuration. Paths are relative to where it stands."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.bad_lines: list[int] = []
        """Numbers of the lines that are no valid pattern; the others hold."""
        good = []
        for number, line in enumerate(lines, start=1):
            line = _composed(line)
            if line.rstrip().endswith("/**"):
                # The same to git. pathspec takes `a/**` to match the folder `a` itself, which git does not.
                line = f"{line.rstrip()}/*"
            if _valid(line):
                good.append(line)
            else:
                self.bad_lines.append(number)
        self._spec = GitIgnoreSpec.from_lines(good)

    def verdict(self, path: str) -> bool | None:
        """True: ignored. False: explicitly not. None: no rule says anything. A folder's path ends with `/`."""
        return self._spec.check_file(_composed(path)).include


def _composed(text: str) -> str:
    # macOS may write `é` as two code points where a rule has one.
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _valid(line: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[:alpha:]]` makes `re` warn
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            return False
        return True
