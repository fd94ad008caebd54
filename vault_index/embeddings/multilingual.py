"""multilingual-e5-small in int8 from the package vault-indexer-multilingual, and its tokenizer."""

import mmap
import struct
import unicodedata
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from importlib.resources import as_file, files
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from vault_index.embeddings.inference import (
    Array,
    EnglishModel,
    checked,
    open_session,
    packed,
    unit_mean,
    windows,
)
from vault_index.embeddings.spaces import ENGLISH, MULTILINGUAL, MULTILINGUAL_PACKAGE
from vault_index.embeddings.wordpiece import ENGLISH_SHARE, CachedWords, english_share
from vault_index.models import INT8_SCALE, Vector

_MAGIC = b"VIU1"
_HEAD = struct.Struct("<4s4if")
_SPACE = "\u2581"
"""Prefix of every word. No piece has it elsewhere, so each word can be cut alone."""
_UNREACHED = -1e30
WINDOW = 510
"""Maximum number of pieces per input, without `<s>` and `</s>`."""
_SUMS = {
    "centre.f32": "09ef9b4e5c9c7e3071e077fab892ccdf5cd7c9b2bb643c2785efcddc3c7b712c",
    "encoder.onnx": "95fe8414c83845a729ffe18fd64849f4cfca06cdec084266f641910584e5c612",
    "vocabulary.bin": "8171af9dc0a52d32d502239b451acab53336c64d293563fba9c03d2ff82cb6e9",
    "words.q4": "3bdb42d56fa5ba2b3d0630d4187eacdbe8ac6a4c83c762b209ded1377dbc50e2",
}
"""SHA-256 of the files, stored here because they belong to the model's name."""
_BEGIN, _END = 0, 2
_QUERY, _PASSAGE = "query:", "passage:"
"""Prefixes from the training of the model."""
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_BLOCK_SIZE = 32
_MEAN_SHARE, _LANGUAGE_SHARE = 0.8, 0.5
"""Shares of the mean vector and of the language directions that are subtracted.

Raw vectors lie close together (unrelated texts at cosine .75), and closer within a language. In a
test with questions in twelve languages, half of the directions gave the full gain across languages
with little loss within one.
"""


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


class MultilingualModel:
    """The ONNX session (60 MB); the word table and the vocabulary are memory-mapped."""

    def __init__(self) -> None:
        with as_file(files(MULTILINGUAL_PACKAGE).joinpath()) as folder, checked(folder, _SUMS):
            self._session = open_session(folder / "encoder.onnx")
            self._pieces = Unigram(folder / "vocabulary.bin")
            width = MULTILINGUAL.dimensions
            self._words = np.memmap(folder / "words.q4", _BLOCK, "r").reshape(
                -1, width // _BLOCK_SIZE
            )
            mean, *directions = np.fromfile(folder / "centre.f32", "<f4").reshape(-1, width)
            self._mean, self._directions = _MEAN_SHARE * mean, np.array(directions)

    def embed(self, text: str) -> "Vector":
        """Return the unit vector of a passage."""
        return self._vector(_PASSAGE, text)

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a query."""
        return self._vector(_QUERY, text)

    def _vector(self, kind: str, text: str) -> "Vector":
        prefix = self._pieces.ids(kind)
        found = windows(text, self._pieces.ids, WINDOW - len(prefix))
        return packed(self._centred(unit_mean([self._run(prefix + ids) for ids in found])))

    def _run(self, ids: list[int]) -> "Array":
        words = self._rows([_BEGIN, *ids, _END])
        return np.asarray(self._session.run(None, {"words": words[None]})[0][0], "<f4")

    def _rows(self, ids: list[int]) -> "Array":
        """Unpack 4-bit rows of the word table; low halves are the first 16 values of a block."""
        blocks = self._words[ids]
        rows = np.empty((*blocks.shape, _BLOCK_SIZE), np.float32)
        rows[..., :16] = blocks["nibbles"] & 15
        rows[..., 16:] = blocks["nibbles"] >> 4
        rows -= 8
        rows *= blocks["scale"].astype(np.float32)[..., None]
        return rows.reshape(len(ids), -1)

    def _centred(self, vector: "Array") -> "Array":
        found = vector - self._mean
        found -= _LANGUAGE_SHARE * (self._directions @ found) @ self._directions
        return found / np.linalg.norm(found)


class BothModels:
    """The English and the multilingual model: a vector is the vectors of both in a row.

    So the cosine of two texts is the mean of their cosines by both models. A query in another
    language gets zeros instead of its English vector, so only the multilingual one counts.
    """

    def __init__(self) -> None:
        self._english, self._multilingual = EnglishModel(), MultilingualModel()

    def embed(self, text: str) -> "Vector":
        """Return the unit vector of a passage."""
        return _joined(self._english.embed(text), self._multilingual.embed(text))

    def embed_query(self, text: str) -> "Vector":
        """Return the unit vector of a query."""
        is_english = english_share(text) >= ENGLISH_SHARE
        english = self._english.embed_query(text) if is_english else bytes(ENGLISH.dimensions)
        return _joined(english, self._multilingual.embed_query(text))


def _joined(english: "Vector", multilingual: "Vector") -> "Vector":
    first, other = np.frombuffer(english, "i1") / INT8_SCALE, np.frombuffer(multilingual, "<f4")
    both = np.concatenate([first, other])
    return packed(both / np.linalg.norm(both))
