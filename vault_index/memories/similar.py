"""The memories on the subject of a new one, by the vectors that are there and by the words."""

import time
from collections.abc import Collection, Iterable, Sequence

from vault_index.models import Filters
from vault_index.query.ranking.comparison import Memory, age, as_memory, compare, telling_space
from vault_index.results.memories import NearMemory
from vault_index.store.documents import chunks_of, documents_by_key, documents_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.store.related import Others, among, nearest_documents
from vault_index.store.spaces import vectors_of
from vault_index.vectors import mean

_RAREST = 8
_CANDIDATES = 20
_SHOWN = 3


def similar_memories(
    reader: IndexReader, document: StoredDocument, *, ignoring: Collection[int] = ()
) -> tuple[NearMemory, ...]:
    """Return up to three memories that still count and have the subject of `document`.

    Those that are nearly the same come first, the newest of them in front: of a chain of changes, it is the one that
    still holds. The others follow, the nearest first.
    """
    counting = Filters(kinds=("memory",), without=(Filters(states=("archived",)),))
    others = Others(document.id, counting, time.time())
    with reader.snapshot():
        chunks = chunks_of(reader, document.id, fields=False)
        new = whole_memory(reader, document, [chunk.text for chunk in chunks])
        cosines = _cosines(reader, new, chunks, others)
        candidates = {*list(cosines)[:_CANDIDATES], *among(reader, others, _saying(reader, new.topics))}
        found = []
        for other in documents_by_key(reader, candidates.difference(ignoring)).values():
            texts = [chunk.text for chunk in chunks_of(reader, other.id, fields=False)]
            if said := compare(new, whole_memory(reader, other, texts), cosines.get(other.id)):
                found.append((other, said))
    found.sort(key=lambda one: age(one[0]), reverse=True)
    found.sort(key=lambda one: -one[1].likeness if one[1].kind == "subject" else -1.0)
    return tuple(
        NearMemory(other.uid, other.path, other.title, round(said.likeness, 2), said.kind)
        for other, said in found[:_SHOWN]
    )


def whole_memory(reader: IndexReader, document: StoredDocument, texts: Iterable[str]) -> Memory:
    """A memory of these chunks, with its facts, prepared for `compare`."""
    facts = document.frontmatter.get("facts")
    facts = map(str, facts) if isinstance(facts, list) else ()
    return as_memory(document, "\n".join((*texts, *facts)), reader.stems)


def _cosines(reader: IndexReader, new: Memory, chunks: Sequence[ChunkRecord], others: Others) -> dict[int, float]:
    """The nearest documents with their cosines; none where cosines tell nothing."""
    space = telling_space(reader) if new.sentence else None
    if space is None:
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
