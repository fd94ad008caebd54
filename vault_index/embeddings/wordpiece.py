"""WordPiece as uncased BERT models expect it, in plain Python: text to the ids of a vocabulary; and that of the local
model, with the English words among its pieces."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

MODEL = Path(__file__).parent / "model"
"""The files of the model that comes with the package."""
_UNKNOWN = "[UNK]"
_LONGEST_WORD = 100
"""Longer words are unknown, as in BERT."""
_MOST_CACHED_WORDS = 20_000
_LONGEST_CACHED_WORD = 24
"""What is longer is mostly a sentence of a language without spaces, or an address: neither comes back."""
_KNOWN_PIECE = 3
"""Letters from which on a piece tells that the vocabulary knows the language."""
_UNKNOWN_LETTERS = 4
"""Letters that an unknown word counts as."""
_LONG = 5
"""Characters from which on every piece counts as an English word."""
_LETTERS = re.compile(r"[^\W\d_]+")
_COMMON = 9000
"""Shorter pieces count up to this rank: pieces are ordered by how common they are, and of the short ones further down
many are parts of names and of words of other languages."""


class CachedWords(ABC):
    """Cuts a text into words, and each of them into pieces; the pieces of words are kept, for most come back."""

    _known: dict[str, tuple[int, ...]]

    def _ids(self, words: Iterable[str]) -> list[int]:
        known = self._known
        ids: list[int] = []
        for word in filter(None, words):
            pieces = known.get(word)
            if pieces is None:
                pieces = self._cut(word)
                if len(word) <= _LONGEST_CACHED_WORD:
                    if len(known) >= _MOST_CACHED_WORDS:
                        known = self._known = {}
                    known[word] = pieces
            ids.extend(pieces)
        return ids

    @abstractmethod
    def _cut(self, word: str) -> tuple[int, ...]: ...


class WordPiece(CachedWords):
    """Cleans, lower-cases, strips accents, splits at spaces and punctuation, and cuts words greedily into pieces.

    The ids are those of the `tokenizers` package with `BertNormalizer` and `BertPreTokenizer`, but for some 500 rare
    marks and signs that its table of Unicode does not know. Special tokens that stand in the text are plain text.
    Safe for several threads.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """`vocabulary`: the pieces in the order of their ids; those that go on a word start with `##`."""
        self._starts: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        for number, piece in enumerate(vocabulary):
            if piece.startswith("##") and len(piece) > 2:
                self._endings[piece[2:]] = number
            else:
                self._starts[piece] = number
        self._pieces = vocabulary
        self._longest_piece = max(map(len, vocabulary), default=0)
        self._unknown = (self._starts[_UNKNOWN],)
        self._characters = _Characters()
        self._known: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """The ids of `text`, without `[CLS]` and `[SEP]`."""
        if not text.isascii():
            text = unicodedata.normalize("NFD", text)
        return self._ids(text.translate(self._characters).split(" "))

    def known_share(self, text: str) -> float:
        """The share of the letters of `text` that stand in pieces of three letters or more: of a language that the
        vocabulary was not made from it has little but single letters. English has .7 to 1, German, Spanish and
        Romanian .5 to .8, Turkish and Vietnamese about .5, and what is not written in Latin letters next to nothing.
        1 for a text without letters."""
        letters = known = 0
        for number in self.ids(text):
            piece = self._pieces[number].removeprefix("##")
            length = len(piece) if piece.isalpha() else 0
            letters += length or _UNKNOWN_LETTERS * (number in self._unknown)
            known += length if length >= _KNOWN_PIECE else 0
        return known / letters if letters else 1.0

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest piece that starts the word, then the longest that goes on, to the end; or unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return self._unknown
        ids, start, table = [], 0, self._starts
        while start < len(word):
            for end in range(min(len(word), start + self._longest_piece), start, -1):
                number = table.get(word[start:end])
                if number is not None:
                    ids.append(number)
                    start, table = end, self._endings
                    break
            else:
                return self._unknown
        return tuple(ids)


class _Characters(dict[int, str]):
    """What becomes of a character of decomposed text, worked out when it is first met (for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        self[code] = replacement = _replacement(chr(code))
        return replacement


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    # Characters Python does not know yet (Cn) stay: what is new in Unicode shall not depend on Python's version.
    if (category[0] == "C" and category != "Cn") or category == "Mn" or character == "\ufffd":
        return ""
    # BERT takes for punctuation what Unicode calls a symbol: `$+<=>^`|~`.
    is_symbol = character.isascii() and not character.isalnum()
    if category[0] == "P" or is_symbol or _is_ideograph(ord(character)):
        return f" {character} "
    return character.lower()


def _is_ideograph(code: int) -> bool:
    """The blocks BERT takes for Chinese characters, each a word of its own; Kana and Hangul are not among them."""
    return (
        0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0x20000 <= code <= 0x2A6DF
        or 0x2A700 <= code <= 0x2B73F
        or 0x2B740 <= code <= 0x2B81F
        or 0x2B920 <= code <= 0x2CEAF
        or 0xF900 <= code <= 0xFAFF
        or 0x2F800 <= code <= 0x2FA1F
    )


# --- the vocabulary of the local model -----------------------------------------------------------------------------


def read_pieces() -> list[str]:
    """The pieces in the order of their ids. Raises OSError where the file is missing."""
    return (MODEL / "vocab.txt").read_text("utf-8").splitlines()


_reading = Lock()


def vocabulary() -> WordPiece:
    """The vocabulary of the local model, read once: who comes meanwhile waits for it."""
    with _reading:
        return _vocabulary()


@cache
def _vocabulary() -> WordPiece:
    return WordPiece(read_pieces())


def release() -> None:
    """Let go of the vocabulary."""
    _vocabulary.cache_clear()


def is_english(word: str) -> bool:
    """Whether the model knows `word`, in lower case, as a whole, or its plural."""
    return word in _words() or (word.endswith("s") and word[:-1] in _words())


def english_share(text: str) -> float:
    """The share of the letters of `text` in words that the model knows as a whole: English has .5 to .9, German .17,
    Spanish .13, and what is written in other letters next to none. 1 for a text without letters."""
    words = _LETTERS.findall(text)
    letters = sum(map(len, words))
    return sum(len(word) for word in words if is_english(word.lower())) / letters if letters else 1.0


@cache
def _words() -> frozenset[str]:
    return frozenset(
        piece
        for rank, piece in enumerate(read_pieces())
        if piece.isalpha() and (len(piece) >= _LONG or (len(piece) > 2 and rank < _COMMON))
    )
