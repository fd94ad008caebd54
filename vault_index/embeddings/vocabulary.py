"""The vocabulary of the local model: its pieces of words, and the English words among them."""

from functools import cache
from pathlib import Path

_SHORTEST = 5  # many of the shorter ones are parts of names and of words of other languages


def read_pieces() -> list[str]:
    """The pieces in the order of their ids. Raises OSError where the file is missing."""
    return (Path(__file__).parent / "model" / "vocab.txt").read_text("utf-8").splitlines()


def is_english(word: str) -> bool:
    """Whether the model knows `word`, in lower case and of five letters or more, as a whole, or its plural."""
    return word in _words() or (word.endswith("s") and word[:-1] in _words())


@cache
def _words() -> frozenset[str]:
    return frozenset(piece for piece in read_pieces() if len(piece) >= _SHORTEST and piece.isalpha())
