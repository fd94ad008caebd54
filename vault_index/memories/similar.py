"""Find memories on the subject of a new one, and pairs of memories with nearly the same text.

Memories are compared by their vectors, if they have any, and by their words. Products of vectors
are computed in blocks, which limits the use of RAM.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from vault_index.models import Filters
from vault_index.query.ranking.comparison import (
    SUBJECT_COSINE,
    Comparison,
    Memory,
    age,
    as_memory,
    comparable_space,
    compare,
)
from vault_index.results.memories import NearMemory
from vault_index.store.documents import chunks_of, documents_by_key, documents_of, texts_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.store.related import Others, among, nearest_documents
from vault_index.store.spaces import mean, vectors_by_document, vectors_of

if TYPE_CHECKING:  # numpy takes longer to import than most commands
    from numpy import float32
    from numpy.typing import NDArray

    Matrix = NDArray[float32]

_RAREST = 8
"""The number of words, the rarest in a memory, by which candidates are searched."""
_CANDIDATES = 20
_SHOWN = 3
_ROWS = 512
"""Rows of one matrix product: 20 MB for 10,000 memories."""
_NEAREST = 3
"""Pairs per memory. Of a hundred equal memories, the next appear once these are decided."""
_SHARING = 8
"""Memories with the same word that are compared with the next one that has it."""


def similar_memories(
    reader: IndexReader, document: StoredDocument, *, ignoring: Collection[int] = ()
) -> tuple[NearMemory, ...]:
    """Return up to three valid memories on the same subject as `document`.

    Near duplicates come first, the newest of them in front: in a chain of changes, it is the
    current one. The others follow, the nearest first.
    """
    counting = Filters(kinds=("memory",), without=(Filters(states=("archived",)),))
    others = Others(document.id, counting, time.time())
    with reader.snapshot():
        chunks = chunks_of(reader, document.id, fields=False)
        new = whole_memory(reader, document, [chunk.text for chunk in chunks])
        cosines = _cosines(reader, new, chunks, others)
        candidates = {
            *list(cosines)[:_CANDIDATES],
            *among(reader, others, _with_rare_words(reader, new.topics)),
        }
        found = []
        for other in documents_by_key(reader, candidates.difference(ignoring)).values():
            texts = [chunk.text for chunk in chunks_of(reader, other.id, fields=False)]
            if match := compare(new, whole_memory(reader, other, texts), cosines.get(other.id)):
                found.append((other, match))
    found.sort(key=lambda one: age(one[0]), reverse=True)
    found.sort(key=lambda one: -one[1].likeness if one[1].kind == "subject" else -1.0)
    return tuple(
        NearMemory(other.uid, other.path, other.title, round(match.likeness, 2), match.kind)
        for other, match in found[:_SHOWN]
    )


def whole_memory(reader: IndexReader, document: StoredDocument, texts: Iterable[str]) -> Memory:
    """Prepare a memory, from its passages and its facts, for `compare`."""
    facts = document.frontmatter.get("facts")
    facts = map(str, facts) if isinstance(facts, list) else ()
    return as_memory(document, "\n".join((*texts, *facts)), reader.stems)


def _cosines(
    reader: IndexReader, new: Memory, chunks: Sequence[ChunkRecord], others: Others
) -> dict[int, float]:
    """Return the nearest documents with their cosines; empty if there are no comparable vectors."""
    space = comparable_space(reader) if new.sentence else None
    if space is None:
        return {}
    vector = mean(space.space, vectors_of(reader, space.id, [chunk.chunk_id for chunk in chunks]))
    return {} if vector is None else nearest_documents(reader, space.id, vector, others)


def _with_rare_words(reader: IndexReader, words: Collection[str]) -> set[int]:
    """Return the documents that contain some of the rarest words."""
    counts = reader.vocabulary().frequencies(words)
    rarest = sorted(words, key=lambda word: (counts.get(word, 0), word))[:_RAREST]
    if not rarest:
        return set()
    match = " OR ".join(f'"{word}"' for word in rarest)
    chunks = [
        chunk_id
        for chunk_id, _ in reader.text_candidates(match, _CANDIDATES, Filters(kinds=("memory",)))
    ]
    return set(documents_of(reader, chunks).values())


# --- pairs ----------------------------------------------------------------------------------------


class NearPair(NamedTuple):
    """Two similar memories, in the order in which they were given."""

    documents: tuple[StoredDocument, StoredDocument]
    comparison: Comparison


def near_pairs(reader: IndexReader, documents: Sequence[StoredDocument]) -> list[NearPair]:
    """Return the pairs of memories that are nearly the same or contradict each other.

    The most alike pairs come first; equally alike pairs keep their order.
    """
    by_id = {document.id: document for document in documents}
    texts: dict[int, list[str]] = {key: [] for key in by_id}
    for key, text in texts_of(reader, texts):
        texts[key].append(text)
    memories = {key: whole_memory(reader, document, texts[key]) for key, document in by_id.items()}
    vectors = _means(reader, [key for key, memory in memories.items() if memory.sentence])
    cosines: dict[tuple[int, int], float | None] = (
        dict(_pairs_by_vectors(vectors)) if vectors else {}
    )
    topics = {key: memory.topics for key, memory in memories.items()}
    pairs = cosines | dict.fromkeys(_pairs_by_words(topics, topics.keys() - vectors.keys()))
    found = []
    for (one, other), cosine in pairs.items():
        comparison = compare(memories[one], memories[other], cosine)
        if comparison and comparison.kind != "subject":
            found.append(NearPair((by_id[one], by_id[other]), comparison))
    place = {key: number for number, key in enumerate(by_id)}
    return sorted(
        found,
        key=lambda pair: (-pair.comparison.likeness, *(place[one.id] for one in pair.documents)),
    )


def _means(reader: IndexReader, keys: Collection[int]) -> dict[int, Matrix]:
    """Return the mean vector of each memory that has vectors, as a unit vector."""
    if (space := comparable_space(reader)) is None:
        return {}
    import numpy

    means = {}
    for key, vectors in groupby(vectors_by_document(reader, space.id, keys), itemgetter(0)):
        rows = numpy.frombuffer(b"".join(vector for _, vector in vectors), "i1").reshape(
            -1, space.space.dimensions
        )
        means[key] = rows.sum(axis=0, dtype="<f4")
        means[key] /= numpy.linalg.norm(means[key]) or 1.0
    return means


def _pairs_by_words(
    topics: Mapping[int, Collection[str]], lacking: Collection[int]
) -> Iterator[tuple[int, int]]:
    """Yield pairs that may share half of their words, if one of the two has no vector.

    Such pairs share one of the rarer half of the words of each: prefix filtering (Chaudhuri, Ganti
    and Kaushik, A Primitive Operator for Similarity Joins in Data Cleaning, ICDE 2006).
    """
    counts = Counter(word for words in topics.values() for word in words)
    holders: dict[str, list[int]] = defaultdict(list)
    for key, words in topics.items() if lacking else ():
        rarest = sorted(words, key=lambda word: (counts[word], word))
        for word in rarest[: len(rarest) // 2 + 1]:
            yield from (
                (other, key)
                for other in holders[word][-_SHARING:]
                if key in lacking or other in lacking
            )
            holders[word].append(key)


def _pairs_by_vectors(vectors: Mapping[int, Matrix]) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield pairs that may be on the same subject, with their cosine.

    Each vector is paired with the nearest of the vectors after it.
    """
    import numpy

    keys = [*vectors]
    matrix = numpy.stack([*vectors.values()])
    for start in range(0, len(keys), _ROWS):
        # Earlier rows were already compared with these.
        products = matrix[start : start + _ROWS] @ matrix[start:].T
        for row, cosines in enumerate(products):
            near = numpy.flatnonzero(cosines >= SUBJECT_COSINE)
            near = near[near > row]
            for column in near[numpy.argsort(-cosines[near], kind="stable")[:_NEAREST]]:
                pair = keys[start + row], keys[start + int(column)]
                yield pair, min(float(cosines[column]), 1.0)
