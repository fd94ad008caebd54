"""Where inline code stands in a text: no comment, tag or link begins in it."""

import re
from bisect import bisect
from collections.abc import Iterable

_RUN = re.compile(r"`+")
# Inline code does not reach into another paragraph, list item, table row or heading.
BREAK = r"\n(?=[ \t>]*(?:\n|\Z|[-*+|#]|\d{1,9}[.)]))"
_BREAK = re.compile(BREAK)

Span = tuple[int, int]


def code_spans(text: str) -> list[Span]:
    """Start and end offsets of the inline code in `text`, backticks included, in order.

    CommonMark's rule: a run of backticks closes with the next run of the same length, else it is text. Each run looks
    up its partner in a table made from behind, so a megabyte of unpaired backticks costs no more than other text.
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
    """`text` with every character of the spans replaced, so that offsets stay. Spans are in order; they may nest."""
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
    """1 where a backslash escapes the first backtick of a run, else 0."""
    slashes = 0
    while slashes < start and text[start - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2
