"""Credentials that stand in a certain place: headers of HTTP, and options of programs, as `mysql -p…`."""

import re
from collections.abc import Iterable, Iterator

from vault_index.secrets.placeholders import (
    Found,
    Row,
    is_chosen,
    is_passphrase,
    is_words,
    pattern,
    positions,
    rows,
    stands_for_another,
)

_LONGEST = 8000
_FAR = 200


def placed(text: str, hits: Iterable[tuple[str, int]]) -> Iterator[Found]:
    """Each credential in a known place; not in order."""
    options = {text[position + 2 : position + 3] for position in positions(" -", text)}
    options |= {text[position + 1 : position + 3] for position in positions(" /", text)} | {""}
    done: dict[Row, int] = {}
    for literal, position in hits:
        begin = position + len(literal)
        for place in rows("places").get(literal, ()):
            if place.option in options and begin >= done.get(place, 0):
                for match in _matches(place, position, begin, text, done):
                    if _is_secret(place, match[match.lastindex or 0]):
                        yield place.kind, *match.span(match.lastindex or 0)


def _matches(place: Row, start: int, begin: int, text: str, done: dict[Row, int]) -> Iterable[re.Match[str]]:
    """Each match around the literal between `start` and `begin`."""
    if place.end == "before":
        line = max(text.rfind("\n", max(start - _FAR, 0), start), start - _FAR, 0)
        found = pattern(place.expression + r"\Z").search(text, line, start)
    elif place.end:
        end = pattern(place.end).search(text, begin, begin + _LONGEST)
        done[place] = end.start() if end else min(begin + _LONGEST, len(text))
        return pattern(place.expression).finditer(text, begin, done[place])
    else:
        found = pattern(place.expression).match(text, begin)
    return [found] if found else []


def _is_secret(place: Row, value: str) -> bool:
    if stands_for_another(value) and place.kind != "a weak PIN":
        return False
    return place.chosen or (
        bool(pattern("[A-Za-z]").search(value))
        and ((place.kind == "a password" and (is_chosen(value) or is_passphrase(value, 2, "-"))) or not is_words(value))
    )
