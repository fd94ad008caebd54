"""The judged queries of the fixture vault defend the quality of search.

The measures are those of `benchmarks/recall.py`; `make record-recall` writes the expected figures.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from benchmarks.answers import costs
from benchmarks.judged import (
    ALL,
    Figures,
    Judgements,
    Results,
    ask_all,
    document_rankings,
    fallen,
    figures,
    open_index,
    passage_rankings,
    read_queries,
    read_set,
    shares_of_none,
    worst,
)  # fmt: skip
from vault_index import VaultIndex
from vault_index.query.ranking import retrieval
from vault_index.results.search import Hit

FOLDER = Path(__file__).parents[1] / "fixtures" / "judged"
JUDGED = read_set(FOLDER)
CONFIDENCE_TOLERANCE = 0.05
RECORDED: Figures = json.loads((FOLDER / "recorded.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    with open_index(JUDGED, tmp_path_factory.mktemp("judged")) as index:
        index.sync()
        yield index


@pytest.fixture(scope="module")
def results(index: VaultIndex) -> Results:
    return ask_all(index, JUDGED.queries)


def test_recall_rankings_are_stable_if_not_all_matches_are_scored(
    index: VaultIndex, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = JUDGED.queries[::4]
    for name, most in {"MOST_TEXTS": 10, "_COUNTED": 5}.items():
        monkeypatch.setattr(retrieval, name, most)
    before, after = document_rankings(results), document_rankings(ask_all(index, sample))
    assert sum(after[query.id] == before[query.id] for query in sample) >= 0.98 * len(sample)


@pytest.mark.parametrize("what", ["documents", "passages"])
def test_recall_of_no_query_class_falls_below_the_record(results: Results, what: str) -> None:
    measured = figures(JUDGED, results)
    falls = fallen({what: RECORDED[what]}, measured)
    assert measured[what].keys() == RECORDED[what].keys()
    assert not falls, "\n".join(_message(*fall, results) for fall in falls)


def test_recall_confidence_is_not_wrong_for_more_queries(index: VaultIndex, results: Results) -> None:
    """`none` for a query that has an answer, or another level for one without (benchmarks/README.md)."""
    off_topic = ask_all(index, read_queries(FOLDER / "offtopic.jsonl"))
    measured, recorded = shares_of_none({"judged": results, "off-topic": off_topic}), RECORDED["none"]
    assert measured["judged"] <= recorded["judged"] + CONFIDENCE_TOLERANCE
    assert measured["off-topic"] >= recorded["off-topic"] - CONFIDENCE_TOLERANCE
    right = {
        level: [
            _right(query, one.results[0]) for query, one in results.items() if one.confidence == level and one.results
        ]
        for level in ("high", "none")
    }
    assert sum(right["high"]) >= 0.97 * len(right["high"])
    assert sum(right["none"]) <= 0.05 * len(results)
    assert all(answer.confidence != "high" for answer in off_topic.values())


def test_recall_hidden_weak_hits_are_rarely_right(results: Results) -> None:
    """Among the first ten hits of answered queries; and no such answer loses all of its hits."""
    sure = {query: result.results[:10] for query, result in results.items() if result.confidence != "none"}
    found = {(query, hit.path): True for query, hits in sure.items() for hit in hits if _right(query, hit)}
    for query, hits in sure.items():
        found |= {(query, hit.path): False for hit in hits if not hit.weak and _right(query, hit)}
        assert not all(hit.weak for hit in hits), query
    assert sum(found.values()) <= 0.025 * len(found)
    assert sum(hit.weak for hits in sure.values() for hit in hits) >= 0.3 * sum(map(len, sure.values()))


def _right(query: str, hit: Hit) -> bool:
    return f"docs/{hit.path}" in JUDGED.documents[query]


def test_recall_answers_are_cheap_and_show_the_judged_line(index: VaultIndex) -> None:
    found = costs(index, JUDGED, weak=False)
    assert median(found.toon) <= 60
    assert median(found.toon) <= 0.65 * median(found.json)
    assert found.whole >= 0.95 * found.pointed


def _message(what: str, kind: str, then: float, now: float, results: Results) -> str:
    judgements: Judgements = JUDGED.documents if what == "documents" else JUDGED.passages
    rankings = document_rankings(results) if what == "documents" else passage_rankings(results, JUDGED.passages)
    queries = [query for query in JUDGED.queries if kind in (query.kind, ALL)]
    misses = [f"  {miss.ndcg_10:.2f} {miss.query.text!r}" for miss in worst(queries, judgements, rankings, 5)]
    return "\n".join([f"{what}, {kind}: nDCG@10 fell from {then:.3f} to {now:.3f}. Worst now:", *misses])
