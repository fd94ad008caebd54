"""Judged sets: a folder with `docs/`, `queries.jsonl` and `qrels*.tsv`, and the usual measures over rankings."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Query:
    id: str
    text: str
    kind: str
    """The class the query is reported under: its `kind` or `category`, empty without one."""
    scope: str
    """A folder below `docs/` the answer must lie in, or empty."""


@dataclass(frozen=True, slots=True)
class Measures:
    ndcg_10: float
    recall_10: float
    queries: int


def read_queries(path: Path) -> list[Query]:
    with path.open(encoding="utf-8") as lines:
        records = [json.loads(line) for line in lines]
    return [
        Query(r["id"], r["text"], r.get("kind") or r.get("category") or "", r.get("scope", "").removeprefix("docs/"))
        for r in records
    ]


def read_judgements(path: Path) -> dict[str, dict[str, int]]:
    """Grades above zero by query and document (`docs/a.md`, or `docs/a.md#^block` where passages are judged)."""
    judgements: dict[str, dict[str, int]] = {}
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            query, document, grade = line.rstrip("\n").split("\t")
            if int(grade) > 0:
                judgements.setdefault(query, {})[document] = int(grade)
    return judgements


def ndcg(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    """Normalised discounted cumulative gain with linear gain, as in trec_eval."""
    gained = sum(grades.get(document, 0) / math.log2(rank + 2) for rank, document in enumerate(ranking[:depth]))
    best = sum(grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades.values(), reverse=True)[:depth]))
    return gained / best if best else 0.0


def recall(grades: Mapping[str, int], ranking: Sequence[str], depth: int = 10) -> float:
    return sum(document in grades for document in ranking[:depth]) / len(grades)


def measure(judgements: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]]) -> Measures:
    """Means over the queries of `rankings` that are judged; a document counts once, at its best rank."""
    judged = [query for query in rankings if query in judgements]
    if not judged:
        return Measures(0.0, 0.0, 0)
    unique = {query: list(dict.fromkeys(rankings[query])) for query in judged}
    return Measures(
        sum(ndcg(judgements[q], unique[q]) for q in judged) / len(judged),
        sum(recall(judgements[q], unique[q]) for q in judged) / len(judged),
        len(judged),
    )
