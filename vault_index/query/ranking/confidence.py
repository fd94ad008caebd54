"""Whether an answer is one: `high`, `low` or `none`.

Two things speak for an answer: how much of the question its best passages say (`coverage`), and how near they come in
meaning (the cosine). Both are compared with what chance gives: of more chunks the best one says more and comes nearer,
whatever is asked, about with the logarithm of their number. docs/recall.md has the measurements.
"""

import math
from collections.abc import Sequence
from typing import Literal

from vault_index.models import Filters
from vault_index.query.language.parse import ParsedQuery, conditions, term_expression
from vault_index.query.language.tree import group
from vault_index.query.ranking.rank import Ranked
from vault_index.query.ranking.retrieval import Needle, Question
from vault_index.store.reader import IndexReader

Confidence = Literal["high", "low", "none"]

_FIRST = 3  # hits that are looked at
_MEANING = 2.0
"""What a cosine counts beside a coverage, as queries of one vault are told best from those of others."""
_CHANCE = 0.09
"""What the best of some chunks reaches by chance: so much times the logarithm of their number."""
_CHANCE_NEARNESS = 0.18
"""And so much more with vectors: no text is quite without relation to another."""
_SURE = 0.6
"""So far above chance an answer is `high`; of queries about something else one in twenty-five comes as far."""
_GROUND = 16  # documents whose cosines tell what unrelated texts have in common


def confidence(
    reader: IndexReader, query: ParsedQuery, question: Question, needles: Sequence[Needle], hits: Sequence[Ranked]
) -> Confidence:
    """How far `hits`, best first, answer what was asked."""
    if not hits:
        return "none"
    first = hits[:_FIRST]
    if not question.match and question.vector is None:
        return "high"  # filters alone: what they let through is what was asked for
    if any(_says_all(hit, len(needles)) for hit in first):
        return "high"
    chunks = reader.count("chunk")
    if question.vector is None:
        above = above_chance_by_words(first, len(needles), chunks)
    else:
        above = above_chance(first, chunks, _ground(reader, question))
    if above >= _SURE:
        return "high"
    return "low" if above >= 0.0 or query.required or _holds_all(reader, query, question) else "none"


def above_chance(hits: Sequence[Ranked], chunks: int, ground: float = 0.0) -> float:
    """How much more one of `hits` answers than the best of `chunks` by chance; `ground` is the cosine of unrelated
    texts."""
    best = max(hit.coverage + _MEANING * ((hit.evidence.cosine or 0.0) - ground) / (1.0 - ground) for hit in hits)
    return best - _CHANCE_NEARNESS - _by_chance(chunks)


def above_chance_by_words(hits: Sequence[Ranked], words: int, chunks: int) -> float:
    """The same without vectors. Half of eight words is more than half of two: they meet less by chance."""
    coverage = max(hit.coverage for hit in hits)
    return coverage * math.sqrt(words) - _by_chance(chunks)


def _by_chance(chunks: int) -> float:
    return _CHANCE * math.log(max(chunks, 1))


def _says_all(hit: Ranked, words: int) -> bool:
    """Whether the passage itself says every word as it was typed."""
    return words > 0 and sum(weight >= 1.0 for weight in hit.matched.values()) == words


def _holds_all(reader: IndexReader, query: ParsedQuery, question: Question) -> bool:
    """Whether a document is called by all the words of `query`, or a chunk holds them, be it in a tag or a field."""
    telling = [term for term in query.terms if not term.stop]
    words = group("AND", telling)
    if words is None:
        return False
    # A part of a word is enough for a name: in Chinese and Japanese a question names things without a space around.
    called = " AND ".join(map(term_expression, telling))
    every, _ = conditions(words, every=True)
    return bool(
        reader.name_candidates(called, 1, question.filters)
        or reader.text_candidates(every, 1, question.filters, excluded=question.excluded)
    )


def _ground(reader: IndexReader, question: Question) -> float:
    """The cosine of texts that have nothing to do with each other: near 0 for the shipped model, .7 for some. A quarter
    of the newest documents is farther from the question; of a few documents nothing is known."""
    space = reader.serving_space()
    if space is None or space.space.provider == "local" or question.vector is None:
        return 0.0
    sample = reader.cosines(space.id, question.vector, reader.newest_chunks(Filters(), _GROUND))
    return max(sorted(sample.values())[len(sample) // 4], 0.0) if len(sample) == _GROUND else 0.0
