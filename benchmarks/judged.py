"""Read judged sets, query an index with them, and compute the usual measures.

A set is a folder with `docs/`, `queries.jsonl` and `qrels*.tsv`. `qrels.tsv` judges documents
(`docs/a.md`). Another `qrels.*.tsv` judges passages, by line (`docs/a.md:12`) or by block id
(`docs/a.md#^block`). An optional `recorded.json` has the figures that `tests/test_recall.py`
defends.
"""

import json
import math
import re
import statistics
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_index import VaultIndex
from vault_index.config.edit import create_config, set_value
from vault_index.config.home import find_home
from vault_index.markdown.normalize import split_lines
from vault_index.query.search import Mode
from vault_index.results.search import Hit, SearchResult

Judgements = Mapping[str, Mapping[str, int]]
"""Grades above zero by query and document or passage."""
Rankings = Mapping[str, Sequence[str]]
"""Documents or passages by query, best first."""
Results = Mapping[str, SearchResult]
"""Answers by query."""
Figures = dict[str, dict[str, float]]
"""nDCG@10 by what is judged (`documents`, `passages`) and class."""

ALL = "all"
TOLERANCE = 0.02
"""What a recorded figure may lose unnoticed."""

_BLOCK_ID = re.compile(r"\^([\w-]+)\s*$")


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a set."""

    id: str
    text: str
    kind: str
    """The class in reports: its `kind`, `category` or `lang`; empty without one."""
    scope: str
    """A folder below `docs/` the answer must lie in, or empty."""
    orig: str
    """What a query with typos was meant to say, empty for others."""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A set with its queries and judgements."""

    folder: Path
    docs: Path
    queries: tuple[Query, ...]
    documents: Judgements
    passages: Judgements
    """By `docs/a.md:12`; empty where only documents are judged."""


@dataclass(frozen=True, slots=True)
class Measures:
    """The measures of one run."""

    ndcg_10: float
    recall_10: float
    mrr_10: float
    """Of what has the highest grade: 1 / the rank of the first, 0 past the tenth."""
    hit_10: float
    """The share of queries with anything relevant among the first ten."""
    queries: int


@dataclass(frozen=True, slots=True)
class Miss:
    """A query, how well it was answered, where the answer stands, and what came first instead."""

    query: Query
    ndcg_10: float
    expected: tuple[str, ...]
    came: tuple[str, ...]


# --- reading --------------------------------------------------------------------------------------


def read_set(folder: Path, queries_file: str = "queries.jsonl") -> JudgedSet:
    """The documents lie in `docs/`, or in a folder `vault` beside the set."""
    docs = folder / "docs" if (folder / "docs").is_dir() else folder.parent / "vault"
    passages = next(iter(sorted(folder.glob("qrels.*.tsv"))), None)
    return JudgedSet(
        folder,
        docs,
        tuple(read_queries(folder / queries_file)),
        read_judgements(folder / "qrels.tsv"),
        _by_line(read_judgements(passages), docs) if passages else {},
    )


def read_queries(path: Path) -> list[Query]:
    """Read the queries of a file."""
    with path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Query(
            one["id"],
            one["text"],
            one.get("kind") or one.get("category") or one.get("lang") or "",
            one.get("scope", "").removeprefix("docs/"),
            one.get("orig", ""),
        )
        for one in records
    ]


def read_judgements(path: Path) -> dict[str, dict[str, int]]:
    """Grades above zero by query and document or passage, as they are written."""
    judgements: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, place, grade = line.rstrip("\n").split("\t")
            if int(grade) > 0:
                judgements.setdefault(query, {})[place] = int(grade)
    return judgements


def _by_line(judgements: Judgements, docs: Path) -> Judgements:
    """Return `docs/a.md#^block` as `docs/a.md:12`; an unknown block stays and never matches."""
    blocks: dict[str, str] = {}
    places = {place for grades in judgements.values() for place in grades if "#^" in place}
    for document in {place.partition("#^")[0] for place in places}:
        text = (docs / document.removeprefix("docs/")).read_bytes().decode()
        for number, line in enumerate(split_lines(text), start=1):
            if block := _BLOCK_ID.search(line):
                blocks[f"{document}#^{block[1]}"] = f"{document}:{number}"
    return {
        query: {blocks.get(place, place): grade for place, grade in grades.items()}
        for query, grades in judgements.items()
    }


# --- asking ---------------------------------------------------------------------------------------


def open_index(judged: JudgedSet, home: Path, model: str = "") -> VaultIndex:
    """Return an index of the documents in `home`, with a local model.

    Call `sync` before queries.
    """
    places = find_home(home)
    create_config(places, judged.docs, provider="local", memory_dir=None)
    if model:
        set_value(places, "embedding.model", model)
    return VaultIndex.open(places)


def home_name(folder: Path, model: str) -> str:
    """Each model has an index of its own."""
    return f"{folder.name}@{model}" if model else folder.name


def sync(index: VaultIndex, name: str) -> None:
    """Sync and embed the index."""
    started = time.monotonic()
    report = index.sync()
    if report.added or report.changed:
        seconds = time.monotonic() - started
        print(f"{name}: {report.chunks} chunks in {seconds:.0f} s", file=sys.stderr, flush=True)


def sampled(queries: Sequence[Query], sample: int) -> tuple[Query, ...]:
    """About `sample` of the queries, evenly drawn; all of them for 0."""
    return tuple(queries[:: max(len(queries) // sample, 1)] if sample else queries)


def ask(index: VaultIndex, query: Query, mode: Mode = "hybrid") -> SearchResult:
    """Return many hits, and many per document, to measure passages as deep as documents."""
    return index.search(query.text, mode=mode, limit=40, per_document=10, path=query.scope or None)


def ask_all(index: VaultIndex, queries: Iterable[Query], mode: Mode = "hybrid") -> Results:
    """Return the answers to all queries."""
    return {query.id: ask(index, query, mode) for query in queries}


def ask_timed(index: VaultIndex, queries: Sequence[Query], mode: Mode) -> tuple[Results, float]:
    """The answers, and the median of the milliseconds each took."""
    results, spent = {}, []
    for query in queries:
        started = time.perf_counter()
        results[query.id] = ask(index, query, mode)
        spent.append((time.perf_counter() - started) * 1000)
    return results, statistics.median(spent) if spent else 0.0


def document_rankings(results: Results) -> Rankings:
    """Return the documents by query, best first."""
    return {id_: [f"docs/{hit.path}" for hit in result.results] for id_, result in results.items()}


def passage_rankings(results: Results, judgements: Judgements) -> Rankings:
    """The line each hit points at; where its focus has several lines, the best of them."""
    return {
        id_: [
            max(_focused(hit), key=lambda place: judgements.get(id_, {}).get(place, 0))
            for hit in result.results
        ]
        for id_, result in results.items()
    }


def _focused(hit: Hit) -> list[str]:
    return [f"docs/{hit.path}:{line}" for line in range(hit.focus[0], hit.focus[1] + 1)]


# --- measuring ------------------------------------------------------------------------------------


def ndcg(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain with linear gain, as in trec_eval."""

    def discounted(values: Iterable[int]) -> float:
        return sum(grade / math.log2(rank + 2) for rank, grade in enumerate(values))

    gained = discounted(grades.get(document, 0) for document in ranking[:depth])
    best = discounted(sorted(grades.values(), reverse=True)[:depth])
    return gained / best if best else 0.0


def recall(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    """Return the share of relevant documents among the first `depth`."""
    return sum(document in grades for document in ranking[:depth]) / len(grades)


def mrr(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    """Return the reciprocal rank of the first item with the highest grade.

    So if grades separate the wanted answers from acceptable ones, only the former count.
    """
    highest = max(grades.values())
    ranks = (rank for rank, one in enumerate(ranking[:depth], 1) if grades.get(one) == highest)
    return 1 / next(ranks, math.inf)


def any_hit(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    """Return 1 if anything relevant is among the first `depth`, else 0."""
    return float(any(document in grades for document in ranking[:depth]))


def measure(judgements: Judgements, rankings: Rankings) -> Measures:
    """Return the means over the judged queries; a document counts once, at its best rank."""
    judged = [query for query in rankings if query in judgements]
    unique = {query: list(dict.fromkeys(rankings[query])) for query in judged}
    ndcg_10, recall_10, mrr_10, hit_10 = (
        sum(of_one(judgements[query], unique[query]) for query in judged) / max(len(judged), 1)
        for of_one in (ndcg, recall, mrr, any_hit)
    )
    return Measures(ndcg_10, recall_10, mrr_10, hit_10, len(judged))


def measure_classes(
    queries: Sequence[Query], judgements: Judgements, rankings: Rankings
) -> dict[str, Measures]:
    """Of all queries together, and of each class where there are several."""
    kinds = sorted({query.kind for query in queries})
    groups = {ALL: queries} | (
        {kind: [q for q in queries if q.kind == kind] for kind in kinds} if kinds[1:] else {}
    )
    return {
        name: measure(judgements, {q.id: rankings[q.id] for q in group})
        for name, group in groups.items()
    }


def figures(judged: JudgedSet, results: Results) -> Figures:
    """What `recorded.json` records."""
    rankings = {"documents": (judged.documents, document_rankings(results))}
    if judged.passages:
        rankings["passages"] = (judged.passages, passage_rankings(results, judged.passages))
    return {
        what: {
            name: round(measures.ndcg_10, 4)
            for name, measures in measure_classes(judged.queries, judgements, ranked).items()
        }
        for what, (judgements, ranked) in rankings.items()
    }


def shares_of_none(results: Mapping[str, Results]) -> dict[str, float]:
    """How many of the queries of each kind were told that nothing answers them."""
    return {
        name: round(sum(one.confidence == "none" for one in answers.values()) / len(answers), 4)
        for name, answers in results.items()
    }


def fallen(recorded: Figures, measured: Figures) -> list[tuple[str, str, float, float]]:
    """Return the figures that fell by more than the tolerance: kind, class, before and now."""
    return [
        (what, name, then, measured[what][name])
        for what, classes in recorded.items()
        for name, then in classes.items()
        if measured[what][name] < then - TOLERANCE
    ]


def worst(
    queries: Iterable[Query], judgements: Judgements, rankings: Rankings, count: int
) -> list[Miss]:
    """Return the judged queries with the worst answers, worst first."""
    misses = []
    for query in queries:
        if grades := judgements.get(query.id):
            came = list(dict.fromkeys(rankings[query.id]))
            expected = sorted(grades, key=lambda place: -grades[place])
            misses.append(Miss(query, ndcg(grades, came), tuple(expected[:3]), tuple(came[:3])))
    return sorted(misses, key=lambda miss: miss.ndcg_10)[:count]
