"""The place in a passage that answers: a line or a few of a long one, and where in a long line."""

import re
from typing import NamedTuple

from vault_index.query.passages import Passage, Spotter

_MOST_LINES = 3
_LONG_LINE = 240
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")


class Focus(NamedTuple):
    """Lines of a chunk, counted from 0, and the character of the first one with which the answer begins."""

    first: int
    last: int
    column: int


def focus(text: str, passage: Passage, spotter: Spotter) -> Focus:
    """The lines of `passage`, a part of `text`, that say most of the question."""
    lines = text.split("\n")
    first, last = passage.first, passage.last
    if last - first >= _MOST_LINES:
        first += spotter.best_run(lines[first : last + 1], _MOST_LINES)
        last = first + _MOST_LINES - 1
        said = [bool(one) for one in spotter.found(lines[first : last + 1])]
        if any(said):  # lines around it that say nothing are not the answer
            first, last = first + said.index(True), last - said[::-1].index(True)
    return Focus(first, last, _column(lines[first], spotter) if len(lines[first]) > _LONG_LINE else 0)


def _column(line: str, spotter: Spotter) -> int:
    """Where the sentence begins that says most."""
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(line))]
    sentences = [line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)]
    return starts[spotter.best_run(sentences, 1)]
