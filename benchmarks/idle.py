"""Measure an idle daemon: CPU time, wake-ups, and memory with and without the model.

    python benchmarks/idle.py [--notes 6000] [--minutes 10]

The daemon itself indexes a vault of generated notes, with vectors. Linux only.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import make_vault
from benchmarks.indexing import Bench
from benchmarks.machine import describe
from benchmarks.process import Peak, Usage, between, usage
from vault_index.daemon.client import Client

_QUERIES = (
    "coffee harbour",
    "how is the database stored",
    "museum",
    "the wedding in the valley",
    "kernel memory",
)
_GRACE = 60.0
"""Seconds for which the model stays loaded after the first of the two states."""
_SETTLE = 45.0
"""Seconds after which the daemon has given back what only its work needed."""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--notes", type=int, default=6000)
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="how long it is watched in each of two states"
    )
    options = parser.parse_args()
    print(describe())
    print("load", *os.getloadavg())
    with tempfile.TemporaryDirectory() as temporary:
        made = Path(temporary) / "made"
        make_vault(made, options.notes)
        bench = Bench(made, Path(temporary))
        bench.environment["VAULT_INDEX_EMBEDDING_IDLE_MINUTES"] = str(options.minutes + _GRACE / 60)
        bench.run("init", str(bench.vault), "--no-sync")
        with bench.daemon() as client:
            measure(client, bench, options.minutes * 60)
    print("load", *os.getloadavg())


def measure(client: Client, bench: Bench, seconds: float) -> None:
    """Print the resources that the idle daemon used in `seconds`."""
    pid = int(_call(client, "ping")["pid"])
    started = time.monotonic()
    with Peak(pid) as peak:
        chunks = _indexed(client)
        print(f"{chunks} chunks indexed and embedded in {time.monotonic() - started:.0f} s")
        print(f"  at most {peak.anonymous_mb:.0f} MB of anonymous memory")
    for query in _QUERIES:
        _call(client, "search", query=query)
    time.sleep(_SETTLE)
    for query in _QUERIES:
        _call(client, "search", query=query)
    _watch(pid, "with the model loaded", seconds)
    time.sleep(_GRACE + 10)
    _watch(pid, "after it was released", seconds)
    with bench.connected() as late:  # the first connection was idle for too long
        started = time.perf_counter()
        _call(late, "search", query=_QUERIES[1])
    print(f"the next query loads it again: {(time.perf_counter() - started) * 1000:.0f} ms")


def _watch(pid: int, state: str, seconds: float) -> None:
    before = usage(pid)
    time.sleep(seconds)
    after = usage(pid)
    print(f"{state}: {_memory(after)}")
    print(f"  in {seconds:.0f} s: {between(before, after)}")


def _memory(seen: Usage) -> str:
    return (
        f"{seen.anonymous_mb:.0f} MB anonymous ({seen.resident_mb:.0f} MB resident), "
        f"{seen.files} open files, {seen.threads} threads"
    )


def _indexed(client: Client) -> int:
    """Wait until every chunk has its vector; how many there are."""
    while True:
        index = _call(client, "status")["index"]
        if index["chunks"] and index["vectors"] == index["chunks"]:
            return int(index["chunks"])
        time.sleep(10)  # counting what is current walks the vault


def _call(client: Client, method: str, **params: object) -> dict[str, Any]:
    answer = client.call(method, dict(params))
    assert isinstance(answer, dict)
    return answer


if __name__ == "__main__":
    main()
