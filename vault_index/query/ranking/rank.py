"""Combines the evidence of a chunk into one score in 0..1 for each of its passages.

The ranking is score-based, because that measured better than reciprocal rank fusion
(benchmarks/README.md). A score is a weighted sum of numbers in 0..1: BM25 divided by the best BM25
of the answer, the cosine, and the coverage of the query in and around the passage. The lower the
best coverage, the more the cosine counts: a paraphrase shares few words with the note.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from vault_index.config.schema import RankingConfig
from vault_index.fields import NO_PASSAGE, NOT_SEARCHED
from vault_index.markdown.normalize import scalars
from vault_index.query.ranking.echoes import RecentQuestions
from vault_index.query.ranking.passages import (
    Parts,
    Passage,
    RankedPassage,
    TermMatcher,
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


def boosts(config: RankingConfig, now: float, document: StoredDocument) -> dict[str, float]:
    """Return the small corrections of a score at `now` that differ from 1.0, by name.

    There are few, all near 1.0, so that they cannot hide a passage that answers the query. Recency
    decays by half-lives from 1 (new) to 1 - weight (old).
    """
    of_kind = {"memory": config.recency_memories, "session": config.recency_sessions}
    age_days = max(now - max(document.updated, document.created), 0.0) / 86_400
    age = 1.0 - math.exp2(-age_days / config.half_life_days)
    outdated = document.valid_until is not None and document.valid_until <= now
    found = {
        "recency": 1.0 - of_kind.get(document.kind, config.recency_notes) * age,
        "outdated": 1.0 - config.outdated * outdated,
    }
    return {name: factor for name, factor in found.items() if factor != 1.0}


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
    boosts: Callable[[StoredDocument], Mapping[str, float]] | None = None,
    highest: float | None = None,
    questions: RecentQuestions | None = None,
) -> list[RankedPassage]:
    """Return the passages of `chunks`, best first.

    `highest` is the lowest score of better chunks, which limits the scores; None for the best
    chunks, whose coverage decides how much the cosine counts.
    Ties are broken by path and position, so that equal files give equal answers. `questions`
    detects passages that only repeat the query.
    """
    if questions:
        own = ((chunk, evidence[chunk.chunk_id]) for chunk in chunks)
        evidence = {chunk.chunk_id: questions.evidence_of(chunk, one) for chunk, one in own}
    passages = _matched_passages(chunks, evidence, matcher, questions)
    if highest is None:
        scorer.set_coverage(max((hit.coverage for hit in passages), default=0.0))
    documents = {chunk.document.id: chunk.document for chunk in chunks}
    boosts_of = {id_: boosts(one) if boosts else {} for id_, one in documents.items()}
    ranked = []
    for hit in _best_passages(passages):
        factors = boosts_of[hit.chunk.document.id]
        parts = scorer.parts(hit.evidence, hit.ranking_coverage)
        score = min(sum(parts) * math.prod(factors.values()), 1.0 if highest is None else highest)
        ranked.append(hit._replace(parts=parts, score=score, boosts=factors))
    # If coverage is not part of the score, it orders the passages within a chunk.
    ranked.sort(key=lambda hit: (-hit.score, -hit.ranking_coverage, _place(hit)))
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
    return [*(hit._replace(score=ranked[0].score) for hit in first.values()), *rest]


def _place(hit: RankedPassage) -> tuple[str, str, int, int]:
    document = hit.chunk.document
    return document.path, document.source, hit.chunk.ordinal, hit.passage.first


def _matched_passages(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence],
    matcher: TermMatcher,
    questions: RecentQuestions | None,
) -> list[RankedPassage]:
    """Return the passages of `chunks` with their matches and coverage, without scores."""
    ids = [chunk.chunk_id for chunk in chunks]
    names = [_context(chunk, questions) for chunk in chunks]
    lines = dict(zip(ids, matcher.match_lines([chunk.text for chunk in chunks]), strict=True))
    above = dict(zip(ids, map(union, matcher.match_lines(names)), strict=True))
    by_document: dict[int, list[ChunkRecord]] = {}
    for chunk in chunks:
        by_document.setdefault(chunk.document.id, []).append(chunk)
    found: list[RankedPassage] = []
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
        for (chunk, passage), here, covered, echo in zip(
            passages, matches, coverage, echoes, strict=True
        ):
            share = matcher.share(here) if echo else covered
            own = evidence[chunk.chunk_id]
            found.append(RankedPassage(chunk, passage, own, share, here, echo=echo))
    return found


def _context(chunk: ChunkRecord, questions: RecentQuestions | None) -> str:
    """Return the title, headings and short frontmatter values that apply to a chunk."""
    title = "" if questions and questions.is_named(chunk) else chunk.document.title
    return " ".join((title, *chunk.headings, *_context_values(chunk.document)))


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


def _best_passages(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Return the best passage of each chunk, and all that contain a term of the query."""
    best: dict[int, RankedPassage] = {}
    for hit in sorted(passages, key=lambda hit: -hit.ranking_coverage):
        best.setdefault(hit.chunk.chunk_id, hit)
    return [hit for hit in passages if hit.matched or hit is best[hit.chunk.chunk_id]]
