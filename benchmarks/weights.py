"""Fit the weights of the ranking, and try them on a set that they were not fitted on.

    python -m benchmarks.weights FOLDER... [--sample N] [--model NAME] [--home FOLDER]

The passages of the first answer pages are recorded with their features, and scored again with other
weights. A coordinate search changes one weight at a time, for the best mean nDCG@10 of all sets
but one; a set may lose at most .003. The figures are those of the set left out: the documents, and
the lines where a set judges them. Only every other query is used, so that the rest stay unseen.
"""

import argparse
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.judged import Query, ask, home_name, ndcg, open_index, read_set, sampled, sync
from benchmarks.machine import arguments
from vault_index import VaultIndex
from vault_index.query import search
from vault_index.query.ranking import rank as ranking
from vault_index.query.ranking.passages import RankedPassage, union

HAND = {
    "text": ranking.TEXT,
    "vector": ranking.VECTOR,
    "vector without words": ranking.VECTOR * ranking._VECTOR_GAIN,
    "name": ranking.NAME,
    "passage": ranking.PASSAGE,
    "above": 0.0,
    "document": 0.0,
}
"""The weights of each feature now. `vector without words` is the cosine times the share of the
query that no passage covers; `above` is the share in title and headings, `document` that in all
passages of the document that were ranked."""
FACTORS = (0.0, 0.5, 0.7, 0.85, 1.2, 1.5, 2.0)
FIRST = 0.05
"""What a weight of zero becomes first."""
FLOOR = 0.003
Array = np.ndarray[Any, np.dtype[np.float64]]


class Answer(NamedTuple):
    """The ranked passages of one query, a row of features each."""

    features: Array
    boosts: Array
    called: Array
    documents: Sequence[str]
    lines: Sequence[str]
    """The best judged line of each passage, or its first line."""
    judgements: Sequence[Mapping[str, int]]
    """Grades of documents, and of lines if the set judges them."""

    def ndcg(self, weights: Sequence[float]) -> float:
        """Return nDCG@10, the mean of that of documents and lines."""
        scores = self.features @ np.asarray(weights) * self.boosts
        ranked = np.lexsort((-scores, -self.called))
        values = []
        for grades, places in zip(self.judgements, (self.documents, self.lines), strict=False):
            values.append(ndcg(grades, list(dict.fromkeys(places[row] for row in ranked))))
        return sum(values) / len(values)


def features(
    hits: Sequence[RankedPassage], above: Mapping[int, float], scorer: ranking.Scorer, matcher: Any
) -> Iterator[list[float]]:
    """Yield the features of each passage of an answer, in the order of `HAND`."""
    power, known = scorer._power, scorer._given.vector / ranking.VECTOR
    lacking = 1.0 - max((hit.coverage for hit in hits), default=0.0)
    held: dict[int, list[Any]] = {}
    for hit in hits:
        held.setdefault(hit.chunk.document.id, []).append(hit.matched)
    whole = {id_: matcher.share(union(matched)) for id_, matched in held.items()}
    for hit in hits:
        evidence = hit.evidence
        cosine = max(evidence.cosine or 0.0, 0.0) * known
        text = max(evidence.bm25 or 0.0, 0.0) / scorer._best_text
        yield [
            text**power,
            cosine,
            cosine * lacking,
            evidence.name or 0.0,
            hit.ranking_coverage**power,
            above[hit.chunk.chunk_id],
            whole[hit.chunk.document.id],
        ]


def record(
    index: VaultIndex, query: Query, judgements: Sequence[Mapping[str, Mapping[str, int]]]
) -> Answer | None:
    """Ask a query, and return the passages that were ranked for it."""
    calls: list[tuple[list[RankedPassage], dict[int, float], Any, Any]] = []

    def recorded(
        chunks: Any, evidence: Any, matcher: Any, scorer: Any, *rest: Any
    ) -> list[RankedPassage]:
        found = ranking.rank(chunks, evidence, matcher, scorer, *rest)
        above = {
            chunk.chunk_id: matcher.share_of(ranking._context(chunk, None)) for chunk in chunks
        }
        calls.append((found, above, scorer, matcher))
        return found

    with patch.object(search, "rank", recorded):
        ask(index, query)
    hits = [hit for found, *_ in calls for hit in found]
    if not hits:
        return None
    above = {id_: share for _, one, *_ in calls for id_, share in one.items()}
    grades = [one[query.id] for one in judgements if query.id in one]
    documents = [f"docs/{hit.chunk.document.path}" for hit in hits]
    lines = []
    for hit, document in zip(hits, documents, strict=True):
        span = range(hit.passage.first, hit.passage.last + 1)
        places = [f"{document}:{hit.chunk.start_line + line}" for line in span]
        lines.append(max(places, key=lambda place: grades[-1].get(place, 0)))
    return Answer(
        np.array([*features(hits, above, calls[0][2], calls[0][3])]),
        np.array([math.prod(hit.boosts.values()) for hit in hits]),
        np.array([float(hit.evidence.called) for hit in hits]),
        documents,
        lines,
        grades,
    )


def mean(answers: Sequence[Answer], weights: Sequence[float]) -> float:
    """Return the mean nDCG@10 of one set."""
    return sum(answer.ndcg(weights) for answer in answers) / len(answers)


def fit(sets: Sequence[Sequence[Answer]]) -> list[float]:
    """Return the weights with the best mean over the sets, from a search that begins by hand."""
    weights = [*HAND.values()]
    floors = [mean(answers, weights) - FLOOR for answers in sets]
    best, improved = sum(floors), True
    while improved:
        improved = False
        for place in range(len(weights)):
            for value in [weights[place] * factor or FIRST for factor in FACTORS]:
                tried = [*weights[:place], value, *weights[place + 1 :]]
                means = [mean(answers, tried) for answers in sets]
                if sum(means) > best + 1e-4 and all(map(float.__ge__, means, floors)):
                    best, weights, improved = sum(means), tried, True
    return weights


def answers_of(folder: Path, home: Path, options: argparse.Namespace) -> list[Answer]:
    """Return the recorded answers of one set."""
    judged = read_set(folder)
    judgements = [one for one in (judged.documents, judged.passages) if one]
    half = [query for query in judged.queries if query.id in judged.documents][::2]
    with open_index(judged, home / home_name(folder, options.model), options.model) as index:
        sync(index, folder.name)
        found = [record(index, query, judgements) for query in sampled(half, options.sample)]
    return [answer for answer in found if answer]


def main() -> None:
    """Run the program."""
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--sample", type=int, default=0, help="about N queries (default: half)")
    parser.add_argument("--model", default="", help="a local model (default: the shipped one)")
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = (options.home or Path(temporary)).resolve()
        sets = {
            folder.name: answers_of(folder.resolve(), home, options) for folder in options.folders
        }
    hand = [*HAND.values()]
    print(f"{'left out':20}{'by hand':>9}{'fitted':>9}  weights: {', '.join(HAND)}", flush=True)
    for name, answers in {**sets, "nothing": []}.items():
        weights = fit([others for other, others in sets.items() if other != name])
        means = [mean(answers, one) if answers else math.nan for one in (hand, weights)]
        shown = " ".join(f"{weight:.2f}" for weight in weights)
        print(f"{name:20}{means[0]:9.4f}{means[1]:9.4f}  {shown}", flush=True)


if __name__ == "__main__":
    main()
