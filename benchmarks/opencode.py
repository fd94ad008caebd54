"""Measure what the plugin adds to a turn of OpenCode, with a scripted model.

    OPENCODE_BIN=.venv/npm/opencode/node_modules/.bin/opencode \
        python benchmarks/opencode.py FOLDER [--turns N]

FOLDER is a vault; it is copied. A real client with the plugin and one without run at once and take
turns, so that other load on the machine slows both. `make test-opencode` installs the client.
"""

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe, summary
from tests.opencode_real.client import Server, placed
from tests.opencode_real.scenes import SCENES

_PROMPT = "What did we decide about the backup of the database? [[scene:plain]]"


def seconds(turn: Callable[[], object]) -> float:
    """Return the seconds of one turn."""
    started = time.perf_counter()
    turn()
    return time.perf_counter() - started


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--turns", type=int, default=10, help="how many of each kind (default: 10)")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(
            stack.enter_context(
                tempfile.TemporaryDirectory(prefix="vx-", ignore_cleanup_errors=True)
            )
        )
        servers: dict[str, Server] = {}
        for name in ("with", "without"):
            place = stack.enter_context(placed(folder / name, SCENES, {}))
            if name == "with":
                shutil.copytree(options.folder, place.vault, dirs_exist_ok=True)
                place.command("sync", "--quiet")
                stack.enter_context(place.daemon())
            else:
                place.command("agent", "uninstall", "opencode", "--quiet")
            servers[name] = stack.enter_context(place.served())
        for server in servers.values():
            server.turn(server.session(), _PROMPT)  # the first one of a client loads what all need
        print(describe())
        for kind in ("first turn of a session", "later turns"):
            sessions = {name: server.session() for name, server in servers.items()}
            spent: dict[str, list[float]] = {name: [] for name in servers}
            for number in range(options.turns):
                for name, server in sorted(
                    servers.items(), reverse=number % 2 == 1
                ):  # neither is always the first
                    session = server.session() if kind.startswith("first") else sessions[name]
                    spent[name].append(seconds(lambda: server.turn(session, _PROMPT)))  # noqa: B023
            for name, found in spent.items():
                print(f"{kind:<26}{name + ' the plugin':<20}{summary(found)}")
            added = statistics.median(spent["with"]) - statistics.median(spent["without"])
            print(f"{kind:<26}{'difference':<20}median {added * 1000:7.0f} ms")


if __name__ == "__main__":
    main()
