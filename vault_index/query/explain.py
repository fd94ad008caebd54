"""Why a hit is where it is: how the query was read, what each channel said, and what the score is made of."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from vault_index import results
from vault_index.query.language.filters import single_filters
from vault_index.query.language.parse import ParsedQuery
from vault_index.query.language.tree import Term
from vault_index.query.ranking.query_terms import Needle, ranking_expression
from vault_index.query.ranking.rank import Ranked, Ranking
from vault_index.query.ranking.spelling import Spelling
from vault_index.store.reader import IndexReader

_ONE_WORD = re.compile(r'"(\w+)"')


def explanation(hit: Ranked, needles: Sequence[Needle], ranking: Ranking) -> results.Explanation:
    said = {needles[number].text: weight for number, weight in hit.matched.items()}
    return results.Explanation(
        channels=_channels(hit, ranking),
        coverage=round(hit.coverage, 3),
        matched=tuple(word for word, weight in said.items() if weight == 1.0),
        corrected=tuple(word for word, weight in said.items() if weight < 1.0),
        missing=tuple(needle.text for number, needle in enumerate(needles) if number not in hit.matched),
        parts={
            "text": round(hit.parts.text, 4),
            "vector": round(hit.parts.vector, 4),
            "path": round(hit.parts.name, 4),
            "passage": round(hit.parts.passage, 4),
        },
        factors={name: round(factor, 4) for name, factor in hit.factors.items()},
    )


def _channels(hit: Ranked, ranking: Ranking) -> Mapping[str, results.ChannelEvidence]:
    """The score of its chunk in each channel that named it, and its rank among the chunks named."""
    scores = {
        "text": {chunk_id: one.bm25 for chunk_id, one in ranking.evidence.items() if one.bm25 is not None},
        "vector": {chunk_id: one.cosine for chunk_id, one in ranking.evidence.items() if one.cosine is not None},
        "path": {chunk_id: one.name for chunk_id, one in ranking.evidence.items() if one.name is not None},
    }
    return {
        channel: results.ChannelEvidence(1 + sum(score > own for score in named.values()), round(own, 4))
        for channel, named in scores.items()
        if (own := named.get(hit.chunk.chunk_id)) is not None
    }


def reading(
    reader: IndexReader, query: ParsedQuery, needles: Sequence[Needle], spelling: Spelling
) -> results.QueryReading:
    """How a query was read, with what the index says of its words."""
    return results.QueryReading(
        words=tuple(_word(reader, needle, spelling.forms.get(needle.text, {})) for needle in needles),
        required=as_words(query.required),
        excluded=as_words(query.excluded),
        filters=tuple(written for written, _ in single_filters(query.filters)),
    )


def as_words(expression: str) -> str:
    """An FTS5 expression as people write it: quotes around phrases alone."""
    return _ONE_WORD.sub(r"\1", expression)


def _word(reader: IndexReader, needle: Needle, meant: Mapping[str, float]) -> results.WordReading:
    term = Term(needle.text, "prefix" if needle.prefix else "word", 0)
    return results.WordReading(
        text=needle.text,
        rarity=round(needle.weight, 2),
        texts=reader.count_matches(ranking_expression([term], {needle.text: meant})),
        meant=tuple(sorted(meant, key=lambda form: -meant[form])),
    )
