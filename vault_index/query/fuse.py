"""Fusing channels: one score from several, comparable within one answer.

Score-based, because it measured better than reciprocal rank fusion on the judged sets (docs/recall.md): BM25 divided by
the best BM25 of the answer, and the cosine, both in 0..1, weighted.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its score in 0..1 and what each channel said (None: the channel was not asked or has no opinion)."""

    chunk_id: int
    score: float
    bm25: float | None
    cosine: float | None


def fuse(bm25: Mapping[int, float], cosine: Mapping[int, float], vector_weight: float) -> list[Fused]:
    """Best first; ties in the order of the chunk ids, so that equal indexes give equal answers.

    `vector_weight` in 0..1 is the share of the cosine; the rest is BM25's.
    """
    best = max(bm25.values(), default=0.0) or 1.0
    fused = []
    for chunk_id in bm25.keys() | cosine.keys():
        text, vector = bm25.get(chunk_id), cosine.get(chunk_id)
        score = (1.0 - vector_weight) * max((text or 0.0) / best, 0.0) + vector_weight * max(vector or 0.0, 0.0)
        fused.append(Fused(chunk_id, min(score, 1.0), text, vector))
    return sorted(fused, key=lambda hit: (-hit.score, hit.chunk_id))
