"""SentencePiece's unigram tokenizer in plain Python, with a memory-mapped vocabulary."""

import mmap
import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path

from vault_index.embeddings.wordpiece import CachedWords

_MAGIC = b"VIU1"
_HEAD = struct.Struct("<4s4if")
_SPACE = "\u2581"
"""Prefix of every word. No piece has it elsewhere, so each word can be cut alone."""
_UNREACHED = -1e30


class Unigram(CachedWords):
    """Folds characters, splits at spaces, and cuts words by the best total score (Viterbi).

    The ids equal those of SentencePiece for XLM-RoBERTa. Special pieces in the text are plain text.
    Entries of the file (format: `tools/pack_vocabulary.py`) become objects only on use.
    Thread-safe.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._file = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        magic, pieces, slots, folds, self._unknown, self._unknown_score = _HEAD.unpack_from(
            self._file
        )
        if magic != _MAGIC:
            raise ValueError("not a vocabulary")
        counts = (slots, pieces, pieces + 1, pieces, folds, folds + 1)
        ends = list(accumulate((4 * count for count in counts), initial=_HEAD.size))
        view = memoryview(self._file)
        parts = [view[start:end] for start, end in pairwise(ends)]
        self._slots, self._sums, self._starts = (part.cast("I") for part in parts[:3])
        self._scores = parts[3].cast("f")
        self._mask = slots - 1
        self._longest = view[ends[-1] : ends[-1] + 0x110000]
        self._texts = ends[-1] + 0x110000
        replaced, starts = (part.cast("I") for part in parts[4:])
        self._folds = _Folds(replaced, starts, view[self._texts + self._starts[pieces] :])
        self._known: dict[str, tuple[int, ...]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text, without begin and end marks."""
        return self._ids(text.translate(self._folds).split(" "))

    def _cut(self, word: str) -> tuple[int, ...]:
        word = _SPACE + _composed(word)
        characters = [character.encode("utf-8", "surrogatepass") for character in word]
        slots, sums, starts, scores, mask = (
            self._slots,
            self._sums,
            self._starts,
            self._scores,
            self._mask,
        )
        count = len(word)
        # For the best cut up to each position: its score, its last piece, and where that begins.
        best, last, begin = [0.0] + [_UNREACHED] * count, [0] * (count + 1), [0] * (count + 1)
        for start in range(count):
            score = best[start] + self._unknown_score
            if score > best[start + 1]:
                best[start + 1], last[start + 1], begin[start + 1] = score, self._unknown, start
            checksum = 0
            for end in range(start + 1, min(count, start + self._longest[ord(word[start])]) + 1):
                checksum = zlib.crc32(characters[end - 1], checksum)
                slot = checksum & mask
                while number := slots[slot]:
                    place = self._texts + starts[number - 1]
                    if sums[number - 1] == checksum and self._file[
                        place : self._texts + starts[number]
                    ] == b"".join(characters[start:end]):
                        score = best[start] + scores[number - 1]
                        if score > best[end]:
                            best[end], last[end], begin[end] = score, number - 1, start
                        break
                    slot = (slot + 1) & mask
        return self._path(last, begin)

    def _path(self, last: list[int], begin: list[int]) -> tuple[int, ...]:
        ids: list[int] = []
        end = len(last) - 1
        while end:
            # A run of unknown characters is one unknown piece.
            if not (ids and last[end] == ids[-1] == self._unknown):
                ids.append(last[end])
            end = begin[end]
        return tuple(reversed(ids))


def _composed(word: str) -> str:
    """Compose characters (half-width kana, Jamo, accents), because folding sees one at a time.

    As in SentencePiece, marks that would only be reordered stay (shadda before a vowel).
    """
    composed = unicodedata.normalize("NFC", word)
    return composed if len(composed) < len(word) else word


class _Folds(dict[int, str]):
    """Lazy `str.translate` table."""

    def __init__(self, characters: Sequence[int], starts: Sequence[int], texts: memoryview) -> None:
        super().__init__()
        self._characters, self._starts, self._texts = characters, starts, texts

    def __missing__(self, code: int) -> str:
        self[code] = replacement = self._replacement(code)
        return replacement

    def _replacement(self, code: int) -> str:
        place = bisect_left(self._characters, code)
        if place == len(self._characters) or self._characters[place] != code:
            return chr(code)
        return str(self._texts[self._starts[place] : self._starts[place + 1]], "utf-8")
