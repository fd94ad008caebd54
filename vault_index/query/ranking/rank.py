"""Combines the evidence of a chunk into one score in 0..1 for each of its passages.

The ranking is score-based, because that measured better than reciprocal rank fusion
(benchmarks/README.md). A score is a weighted sum of numbers in 0..1: BM25 divided by the best BM25
of the answer, the cosine, and the coverage of the query in and around the passage. The lower the
best coverage, the more the cosine counts: a paraphrase shares few words with the note.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from vault_index.config.schema import RankingConfig
from vault_index.fields import NO_PASSAGE, NOT_SEARCHED, scalars
from vault_index.query.ranking.echoes import RecentQuestions
from vault_index.query.ranking.passages import (
    Matches,
    Parts,
    Passage,
    RankedPassage,
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
_DAY = 86_400.0


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
    """Scores the chunks of one answer.

    `text` is whether the text channel was searched; without it only the cosine counts. `vector` is
    how far to trust the cosine, from 0 to 1. `crossing` is whether the model finds texts in other
    languages. These share no words with the query, so BM25 and coverage are squared and the cosine
    counts double: a few shared words must not lift a text in the query's language above them.
    """

    def __init__(
        self,
        evidence: Mapping[int, Evidence],
        *,
        text: bool,
        vector: float,
        crossing: bool = False,
    ) -> None:
        self._power = 2 if crossing else 1
        self._best_text = max((one.bm25 or 0.0 for one in evidence.values()), default=0.0) or 1.0
        weights = Parts(TEXT, VECTOR * vector * self._power, NAME, PASSAGE)
        self._given = weights if text else Parts(0.0, 1.0, 0.0, 0.0)
        self.set_coverage(1.0)

    def set_coverage(self, best: float) -> None:
        """Weigh the cosine by the best coverage of the answer."""
        vector = self._given.vector * (1.0 + _VECTOR_GAIN * (1.0 - best))
        weights = self._given._replace(vector=vector)
        self._weights = Parts(*(weight / sum(weights) for weight in weights))

    def parts(self, evidence: Evidence, coverage: float = 0.0) -> Parts:
        """Return the parts of the score of a passage with this coverage."""
        text = max(evidence.bm25 or 0.0, 0.0) / self._best_text
        return Parts(
            text=self._weights.text * text**self._power,
            vector=self._weights.vector * max(evidence.cosine or 0.0, 0.0),
            name=self._weights.name * (evidence.name or 0.0),
            passage=self._weights.passage * coverage**self._power,
        )


def order(
    evidence: Mapping[int, Evidence],
    scorer: Scorer,
    in_order: Callable[[Collection[int]], Mapping[int, int]],
) -> list[int]:
    """Return the chunk ids, best first by the channels alone; documents named by the query first.

    `in_order` gives the positions of chunks with equal scores.
    """
    scores = {id_: (one.called, sum(scorer.parts(one))) for id_, one in evidence.items()}
    counts = Counter(scores.values())
    tied = [id_ for id_, score in scores.items() if counts[score] > 1]
    place = in_order(tied) if tied else {}
    by_place = sorted(scores, key=lambda id_: place.get(id_, 0))
    return sorted(by_place, key=scores.__getitem__, reverse=True)


def rank(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence],
    matcher: TermMatcher,
    scorer: Scorer,
    *,
    boosts: Boosts | None = None,
    highest: float | None = None,
    questions: RecentQuestions | None = None,
) -> list[RankedPassage]:
    """Return the passages of `chunks`, best first.

    `highest` is the lowest score of better chunks, which limits the scores; None for the best
    chunks, whose coverage decides how much the cosine counts.
    Ties are broken by path and position, so that equal files give equal answers. `questions`
    detects passages that only repeat the query.
    """
    passages = _matched_passages(chunks, matcher, questions)
    if highest is None:
        scorer.set_coverage(max((one.coverage for one in passages), default=0.0))
    limit = 1.0 if highest is None else highest
    boosts_of = {chunk.chunk_id: boosts.of(chunk) if boosts else {} for chunk in chunks}
    ranked = []
    for chunk, passage, matches, covered, echo in _best_passages(passages):
        of_chunk = evidence[chunk.chunk_id]
        parts = scorer.parts(of_chunk, ranking_coverage(covered, passage))
        factors = boosts_of[chunk.chunk_id]
        score = min(sum(parts) * math.prod(factors.values()), limit)
        ranked.append(
            RankedPassage(chunk, passage, of_chunk, parts, covered, matches, score, factors, echo)
        )
    # If coverage is not part of the score, it orders the passages within a chunk.
    ranked.sort(
        key=lambda hit: (-hit.score, -ranking_coverage(hit.coverage, hit.passage), _place(hit))
    )
    return _called_first(ranked)


def _called_first(ranked: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Move the best passage of each document that the query names to the top.

    These passages get the best score of all.
    """
    first: dict[int, RankedPassage] = {}
    for hit in ranked:
        if hit.evidence.called:
            first.setdefault(hit.chunk.document.id, hit)
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
    chunks: Sequence[ChunkRecord], matcher: TermMatcher, questions: RecentQuestions | None
) -> list[_MatchedPassage]:
    names = [
        " ".join(
            (
                "" if questions and questions.is_named(one) else one.document.title,
                *one.headings,
                *_context_values(one.document),
            )
        )
        for one in chunks
    ]
    ids = [chunk.chunk_id for chunk in chunks]
    lines = dict(zip(ids, matcher.match_lines([chunk.text for chunk in chunks]), strict=True))
    above = dict(zip(ids, map(union, matcher.match_lines(names)), strict=True))
    by_document: dict[int, list[ChunkRecord]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document.id, []).append(chunk)
    found: list[_MatchedPassage] = []
    for group in by_document.values():
        passages = _passages(group)
        matches = [
            union(lines[chunk.chunk_id][passage.first : passage.last + 1])
            for chunk, passage in passages
        ]
        echoes = [bool(questions and questions.echoes(*one)) for one in passages]
        coverage = matcher.coverage(
            [{} if echo else here for here, echo in zip(matches, echoes, strict=True)],
            [above[chunk.chunk_id] for chunk, _ in passages],
            [passage.is_question for _, passage in passages],
        )
        for place, here, covered, echo in zip(passages, matches, coverage, echoes, strict=True):
            covered = matcher.share(here) if echo else covered
            found.append(_MatchedPassage(*place, here, covered, echo))
    return found


def _context_values(document: StoredDocument) -> Iterator[str]:
    """Yield frontmatter values that are no passages: tags, and short values such as `done`."""
    if document.frontmatter_json != "{}":
        for key, value in document.frontmatter.items():
            if key in _CONTEXT_KEYS or (document.kind == "note" and key not in NOT_SEARCHED):
                yield from (text for text in scalars(value) if text.count(" ") < _FEW_SPACES)


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
    """Return the best passage of each chunk, and all that contain a term of the query."""
    best: dict[int, _MatchedPassage] = {}
    for one in sorted(passages, key=lambda one: -ranking_coverage(one.coverage, one.passage)):
        best.setdefault(one.chunk.chunk_id, one)
    return [one for one in passages if one.matches or one is best[one.chunk.chunk_id]]
