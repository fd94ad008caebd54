"""Combines the evidence of a chunk into one score in 0..1 for each of its passages.

The ranking is score-based, because that measured better than reciprocal rank fusion
(benchmarks/README.md). A score is a weighted sum of numbers in 0..1: BM25 divided by the best BM25
of the answer, the cosine, and the coverage of the query in and around the passage. The lower the
best coverage, the more the cosine counts: if a query uses other words than the note, a few shared
words are chance.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import NamedTuple, Protocol

from vault_index.config.schema import RankingConfig
from vault_index.fields import NO_PASSAGE, NOT_SEARCHED, scalars
from vault_index.query.ranking.passages import (
    Matches,
    Passage,
    TermMatcher,
    ranking_coverage,
    split_passages,
    union,
)
from vault_index.query.ranking.retrieval import Evidence
from vault_index.store.records import ChunkRecord, StoredDocument

TEXT, VECTOR, NAME, PASSAGE = 0.15, 0.5, 0.3, 0.45
_VECTOR_GAIN = 2.0
"""The weight of the cosine grows by this factor times (1 - best coverage)."""
_CONTEXT_KEYS = NO_PASSAGE | {"tags", "tag"}
_FEW_SPACES = 2  # frontmatter values with more spaces are passages
_SECOND = 0.4
"""A second passage of a chunk is a hit if it contains a term and its coverage exceeds 40 % of
the chunk's best."""
_DAY = 86_400.0


class Parts(NamedTuple):
    """A number for each part of a score: its weight, or its contribution to the score."""

    text: float
    vector: float
    name: float
    passage: float


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage with its chunk and its score."""

    chunk: ChunkRecord
    passage: Passage
    evidence: Evidence
    parts: Parts
    coverage: float
    """Share of the query, weighted by rarity, that occurs in and around the passage."""
    matched: Matches
    """Query terms in the passage itself."""
    score: float
    """The sum of the parts, multiplied by the boosts."""
    boosts: Mapping[str, float] = field(default_factory=dict)
    echo: bool = False
    """Whether the passage only repeats the query (`query.ranking.echoes`)."""
    answers: bool = False
    """Whether the passage is the reply to a turn that asks the query."""
    supersedes: str = ""
    """The id of the superseded memory that matched and that this passage replaces."""


class Ranking(NamedTuple):
    """All hits in order, from which an answer is selected."""

    evidence: Mapping[int, Evidence]
    hits: Sequence[RankedPassage]
    coverage: float
    """Best coverage among the first chunks; it decides how much the cosine counts."""


def weights(*, text: bool, vector: float, coverage: float = 1.0) -> Parts:
    """Return the weight of each part of a score.

    `text` is whether the text channel was searched. `vector` is how far to trust the cosine, from 0
    to 2. `coverage` is the best coverage of the answer.
    """
    if not text:
        return Parts(0.0, 1.0, 0.0, 0.0)
    cosine = VECTOR * (1.0 + _VECTOR_GAIN * (1.0 - coverage)) * vector
    return Parts(TEXT, cosine, NAME, PASSAGE)


class Questions(Protocol):
    """Detects passages that only repeat the query; `echoes.Asked` implements it."""

    def echoes(self, chunk: ChunkRecord, passage: Passage) -> bool:
        """Return whether a passage only repeats the query."""

    def is_named(self, chunk: ChunkRecord) -> bool:
        """Return whether the title of the chunk's session repeats the query."""


class Boosts(NamedTuple):
    """Small corrections of a score by properties of the document at `now`, in epoch seconds.

    Each is a factor near 1.0, and there are few, so that they cannot hide a passage that answers
    the query.
    """

    config: RankingConfig
    now: float
    accesses: Mapping[str, int]
    """How often documents were opened, by uid; empty if usage does not count."""
    backlinks: Mapping[int, int]
    """How many notes link to documents, by document id; empty if backlinks do not count."""

    def of(self, chunk: ChunkRecord) -> dict[str, float]:
        """Return the factors that differ from 1.0, by name."""
        outdated = chunk.document.valid_until is not None and chunk.document.valid_until <= self.now
        found = {
            "recency": self._recency(chunk),
            "outdated": 1.0 - self.config.outdated if outdated else 1.0,
            "usage": _by_count(self.config.usage, self.accesses.get(chunk.document.uid, 0)),
            "backlinks": _by_count(self.config.backlinks, self.backlinks.get(chunk.document.id, 0)),
        }
        return {name: factor for name, factor in found.items() if factor != 1.0}

    def _recency(self, chunk: ChunkRecord) -> float:
        """Return a factor between 1 (new) and 1 - weight (old) that decays by half-lives."""
        weight = {
            "memory": self.config.recency_memories,
            "session": self.config.recency_sessions,
        }.get(chunk.document.kind, self.config.recency_notes)
        if not weight:
            return 1.0
        age_days = max(self.now - max(chunk.document.updated, chunk.document.created), 0.0) / _DAY
        return 1.0 - weight * (1.0 - math.exp2(-age_days / self.config.half_life_days))


def _by_count(weight: float, count: int) -> float:
    """Return a factor that rises from 1 - weight, for a count of 0, towards 1."""
    return 1.0 - weight / (1.0 + count) if weight else 1.0


class Scorer:
    """Scores the chunks of one answer; BM25 is divided by the best BM25 of the answer."""

    def __init__(self, evidence: Mapping[int, Evidence], weights: Parts, power: int) -> None:
        self._power = power
        self._text = _best(one.bm25 for one in evidence.values())
        total = weights.text + weights.vector + weights.name + weights.passage
        self._scale = Parts(
            text=weights.text / total,
            vector=weights.vector / total,
            name=weights.name / total,
            passage=weights.passage / total,
        )

    def parts(self, evidence: Evidence, coverage: float) -> Parts:
        """Return the parts of the score of a passage with this coverage."""
        return Parts(
            text=self._scale.text * (max(evidence.bm25 or 0.0, 0.0) / self._text) ** self._power,
            vector=self._scale.vector * max(evidence.cosine or 0.0, 0.0),
            name=self._scale.name * (evidence.name or 0.0),
            passage=self._scale.passage * coverage**self._power,
        )

    def of_chunk(self, evidence: Evidence) -> float:
        """Return the score of a chunk from the channels alone, without coverage."""
        return (
            self._scale.text * ((evidence.bm25 or 0.0) / self._text) ** self._power
            + self._scale.vector * (evidence.cosine or 0.0)
            + self._scale.name * (evidence.name or 0.0)
        )


def _best(scores: Iterable[float | None]) -> float:
    """Return the highest score as a divisor; 1 if all scores are almost zero."""
    best = max((score or 0.0 for score in scores), default=0.0)
    return best if best > 1e-9 else 1.0


def order(
    evidence: Mapping[int, Evidence],
    weights: Parts,
    in_order: Callable[[Collection[int]], Mapping[int, int]],
    power: int = 1,
) -> list[int]:
    """Return the chunk ids ordered by the channels alone, best first.

    `in_order` gives the positions of chunks with equal scores.
    """
    scorer = Scorer(evidence, weights, power)
    scores = {chunk_id: scorer.of_chunk(one) for chunk_id, one in evidence.items()}
    counts = Counter(scores.values())
    place = (
        in_order(tied)
        if (tied := [id_ for id_, score in scores.items() if counts[score] > 1])
        else {}
    )
    return sorted(scores, key=lambda chunk_id: (-scores[chunk_id], place.get(chunk_id, 0)))


def rank(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence],
    matcher: TermMatcher,
    *,
    text: bool,
    vector: float,
    power: int = 1,
    boosts: Boosts | None = None,
    better: Ranking | None = None,
    asked: Questions | None = None,
) -> Ranking:
    """Return the passages of `chunks`, best first.

    Ties are broken by path and position, so that equal files give equal answers. `power` is the
    exponent of BM25 and coverage. It is 2 if the model finds texts in other languages. These share
    no words with the query, so a few shared words must not lift a text in the query's language
    above them. `better` is the ranking of better chunks, to which this one is appended. `asked`
    detects passages that only repeat the query.
    """
    passages = _matched_passages(chunks, matcher, asked)
    coverage = (
        better.coverage if better else max((passage.coverage for passage in passages), default=0.0)
    )
    highest = better.hits[-1].score if better and better.hits else 1.0
    scorer = Scorer(evidence, weights(text=text, vector=vector, coverage=coverage), power)
    boosts_of = {chunk.chunk_id: boosts.of(chunk) if boosts else {} for chunk in chunks}
    ranked = []
    for chunk, passage, matches, covered, echo in _best_passages(passages):
        of_chunk = evidence[chunk.chunk_id]
        parts = scorer.parts(of_chunk, ranking_coverage(covered, passage))
        factors = boosts_of[chunk.chunk_id]
        score = min(
            (parts.text + parts.vector + parts.name + parts.passage) * math.prod(factors.values()),
            highest,
        )
        ranked.append(
            RankedPassage(chunk, passage, of_chunk, parts, covered, matches, score, factors, echo)
        )
    # If coverage is not part of the score, it orders the passages within a chunk.
    ranked.sort(
        key=lambda hit: (-hit.score, -ranking_coverage(hit.coverage, hit.passage), _place(hit))
    )
    return Ranking(evidence, [*(better.hits if better else ()), *_called_first(ranked)], coverage)


def _called_first(ranked: Sequence[RankedPassage]) -> Sequence[RankedPassage]:
    """Move the best passage of each document that the query names to the top.

    These passages get the best score of all.
    """
    first: dict[int, RankedPassage] = {}
    for hit in ranked:
        if hit.evidence.called:
            first.setdefault(hit.chunk.document.id, hit)
    if not first:
        return ranked
    rest = [hit for hit in ranked if first.get(hit.chunk.document.id) is not hit]
    return [*(replace(hit, score=ranked[0].score) for hit in first.values()), *rest]


def _place(hit: RankedPassage) -> tuple[str, str, int, int]:
    document = hit.chunk.document
    return document.path, document.source, hit.chunk.ordinal, hit.passage.first


class _MatchedPassage(NamedTuple):
    chunk: ChunkRecord
    passage: Passage
    matches: Matches
    coverage: float
    echo: bool


def _matched_passages(
    chunks: Sequence[ChunkRecord], matcher: TermMatcher, asked: Questions | None
) -> list[_MatchedPassage]:
    names = {
        one.chunk_id: " ".join(
            (
                "" if asked and asked.is_named(one) else one.document.title,
                *one.headings,
                *_context_values(one.document),
            )
        )
        for one in chunks
    }
    texts = [
        *(chunk.text for chunk in chunks),
        *(" ".join(name.split()) for name in names.values()),
    ]
    lines = matcher.match_lines(texts)
    above = dict(zip(names, lines[len(lines) - len(names) :], strict=True))
    starts = dict(
        zip(
            names,
            accumulate((chunk.text.count("\n") + 1 for chunk in chunks), initial=0),
            strict=False,
        )
    )
    by_document: dict[int, list[ChunkRecord]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document.id, []).append(chunk)
    found: list[_MatchedPassage] = []
    for group in by_document.values():
        passages = _passages(group)
        matches = [_matches(lines, starts[chunk.chunk_id], passage) for chunk, passage in passages]
        questions = [passage.is_question for _, passage in passages]
        echoes = [asked is not None and asked.echoes(chunk, passage) for chunk, passage in passages]
        counted = [{} if echo else here for here, echo in zip(matches, echoes, strict=True)]
        coverage = matcher.coverage(
            counted, [above[chunk.chunk_id] for chunk, _ in passages], questions
        )
        for (chunk, passage), here, covered, echo in zip(
            passages, matches, coverage, echoes, strict=True
        ):
            covered = matcher.share(here) if echo else covered
            found.append(_MatchedPassage(chunk, passage, here, covered, echo))
    return found


def _context_values(document: StoredDocument) -> Iterator[str]:
    """Yield frontmatter values that are no passages: tags, and short values such as `done`."""
    if document.frontmatter_json != "{}":
        for key, value in document.frontmatter.items():
            if key in _CONTEXT_KEYS or (document.kind == "note" and key not in NOT_SEARCHED):
                yield from (text for text in scalars(value) if text.count(" ") < _FEW_SPACES)


def _matches(lines: Sequence[Matches], start: int, passage: Passage) -> Matches:
    """Return the matches of a passage; line `start` of `lines` is the first line of its chunk."""
    if passage.first == passage.last:
        return lines[start + passage.first]
    return union(lines[start + passage.first : start + passage.last + 1])


def _passages(chunks: Sequence[ChunkRecord]) -> list[tuple[ChunkRecord, Passage]]:
    """Return the passages of chunks of one document, in document order.

    Chunks overlap: a line in two chunks belongs to the first chunk given. If the lines of a chunk
    are not lines of the file (parts of a long line, cards of a canvas), they are counted per chunk.
    """
    if len(chunks) == 1:
        return [(chunks[0], passage) for passage in split_passages(chunks[0].text)]
    owned: set[tuple[int, int]] = set()
    found: dict[tuple[int, int], tuple[ChunkRecord, Passage]] = {}
    for chunk in chunks:
        of_file = 0 < chunk.end_line - chunk.start_line == chunk.text.count("\n")
        part = 0 if of_file else chunk.ordinal + 1
        for passage in split_passages(chunk.text):
            lines = [
                (chunk.start_line + line, part) for line in range(passage.first, passage.last + 1)
            ]
            own = [place for place in lines if place not in owned]
            if own and len(own) < len(lines):
                first, last = (line - chunk.start_line for line, _ in (own[0], own[-1]))
                passage = passage._replace(first=first, last=last)
            if own:
                found[own[0]] = chunk, passage
                owned.update(own)
    return [found[place] for place in sorted(found)]


def _best_passages(passages: Sequence[_MatchedPassage]) -> list[_MatchedPassage]:
    """Return the best passage of each chunk, and passages whose coverage is close to it.

    The latter must contain a term of the query.
    """
    best: dict[int, _MatchedPassage] = {}
    for one in passages:
        first = best.setdefault(one.chunk.chunk_id, one)
        if ranking_coverage(one.coverage, one.passage) > ranking_coverage(
            first.coverage, first.passage
        ):
            best[one.chunk.chunk_id] = one
    return [
        one
        for one in passages
        if one is (first := best[one.chunk.chunk_id])
        or (one.matches and one.coverage > _SECOND * first.coverage)
    ]
