"""Rates the confidence in an answer: `high`, `low` or `none`.

A hit has three kinds of evidence: query words in its passage, similarity of meaning, and names of
its document. Their sum is compared with the evidence that an unrelated query finds. From some
hundred chunks on that value does not depend on the number of chunks: the best of more chunks
contains more words, but common words count less. An answer is `high` if the first hit also leads
the best hit of another document, which distinguishes the right document from others on its topic.
benchmarks/README.md has the measurements.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from vault_index.embeddings.spaces import (
    BOTH,
    COSINES,
    ENGLISH,
    ENGLISH_COSINES,
    MULTILINGUAL,
    CosineScale,
)
from vault_index.embeddings.wordpiece import known_share
from vault_index.models import Filters, Vector, VectorSpace
from vault_index.query.ranking.passages import RankedPassage
from vault_index.query.ranking.retrieval import Query
from vault_index.query.reader import Reader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import serving_space
from vault_index.terms import is_piece

Confidence = Literal["high", "low", "none"]

_TOP = 3  # hits that are rated
_FLOOR = 0.87
"""Evidence that an unrelated query seldom finds in `_MANY` or more chunks; it is logarithmically
lower in fewer chunks."""
_MANY = 400
_WORDLESS = 0.4
"""Share of the floor for a hit with almost no query words, if it may be in another language. In
that case an unrelated query finds no words either."""
_NEXT_TO_NONE = 0.05
_HIGH = 0.2
"""Threshold for lead times sqrt(margin above the floor): from here on the first hit is mostly
right."""
_FAR_BEHIND = 0.5
"""Share of the best score. A right hit is seldom below the floor and almost never also this far
behind."""
_CHANCE_NAME = 0.05
_LETTERS = 300  # characters of a text that identify its language
_SAMPLE = 16  # documents to estimate the cosine of unrelated texts


def confidence(reader: Reader, query: Query, hits: Sequence[RankedPassage]) -> Confidence:
    """Rate how well `hits`, best first, answer the query."""
    if not hits:
        return "none"
    if not query.match and query.vector is None:
        return "high"  # a query of filters alone: every hit is right
    top = hits[:_TOP]
    if top[0].evidence.called or (
        _says_all(query, top, 1.0) and not any(term.stop for term in query.parsed.terms)
    ):
        return "high"  # for keywords, no hit can be better than a passage that contains all of them
    evidence = [*_evidence(reader, query, top)]
    # The floor is lower in a small vault, but a lead over few other hits is not more certain there.
    margin = evidence[0] - _FLOOR
    if margin > 0.0 and math.sqrt(margin) * _lead(hits) >= _HIGH:
        return "high"
    holds = max(evidence) > _floor(reader) or query.parsed.required or _says_all(query, top, 0.0)
    return "low" if holds else "none"


def weak(reader: Reader, query: Query, hits: Sequence[RankedPassage], best: float) -> list[bool]:
    """Return for each hit whether an unrelated query would find a similar one.

    A weak hit is far behind the `best` score. No hit is weak if the query has no words or has a
    required condition, or if the hit contains every word.
    """
    if query.parsed.required or not query.terms:
        return [False] * len(hits)
    behind = [
        hit
        for hit in hits
        if hit.score < _FAR_BEHIND * best
        and not (hit.evidence.called or _says_all(query, [hit], 0.0))
    ]
    found = zip(map(id, behind), _evidence(reader, query, behind), strict=True)
    floor, evidence = _floor(reader), dict(found)
    return [hit.echo or evidence.get(id(hit), math.inf) <= floor for hit in hits]


def evidence_of(
    query: Query, hit: RankedPassage, scale: CosineScale = ENGLISH_COSINES, known: bool = True
) -> float:
    """Return the evidence of a hit; `known` is whether the model knows the language of the hit."""
    # Half of eight words is more evidence than half of two. Pieces of one word occur together.
    words = sum(not is_piece(term.text) for term in query.terms)
    near = max(((hit.evidence.cosine or 0.0) - scale.chance) / (scale.certain - scale.chance), 0.0)
    name = max((hit.evidence.name or 0.0) - _CHANCE_NAME, 0.0)
    return hit.coverage * math.sqrt(words) + _FLOOR * near * query.known * known + name


def _floor(reader: Reader) -> float:
    """Return the evidence that an unrelated query seldom finds in this index."""
    return _FLOOR * math.log(min(max(reader.count("chunk"), 1), _MANY), _MANY)


def _evidence(reader: Reader, query: Query, hits: Sequence[RankedPassage]) -> Iterator[float]:
    """Yield the evidence of each hit, comparable with the floor."""
    space = serving_space(reader) if query.vector is not None else None
    scale = _scale(reader, query, space) if space else ENGLISH_COSINES
    for hit in hits:
        known = not space or known_share(space.space, hit.chunk.text[:_LETTERS]) == 1.0
        share = _WORDLESS if query.crossing and hit.coverage < _NEXT_TO_NONE else 1.0
        yield evidence_of(query, hit, scale, known) + (1.0 - share) * _floor(reader)


def _says_all(query: Query, hits: Sequence[RankedPassage], least: float) -> bool:
    """Return whether a passage itself matches every term with at least the weight `least`.

    The weight is 1 for a term as typed, less for a corrected one.
    """
    terms = len(query.terms)
    return terms > 0 and any(
        sum(weight >= least for weight in hit.matched.values()) == terms for hit in hits
    )


def _lead(hits: Sequence[RankedPassage]) -> float:
    """Return the share of the first score by which it exceeds that of the next document."""
    first = hits[0]
    other = next(
        (hit.score for hit in hits if hit.chunk.document.id != first.chunk.document.id), 0.0
    )
    return 1.0 - other / first.score if first.score > 0.0 else 0.0


def scale_of(space: VectorSpace, query: Vector) -> tuple[float, CosineScale | None]:
    """Return the factor of the cosines of a query vector, and what they mean, if measured.

    A query without an English half has only the multilingual half of each cosine.
    """
    half = space == BOTH and query.startswith(bytes(4 * ENGLISH.dimensions))
    return (math.sqrt(2.0), COSINES[MULTILINGUAL]) if half else (1.0, COSINES.get(space))


def _scale(reader: Reader, query: Query, space: SpaceRow) -> CosineScale:
    """Return the scale of the cosines of a model.

    Unrelated texts have cosines near 0 in some models and near .7 in others. For a model without
    measurements this is estimated as the lower quartile among the newest documents; with fewer than
    `_SAMPLE` documents it is assumed to be 0.
    """
    vector = query.vector or b""
    if measured := scale_of(space.space, vector)[1]:
        return measured
    sample = reader.cosines(space.id, vector, reader.newest_chunks(Filters(), _SAMPLE))
    unrelated = (
        max(sorted(sample.values())[len(sample) // 4], 0.0) if len(sample) == _SAMPLE else 0.0
    )
    return CosineScale(*(unrelated + cosine * (1.0 - unrelated) for cosine in ENGLISH_COSINES))
