"""Whether an answer is one: `high`, `low` or `none`.

Two things speak for an answer: the coverage of its best passages, and their cosine. Both are compared with what chance
gives: the best of more chunks covers more and comes nearer, whatever is asked, about with the logarithm of their
number. docs/recall.md has the measurements.
"""

import math
from collections.abc import Sequence
from typing import Literal

from vault_index.models import Filters
from vault_index.query.language.parse import conditions, term_expression
from vault_index.query.language.tree import group
from vault_index.query.ranking.rank import RankedPassage
from vault_index.query.ranking.retrieval import Query
from vault_index.store.counts import count_rows
from vault_index.store.reader import IndexReader
from vault_index.store.spaces import cosines, serving_space

Confidence = Literal["high", "low", "none"]

_TOP = 3  # hits that are looked at
_COSINE_WEIGHT = 2.0
"""Weight of a cosine beside a coverage, as it tells queries of one vault best from those of others."""
_CHANCE = 0.09
"""Expected best coverage among n unrelated chunks: about 0.09 ln n."""
_CHANCE_COSINE = 0.2
"""Added to it with vectors: no text is quite without relation to another."""
_HIGH = 0.6
"""Confidence is `high` from this margin above chance on; 4 % of the queries about something else reach it."""
_SAMPLE = 16  # documents whose cosines tell what unrelated texts have in common


def confidence(reader: IndexReader, query: Query, hits: Sequence[RankedPassage]) -> Confidence:
    """How far `hits`, best first, answer the query."""
    if not hits:
        return "none"
    top = hits[:_TOP]
    if not query.match and query.vector is None:
        return "high"  # filters alone: what they let through is what was asked for
    terms = len(query.terms)
    if terms and any(sum(weight >= 1.0 for weight in hit.matched.values()) == terms for hit in top):
        return "high"  # a passage itself matches every term as it was typed
    chunks = count_rows(reader, "chunk")
    if query.vector is None:
        margin = above_chance_by_words(top, terms, chunks)
    else:
        margin = above_chance(top, chunks, _unrelated_cosine(reader, query))
    if margin >= _HIGH:
        return "high"
    return "low" if margin >= 0.0 or query.parsed.required or _holds_all(reader, query) else "none"


def above_chance(hits: Sequence[RankedPassage], chunks: int, unrelated: float = 0.0) -> float:
    """The margin of the best of `hits` above the best of `chunks` unrelated ones; `unrelated` is the cosine of texts
    that have nothing to do with each other."""
    best = max(
        hit.coverage + _COSINE_WEIGHT * ((hit.evidence.cosine or 0.0) - unrelated) / (1.0 - unrelated) for hit in hits
    )
    return best - _CHANCE_COSINE - _chance(chunks)


def above_chance_by_words(hits: Sequence[RankedPassage], terms: int, chunks: int) -> float:
    """The same without vectors. Half of eight words is more than half of two: they meet less by chance."""
    coverage = max(hit.coverage for hit in hits)
    return coverage * math.sqrt(terms) - _chance(chunks)


def _chance(chunks: int) -> float:
    return _CHANCE * math.log(max(chunks, 1))


def _holds_all(reader: IndexReader, query: Query) -> bool:
    """Whether the name of a document matches all terms, or the columns of a chunk (tags and fields, too) do."""
    terms = [term for term in query.parsed.terms if not term.stop]
    words = group("AND", terms)
    if words is None:
        return False
    # A part of a word is enough for a name: in Chinese and Japanese a question names things without a space around.
    name = " AND ".join(map(term_expression, terms))
    required, _ = conditions(words, every=True)
    filters = query.parsed.filters
    return bool(
        reader.name_candidates(name, 1, filters)
        or reader.text_candidates(" AND ".join(required), 1, filters, excluded=query.parsed.excluded)
    )


def _unrelated_cosine(reader: IndexReader, query: Query) -> float:
    """The cosine of unrelated texts: near 0 for the shipped model, .7 for some. It is the lower quartile among the
    newest documents; of fewer than `_SAMPLE` documents nothing is known."""
    space = serving_space(reader)
    if space is None or space.space.provider == "local" or query.vector is None:
        return 0.0
    sample = cosines(reader, space.id, query.vector, reader.newest_chunks(Filters(), _SAMPLE))
    return max(sorted(sample.values())[len(sample) // 4], 0.0) if len(sample) == _SAMPLE else 0.0
