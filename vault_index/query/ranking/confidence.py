"""Whether an answer is one: `high`, `low` or `none`.

A hit has evidence of three kinds: words that its passage says, nearness in meaning, and names of its document. Their
sum is compared with what a question about something else finds. From some hundred chunks on that does not depend on
their number: the best of more holds more words, but common ones count less beside the rare. An answer is `high` where
the first hit also leads the best one of another document: that tells the right one from others on its topic.
benchmarks/README.md has the measurements.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Literal

from vault_index.embeddings import known_share
from vault_index.embeddings.spaces import COSINES, ENGLISH_COSINES, CosineScale
from vault_index.models import Filters
from vault_index.query.ranking.rank import RankedPassage
from vault_index.query.ranking.retrieval import Query
from vault_index.store.counts import count_rows
from vault_index.store.reader import IndexReader
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import cosines, serving_space
from vault_index.terms import is_piece

Confidence = Literal["high", "low", "none"]

_TOP = 3  # hits that are looked at
_FLOOR = 0.87
"""Evidence that chance alone seldom gives in `_MANY` chunks or more; in fewer it gives less, with the logarithm."""
_MANY = 400
_WORDLESS = 0.4
"""Share of the floor for a hit with next to no word of the question, where that may be for its language: there chance
finds none either."""
_NEXT_TO_NONE = 0.05
_HIGH = 0.2
"""The lead of the first hit times the root of the margin above the floor, from which on it mostly is the right one."""
_FAR_BEHIND = 0.5
"""Of the best score: what is right is seldom below the floor, and next to never so far behind as well."""
_CHANCE_NAME = 0.05
_UNKNOWN, _KNOWN = 0.7, 0.8
"""Shares of a text as `known_share` counts them: the English model knows .7 of a page in German or Spanish, and from .8
of one in English. The question alone is too short to tell."""
_LETTERS = 300  # of a text tell its language
_SAMPLE = 16  # documents whose cosines tell what unrelated texts have in common


def confidence(reader: IndexReader, query: Query, hits: Sequence[RankedPassage]) -> Confidence:
    """How far `hits`, best first, answer the query."""
    if not hits:
        return "none"
    if not query.match and query.vector is None:
        return "high"  # filters alone: what they let through is what was asked for
    top = hits[:_TOP]
    if top[0].evidence.called or (
        _says_all(query, top, 1.0) and not any(term.stop for term in query.parsed.terms)
    ):
        return "high"  # of words that are no sentence there is nothing more to find than a passage with them
    evidence = [*_evidence(reader, query, top)]
    # In a small vault chance gives less, but one hit that leads the few others is no more certain for that.
    margin = evidence[0] - _FLOOR
    if margin > 0.0 and math.sqrt(margin) * _lead(hits) >= _HIGH:
        return "high"
    holds = max(evidence) > _floor(reader) or query.parsed.required or _says_all(query, top, 0.0)
    return "low" if holds else "none"


def weak(
    reader: IndexReader, query: Query, hits: Sequence[RankedPassage], best: float
) -> list[bool]:
    """Of each hit, whether a question about something else would find one like it, far behind the `best` score: none
    where it was not for words, where a condition says what is asked for, or where it holds every word."""
    if query.parsed.required or not query.terms:
        return [False] * len(hits)
    behind = [
        hit for hit in hits if hit.score < _FAR_BEHIND * best and not _says_all(query, [hit], 0.0)
    ]
    floor, found = _floor(reader), zip(behind, _evidence(reader, query, behind), strict=True)
    noise = {id(hit) for hit, evidence in found if evidence <= floor and not hit.evidence.called}
    return [hit.echo or id(hit) in noise for hit in hits]


def evidence_of(
    query: Query, hit: RankedPassage, scale: CosineScale = ENGLISH_COSINES, known: float = 1.0
) -> float:
    """What speaks for a hit; `known` is how far the model knows the language of the hit."""
    # Half of eight words is more than half of two: they meet less by chance. Pieces of a word meet together.
    words = sum(not is_piece(term.text) for term in query.terms)
    near = max(((hit.evidence.cosine or 0.0) - scale.chance) / (scale.certain - scale.chance), 0.0)
    name = max((hit.evidence.name or 0.0) - _CHANCE_NAME, 0.0)
    return hit.coverage * math.sqrt(words) + _FLOOR * near * query.known * known + name


def _floor(reader: IndexReader) -> float:
    """The evidence that chance alone seldom gives in this index."""
    return _FLOOR * math.log(min(max(count_rows(reader, "chunk"), 1), _MANY), _MANY)


def _evidence(reader: IndexReader, query: Query, hits: Sequence[RankedPassage]) -> Iterator[float]:
    """The evidence of each hit, as it compares with the floor."""
    space = serving_space(reader) if query.vector is not None else None
    scale = _scale(reader, query, space) if space else ENGLISH_COSINES
    for hit in hits:
        known = known_share(space.space, hit.chunk.text[:_LETTERS]) if space else 1.0
        fade = min(max((known - _UNKNOWN) / (_KNOWN - _UNKNOWN), 0.0), 1.0)
        share = _WORDLESS if query.crossing and hit.coverage < _NEXT_TO_NONE else 1.0
        yield evidence_of(query, hit, scale, fade) + (1.0 - share) * _FLOOR


def _says_all(query: Query, hits: Sequence[RankedPassage], least: float) -> bool:
    """Whether a passage itself matches every term with this weight: 1 as it was typed, less where it was corrected."""
    terms = len(query.terms)
    return terms > 0 and any(
        sum(weight >= least for weight in hit.matched.values()) == terms for hit in hits
    )


def _lead(hits: Sequence[RankedPassage]) -> float:
    """How far the first hit is above the best of another document, as a share of its score."""
    first = hits[0]
    other = next(
        (hit.score for hit in hits if hit.chunk.document.id != first.chunk.document.id), 0.0
    )
    return 1.0 - other / first.score if first.score > 0.0 else 0.0


def _scale(reader: IndexReader, query: Query, space: SpaceRow) -> CosineScale:
    """What cosines say. Those of unrelated texts are near 0 for some models, .7 for others: for one that was not
    measured they are the lower quartile among the newest documents; of fewer than `_SAMPLE` documents nothing is
    known."""
    if (measured := COSINES.get(space.space)) or query.vector is None:
        return measured or ENGLISH_COSINES
    sample = cosines(reader, space.id, query.vector, reader.newest_chunks(Filters(), _SAMPLE))
    unrelated = (
        max(sorted(sample.values())[len(sample) // 4], 0.0) if len(sample) == _SAMPLE else 0.0
    )
    return CosineScale(*(unrelated + cosine * (1.0 - unrelated) for cosine in ENGLISH_COSINES))
