"""Memories that say nearly the same as one: by the vectors that are there, and by the words."""

import time
from collections.abc import Collection, Sequence

from vault_index.embeddings.spaces import ENGLISH
from vault_index.models import Filters
from vault_index.query.related import mean
from vault_index.results.memories import NearMemory
from vault_index.store.documents import chunks_of, documents_by_key, documents_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.store.related import Others, among, nearest_documents
from vault_index.store.spaces import serving_space, vectors_of
from vault_index.store.vocabulary import document_frequencies
from vault_index.terms import STOPWORDS, index_words, mostly_cjk

_RAREST = 8
_CANDIDATES = 20
_SHOWN = 3
# Measured on 58 pairs (docs/recall.md): the same fact in other words has a cosine from .69 to .95, all but one of 26
# at least .78; another fact on the same topic .16 to .66, but for one pair of 32 that differs in a name alone (.94).
# Words are less sure: 19 of the 26 share half of theirs, and so do 2 of the 32.
_NEAR_COSINE = 0.72
_NEAR_WORDS = 0.5
_FAR_COSINE = 0.6  # what means something else is not near, whatever words it shares


def near_memories(
    reader: IndexReader, document: StoredDocument, *, ignoring: Collection[int] = ()
) -> tuple[NearMemory, ...]:
    """The memories that still count and say nearly what `document` says, the nearest first."""
    counting = Filters(kinds=("memory",), without=(Filters(states=("archived",)),))
    others = Others(document.id, counting, time.time())
    with reader.snapshot():
        chunks = chunks_of(reader, document.id, fields=False)
        words = _words(reader, document, chunks)
        cosines = _cosines(reader, chunks, others)
        named = among(reader, others, _saying(reader, words))
        wanted = {*list(cosines)[:_CANDIDATES], *named}.difference(ignoring)
        found = []
        for other in documents_by_key(reader, wanted).values():
            theirs = _words(reader, other, chunks_of(reader, other.id, fields=False))
            shared = len(words & theirs) / (len(words | theirs) or 1)
            score = _likeness(shared, cosines.get(other.id))
            if score:
                found.append(NearMemory(other.uid, other.path, other.title, round(score, 2)))
    return tuple(sorted(found, key=lambda near: (-near.score, near.path))[:_SHOWN])


def _likeness(overlap: float, cosine: float | None) -> float:
    """How alike two memories are, 0 where they are not near."""
    if cosine is not None and (cosine >= _NEAR_COSINE or cosine < _FAR_COSINE):
        return cosine if cosine >= _NEAR_COSINE else 0.0
    return max(overlap, cosine or 0.0) if overlap >= _NEAR_WORDS else 0.0


def _words(reader: IndexReader, document: StoredDocument, chunks: Sequence[ChunkRecord]) -> frozenset[str]:
    """The words of a memory that carry a topic, by their stems."""
    text = "\n".join((document.title, *(chunk.text for chunk in chunks)))
    words = [word for word in index_words(text) if word not in STOPWORDS]
    stems = reader.stems(words)
    return frozenset(stems.get(word, word) for word in words)


def _cosines(reader: IndexReader, chunks: Sequence[ChunkRecord], others: Others) -> dict[int, float]:
    """Where they tell anything: the figures are those of the model that comes with the package, which reads English."""
    space = serving_space(reader)
    if space is None or space.space != ENGLISH or not reader.vectors_work():
        return {}
    if mostly_cjk("\n".join(chunk.text for chunk in chunks)):
        return {}
    vector = mean(vectors_of(reader, space.id, [chunk.chunk_id for chunk in chunks]))
    return {} if vector is None else nearest_documents(reader, space.id, vector, others)


def _saying(reader: IndexReader, words: Collection[str]) -> set[int]:
    """Documents that hold some of the rarest of the words."""
    counts = document_frequencies(reader, words)
    rarest = sorted(words, key=lambda word: (counts.get(word, 0), word))[:_RAREST]
    if not rarest:
        return set()
    match = " OR ".join(f'"{word}"' for word in rarest)
    chunks = [chunk_id for chunk_id, _ in reader.text_candidates(match, _CANDIDATES, Filters(kinds=("memory",)))]
    return set(documents_of(reader, chunks).values())
