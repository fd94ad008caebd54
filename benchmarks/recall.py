"""Measure recall on judged sets: nDCG@10 and recall@10 of text, vector and hybrid search.

    python benchmarks/recall.py FOLDER... [--queries FILE] [--sample N] [--typos] [--worst N]
                                [--offtopic SET]
    python benchmarks/recall.py --record fixtures/judged
    python benchmarks/recall.py --record-all FOLDER_OF_SETS --home DIR

Figures are printed for each class of queries. FOLDER holds `docs/`, `queries.jsonl` and
`qrels.tsv`. With another `qrels.*.tsv`, passages judged by line or by `#^block-id` are measured
too, by the focus of each hit. Queries about nothing in the documents, in `offtopic.jsonl` or named
by --offtopic, show how reliable `confidence` is. With --home, the indexes are kept and reused.

--record-all measures every set of a folder with every installed local model. Results are stored
next to the indexes: an interrupted run continues, if the code is the same.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged import (
    JudgedSet,
    Judgements,
    Query,
    Rankings,
    Results,
    ask_all,
    ask_timed,
    document_rankings,
    figures,
    is_graded,
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
from benchmarks.record import CHANNELS, MODELS, all_rankings, home_name, record_all
from vault_index import VaultIndex
from vault_index.query.search import Mode


def ask_channel(index: VaultIndex, queries: Sequence[Query], mode: Mode) -> Results:
    """Return the answers of one channel."""
    results, milliseconds = ask_timed(index, queries, mode)
    print(f"{mode} {milliseconds:.1f} ms a query (median)", file=sys.stderr)
    return results


def print_tables(judged: JudgedSet, runs: Mapping[str, Results], *, plain: bool = False) -> None:
    """Print figures for documents and judged passages; one column per run, after the baseline."""
    for what, (judgements, rankings) in all_rankings(judged, runs, plain=plain).items():
        title = f"{judged.folder.name}, {what}"
        _print_table(
            f"{title}: nDCG@10 (recall@10)",
            judged.queries,
            judgements,
            rankings,
            ("ndcg_10", "recall_10"),
        )
        if is_graded(judgements) or judged.passages:
            heading = f"{title}: MRR@10 of the highest grade (hit@10 of any)"
            _print_table(heading, judged.queries, judgements, rankings, ("mrr_10", "hit_10"))


def _print_table(
    title: str,
    queries: Sequence[Query],
    judgements: Judgements,
    rankings: Mapping[str, Rankings],
    shown: tuple[str, str],
) -> None:
    measured = {
        run: measure_classes(queries, judgements, ranked) for run, ranked in rankings.items()
    }
    print(f"\n{title}\n{'':24}{'queries':>8}" + "".join(f"{run:>18}" for run in rankings))
    for name, first in next(iter(measured.values())).items():
        cells = [
            tuple(getattr(classes[name], one) for one in shown) for classes in measured.values()
        ]
        print(
            f"{name:24}{first.queries:>8}"
            + "".join(f"{f'{one:.3f} ({other:.3f})':>18}" for one, other in cells)
        )


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
        slips = replace(
            judged, queries=sampled([query for query in judged.queries if query.orig], sample)
        )
        if slips.queries:
            clean = [replace(query, text=query.orig) for query in slips.queries]
            print(f"\n{file.name}", end="")
            print_tables(
                slips, {"clean": ask_all(index, clean), "typo": ask_all(index, slips.queries)}
            )


def print_confidence(own: Results, others: Mapping[str, Results]) -> None:
    """Print the rates of both errors of `confidence`.

    They are: a query with an answer is reported as without one, and the reverse.
    """
    print(f"\n{'confidence':32}{'queries':>8}{'high':>8}{'low':>8}{'none':>8}")
    counts = {
        name: Counter(r.confidence for r in results.values())
        for name, results in {"own": own, **others}.items()
    }
    for name, count in counts.items():
        shares = "".join(
            f"{count[level] / count.total():>8.2f}" for level in ("high", "low", "none")
        )
        print(f"{name:32}{count.total():>8}{shares}")
    foreign = sum((count for name, count in counts.items() if name != "own"), Counter[str]())
    print(
        f"errors: {counts['own']['none']} of {counts['own'].total()} own queries answered with "
        f"none, {foreign['high']} of {foreign.total()} off-topic ones with high"
    )


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
        if options.record:
            none = off_topic(folder, None, options.sample).items()
            record(
                judged,
                ask_all(index, judged.queries),
                {name: ask_all(index, queries) for name, queries in none},
            )
            return
        runs = {str(channel): ask_channel(index, judged.queries, channel) for channel in CHANNELS}
        print_tables(judged, runs, plain=True)
        if options.typos:
            print_typos(index, folder, options.sample)
        if others := off_topic(folder, options.offtopic, options.sample):
            print_confidence(
                runs["hybrid"], {name: ask_all(index, queries) for name, queries in others.items()}
            )
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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument(
        "--queries", default="queries.jsonl", help="another file of queries, as queries.typo1.jsonl"
    )
    parser.add_argument(
        "--sample", type=int, default=0, help="about so many queries of each set (default: all)"
    )
    parser.add_argument(
        "--typos", action="store_true", help="queries with typos beside what they were meant to say"
    )
    parser.add_argument(
        "--worst",
        type=int,
        default=0,
        metavar="N",
        help="name the N worst queries of hybrid search",
    )
    parser.add_argument(
        "--offtopic",
        type=Path,
        metavar="SET",
        help="ask the queries of this folder or file as well",
    )
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    parser.add_argument(
        "--model",
        default="",
        help="a local model; with --record-all this one alone (default: shipped)",
    )
    parser.add_argument(
        "--record", action="store_true", help="write recorded.json, the figures the tests defend"
    )
    parser.add_argument(
        "--record-all",
        type=Path,
        metavar="FOLDER",
        help="write all sets of FOLDER into benchmarks/README.md",
    )
    options = parser.parse_args()
    if bool(options.folders) == bool(options.record_all):
        parser.error(
            "give the folders of some sets, or --record-all and the folder that holds all of them"
        )
    with tempfile.TemporaryDirectory() as temporary:
        if options.record_all:
            home = (options.home or Path(temporary)).resolve()
            record_all(
                options.record_all.resolve(),
                home,
                [options.model] if options.model else MODELS,
                options.sample,
            )
        for folder in options.folders:
            run_set(folder.resolve(), (options.home or Path(temporary)).resolve(), options)


if __name__ == "__main__":
    main()
