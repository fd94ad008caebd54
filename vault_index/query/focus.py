"""The place inside a chunk that answers: the line that shares most with the question, and a snippet around it."""

import re
from collections.abc import Sequence

from vault_index import terms

_HEADING = re.compile(r"#{1,6}\s")
_SNIPPET_CHARACTERS = 240


def focus_line(text: str, words: Sequence[str]) -> int:
    """Index (from 0) of the line of `text` that shares most words with the question; the first one that says something
    if none does. A heading is chosen only where nothing else is said: it is shown beside the passage anyway.

    Words agree when their first five letters do (a poor man's stem).
    """
    stems = {word[:5] for said in words for word in terms.words(said)}
    best, best_score = 0, -1.0
    for number, line in enumerate(text.split("\n")):
        said = {word[:5] for word in terms.words(line)}
        score = -0.5 if _HEADING.match(line) else float(len(said & stems))
        if said and score > best_score:
            best, best_score = number, score
    return best


def snippet(text: str, line: int) -> str:
    """At most about 240 characters of `text` around line `line` (from 0), as one line."""
    lines = text.split("\n")
    if line > 0 and _HEADING.match(lines[0]):
        lines[0] = ""  # shown beside the snippet
    middle = lines[line].strip() if line < len(lines) else ""
    if len(middle) >= _SNIPPET_CHARACTERS:
        return _cut(middle)
    first = last = line
    size = len(middle)
    while True:
        grown = False
        for candidate, forward in ((last + 1, True), (first - 1, False)):
            if 0 <= candidate < len(lines) and size + len(lines[candidate].strip()) + 1 <= _SNIPPET_CHARACTERS:
                size += len(lines[candidate].strip()) + 1
                first, last = (first, candidate) if forward else (candidate, last)
                grown = True
        if not grown:
            return " ".join(part for part in (piece.strip() for piece in lines[first : last + 1]) if part)


def _cut(line: str) -> str:
    return f"{line[:_SNIPPET_CHARACTERS].rsplit(' ', 1)[0]}…"
