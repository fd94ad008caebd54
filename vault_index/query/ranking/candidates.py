"""Candidates: which chunks each channel names for a question, and what it says of them."""

from collections.abc import Collection
from dataclasses import dataclass

from vault_index.models import Filters, Vector
from vault_index.query.ranking.rank import Evidence
from vault_index.store.reader import IndexReader

_WIDER = 2
_NAMES = 50  # documents called so, at most


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the channels."""

    match: str
    """An FTS5 expression; empty where the text channel is not asked."""
    name: str
    """What was asked as a whole: a document may be called so."""
    narrow: str
    """The part of a long `match` that finds candidates; empty for a short one."""
    space_id: int | None
    vector: Vector | None
    """None where the vector channel is not asked."""
    required: str
    excluded: str
    filters: Filters


def candidates(reader: IndexReader, question: Question, depth: int, hidden: Collection[int]) -> dict[int, Evidence]:
    """What the channels say of each chunk that one of them names; each names at most `depth`, none in `hidden`."""
    filters, conditions = question.filters, {"required": question.required, "excluded": question.excluded}
    depth += len(hidden)
    bm25: dict[int, float] = {}
    cosine: dict[int, float] = {}
    if question.match:
        found = reader.text_candidates(
            question.narrow or question.match, depth * (_WIDER if question.narrow else 1), filters, **conditions
        )
        bm25 = dict(found)
    if question.vector is not None and question.space_id is not None:
        cosine = dict(reader.vector_candidates(question.space_id, question.vector, depth, filters, **conditions))
        others = [chunk_id for chunk_id in bm25 if chunk_id not in cosine]
        cosine |= reader.cosines(question.space_id, question.vector, others)
    if question.narrow:
        bm25 = dict(reader.bm25(question.match, {*bm25, *cosine}))
    called = _called(reader, question, {*bm25, *cosine}) if question.match else {}
    return {
        chunk_id: Evidence(bm25.get(chunk_id), cosine.get(chunk_id), called.get(chunk_id))
        for chunk_id in sorted({*bm25, *cosine, *called}.difference(hidden))
    }


def _called(reader: IndexReader, question: Question, named: Collection[int]) -> dict[int, float]:
    """Scores of chunks whose document is called so; a document that no channel names comes with its first chunk."""
    scores = dict(reader.name_candidates(question.match, _NAMES, question.filters))
    best = max(scores.values(), default=0.0)
    # BM25 prefers short names. Of a name in full nothing is missing, however many others its document has.
    in_full = {called.document_id for called in reader.documents_called([question.name.casefold()])}
    scores |= dict.fromkeys(in_full & scores.keys(), best)
    documents = reader.documents_of(sorted(named))
    called = {chunk_id: scores[document] for chunk_id, document in documents.items() if document in scores}
    # What a name does not say may stand in the text: conditions on words keep such documents out.
    if not question.required and not question.excluded:
        firsts = reader.first_chunks(sorted(scores.keys() - set(documents.values())))
        called |= {chunk_id: scores[document] for document, chunk_id in firsts.items()}
    return called
