"""Read the FTS5 expressions of a query, and write them as a `tsquery` of PostgreSQL."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import accumulate
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


def weightiest(words: Mapping[Phrase, tuple[float, float]], total: int, wanted: int) -> str:
    """Return a condition on texts whose words weigh most together.

    `words` has the weight of each and the share of the `total` texts that hold it. About `wanted`
    texts meet the condition if words occur independently.
    """
    sets = [(0.0, float(total), frozenset[Phrase]())]  # weight, number of texts with just these
    for phrase, (weight, share) in words.items():
        sets = [
            *((sum_, number * (1 - share), held) for sum_, number, held in sets),
            *((sum_ + weight, number * share, held | {phrase}) for sum_, number, held in sets),
        ]
    sets.sort(key=lambda one: -one[0])
    most = bisect_right([*accumulate(number for _, number, _ in sets)], wanted)
    kept = [held for *_, held in sets[: most + 1] if held]
    least = [one for one in kept if not any(other < one for other in kept)]
    return (
        " | ".join(f"({' & '.join(f'({phrase})' for phrase in sorted(one))})" for one in least)
        or NOTHING
    )


NOTHING = quoted("\x01")
"""A phrase without a word, which matches nothing."""
