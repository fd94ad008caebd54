"""Recall of every channel on judged sets: nDCG@10 and recall@10 of text, vector and hybrid search.

    python benchmarks/recall.py FOLDER... [--queries queries.jsonl] [--sample N] [--home DIR]

FOLDER holds `docs/`, `queries.jsonl` and `qrels.tsv`. With `qrels.turns.tsv`, passages judged by their `^block-id` are
measured as well, by the focus of each hit. With --home the index of each set is kept and used again.
"""

import argparse
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged import Query, measure, read_judgements, read_queries
from vault_index import VaultIndex
from vault_index.answers import Hit
from vault_index.config.edit import create_config
from vault_index.config.home import find_home
from vault_index.query.search import Mode

_CHANNELS: tuple[Mode, ...] = ("text", "vector", "hybrid")
_BLOCK_ID = re.compile(r"\^([\w-]+)\s*$")


def open_index(folder: Path, home: Path) -> VaultIndex:
    places = find_home(home / folder.name)
    create_config(places, folder / "docs", provider="local", memory_dir=None)
    index = VaultIndex.open(places)
    started = time.monotonic()
    report = index.sync()
    if report.added or report.changed:
        print(f"{folder.name}: {report.chunks} chunks in {time.monotonic() - started:.0f} s", file=sys.stderr)
    return index


def passage(folder: Path, hit: Hit, lines: dict[str, list[str]]) -> str:
    """`docs/a.md#^block` of the focus of a hit, as passages are judged."""
    if hit.path not in lines:
        lines[hit.path] = (folder / "docs" / hit.path).read_text(encoding="utf-8").split("\n")
    block = _BLOCK_ID.search(lines[hit.path][hit.focus[0] - 1])
    return f"docs/{hit.path}#^{block[1]}" if block else f"docs/{hit.path}"


def print_table(title: str, queries: Sequence[Query], judged: Path, runs: dict[str, dict[str, list[str]]]) -> None:
    judgements = read_judgements(judged)
    kinds = sorted({query.kind for query in queries})
    groups = [("all", [q.id for q in queries])]
    if len(kinds) > 1:
        groups += [(kind, [q.id for q in queries if q.kind == kind]) for kind in kinds]
    print(f"\n{title}\n{'':24}{'queries':>8}" + "".join(f"{channel:>18}" for channel in runs))
    for name, ids in groups:
        measures = [measure(judgements, {id_: run[id_] for id_ in ids}) for run in runs.values()]
        cells = "".join(f"{f'{m.ndcg_10:.3f} ({m.recall_10:.3f})':>18}" for m in measures)
        print(f"{name:24}{measures[0].queries:>8}{cells}")


def run_set(folder: Path, home: Path, queries_file: str, sample: int) -> None:
    queries = read_queries(folder / queries_file)
    queries = queries[:: max(len(queries) // sample, 1)] if sample else queries
    with open_index(folder, home) as index:
        documents: dict[str, dict[str, list[str]]] = {channel: {} for channel in _CHANNELS}
        passages: dict[str, dict[str, list[str]]] = {channel: {} for channel in _CHANNELS}
        lines: dict[str, list[str]] = {}
        for channel in _CHANNELS:
            started = time.perf_counter()
            for query in queries:
                hits = index.search(
                    query.text,
                    mode=channel,
                    limit=40,
                    per_document=5,
                    path=query.scope or None,
                ).results
                documents[channel][query.id] = [f"docs/{hit.path}" for hit in hits]
                passages[channel][query.id] = [passage(folder, hit, lines) for hit in hits]
            spent = (time.perf_counter() - started) * 1000 / len(queries)
            print(f"{folder.name}: {channel} {spent:.1f} ms a query", file=sys.stderr)
    print_table(f"{folder.name}, documents: nDCG@10 (recall@10)", queries, folder / "qrels.tsv", documents)
    if (folder / "qrels.turns.tsv").exists():
        print_table(f"{folder.name}, passages: nDCG@10 (recall@10)", queries, folder / "qrels.turns.tsv", passages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--queries", default="queries.jsonl", help="another file of queries, as queries.typo1.jsonl")
    parser.add_argument("--sample", type=int, default=0, help="about so many queries of each set (default: all)")
    parser.add_argument("--home", type=Path, help="keep the indexes here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        for folder in options.folders:
            run_set(folder.resolve(), options.home or Path(temporary), options.queries, options.sample)


if __name__ == "__main__":
    main()
