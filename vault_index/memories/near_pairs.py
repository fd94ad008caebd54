"""Which of thousands of memories say nearly the same: all pairs, by products of blocks, so that memory is bounded."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from vault_index.memories.similar import FAR_COSINE, NEAR_COSINE, likeness, telling_space, topic_words
from vault_index.store.documents import texts_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument
from vault_index.store.spaces import vectors_by_document
from vault_index.terms import mostly_cjk

if TYPE_CHECKING:  # late: numpy takes longer to import than most commands
    from numpy import float32
    from numpy.typing import NDArray

    Matrix = NDArray[float32]

_ROWS = 512  # of one product: 20 MB for 10,000 memories
_NEAREST = 3  # of each memory: where a hundred say the same, the next come up when these are decided
_MANY = 64
_TOPIC = 0.45  # the cosine from which on a memory may say another value of the same subject
_DIMENSIONS = 512
# Two sets that share half of all their words have a cosine of 2/3 at least; that of hashed vectors differs by less
# than 3/sqrt(512).
_LOW_WORDS = 2 / 3 - 0.13


class NearPair(NamedTuple):
    """Two memories by the keys of their rows, in the order in which they were given."""

    one: int
    other: int
    likeness: float
    """From 0 to 1; 0 where they are only on one topic."""
    cosine: float | None


def near_pairs(reader: IndexReader, documents: Sequence[StoredDocument]) -> list[NearPair]:
    """The pairs among these memories that are near, or on one topic; those most alike first, else in their order.

    Near is what `similar` says, by the mean of the vectors where these tell anything. A memory without is compared with
    all others by its words.
    """
    texts = {document.id: document.title for document in documents}
    for key, chunks in groupby(texts_of(reader, texts), itemgetter(0)):
        texts[key] = "\n".join((texts[key], *(text for _, text in chunks)))
    keys = [*texts]
    vectors = _means(reader, [key for key, text in texts.items() if not mostly_cjk(text)])
    close = [*_close(vectors, (), _TOPIC)] if vectors else []
    others = [key for key in keys if key not in vectors]
    unsure = {key for one, other, cosine in close if FAR_COSINE <= cosine < NEAR_COSINE for key in (one, other)}
    words = {key: topic_words(reader, texts[key]) for key in (keys if others else unsure)}

    def pair(one: int, other: int, cosine: float | None) -> NearPair:
        unsure = cosine is None or FAR_COSINE <= cosine < NEAR_COSINE
        shared = len(words[one] & words[other]) / (len(words[one] | words[other]) or 1) if unsure else 0.0
        return NearPair(one, other, likeness(shared, cosine), cosine)

    found = [pair(*one) for one in close]
    if others:
        found += [pair(one, other, None) for one, other, _ in _close(_hashed(words), others, _LOW_WORDS)]
    place = {key: number for number, key in enumerate(keys)}
    return sorted(found, key=lambda one: (-one.likeness, place[one.one], place[one.other]))


def _means(reader: IndexReader, keys: Collection[int]) -> dict[int, Matrix]:
    """Unit vectors in the middle of those of each memory; of those that have any."""
    space = telling_space(reader)
    if space is None:
        return {}
    import numpy

    means = {}
    for key, vectors in groupby(vectors_by_document(reader, space.id, keys), itemgetter(0)):
        rows = numpy.frombuffer(b"".join(vector for _, vector in vectors), "i1").reshape(-1, space.space.dimensions)
        means[key] = rows.sum(axis=0, dtype="<f4")
        means[key] /= numpy.linalg.norm(means[key]) or 1.0
    return means


def _hashed(words: Mapping[int, Collection[str]]) -> dict[int, Matrix]:
    """Vectors whose cosine is about that of the sets of words: each word counts in one dimension, with a sign."""
    import numpy

    vectors = {}
    for key, said in words.items():
        vector = numpy.zeros(_DIMENSIONS, "<f4")
        for word in said:
            hashed = crc32(word.encode("utf-8", "replace"))
            vector[hashed % _DIMENSIONS] += 1.0 if hashed >> 31 else -1.0
        vectors[key] = vector / max(len(said), 1) ** 0.5
    return vectors


def _close(vectors: Mapping[int, Matrix], only: Collection[int], least: float) -> Iterator[tuple[int, int, float]]:
    """The pairs with a cosine of `least` or more, and the cosine: of each vector with its nearest among those that come
    after it; with `only`, pairs of which one is among these."""
    import numpy

    keys = [*vectors]
    matrix = numpy.stack([*vectors.values()])
    chosen = numpy.isin(keys, [*only]) if only else numpy.ones(len(keys), bool)
    rows = numpy.flatnonzero(chosen)
    for start in range(0, len(rows), _ROWS):
        block = rows[start : start + _ROWS]
        low = block[0] if chosen.all() else 0  # the rows before have been compared with these
        products = matrix[block] @ matrix[low:].T
        for row, cosines in zip(block, products, strict=True):
            near = numpy.flatnonzero(cosines >= least)
            near = near[(near + low > row) | ~chosen[near + low]]
            if len(near) > _MANY:  # equal ones in their order, so that they do not all choose the same
                rank = near * 1e-9 - cosines[near]
                near = numpy.sort(near[numpy.argpartition(rank, _NEAREST)[:_NEAREST]])
            for column in near[numpy.argsort(-cosines[near], kind="stable")[:_NEAREST]]:
                first, second = sorted((int(row), int(column + low)))
                yield keys[first], keys[second], min(float(cosines[column]), 1.0)
