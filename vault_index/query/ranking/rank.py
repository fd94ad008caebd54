"""From what each channel says of a chunk to one score for each of its passages, in 0..1.

Score-based, because it measured better than reciprocal rank fusion on the judged sets (docs/recall.md). Each channel
gives a number in 0..1 (BM25 divided by the best BM25 of the answer, the cosine as it is, the share of the question that
is said in and around a passage), and the sum is weighted. The less of the question any text says, the more the meaning
counts: where somebody asks in other words than the note's, a few shared words are chance.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from vault_index.config.schema import RankingConfig
from vault_index.query.ranking.passages import Passage, Said, Spotter, split, together, worth
from vault_index.query.ranking.retrieval import Evidence
from vault_index.store.records import ChunkRecord

TEXT, VECTOR, NAME, PASSAGE = 0.25, 0.5, 0.3, 0.35
_MEANING_GAIN = 2.0
_TELLING_NAME = 0.3
"""The best name counts in full if its BM25 is so much of the best text's: many may be called by one common word."""
_BEST_TEXTS = 3
_DAY = 86_400.0
_SECOND = 0.4
"""Another passage of the same chunk is a hit of its own if it says something itself, and with what stands around it
more than so much of what the best one says."""


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
    matched: Said
    """The words of the question it says itself."""
    score: float
    factors: Mapping[str, float] = field(default_factory=dict)
    """What the sum of the parts was multiplied with."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """What was found, in order: what an answer is cut from."""

    evidence: Mapping[int, Evidence]
    hits: Sequence[Ranked]
    coverage: float
    """The best of the first chunks: it says how much meaning counts."""


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


@dataclass(frozen=True, slots=True)
class Factors:
    """The factors of documents, as they are at `now` (seconds since the epoch)."""

    config: RankingConfig
    now: float
    accesses: Mapping[str, int]
    """How often documents were opened, by id; empty where that does not count."""
    backlinks: Mapping[int, int]
    """How many notes link to documents, by their key; empty where that does not count."""

    def of(self, chunk: ChunkRecord) -> dict[str, float]:
        """The factors that differ from 1.0, by name."""
        found = {
            "recency": self._recency(chunk),
            "outdated": 1.0 - self.config.outdated if _over(chunk.valid_until, self.now) else 1.0,
            "usage": _growing(self.config.usage, self.accesses.get(chunk.uid, 0)),
            "backlinks": _growing(self.config.backlinks, self.backlinks.get(chunk.document_id, 0)),
        }
        return {name: factor for name, factor in found.items() if factor != 1.0}

    def _recency(self, chunk: ChunkRecord) -> float:
        """One half of the weight is gone after each half-life."""
        weight = {"memory": self.config.recency_memories, "session": self.config.recency_sessions}.get(
            chunk.kind, self.config.recency_notes
        )
        if not weight:
            return 1.0
        age_days = max(self.now - max(chunk.updated, chunk.created), 0.0) / _DAY
        return 1.0 - weight * (1.0 - math.exp2(-age_days / self.config.half_life_days))


def _over(moment: float | None, now: float) -> bool:
    return moment is not None and moment <= now


def _growing(weight: float, count: int) -> float:
    """From 1 - weight, where there is none, towards 1."""
    return 1.0 - weight / (1.0 + count) if weight else 1.0


class Scorer:
    """Scores chunks of one answer; the best of each channel is the measure of the others."""

    def __init__(self, evidence: Mapping[int, Evidence], weights: Weights) -> None:
        text, name = _best(one.bm25 for one in evidence.values()), _best(one.name for one in evidence.values())
        self._text = weights.text / weights.total / text
        self._name = weights.name / weights.total / max(name, _TELLING_NAME * text)
        self._vector = weights.vector / weights.total
        self._passage = weights.passage / weights.total

    def parts(self, evidence: Evidence, share: float) -> Parts:
        return Parts(
            text=self._text * max(evidence.bm25 or 0.0, 0.0),
            vector=self._vector * max(evidence.cosine or 0.0, 0.0),
            name=self._name * max(evidence.name or 0.0, 0.0),
            passage=self._passage * share,
        )

    def of_chunk(self, evidence: Evidence) -> float:
        """What the channels say, whatever its passages are."""
        return (
            self._text * (evidence.bm25 or 0.0)
            + self._vector * (evidence.cosine or 0.0)
            + self._name * (evidence.name or 0.0)
        )


def _best(scores: Iterable[float | None]) -> float:
    """The highest score, by which the others are divided: 1 where all are next to nothing."""
    best = max((score or 0.0 for score in scores), default=0.0)
    return best if best > 1e-9 else 1.0


def order(evidence: Mapping[int, Evidence], weights: Weights) -> list[int]:
    """Chunk ids, best first, as far as the channels alone can tell; ties in the order of the ids."""
    scorer = Scorer(evidence, weights)
    scores = {chunk_id: scorer.of_chunk(one) for chunk_id, one in evidence.items()}
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))


def with_best_texts(ordered: Sequence[int], evidence: Mapping[int, Evidence], first: int) -> list[int]:
    """`ordered` with the best of the text channel among the `first`, whose passages are compared: many documents with
    one word of the question in their names would keep out the text that says all of it."""
    scores = {chunk_id: score for chunk_id in ordered if (score := evidence[chunk_id].bm25) is not None}
    best = set(sorted(scores, key=lambda chunk_id: (-scores[chunk_id], chunk_id))[:_BEST_TEXTS])
    others = [chunk_id for chunk_id in ordered if chunk_id not in best]
    head = {*best, *others[: first - len(best)]}
    return sorted(ordered, key=lambda chunk_id: chunk_id not in head)  # a stable sort: both parts stay in order


def rank(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence],
    spotter: Spotter,
    *,
    text: bool,
    vector: bool,
    factors: Factors,
    behind: Ranking | None = None,
) -> Ranking:
    """The passages of `chunks`, best first; ties in the order of the chunks, so that equal indexes answer equally.

    `behind` is a ranking of better chunks, which these only continue.
    """
    places = _places(chunks, spotter)
    best = behind.coverage if behind else max((place.coverage for place in places), default=0.0)
    highest = behind.hits[-1].score if behind and behind.hits else 1.0
    scorer = Scorer(evidence, weights(text=text, vector=vector, coverage=best))
    factors_of = {chunk.chunk_id: factors.of(chunk) for chunk in chunks}
    ranked = []
    for place in _worth_showing(places):
        of_chunk = evidence[place.chunk.chunk_id]
        parts = scorer.parts(of_chunk, place.worth)
        by = factors_of[place.chunk.chunk_id]
        score = min(parts.total * math.prod(by.values()), highest)
        ranked.append(Ranked(place.chunk, place.passage, of_chunk, parts, place.coverage, place.said, score, by))
    # The coverage tells the passages of a chunk apart where it is no part of the score.
    ranked.sort(key=lambda hit: (-hit.score, -worth(hit.coverage, hit.passage), hit.chunk.chunk_id))
    return Ranking(evidence, [*(behind.hits if behind else ()), *ranked], best)


class _Place(NamedTuple):
    chunk: ChunkRecord
    passage: Passage
    speaks: bool
    """Whether it says something of the question itself, or answers a passage that asks it."""
    said: Said
    coverage: float

    @property
    def worth(self) -> float:
        return worth(self.coverage, self.passage)


def _places(chunks: Sequence[ChunkRecord], spotter: Spotter) -> list[_Place]:
    """The passages of the chunks, with what they say of the question."""
    names = {chunk.chunk_id: " ".join((chunk.title, *chunk.headings)) for chunk in chunks}
    lines = spotter.found([*(chunk.text for chunk in chunks), *(" ".join(name.split()) for name in names.values())])
    above = dict(zip(names, lines[len(lines) - len(names) :], strict=True))
    starts = dict(zip(names, accumulate((chunk.text.count("\n") + 1 for chunk in chunks), initial=0), strict=False))
    places: list[_Place] = []
    for group in _by_document(chunks):
        found = _passages(group)
        said = [_said(lines, starts[chunk.chunk_id], passage) for chunk, passage in found]
        asks = [passage.asks for _, passage in found]
        shares = spotter.coverage(said, [above[chunk.chunk_id] for chunk, _ in found], asks)
        answers = [False, *(asked and bool(here) for asked, here in zip(asks, said, strict=True))]
        places += [
            _Place(chunk, passage, bool(here) or answer, here, share)
            for (chunk, passage), here, share, answer in zip(found, said, shares, answers, strict=False)
        ]
    return places


def _said(lines: Sequence[Said], start: int, passage: Passage) -> Said:
    """What a passage says, of a chunk whose first line is number `start` of `lines`."""
    if passage.first == passage.last:
        return lines[start + passage.first]
    return together(lines[start + passage.first : start + passage.last + 1])


def _by_document(chunks: Iterable[ChunkRecord]) -> Iterable[list[ChunkRecord]]:
    groups: dict[int, list[ChunkRecord]] = {}
    for chunk in chunks:
        groups.setdefault(chunk.document_id, []).append(chunk)
    return groups.values()


def _passages(chunks: Sequence[ChunkRecord]) -> list[tuple[ChunkRecord, Passage]]:
    """The passages of chunks of one document, in its order. Chunks overlap: lines that stand in two belong to the first
    one given. (Where lines of the text are none of the file, as in parts of a long line and cards of a canvas, they are
    told apart by their chunk.)"""
    if len(chunks) == 1:
        return [(chunks[0], passage) for passage in split(chunks[0].text)]
    owned: set[tuple[int, int]] = set()
    found: dict[tuple[int, int], tuple[ChunkRecord, Passage]] = {}
    for chunk in chunks:
        of_file = 0 < chunk.end_line - chunk.start_line == chunk.text.count("\n")
        part = 0 if of_file else chunk.chunk_id
        for passage in split(chunk.text):
            lines = [(chunk.start_line + line, part) for line in range(passage.first, passage.last + 1)]
            own = [place for place in lines if place not in owned]
            if own and len(own) < len(lines):
                first, last = (line - chunk.start_line for line, _ in (own[0], own[-1]))
                passage = passage._replace(first=first, last=last)
            if own:
                found[own[0]] = chunk, passage
                owned.update(own)
    return [found[place] for place in sorted(found)]


def _worth_showing(places: Sequence[_Place]) -> list[_Place]:
    """The best passage of each chunk, and those that say not much less than it."""
    best: dict[int, _Place] = {}
    for place in places:
        first = best.setdefault(place.chunk.chunk_id, place)
        if place.worth > first.worth:
            best[place.chunk.chunk_id] = place
    return [
        place
        for place in places
        if place is (first := best[place.chunk.chunk_id])
        or (place.speaks and place.coverage > _SECOND * first.coverage)
    ]
