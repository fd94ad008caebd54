"""Measure memories: an import of many, then commands as whole processes.

    python benchmarks/memories.py [--memories 10000] [--runs 15] [--vectors]

The commands are `list`, `tags`, `stats`, `search` and `add`. Memories and vault are generated.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary

_WORDS = (
    "agent", "batch", "branch", "cache", "chunk", "column", "config", "daemon", "deploy", "docker",
    "embed", "event", "folder", "index", "link", "lock", "memory", "model", "note", "parser",
    "query", "queue", "rank", "release", "retry", "schema", "score", "search", "secret", "socket",
    "table", "token", "vault", "vector", "watch", "worker",
)  # fmt: skip
_TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
_READING: tuple[tuple[str, list[str]], ...] = (
    ("list", ["list"]),
    ("list, by a tag", ["list", "--tags", "docker"]),
    ("tags", ["tags"]),
    ("stats", ["stats"]),
    ("search, TOON", ["search", "why does the daemon lock the index"]),
    ("get, by an old id", ["get", "#77"]),
    ("review", ["review"]),
)


def make_memories(count: int) -> list[dict[str, Any]]:
    """Memories as another program exports them, the same in every run."""
    chance = random.Random(7)
    return [
        {
            "id": number,
            "type": chance.choice(_TYPES),
            "content": f"Finding {number}: {_sentence(chance)} {_sentence(chance)}",
            "tags": chance.sample(_WORDS, 3),
            "created_at": 1_700_000_000 + number * 600,
            "entered_by": f"agent-{number % 7}",
        }
        for number in range(1, count + 1)
    ]


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.randint(15, 50))) + "."


def time_commands(bench: Bench, runs: int, *, daemon: bool) -> None:
    """Time the commands."""
    command = Path(sys.executable).with_name("vault-index")
    start = [str(command)] if command.exists() else [sys.executable, "-m", "vault_index"]
    for name, arguments in _READING:
        print(f"  {name:20}{summary(_seconds(bench, [[*start, *arguments]] * (runs + 1))[1:])}")
    if daemon:
        texts = [
            f"A lesson of run {number}: measure before and after." for number in range(runs + 1)
        ]
        print(
            f"  {'add':20}{summary(_seconds(bench, [[*start, 'add', text] for text in texts])[1:])}"
        )


def _seconds(bench: Bench, commands: list[list[str]]) -> list[float]:
    taken = []
    for command in commands:
        started = time.perf_counter()
        subprocess.run(command, env=bench.environment, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - started)
    return taken


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--vectors", action="store_true", help="embed as well")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "new").mkdir()
        (folder / "new" / "note.md").write_text("# A vault\n", encoding="utf-8")
        (folder / "memories.json").write_text(
            json.dumps(make_memories(options.memories)), encoding="utf-8"
        )
        bench = Bench(folder / "new", folder)
        bench.run(
            "init",
            str(bench.vault),
            "--no-opencode",
            *([] if options.vectors else ["--provider", "none"]),
        )
        report, seconds = bench.run("import", str(folder / "memories.json"))
        print(f"{len(report['results']):,} memories imported in {seconds:.1f} s")
        print("without the daemon")
        time_commands(bench, options.runs, daemon=False)
        with bench.daemon():
            print("with the daemon")
            time_commands(bench, options.runs, daemon=True)


if __name__ == "__main__":
    main()
