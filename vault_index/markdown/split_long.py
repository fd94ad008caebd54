"""Cutting a line that is too large by itself: at sentences, else between words, else anywhere between characters."""

import re
import unicodedata
from collections.abc import Iterator

from vault_index import tokens

LONGEST_TOKEN = 128
"""Characters of the longest token of cl100k_base, a run of spaces: `n` tokens hold at most `n` times as many."""

_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])(?![。！？」』”’）])|(?<=[。！？][」』”’）])")
_JOINER = "\u200d"
_VARIANTS = "\ufe0e\ufe0f"
_LONGEST_CHARACTER = 32  # an emoji of a family, a letter with its accents


def pieces(line: str, budget: int) -> Iterator[tuple[str, int]]:
    """Parts of at most `budget` tokens, each with its tokens; joined they are the line again."""
    size = _size(line, budget)
    if size <= budget:
        yield line, size
        return
    start = 0
    for end in (*(match.start() for match in _SENTENCE_END.finditer(line)), len(line)):
        if end > start:
            yield from _fitting(line[start:end], budget)
            start = end


def _fitting(text: str, budget: int) -> Iterator[tuple[str, int]]:
    size = _size(text, budget)
    if size <= budget or len(text) == 1:
        yield text, size
        return
    # As many characters as tokens fit as a rule; what does not is halved until it does.
    width = max(min(budget, len(text) // 2), 1)
    start = 0
    while start < len(text):
        end = _cut(text, start, start + width)
        yield from _fitting(text[start:end], budget)
        start = end


def _size(text: str, budget: int) -> int:
    """Tokens, or only that they are too many where counting megabytes can be spared."""
    return tokens.count(text) if len(text) <= budget * LONGEST_TOKEN else budget + 1


def _cut(text: str, start: int, end: int) -> int:
    """The last place up to `end` between two words, else the next one between two characters."""
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", start + 1, end + 1)
    if space > start:
        return space
    for position in range(end, min(end + _LONGEST_CHARACTER, len(text))):
        following = text[position]
        joined = following in _VARIANTS or following == _JOINER or text[position - 1] == _JOINER
        if not joined and not unicodedata.combining(following):
            return position
    return end
