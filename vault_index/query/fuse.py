"""Fusing channels: one score from several, comparable within one answer.

Score-based, because it measured better than reciprocal rank fusion on the judged sets (docs/recall.md): each channel's
score is in 0..1 (BM25 divided by the best BM25 of the answer, the cosine as it is), and the sum is weighted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_NAME_WEIGHT = 0.2


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its score in 0..1 and what each channel said (None: the channel was not asked or has no opinion)."""

    chunk_id: int
    score: float
    bm25: float | None
    cosine: float | None
    name: float | None
    """BM25 over what its document is called."""


def fuse(
    bm25: Mapping[int, float], cosine: Mapping[int, float], name: Mapping[int, float], vector_weight: float
) -> list[Fused]:
    """Best first; ties in the order of the chunk ids, so that equal indexes give equal answers.

    `vector_weight` in 0..1 is the share of the cosine beside BM25. A name adds a little to both.
    """
    best_text = max(bm25.values(), default=0.0) or 1.0
    best_name = max(name.values(), default=0.0) or 1.0
    weights = 1.0 + (_NAME_WEIGHT if name else 0.0)
    fused = []
    for chunk_id in bm25.keys() | cosine.keys() | name.keys():
        text, vector, called = bm25.get(chunk_id), cosine.get(chunk_id), name.get(chunk_id)
        score = (1.0 - vector_weight) * max((text or 0.0) / best_text, 0.0) + vector_weight * max(vector or 0.0, 0.0)
        score += _NAME_WEIGHT * max((called or 0.0) / best_name, 0.0)
        fused.append(Fused(chunk_id, min(score / weights, 1.0), text, vector, called))
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))
