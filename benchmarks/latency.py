"""Measure `search` in a warm process: median and 95th percentile by kind of query.

    python benchmarks/latency.py FOLDER [--home DIR] [--queries N]

FOLDER is a judged set (`docs/`, `queries.jsonl`, and an optional `queries.typo1.jsonl`). With
--home, the index is kept and reused.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.judged import open_index, read_queries, read_set
from benchmarks.machine import describe
from vault_index import VaultIndex
from vault_index.query.search import Mode

_WARM = 15


def milliseconds(index: VaultIndex, queries: Sequence[str], mode: Mode) -> list[float]:
    """Return the durations of queries in milliseconds."""
    for query in queries[:_WARM]:
        index.search(query, mode=mode)
    spent = []
    for query in queries:
        started = time.perf_counter()
        index.search(query, mode=mode)
        spent.append((time.perf_counter() - started) * 1000)
    return sorted(spent)


def print_line(name: str, index: VaultIndex, queries: Sequence[str], mode: Mode = "hybrid") -> None:
    """Print median and 95th percentile."""
    spent = milliseconds(index, queries, mode)
    words = statistics.median(len(query.split()) for query in queries)
    print(
        f"{name:<24}{words:>6.0f} words{statistics.median(spent):>8.1f} ms median"
        f"{spent[int(len(spent) * 0.95)]:>8.1f} ms 95 %"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path, help="keep the index here")
    parser.add_argument(
        "--queries", type=int, default=150, help="how many of each kind (default: 150)"
    )
    options = parser.parse_args()
    judged = read_set(options.folder.resolve())
    asked = [query.text for query in judged.queries[: options.queries]]
    short = [" ".join(sorted(text.split(), key=len)[-4:]) for text in asked]
    typos = options.folder / "queries.typo1.jsonl"
    with (
        tempfile.TemporaryDirectory() as temporary,
        open_index(judged, options.home or Path(temporary)) as index,
    ):
        index.sync()
        print(f"{describe()}; {index.stats().chunks:,} chunks")
        print_line("four words", index, short)
        print_line("four words, text", index, short, "text")
        print_line("questions", index, asked)
        print_line("pairs of questions", index, [f"{one} {two}" for one, two in pairwise(asked)])
        if typos.exists():
            print_line(
                "with typing errors",
                index,
                [query.text for query in read_queries(typos)][: options.queries],
            )


if __name__ == "__main__":
    main()
