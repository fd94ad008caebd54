"""Detect credentials by their place: HTTP headers, options (`mysql -p…`), lines of a login."""

import re
from collections.abc import Iterable, Iterator

from vault_index.secrets.placeholders import (
    Found,
    Row,
    is_chosen,
    is_passphrase,
    is_words,
    pattern,
    rows,
    stands_for_another,
)

_LONGEST = 8000
_FAR = 200
_LONGEST_VALUE = 80


def placed(text: str, hits: Iterable[tuple[str, int]]) -> Iterator[Found]:
    """Yield each credential in a known place, in no order."""
    done: dict[Row, int] = {}
    for literal, position in hits:
        begin = position + len(literal)
        for place in rows("places").get(literal, ()):
            wanted = (
                begin >= done.get(place, 0)
                and text.find(place.option, begin - 1, begin + _LONGEST) >= 0
            )
            if wanted:
                for match in _matches(place, position, begin, text, done):
                    if _is_secret(place, match[match.lastindex or 0]):
                        yield place.kind, *match.span(match.lastindex or 0)


def _matches(
    place: Row, start: int, begin: int, text: str, done: dict[Row, int]
) -> Iterable[re.Match[str]]:
    """Return the matches around the literal from `start` to `begin`."""
    line = max(text.rfind("\n", max(start - _FAR, 0), start), start - _FAR, 0)
    if place.end in ("before", "around"):
        until = start if place.end == "before" else begin + _LONGEST_VALUE
        found = pattern(place.expression).search(text, line, until)
    elif place.end:
        end = pattern(place.end).search(text, begin, begin + _LONGEST)
        done[place] = end.start() if end else min(begin + _LONGEST, len(text))
        return pattern(place.expression).finditer(text, begin, done[place])
    else:
        found = pattern(place.expression).match(text, begin)
    return [found] if found and pattern(place.near).search(text, line, found.end() + _FAR) else []


def _is_secret(place: Row, value: str) -> bool:
    return (place.kind == "a weak PIN" or not stands_for_another(value)) and (
        place.chosen
        or (
            bool(pattern("[A-Za-z]").search(value))
            and not pattern("<NO_SECRET>").search(value)
            and not pattern("<IDENTIFIER>").fullmatch(value)
            and (
                (place.kind == "a password" and (is_chosen(value) or is_passphrase(value, 2, "-.")))
                or not is_words(value)
            )
        )
    )
