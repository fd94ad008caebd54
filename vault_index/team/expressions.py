"""Read the FTS5 expressions of a query, and write them as a `tsquery` of PostgreSQL."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from vault_index.team.words import quoted, tokenizer

_TOKEN = re.compile(r'((?:"[^"]*")+)(\s*\*)?|\b(AND|OR|NOT)\b|([()])')
_SIGNS = {"AND": "&", "OR": "|", "NOT": "&!"}


class Phrase(NamedTuple):
    """Words in a row, as stems; with `prefix`, the last one is the beginning of a stem."""

    stems: tuple[str, ...]
    prefix: bool

    def __str__(self) -> str:
        *first, last = map(quoted, self.stems)
        return " <-> ".join((*first, f"{last}:*" if self.prefix else last))


class Expression(NamedTuple):
    """A condition on the words of a text, and its phrases, which score it."""

    tsquery: str
    phrases: tuple[Phrase, ...]


@lru_cache(maxsize=256)
def read_expression(match: str) -> Expression:
    """Read an FTS5 expression of quoted phrases, AND, OR, NOT and parentheses."""
    phrases: dict[Phrase, None] = {}

    def parts() -> Iterator[str]:
        for found in _TOKEN.finditer(match):
            text, star, operator, bracket = found.groups()
            if operator or bracket:
                yield _SIGNS[operator] if operator else bracket
                continue
            phrase = Phrase(tuple(tokenizer().stems(text[1:-1].replace('""', '"'))), bool(star))
            if phrase.stems:
                phrases[phrase] = None
            yield f"({phrase})" if phrase.stems else NOTHING

    return Expression(" ".join(parts()), tuple(phrases))


NOTHING = quoted("\x01")
"""A phrase without a word, which matches nothing."""
