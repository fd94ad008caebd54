"""Retrieval: what a query looks for, and which chunks each channel names for it."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vault_index.models import Filters, Vector
from vault_index.query.language.parse import match_expression, term_expression
from vault_index.query.language.tree import Term
from vault_index.store.reader import IndexReader
from vault_index.terms import holds_cjk, index_words

_MOST_TERMS = 6
"""A question of thirty words finds its candidates by the rarest ones; looking for all costs several times as much."""
_COMMON = 3.2
"""The rarity of a word that one text in twenty-five holds: it need not find candidates where `_ENOUGH` rarer ones
do."""
_ENOUGH = 2


@dataclass(frozen=True, slots=True)
class Needle:
    """One word of a question."""

    text: str
    """As it was typed."""
    stems: Mapping[str, float]
    """The stems (of CJK text: the 2-grams) that agree with it, and how much: 1.0 as typed, less where corrected."""
    prefix: bool
    """Whether a text agrees that begins so."""
    weight: float
    """Its rarity: the inverse document frequency of BM25."""
    known: bool
    """Whether any text holds it."""


def read_needles(
    reader: IndexReader, terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]
) -> tuple[Needle, ...]:
    """The words of `terms` without stopwords, each once. `corrections`: for a word as typed, what it may have meant and
    how much that counts."""
    telling = [term for term in terms if not term.stop] or terms
    pieces = {(word, term.kind == "prefix"): term for term in telling for word in index_words(term.text)}
    spelled = {word: {word: 1.0} | _parts(corrections.get(word, {})) for word, _ in pieces}
    stems = reader.stems({form for forms in spelled.values() for form in forms})
    frequencies = _frequencies(reader, spelled)
    chunks = reader.count("chunk")
    needles = []
    for word, prefix in pieces:
        texts = max(frequencies.get(form, 0) for form in spelled[word])
        agreeing = {stems.get(form, form): weight for form, weight in reversed(spelled[word].items())}
        half = len(word) == 1 and holds_cjk(word)
        needles.append(Needle(word, agreeing, prefix or half, _rarity(texts, chunks), known=texts > 0))
    return tuple(needles)


def _parts(meant: Mapping[str, float]) -> dict[str, float]:
    """Words that were meant, by themselves: two that were written as one count half each."""
    return {part: weight / len(parts) for text, weight in meant.items() for parts in [text.split()] for part in parts}


def rarest(terms: Sequence[Term], needles: Iterable[Needle]) -> tuple[Term, ...]:
    """The terms that find the candidates of a long or common question, in their order; nothing where all do."""
    telling = [term for term in terms if not term.stop]
    weights = {needle.text: needle.weight for needle in needles if needle.known}
    rarity = {term: max((weights.get(word, 0.0) for word in index_words(term.text)), default=0.0) for term in telling}
    known = sorted((term for term in telling if rarity[term]), key=lambda term: (-rarity[term], term.start))
    rare = [term for term in known if rarity[term] > _COMMON]
    chosen = rare[:_MOST_TERMS] if len(rare) >= _ENOUGH else known[:_MOST_TERMS]
    return tuple(term for term in telling if term in chosen) if len(chosen) < len(known) else ()


def ranking_expression(terms: Sequence[Term], corrections: Mapping[str, Mapping[str, float]]) -> str:
    """The FTS5 expression that finds any of `terms` as typed, or as corrected."""
    typed = match_expression(terms)
    meant = [Term(form, "phrase" if " " in form else "word", 0) for forms in corrections.values() for form in forms]
    return " OR ".join(part for part in (typed, *map(term_expression, meant)) if part)


def _frequencies(reader: IndexReader, spelled: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    """How many texts hold each form; the index itself is asked about what its vocabulary does not count."""
    forms = {form for forms in spelled.values() for form in forms}
    known = reader.document_frequencies(forms)
    others = {form: reader.count_matches(term_expression(Term(form, "word", 0))) for form in forms - known.keys()}
    return known | others


def _rarity(documents: int, total: int) -> float:
    return math.log(1.0 + (max(total - documents, 0) + 0.5) / (documents + 0.5))


_WIDER = 2
_NAMES = 50  # documents called so, at most


class Evidence(NamedTuple):  # made by the hundred for each answer: a dataclass takes three times as long
    """What the channels say of one chunk; None where a channel was not asked or did not name it."""

    bm25: float | None = None
    cosine: float | None = None
    name: float | None = None
    """BM25 over what its document is called."""


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
