"""What a command costs as a whole process: `search`, `get`, `list` with the daemon and without.

    python benchmarks/commands.py FOLDER [--runs 15]

FOLDER is a vault; a copy of it is indexed with vectors first.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary

COMMANDS = (
    ("search, hybrid, TOON", ["search", "how do I link to a heading"]),
    ("search, hybrid, JSON", ["search", "how do I link to a heading", "--json"]),
    ("search, hybrid, human", ["search", "how do I link to a heading", "--human"]),
    ("search, text, JSON", ["search", "how do I link to a heading", "--mode", "text", "--json"]),
    ("list, JSON", ["list", "--json"]),
    ("status, JSON", ["status", "--json"]),
)


def time_commands(environment: dict[str, str], runs: int) -> None:
    """Time the commands, with and without a daemon."""
    command = Path(sys.executable).with_name("vault-index")
    start = [str(command)] if command.exists() else [sys.executable, "-m", "vault_index"]
    for name, arguments in COMMANDS:
        seconds = []
        for _ in range(runs + 1):
            started = time.perf_counter()
            subprocess.run(
                [*start, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True
            )
            seconds.append(time.perf_counter() - started)
        print(f"  {name:24}{summary(seconds[1:])}")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.vault, Path(temporary))
        bench.run("init", str(bench.vault))
        print("without the daemon")
        time_commands(bench.environment, options.runs)
        with bench.daemon():
            print("with the daemon")
            time_commands(bench.environment, options.runs)


if __name__ == "__main__":
    main()
