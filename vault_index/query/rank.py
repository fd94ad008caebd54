"""From what each channel says of a chunk to one score for each of its passages, in 0..1.

Score-based, because it measured better than reciprocal rank fusion on the judged sets (docs/recall.md). Each channel
gives a number in 0..1 (BM25 divided by the best BM25 of the answer, the cosine as it is, the share of the question that
is said in and around a passage), and the sum is weighted. The less of the question any text says, the more the meaning
counts: where somebody asks in other words than the note's, a few shared words are chance.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vault_index.query.factors import Factors
from vault_index.query.passages import Passage, Spotter, split, worth
from vault_index.store.rows import ChunkRecord

TEXT, VECTOR, NAME, PASSAGE = 0.3, 0.5, 0.3, 0.35
_MEANING_GAIN = 2.5
_SECOND = 0.5
"""Another passage of the same chunk is a hit of its own if it says more than so much of what the best one says."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the channels say of one chunk; None where a channel was not asked or did not name it."""

    bm25: float | None = None
    cosine: float | None = None
    name: float | None = None
    """BM25 over what its document is called."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What a score is the sum of, before factors."""

    text: float
    vector: float
    name: float
    passage: float

    @property
    def total(self) -> float:
        return self.text + self.vector + self.name + self.passage


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage, the chunk it stands in, and why it is where it is."""

    chunk: ChunkRecord
    passage: Passage
    evidence: Evidence
    parts: Parts
    coverage: float
    """The share of the question that is said in and around it, by rarity."""
    matched: Mapping[int, float]
    """The words of the question it says itself, by number, and how much they count (1.0 as typed)."""
    score: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Everything that was found, in order: what an answer is cut from."""

    evidence: Mapping[int, Evidence]
    hits: Sequence[Ranked]
    factors: Factors


@dataclass(frozen=True, slots=True)
class Weights:
    text: float
    vector: float
    name: float
    passage: float

    @property
    def total(self) -> float:
        return self.text + self.vector + self.name + self.passage


def weights(*, text: bool, vector: bool, coverage: float = 1.0) -> Weights:
    """The weights where these channels were asked; `coverage` is the best of the answer."""
    if not text:
        return Weights(0.0, 1.0, 0.0, 0.0)
    meaning = VECTOR * (1.0 + _MEANING_GAIN * (1.0 - coverage)) if vector else 0.0
    return Weights(TEXT, meaning, NAME, PASSAGE)


class Scorer:
    """Scores chunks of one answer; the best of each channel is the measure of the others."""

    def __init__(self, evidence: Mapping[int, Evidence]) -> None:
        self._best_text = max((e.bm25 or 0.0 for e in evidence.values()), default=0.0) or 1.0
        self._best_name = max((e.name or 0.0 for e in evidence.values()), default=0.0) or 1.0

    def parts(self, evidence: Evidence, share: float, weights: Weights) -> Parts:
        total = weights.total
        return Parts(
            text=weights.text * max((evidence.bm25 or 0.0) / self._best_text, 0.0) / total,
            vector=weights.vector * max(evidence.cosine or 0.0, 0.0) / total,
            name=weights.name * max((evidence.name or 0.0) / self._best_name, 0.0) / total,
            passage=weights.passage * share / total,
        )


def order(evidence: Mapping[int, Evidence], weights: Weights) -> list[int]:
    """Chunk ids, best first, as far as the channels alone can tell; ties in the order of the ids."""
    scorer = Scorer(evidence)
    return sorted(evidence, key=lambda id_: (-scorer.parts(evidence[id_], 0.0, weights).total, id_))


def rank(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence],
    spotter: Spotter,
    *,
    text: bool,
    vector: bool,
    factors: Factors,
) -> Ranking:
    """The passages of `chunks`, best first; ties in the order of the chunks, so that equal indexes answer equally."""
    scorer = Scorer(evidence)
    said = [place for group in _by_document(chunks) for place in _said(_places(group), spotter)]
    scale = weights(text=text, vector=vector, coverage=max((share for _, _, share in said), default=0.0))
    ranked = []
    for place, matched, share in said:
        of_chunk = evidence[place.chunk.chunk_id]
        parts = scorer.parts(of_chunk, worth(share, place.passage.text), scale)
        score = min(parts.total * factors.product(place.chunk), 1.0)
        ranked.append(Ranked(place.chunk, place.passage, of_chunk, parts, share, matched, score))
    # The coverage tells the passages of a chunk apart where it is no part of the score.
    ranked.sort(key=lambda hit: (-hit.score, -worth(hit.coverage, hit.passage.text), hit.chunk.chunk_id))
    return Ranking(evidence, _worth_showing(ranked), factors)


@dataclass(frozen=True, slots=True)
class _Place:
    chunk: ChunkRecord
    passage: Passage

    @property
    def line(self) -> int:
        return self.chunk.start_line + self.passage.first


def _by_document(chunks: Iterable[ChunkRecord]) -> Iterable[list[ChunkRecord]]:
    groups: dict[int, list[ChunkRecord]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document_id, []).append(chunk)
    return groups.values()


def _places(chunks: Sequence[ChunkRecord]) -> list[_Place]:
    """The passages of chunks of one document, in its order. Chunks overlap: what stands in two belongs to the first
    one given."""
    places: dict[tuple[int, str], _Place] = {}
    for chunk in chunks:
        for passage in split(chunk.text):
            place = _Place(chunk, passage)
            places.setdefault((place.line, passage.text), place)
    return [places[key] for key in sorted(places)]


def _said(places: Sequence[_Place], spotter: Spotter) -> list[tuple[_Place, Mapping[int, float], float]]:
    """Each place with the words of the question it says, and the share of the question that is said around it."""
    names = [(place.chunk.title, *place.chunk.headings) for place in places]
    each = dict.fromkeys(names)
    found = spotter.found([*(place.passage.text for place in places), *map("\n".join, each)])
    above = dict(zip(each, found[len(places) :], strict=True))
    here = found[: len(places)]
    covered = spotter.coverage(here, [above[name] for name in names])
    return list(zip(places, here, map(spotter.share, covered), strict=True))


def _worth_showing(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Without passages that say little beside the best one of their chunk."""
    best: dict[int, float] = {}
    shown = []
    for hit in ranked:
        first = best.get(hit.chunk.chunk_id)
        if first is None:
            best[hit.chunk.chunk_id] = hit.coverage
        elif hit.coverage <= _SECOND * first:
            continue
        shown.append(hit)
    return shown
