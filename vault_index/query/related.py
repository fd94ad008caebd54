"""Finds documents related by links, meaning or time of creation."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from vault_index.models import Filters, Vector
from vault_index.query.documents import Records
from vault_index.query.language.filters import unmet_filters
from vault_index.query.links import linked_from, linking_to
from vault_index.query.reader import Reader
from vault_index.query.references import Place
from vault_index.results.documents import RelatedList, RelatedRecord, Relation, Timeline
from vault_index.store.documents import allows, documents_by_key, links_of
from vault_index.store.records import ChunkRecord, StoredDocument
from vault_index.store.related import Others, among, in_time, nearest_documents, superseded_of
from vault_index.store.spaces import mean, serving_space

_LOW_COSINE = 0.3  # documents with a lower cosine have other subjects
_NEAR = 50  # maximum number of documents related by meaning alone
_SAMPLED = 100  # maximum number of evenly spread chunks for the mean vector of a document


@dataclass(frozen=True, slots=True)
class _Relations:
    """Ids of related documents by relation, and why there are no vectors."""

    by_relation: dict[Relation, set[int]]
    cosines: dict[int, float]
    degraded: tuple[str, ...]

    def of(self, document_id: int) -> tuple[Relation, ...]:
        return tuple(
            relation for relation, documents in self.by_relation.items() if document_id in documents
        )


def related_documents(
    reader: Reader,
    records: Records,
    place: Place,
    filters: Filters,
    *,
    now: float,
    limit: int,
    offset: int,
) -> RelatedList:
    """Return related documents: those with the most relations first, then by cosine.

    For a place that is not the whole document, only the links and the chunks in its lines count.
    """
    with reader.snapshot():
        found = _relations(reader, place, Others(place.document.id, filters, now))
        documents = documents_by_key(reader, set().union(*found.by_relation.values()))
        ranked = sorted(
            documents.values(),
            key=lambda document: (
                -len(set(found.of(document.id)) - {"near"}),
                -found.cosines.get(document.id, -1.0),
                document.path,
                document.source,
            ),
        )
        shown = ranked[offset : offset + limit]
        anchor, *listed = records.of([place.document, *shown])
    results = [
        RelatedRecord(
            **asdict(record),
            relations=found.of(document.id),
            cosine=None if (cosine := found.cosines.get(document.id)) is None else round(cosine, 4),
        )
        for document, record in zip(shown, listed, strict=True)
    ]
    hints = () if ranked else tuple(unmet_filters(reader, filters))
    return RelatedList(anchor, tuple(results), len(ranked), found.degraded, hints)


def _relations(reader: Reader, place: Place, others: Others) -> _Relations:
    chunks = reader.chunks_of(place.document.id)
    # Use all chunks if the place has no text, such as frontmatter or a blank line.
    chunks = [
        chunk for chunk in chunks if place.overlaps(chunk.start_line, chunk.end_line)
    ] or chunks
    links = [
        link
        for link in links_of(reader, place.document.id)
        if place.is_whole
        or any(chunk.start_line <= link.line <= chunk.end_line for chunk in chunks)
    ]
    to, back = linked_from(reader, place.document, links), linking_to(reader, place.document)
    linked = among(reader, others, to | back)
    old, new = superseded_of(reader, place.document)
    # Includes memories that are no longer valid.
    chain = {id_ for id_ in old | new if allows(reader, others.filters, id_)}
    near: set[int] = set()
    cosines: dict[int, float] = {}
    space, vector, degraded = _mean_vector(reader, chunks)
    if vector is not None:
        nearest = nearest_documents(reader, space, vector, others)
        cosines = {
            id_: cosine for id_, cosine in list(nearest.items())[:_NEAR] if cosine >= _LOW_COSINE
        }
        near = set(cosines)
        cosines |= nearest_documents(reader, space, vector, others, linked) if linked else {}
    by_relation: dict[Relation, set[int]] = {
        "supersedes": old & chain, "superseded by": new & chain, "link": to & linked,
        "backlink": back & linked, "near": near,
    }  # fmt: skip
    return _Relations(by_relation, cosines, degraded)


def _mean_vector(
    reader: Reader, chunks: Sequence[ChunkRecord]
) -> tuple[int, Vector | None, tuple[str, ...]]:
    """Return the vector space, the mean vector of the chunks, and why there is no vector."""
    space = serving_space(reader)
    if space is None:
        return 0, None, ("vector: there are no vectors",)
    if not reader.vectors_work:
        return 0, None, ("vector: sqlite-vec cannot be loaded",)
    step = -(-len(chunks) // _SAMPLED) or 1
    vectors = reader.vectors_of(space.id, [chunk.chunk_id for chunk in chunks[::step]])
    if chunks and not vectors:
        return 0, None, ("vector: the document has no vectors yet",)
    return space.id, mean(space.space, vectors), ()


def timeline_around(
    reader: Reader,
    records: Records,
    anchor: StoredDocument,
    filters: Filters,
    *,
    now: float,
    before: int,
    after: int,
    hints: Sequence[str] = (),
) -> Timeline:
    """Return the documents created next to `anchor`, oldest first; ties are broken by path.

    `filters` apply to these documents, not to the anchor.
    """
    with reader.snapshot():
        position = (anchor.created, anchor.path, anchor.source)
        earlier, later = in_time(
            reader, Others(anchor.id, filters, now), position, before=before, after=after
        )
        documents = documents_by_key(reader, [*earlier, *later])
        listed = records.of([anchor, *(documents[id_] for id_ in (*earlier, *later))])
        if len(listed) == 1:
            hints = (*hints, *unmet_filters(reader, filters))
    split = 1 + len(earlier)
    return Timeline(listed[0], listed[1:split], listed[split:], tuple(hints))
