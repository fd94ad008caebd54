"""The place in a passage that answers: a line or a few of a long one, and where in a long line."""

import re
from collections.abc import Collection
from typing import NamedTuple

from vault_index.query.ranking.passages import Passage, TermMatcher

_MOST_LINES = 3
_LONG_LINE = 240
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")


class Focus(NamedTuple):
    """Lines of a chunk, counted from 0, and the character of the first one with which the answer begins."""

    first: int
    last: int
    column: int


def focus(text: str, passage: Passage, matcher: TermMatcher) -> Focus:
    """The lines of `passage`, a part of `text`, that say most of the question."""
    lines = text.split("\n")
    first, last = passage.first, passage.last
    if last - first >= _MOST_LINES:
        first += matcher.best_window(lines[first : last + 1], _MOST_LINES)
        last = first + _MOST_LINES - 1
        said = [bool(one) for one in matcher.match_lines(lines[first : last + 1])]
        if any(said):  # lines around it that say nothing are not the answer
            first, last = first + said.index(True), last - said[::-1].index(True)
    return Focus(first, last, _column(lines[first], matcher) if len(lines[first]) > _LONG_LINE else 0)


def _column(line: str, matcher: TermMatcher) -> int:
    """Where the sentence begins that says most."""
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(line))]
    sentences = [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]
    return starts[matcher.best_window(sentences, 1)]


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
