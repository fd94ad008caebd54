"""A snippet: what a hit shows of the text around the place that answers."""

import re
from collections.abc import Collection

_HEADING = re.compile(r"#{1,6}\s")
SNIPPET_CHARACTERS = 240


def snippet(text: str, line: int, column: int = 0, others: Collection[int] = ()) -> str:
    """At most about 240 characters of `text` around line `line` (from 0), as one line; of a line that is longer, from
    `column` on. It ends before any of the `others`, lines that better hits show."""
    lines = text.split("\n")
    if line > 0 and _HEADING.match(lines[0]):
        lines[0] = ""  # shown beside the snippet
    middle = lines[line].strip() if line < len(lines) else ""
    if len(middle) >= SNIPPET_CHARACTERS:
        return _cut(lines[line].rstrip(), column)
    first = last = line
    size = len(middle)
    while True:
        grown = False
        for candidate, forward in ((last + 1, True), (first - 1, False)):
            if candidate in others or not 0 <= candidate < len(lines):
                continue
            wider = size + len(lines[candidate].strip()) + 1
            if wider <= SNIPPET_CHARACTERS:
                size = wider
                first, last = (first, candidate) if forward else (candidate, last)
                grown = True
        if not grown:
            return " ".join(part for part in (piece.strip() for piece in lines[first : last + 1]) if part)


def _cut(line: str, column: int) -> str:
    start = max(min(column, len(line) - SNIPPET_CHARACTERS), 0)
    if 0 < start < column:
        start = line.find(" ", start, column) + 1 or start  # not in the middle of a word
    rest = line[start:].lstrip()
    if len(rest) > SNIPPET_CHARACTERS:
        rest = f"{rest[:SNIPPET_CHARACTERS].rsplit(' ', 1)[0]}…"
    return f"…{rest}" if start else rest
