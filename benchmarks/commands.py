"""What a command costs as a whole process: `search`, `get`, `list` with the daemon and without.

    python benchmarks/commands.py FOLDER [--runs 15]

FOLDER is a vault; a copy of it is indexed with vectors first.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary
from vault_index.config.home import find_home
from vault_index.daemon.client import connect

_COMMANDS = (
    ("search, hybrid, TOON", ["search", "how do I link to a heading"]),
    ("search, hybrid, JSON", ["search", "how do I link to a heading", "--json"]),
    ("search, hybrid, human", ["search", "how do I link to a heading", "--human"]),
    ("search, text, JSON", ["search", "how do I link to a heading", "--mode", "text", "--json"]),
    ("list, JSON", ["list", "--json"]),
    ("status, JSON", ["status", "--json"]),
)


def time_commands(environment: dict[str, str], runs: int) -> None:
    command = Path(sys.executable).with_name("vault-index")
    start = [str(command)] if command.exists() else [sys.executable, "-m", "vault_index"]
    for name, arguments in _COMMANDS:
        seconds = []
        for _ in range(runs + 1):
            started = time.perf_counter()
            subprocess.run([*start, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
            seconds.append(time.perf_counter() - started)
        print(f"  {name:24}{summary(seconds[1:])}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.vault, Path(temporary))
        bench.run("init", str(bench.vault))
        environment = {**os.environ, "VAULT_INDEX_HOME": str(Path(temporary) / "home")}
        print("without the daemon")
        time_commands(environment, options.runs)
        daemon = subprocess.Popen(
            [sys.executable, "-m", "vault_index", "watch", "--quiet"], env=environment, stderr=subprocess.DEVNULL
        )
        try:
            wait_for_daemon(environment)
            print("with the daemon")
            time_commands(environment, options.runs)
        finally:
            daemon.terminate()
            daemon.wait()


def wait_for_daemon(environment: dict[str, str]) -> None:
    """Return once the daemon of this home answers."""
    socket = find_home(environ=environment).socket_path
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        client = connect(str(socket))
        if client is not None:
            client.close()
            return
        time.sleep(0.02)
    raise SystemExit("the daemon does not answer")


if __name__ == "__main__":
    main()
