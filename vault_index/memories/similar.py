"""Memories that say nearly the same as one, and the one that it most likely replaces: by the vectors that are there,
and by the words."""

import time
from collections.abc import Collection, Sequence

from vault_index.embeddings.spaces import ENGLISH
from vault_index.models import Filters
from vault_index.query.ranking.newer import NAMED, Memory, memory, newer_among, score
from vault_index.results.memories import NearMemory, Replaced
from vault_index.store.documents import chunks_of, documents_by_key, documents_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, SpaceRow, StoredDocument
from vault_index.store.related import Others, among, nearest_documents
from vault_index.store.spaces import serving_space, vectors_of
from vault_index.terms import STOPWORDS, index_words, mostly_cjk
from vault_index.vectors import mean

_RAREST = 8
_CANDIDATES = 20
_SHOWN = 3
# Measured on 58 pairs (docs/recall.md): the same fact in other words has a cosine from .69 to .95, all but one of 26
# at least .78; another fact on the same topic .16 to .66, but for one pair of 32 that differs in a name alone (.94).
# Words are less sure: 19 of the 26 share half of theirs, and so do 2 of the 32.
NEAR_COSINE = 0.72
NEAR_WORDS = 0.5
_LATER = 0.15
"""The score of a memory that replaces the likeliest one: it is of the same subject."""
FAR_COSINE = 0.6  # what means something else is not near, whatever words it shares


def similar_memories(
    reader: IndexReader, document: StoredDocument, *, ignoring: Collection[int] = ()
) -> tuple[tuple[NearMemory, ...], Replaced | None]:
    """The memories that still count and say nearly what `document` says, the nearest first; and the one that it most
    likely replaces, which is none that waits for a review."""
    counting = Filters(kinds=("memory",), without=(Filters(states=("archived",)),))
    others = Others(document.id, counting, time.time())
    with reader.snapshot():
        chunks = chunks_of(reader, document.id, fields=False)
        words = _words(reader, document, chunks)
        cosines = _cosines(reader, chunks, others)
        named = among(reader, others, _saying(reader, words))
        wanted = {*list(cosines)[:_CANDIDATES], *named}.difference(ignoring)
        found, older = [], []
        for other in documents_by_key(reader, wanted).values():
            those = chunks_of(reader, other.id, fields=False)
            theirs = _words(reader, other, those)
            shared = len(words & theirs) / (len(words | theirs) or 1)
            if alike := likeness(shared, cosines.get(other.id)):
                found.append(NearMemory(other.uid, other.path, other.title, round(alike, 2)))
            if not other.unreviewed:
                older.append((as_memory(other, those), cosines.get(other.id)))
        replaced = _replaced(reader, as_memory(document, chunks), older)
    return tuple(sorted(found, key=lambda near: (-near.score, near.path))[:_SHOWN]), replaced


def as_memory(document: StoredDocument, chunks: Sequence[ChunkRecord]) -> Memory:
    """A memory as it is compared with others of its subject."""
    facts = document.frontmatter.get("facts")
    facts = map(str, facts) if isinstance(facts, list) else ()
    return memory(document, (*(chunk.text for chunk in chunks), *facts), chunks[0].chunk_id if chunks else 0)


def _replaced(reader: IndexReader, new: Memory, older: Sequence[tuple[Memory, float | None]]) -> Replaced | None:
    """The likeliest, or what replaces that one in turn."""
    scored = [(score(new, old, cosine), old) for old, cosine in older]
    certainty, chosen = max(scored, key=lambda one: (one[0], one[1].age), default=(0.0, new))
    if certainty < NAMED:
        return None
    for also, later in sorted(scored, key=lambda one: one[1].age):
        if also >= _LATER and later.age > chosen.age and newer_among(reader, (later, chosen), NAMED):
            certainty, chosen = also, later
    uid, document = new.document.uid, chosen.document
    call = f"vault-index update {uid} --supersedes {document.uid}"
    return Replaced(document.uid, document.path, document.title, round(certainty, 2), call)


def likeness(overlap: float, cosine: float | None) -> float:
    """How alike two memories are by the share of their words and the cosine of their vectors, 0 where they are not
    near."""
    if cosine is not None and (cosine >= NEAR_COSINE or cosine < FAR_COSINE):
        return cosine if cosine >= NEAR_COSINE else 0.0
    return max(overlap, cosine or 0.0) if overlap >= NEAR_WORDS else 0.0


def _words(reader: IndexReader, document: StoredDocument, chunks: Sequence[ChunkRecord]) -> frozenset[str]:
    """The words of a memory that carry a topic, by their stems."""
    text = "\n".join((document.title, *(chunk.text for chunk in chunks)))
    return topic_words(reader, text)


def topic_words(reader: IndexReader, text: str) -> frozenset[str]:
    words = [word for word in index_words(text) if word not in STOPWORDS]
    stems = reader.stems(words)
    return frozenset(stems.get(word, word) for word in words)


def telling_space(reader: IndexReader) -> SpaceRow | None:
    """The vectors whose cosines tell how near two memories are: the figures are those of the model that comes with the
    package, which reads English."""
    space = serving_space(reader)
    return space if space is not None and space.space == ENGLISH and reader.vectors_work() else None


def _cosines(reader: IndexReader, chunks: Sequence[ChunkRecord], others: Others) -> dict[int, float]:
    """Where they tell anything."""
    space = telling_space(reader)
    if space is None or mostly_cjk("\n".join(chunk.text for chunk in chunks)):
        return {}
    vector = mean(space.space, vectors_of(reader, space.id, [chunk.chunk_id for chunk in chunks]))
    return {} if vector is None else nearest_documents(reader, space.id, vector, others)


def _saying(reader: IndexReader, words: Collection[str]) -> set[int]:
    """Documents that hold some of the rarest of the words."""
    counts = reader.vocabulary().frequencies(words)
    rarest = sorted(words, key=lambda word: (counts.get(word, 0), word))[:_RAREST]
    if not rarest:
        return set()
    match = " OR ".join(f'"{word}"' for word in rarest)
    chunks = [chunk_id for chunk_id, _ in reader.text_candidates(match, _CANDIDATES, Filters(kinds=("memory",)))]
    return set(documents_of(reader, chunks).values())
