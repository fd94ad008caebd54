"""The vocabulary of the local model: its pieces of words, and the English words among them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

_LONG = 5
_COMMON = 9000
"""Pieces stand in the order of how common they are. Of the shorter ones further down, many are parts of names and of
words of other languages."""


def read_pieces() -> list[str]:
    """The pieces in the order of their ids. Raises OSError where the file is missing."""
    return (Path(__file__).parent / "model" / "vocab.txt").read_text("utf-8").splitlines()


def is_english(word: str) -> bool:
    """Whether the model knows `word`, in lower case, as a whole, or its plural."""
    return word in _words() or (word.endswith("s") and word[:-1] in _words())


@cache
def _words() -> frozenset[str]:
    return frozenset(_whole_words())


def _whole_words() -> Iterator[str]:
    for rank, piece in enumerate(read_pieces()):
        if piece.isalpha() and (len(piece) >= _LONG or (len(piece) > 2 and rank < _COMMON)):
            yield piece
