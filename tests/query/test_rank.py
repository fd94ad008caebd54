from collections.abc import Collection, Mapping, Sequence
from functools import partial

from tests.query.records import chunk_record
from vault_index.config.schema import RankingConfig
from vault_index.query.ranking.passages import RankedPassage, TermMatcher
from vault_index.query.ranking.rank import Scorer, boosts, rank
from vault_index.query.ranking.retrieval import Evidence, QueryTerm
from vault_index.store.records import ChunkRecord

NOW = 1e9
TERMS = tuple(
    QueryTerm(word, {word: 1.0}, False, weight, known=True) for word, weight in (("heron", 2.0), ("lake", 1.0))
)


def as_written(words: Collection[str]) -> Mapping[str, str]:
    return {word: word for word in words}


def ranked(
    chunks: Sequence[ChunkRecord],
    evidence: Mapping[int, Evidence] | None = None,
    *,
    text: bool = True,
    vector: float = 0.0,
    config: RankingConfig | None = None,
) -> Sequence[RankedPassage]:
    evidence = evidence or {chunk.chunk_id: Evidence(bm25=1.0) for chunk in chunks}
    factors = partial(boosts, config or RankingConfig(), NOW)
    scorer = Scorer(evidence, text=text, vector=vector)
    return rank(chunks, evidence, TermMatcher(TERMS, as_written), scorer, factors)


def focus(hits: Sequence[RankedPassage]) -> list[tuple[int, int]]:
    return [(hit.chunk.start_line + hit.passage.first, hit.chunk.start_line + hit.passage.last) for hit in hits]


def test_rank_shows_each_matching_passage_of_a_chunk() -> None:
    lines = ["- a heron on the lake", "- tea", "- tea", "- tea", "- tea", "- a lake"]
    assert focus(ranked([chunk_record("\n".join(lines))])) == [(1, 1), (6, 6)]
    assert focus(ranked([chunk_record("- tea\n- tea")])) == [(1, 1)]


def test_rank_shows_a_paragraph_cut_in_two_once() -> None:
    lines = [f"the heron {number} of the lake" for number in range(8)]
    first = chunk_record("\n".join(lines[:5]), 1)
    second = chunk_record("\n".join(lines[3:]), 2, start_line=4)
    assert focus(ranked([first, second])) == [(1, 5), (6, 8)]
    assert sorted(focus(ranked([second, first]))) == [(1, 3), (4, 8)]


def test_rank_factors_never_lift_a_weak_passage_over_an_exact_one() -> None:
    exact = chunk_record("A heron on the lake.", 1, document_id=1, kind="memory", updated=0.0, valid_until=1.0)
    weak = chunk_record("A lake and many other things.", 2, document_id=2, kind="memory", updated=NOW)
    evidence = {1: Evidence(bm25=8.0, cosine=0.6), 2: Evidence(bm25=3.0, cosine=0.3)}
    assert [hit.chunk.chunk_id for hit in ranked([exact, weak], evidence, vector=1.0)] == [1, 2]
