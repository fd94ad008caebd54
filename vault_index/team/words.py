"""Analyse texts as chunk_fts does, for PostgreSQL: positions to match, and weights to score.

The weight of a stem in a text is its part of BM25 that depends on the text alone; multiplied by its
inverse document frequency, it gives the score of FTS5.
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

from vault_index.store.vocabulary import Tokenizer, words_of

CHUNK_COLUMNS = (3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0)
"""The weights of title, aliases, headings, tags, fields, path and body, as in `ChunkRow.terms`."""
NAME_COLUMNS = (1.0, 1.0, 1.0)
"""The weights of file name, title and aliases."""
AVERAGE_NAMES = 12.0
"""Number of words in the names of a document for which its length has no effect."""
_K1, _B = 1.2, 0.75
_DIMENSIONS = 1_000_000_000  # the most that sparsevec takes
_LONGEST = 1000  # characters of a stem; PostgreSQL takes 2,046 bytes


@cache
def tokenizer() -> Tokenizer:
    """Return the tokenizer of this process."""
    return Tokenizer()


def number_of(stem: str) -> int:
    """Return the dimension of a stem in `sparsevec`.

    Of two million stems, about a thousandth share one, which changes their scores a little.
    """
    return zlib.crc32(stem.encode()) % _DIMENSIONS + 1


def sparse(weights: Iterable[tuple[str, float]]) -> str:
    """Return stems with weights as a `sparsevec`."""
    by_number = dict(sorted((number_of(stem), weight) for stem, weight in weights))
    listed = ",".join(f"{number}:{weight:.5g}" for number, weight in by_number.items())
    return f"{{{listed}}}/{_DIMENSIONS}"


def indexed(texts: Sequence[str], columns: Sequence[float], average: float) -> tuple[str, str]:
    """Return the `tsvector` and the `sparsevec` of the columns of a row.

    `average` is the number of words for which the length of the row has no effect.
    """
    places: dict[str, list[int]] = {}
    counts = Counter[str]()
    length, place = 0, 0
    for text, weight in zip(texts, columns, strict=True):
        stems = [stem[:_LONGEST] for stem in tokenizer().stems(text)]
        for at, stem in enumerate(stems, place + 1):
            places.setdefault(stem, []).append(at)
            counts[stem] += weight  # type: ignore[assignment]
        length += len(stems)
        place += len(stems) + 1  # no phrase reaches into the next column
    norm = _K1 * (1 - _B + _B * length / average)
    return (
        " ".join(f"{quoted(stem)}:{','.join(map(str, at))}" for stem, at in places.items()),
        sparse((stem, count * (_K1 + 1) / (count + norm)) for stem, count in counts.items()),
    )


def quoted(stem: str) -> str:
    """Return a stem as a lexeme of PostgreSQL."""
    escaped = stem.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def stem_words(texts: Iterable[str]) -> list[str]:
    """Return the distinct words of some texts for `document.words`, each as `stem word`."""
    words = {word.decode() for text in texts for word in words_of(text)}
    pairs = ((tokenizer().stems(word), word) for word in words if len(word) <= _LONGEST)
    return sorted(f"{stems[0]} {word}" for stems, word in pairs if len(stems) == 1)
