"""WordPiece tokenizer of uncased BERT models in plain Python, and the local model's vocabulary."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from vault_index.embeddings.spaces import ENGLISH
from vault_index.models import VectorSpace

MODEL = Path(__file__).parent / "model"
"""Folder of the bundled model."""
_UNKNOWN = "[UNK]"
_LONGEST_WORD = 100
"""Characters; as in BERT, longer words are unknown."""
_MOST_CACHED_WORDS = 20_000
_LONGEST_CACHED_WORD = 24
"""Characters; longer words are mostly URLs or sentences without spaces, which rarely repeat."""
_LONG = 5
"""Smallest number of letters in a piece that counts as an English word at any rank."""
_LETTERS = re.compile(r"[^\W\d_]+")
_COMMON = 9000
"""Last frequency rank of shorter English words; rarer pieces are often parts of foreign words."""
_PLAIN_SHARE = 0.3
ENGLISH_SHARE = 0.3
"""A text with a lower `english_share` counts as another language.

Of English notes about programs, 2 % of the passages fall below.
"""


class CachedWords(ABC):
    """Base of tokenizers that split words into pieces, with a cache of words."""

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
    """Cleans, lower-cases, strips accents, splits at spaces and punctuation, and cuts greedily.

    The ids equal those of the `tokenizers` package with `BertNormalizer` and `BertPreTokenizer`,
    except for about 500 rare signs that its Unicode tables lack. Special tokens in the text are
    plain text. Thread-safe.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the pieces in the order of their ids; those inside a word start with `##`."""
        self._starts: dict[str, int] = {}
        self._endings: dict[str, int] = {}
        for number, piece in enumerate(vocabulary):
            if piece.startswith("##") and len(piece) > 2:
                self._endings[piece[2:]] = number
            else:
                self._starts[piece] = number
        self._longest_piece = max(map(len, vocabulary), default=0)
        self._unknown = (self._starts[_UNKNOWN],)
        self._characters = _Characters()
        self._known: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text, without `[CLS]` and `[SEP]`."""
        if not text.isascii():
            text = unicodedata.normalize("NFD", text)
        return self._ids(text.translate(self._characters).split(" "))

    def _cut(self, word: str) -> tuple[int, ...]:
        """Take the longest matching pieces; without a match, the whole word is unknown."""
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
    """Lazy `str.translate` table for decomposed text."""

    def __missing__(self, code: int) -> str:
        self[code] = replacement = _replacement(chr(code))
        return replacement


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in "\t\n\r" or category in ("Zs", "Zl", "Zp"):
        return " "
    # Keep unassigned characters (Cn), so that ids do not depend on Python's Unicode version.
    if (category[0] == "C" and category != "Cn") or category == "Mn" or character == "\ufffd":
        return ""
    # BERT treats ASCII symbols (`$+<=>^`|~`) as punctuation.
    is_symbol = character.isascii() and not character.isalnum()
    if category[0] == "P" or is_symbol or _is_ideograph(ord(character)):
        return f" {character} "
    return character.lower()


def _is_ideograph(code: int) -> bool:
    """Return whether BERT treats a character as a separate word, as it does for Chinese."""
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


# --- the vocabulary of the local model ------------------------------------------------------------


def read_pieces() -> list[str]:
    """Return the pieces in the order of their ids. Raises OSError."""
    return (MODEL / "vocab.txt").read_text("utf-8").splitlines()


def known_share(space: VectorSpace, text: str) -> float:
    """Return how well the model knows the language of a text, from 0 to 1.

    For the English model its English words decide; other models get 1. A text in plain Latin
    letters may consist of names only.
    """
    share = min(english_share(text) / ENGLISH_SHARE, 1.0) if space == ENGLISH else 1.0
    return max(share, _PLAIN_SHARE) if text.isascii() else share


def is_english(word: str) -> bool:
    """Return whether a lower-case word, or its singular, is a piece of the vocabulary."""
    return word in _words() or (word.endswith("s") and word[:-1] in _words())


def english_share(text: str) -> float:
    """Return the share of letters in English words; 1 without letters.

    It is .5 to .9 for English, .17 for German, .13 for Spanish, and near 0 for other scripts.
    """
    words = _LETTERS.findall(text)
    letters = sum(map(len, words))
    return (
        sum(len(word) for word in words if is_english(word.lower())) / letters if letters else 1.0
    )


@cache
def _words() -> frozenset[str]:
    return frozenset(
        piece
        for rank, piece in enumerate(read_pieces())
        if piece.isalpha() and (len(piece) >= _LONG or (len(piece) > 2 and rank < _COMMON))
    )
