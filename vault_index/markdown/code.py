"""Find inline code, in which no comment, tag or link can begin."""

import re
from bisect import bisect
from collections.abc import Iterable

_RUN = re.compile(r"`+")
# Inline code does not reach into another paragraph, list item, table row or heading.
BREAK = r"\n(?=[ \t>]*(?:\n|\Z|[-*+|#]|\d{1,9}[.)]))"
_BREAK = re.compile(BREAK)

Span = tuple[int, int]


def code_spans(text: str) -> list[Span]:
    """Return the offsets of inline code in order, with its backticks; the end is exclusive.

    As in CommonMark, the next run of the same length closes a run of backticks; an unclosed run is
    text. A table, filled from the end of the text, gives the partner of each run in linear time.
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    if len(runs) < 2:
        return []
    breaks = [match.start() for match in _BREAK.finditer(text)]
    partners: list[int | None] = [None] * len(runs)
    nearest: dict[tuple[int, int], int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        paragraph = bisect(breaks, start)
        partners[number] = nearest.get((paragraph, end - start - _escaped(text, start)))
        nearest[paragraph, end - start] = number
    spans: list[Span] = []
    number = 0
    while number < len(runs):
        partner = partners[number]
        if partner is None:
            number += 1
        else:
            start = runs[number][0]
            spans.append((start + _escaped(text, start), runs[partner][1]))
            number = partner + 1
    return spans


def masked(text: str, spans: Iterable[Span], filler: str = "`") -> str:
    """Replace each character of the spans, so that offsets stay. Spans are sorted, and may nest."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if end > position:
            start = max(start, position)
            parts += [text[position:start], filler * (end - start)]
            position = end
    parts.append(text[position:])
    return "".join(parts)


def _escaped(text: str, start: int) -> int:
    """Return 1 if a backslash escapes the first backtick of a run, else 0."""
    slashes = 0
    while slashes < start and text[start - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2
