"""Compare the first index, a sync without changes and a text search with qmd, in turns.

    python -m benchmarks.compare VAULT [--runs 5] [--qmd qmd] [--query "four words"]

`npm install -g @tobilu/qmd` (Node 22) installs qmd. Prints the medians of the wall clock and of the
processor time, which includes child processes, and the median ratio of the pairs. It stops at a
command that fails, that indexes too few notes, or that finds nothing, because such a command looks
fast.
"""

import json
import os
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.machine import COMMAND, arguments, describe, environment
from vault_index.config import find_home
from vault_index.config.edit import create_config

_SYNC = [*COMMAND, "sync", "--no-embed", "--json"]
_FOUND = re.compile(r"^qmd://", re.MULTILINE)


def timed(command: Sequence[str], env: dict[str, str]) -> tuple[float, float, str]:
    """Run a command; return its seconds, its processor time, and its output."""
    before, started = os.times(), time.perf_counter()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - started, os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    return seconds, used, done.stdout


def ours(vault: Path, folder: Path, query: str) -> list[tuple[float, float]]:
    """Time our commands with a new index."""
    create_config(find_home(folder), vault, provider="none", memory_dir=None)
    env = environment(folder)
    first, again = timed(_SYNC, env), timed(_SYNC, env)
    found = timed([*COMMAND, "search", query, "--mode", "text", "--json"], env)
    notes = sum(1 for _ in vault.rglob("*.md"))
    assert json.loads(first[2])["added"] == json.loads(again[2])["unchanged"] == notes
    assert json.loads(found[2])["results"], "vault-index found nothing"
    return [one[:2] for one in (first, again, found)]


def theirs(qmd: str, vault: Path, folder: Path, query: str) -> list[tuple[float, float]]:
    """Time the commands of qmd with a new index."""
    for name in ("cache", "config"):
        (folder / name).mkdir(parents=True)
    env = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "XDG_CONFIG_HOME": f"{folder}/config"}
    first = timed([qmd, "collection", "add", str(vault), "--name", "bench"], env)
    again, found = timed([qmd, "update"], env), timed([qmd, "search", query], env)
    notes = sum(1 for _ in vault.rglob("*.md"))
    assert f"{notes} new" in first[2], first[2]
    assert f"{notes} unchanged" in again[2], again[2]
    assert _FOUND.search(found[2]), "qmd found nothing"
    return [one[:2] for one in (first, again, found)]


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=5, help="pairs of runs (default: 5)")
    parser.add_argument("--qmd", default="qmd", help="the command of qmd")
    parser.add_argument("--query", default="notes between devices")
    options = parser.parse_args()
    print(describe())
    vault, pairs = options.vault.absolute(), []
    for _ in range(options.runs):
        with tempfile.TemporaryDirectory() as folder:
            mine = ours(vault, Path(folder, "ours"), options.query)
            pairs.append((mine, theirs(options.qmd, vault, Path(folder, "qmd"), options.query)))
    for at, name in enumerate(("first index", "nothing changed", "search")):
        for unit, kind in enumerate(("s", "s of processor")):
            values = [(mine[at][unit], other[at][unit]) for mine, other in pairs]
            own, peer = (statistics.median(side) for side in zip(*values, strict=True))
            ratio = statistics.median(a / b for a, b in values)
            print(f"{name:16} {own:7.2f} {peer:7.2f} {kind:15} ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
