"""Measure recall on judged sets: nDCG@10 and recall@10 of text, vector and hybrid search.

    python -m benchmarks.recall FOLDER... [--sample N] [--typos] [--worst N] [--offtopic SET]
    python -m benchmarks.recall --record fixtures/judged

FOLDER holds `docs/`, `queries.jsonl` and `qrels.tsv`. With another `qrels.*.tsv`, passages judged
by line or by `#^block-id` are measured too, by the focus of each hit. Figures are printed for each
class of queries, beside plain BM25 over whole files (`2-grams` cuts languages without spaces into
pairs of characters). `floor` is hybrid minus the best other column: below zero, the ranking has a
defect. Queries about nothing in the documents, in `offtopic.jsonl` or named by --offtopic, show how
reliable `confidence` is. With --home, the indexes are kept and reused.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.baseline import PlainIndex
from benchmarks.judged import (
    JudgedSet,
    Query,
    Rankings,
    Results,
    ask_all,
    ask_timed,
    document_rankings,
    figures,
    home_name,
    measure_classes,
    open_index,
    passage_rankings,
    read_queries,
    read_set,
    sampled,
    shares_of_none,
    sync,
    worst,
)
from benchmarks.machine import arguments, describe
from vault_index import VaultIndex
from vault_index.query.search import Mode

CHANNELS: tuple[Mode, ...] = ("text", "vector", "hybrid")
_MEASURES = {"nDCG@10": "ndcg_10", "recall@10": "recall_10", "MRR@10": "mrr_10", "hit@10": "hit_10"}


def rankings_of(
    judged: JudgedSet, results: Mapping[str, Results], passages: bool, plain: bool
) -> dict[str, Rankings]:
    """Return the rankings of the baseline (if `plain`) and of each run."""
    found: dict[str, Rankings] = {}
    if plain:
        for name, grams in (("BM25", False), ("2-grams", True)):
            index = PlainIndex(judged, grams=grams, by_line=passages)
            found[name] = index.ask_all(judged.queries)
    for name, answers in results.items():
        ranked = passage_rankings(answers, judged.passages) if passages else None
        found[name] = ranked or document_rankings(answers)
    return found


def print_tables(judged: JudgedSet, runs: Mapping[str, Results], *, plain: bool = False) -> None:
    """Print every measure, by class of queries and by run."""
    kinds = {"documents": judged.documents} | (
        {"passages": judged.passages} if judged.passages else {}
    )
    for what, judgements in kinds.items():
        rankings = rankings_of(judged, runs, what == "passages", plain)
        measured = {
            run: measure_classes(judged.queries, judgements, ranked)
            for run, ranked in rankings.items()
        }
        for title, name in _MEASURES.items():
            print(f"\n{judged.folder.name}, {what}: {title}")
            print(f"{'':24}{'queries':>8}" + "".join(f"{run:>9}" for run in rankings), end="")
            print(f"{'floor':>9}" if plain else "")
            for kind, first in next(iter(measured.values())).items():
                row = [getattr(classes[kind], name) for classes in measured.values()]
                cells = [*row, row[-1] - max(row[:-1])] if plain else row
                print(f"{kind:24}{first.queries:>8}" + "".join(f"{cell:>9.3f}" for cell in cells))


def print_worst(judged: JudgedSet, results: Results, count: int) -> None:
    """Print the worst answers."""
    kinds = [("documents", judged.documents, document_rankings(results))]
    if judged.passages:
        kinds.append(("passages", judged.passages, passage_rankings(results, judged.passages)))
    for what, judgements, rankings in kinds:
        print(f"\n{judged.folder.name}, worst by {what}")
        for miss in worst(judged.queries, judgements, rankings, count):
            print(f"{miss.ndcg_10:.3f}  {miss.query.id}: {miss.query.text}")
            print(f"       expected  {' | '.join(miss.expected)}")
            print(f"       came      {' | '.join(miss.came) or 'nothing'}")


def print_typos(index: VaultIndex, folder: Path, sample: int) -> None:
    """Print figures for queries with typos and their corrected forms, for every file with some."""
    for file in sorted(folder.glob("queries*.jsonl")):
        judged = read_set(folder, file.name)
        slips = replace(judged, queries=sampled([q for q in judged.queries if q.orig], sample))
        if slips.queries:
            clean = [replace(query, text=query.orig) for query in slips.queries]
            print(f"\n{file.name}", end="")
            answers = {"clean": ask_all(index, clean), "typo": ask_all(index, slips.queries)}
            print_tables(slips, answers)


def print_confidence(own: Results, others: Mapping[str, Results]) -> None:
    """Print the share of each level of `confidence`, for own queries and for off-topic ones."""
    print(f"\n{'confidence':32}{'queries':>8}{'high':>8}{'low':>8}{'none':>8}")
    for name, results in {"own": own, **others}.items():
        count = Counter(answer.confidence for answer in results.values())
        shares = (count[level] / count.total() for level in ("high", "low", "none"))
        print(f"{name:32}{count.total():>8}" + "".join(f"{share:>8.2f}" for share in shares))


def off_topic(folder: Path, other: Path | None, sample: int) -> dict[str, tuple[Query, ...]]:
    """Return queries about nothing in the set: its own, and those of another set without scopes."""
    files = {"off-topic": folder / "offtopic.jsonl"} if (folder / "offtopic.jsonl").exists() else {}
    if other is not None:
        files[other.name] = other / "queries.jsonl" if other.is_dir() else other
    return {
        name: sampled([replace(query, scope="") for query in read_queries(file)], sample)
        for name, file in files.items()
    }


def run_set(folder: Path, home: Path, options: argparse.Namespace) -> None:
    """Measure one set."""
    judged = read_set(folder, options.queries)
    judged = replace(judged, queries=sampled(judged.queries, options.sample))
    with open_index(judged, home / home_name(folder, options.model), options.model) as index:
        sync(index, folder.name)
        off = off_topic(folder, options.offtopic, options.sample)
        if options.record:
            others = {name: ask_all(index, queries) for name, queries in off.items()}
            record(judged, ask_all(index, judged.queries), others)
            return
        runs = {}
        for channel in CHANNELS:
            runs[str(channel)], milliseconds = ask_timed(index, judged.queries, channel)
            print(f"{channel} {milliseconds:.1f} ms a query (median)", file=sys.stderr)
        print_tables(judged, runs, plain=True)
        if options.typos:
            print_typos(index, folder, options.sample)
        if off:
            others = {name: ask_all(index, queries) for name, queries in off.items()}
            print_confidence(runs["hybrid"], others)
    if options.worst:
        print_worst(judged, runs["hybrid"], options.worst)


def record(judged: JudgedSet, results: Results, others: Mapping[str, Results]) -> None:
    """Store the figures in `recorded.json`."""
    file = judged.folder / "recorded.json"
    recorded = {**figures(judged, results), "none": shares_of_none({"judged": results, **others})}
    file.write_text(json.dumps(recorded, indent=2) + "\n", encoding="utf-8")
    print(f"{file}: {file.read_text(encoding='utf-8')}", end="")


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--queries", default="queries.jsonl", help="another file of queries")
    parser.add_argument("--sample", type=int, default=0, help="about N queries (default: all)")
    parser.add_argument("--typos", action="store_true", help="measure queries with typing errors")
    parser.add_argument("--worst", type=int, default=0, metavar="N", help="print the N worst")
    parser.add_argument("--offtopic", type=Path, metavar="SET", help="off-topic queries")
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    parser.add_argument("--model", default="", help="a local model (default: the shipped one)")
    parser.add_argument("--record", action="store_true", help="write recorded.json for the tests")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.folders:
            run_set(folder.resolve(), (options.home or Path(temporary)).resolve(), options)


if __name__ == "__main__":
    main()
