"""Why a hit is where it is: what each channel said, which words matched, and what the score is made of."""

from collections.abc import Mapping, Sequence

from vault_index.answers import ChannelEvidence, Explanation
from vault_index.query.needles import Needle
from vault_index.query.rank import Ranked, Ranking


def explanation(hit: Ranked, needles: Sequence[Needle], ranking: Ranking) -> Explanation:
    said = {needles[number].text: weight for number, weight in hit.matched.items()}
    return Explanation(
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
        factors={name: round(factor, 4) for name, factor in ranking.factors.of(hit.chunk).items()},
    )


def _channels(hit: Ranked, ranking: Ranking) -> Mapping[str, ChannelEvidence]:
    """The score of its chunk in each channel that named it, and its rank among the chunks named."""
    scores = {
        "text": {chunk_id: one.bm25 for chunk_id, one in ranking.evidence.items() if one.bm25 is not None},
        "vector": {chunk_id: one.cosine for chunk_id, one in ranking.evidence.items() if one.cosine is not None},
        "path": {chunk_id: one.name for chunk_id, one in ranking.evidence.items() if one.name is not None},
    }
    return {
        channel: ChannelEvidence(1 + sum(score > own for score in named.values()), round(own, 4))
        for channel, named in scores.items()
        if (own := named.get(hit.chunk.chunk_id)) is not None
    }
