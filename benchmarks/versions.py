"""Compare two installed versions in pairs of runs, so that changing speed does not decide.

    python benchmarks/versions.py FOLDER OTHER [--runs 15]

FOLDER is a vault, OTHER the `vault-index` command of another installation; this version is the one
next to the running Python. Each gets a copy of the vault, an index and a daemon. Prints the
medians, and the median ratio of the pairs: this version over the other.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.commands import COMMANDS
from benchmarks.machine import describe


class Installation:
    """One version with a home of its own."""

    def __init__(self, command: Path, vault: Path, folder: Path) -> None:
        self.command = command
        self.vault = folder / "vault"
        self._folder = folder
        shutil.copytree(vault, self.vault)
        # Compiled modules are what users have: without them the imports would be all that is
        # measured.
        self._environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
        }
        self.use_home("home")

    def use_home(self, name: str) -> None:
        """Use another home."""
        self._environment["VAULT_INDEX_HOME"] = str(self._folder / name)

    def run(self, *arguments: str) -> float:
        """The seconds a command takes as a process."""
        started = time.perf_counter()
        subprocess.run(
            [self.command, *arguments],
            env=self._environment,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            check=True,
        )
        return time.perf_counter() - started

    def watch(self) -> subprocess.Popen[bytes]:
        """Start the daemon, and wait until a command finds it."""
        daemon = subprocess.Popen(
            [self.command, "watch", "--quiet"],
            env=self._environment,
            cwd=self._folder,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            status = subprocess.run(
                [self.command, "status", "--json"],
                env=self._environment,
                cwd=self._folder,
                capture_output=True,
            )
            if b'"running":true' in status.stdout.replace(b" ", b""):
                return daemon
            time.sleep(0.05)
        raise SystemExit(f"the daemon of {self.command} does not answer")


def compare(name: str, runs: int, one: Callable[[], float], other: Callable[[], float]) -> None:
    """Print both medians and the median ratio of the pairs; the first pair does not count."""
    pairs = [(one(), other()) for _ in range(runs + 1)][1:]
    ratio = statistics.median(a / b for a, b in pairs)
    mine, others = (statistics.median(side) * 1000 for side in zip(*pairs, strict=True))
    print(f"{name:44}{mine:8.0f} ms {others:8.0f} ms   {ratio:5.2f}", flush=True)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--runs", type=int, default=15)
    options = parser.parse_args()
    print(describe())
    print(f"{'':44}{'this':>11} {'other':>11}   ratio")
    with tempfile.TemporaryDirectory() as temporary:
        folders = [Path(temporary, name) for name in ("this", "other")]
        mine = Path(sys.executable).with_name("vault-index")
        one, other = (
            Installation(command, options.vault, folder)
            for command, folder in zip((mine, options.other.absolute()), folders, strict=True)
        )
        homes = iter(range(1_000_000))

        def first_sync(installation: Installation) -> float:
            installation.use_home(f"home{next(homes)}")
            installation.run("init", str(installation.vault), "--no-sync", "--no-opencode")
            return installation.run("sync", "--no-embed")

        compare(
            "first sync, text",
            max(options.runs // 3, 3),
            lambda: first_sync(one),
            lambda: first_sync(other),
        )
        for installation in (one, other):
            installation.run("embed")

        def rows(where: str) -> None:
            commands = [("sync, nothing changed", ["sync", "--no-embed", "--json"]), *COMMANDS]
            for name, arguments in commands:

                def timed(installation: Installation, arguments: list[str] = arguments) -> float:
                    return installation.run(*arguments)

                compare(f"{name}, {where}", options.runs, lambda: timed(one), lambda: timed(other))

        rows("no daemon")
        daemons = [one.watch(), other.watch()]
        try:
            rows("daemon")
        finally:
            for daemon in daemons:
                daemon.terminate()
                daemon.wait()


if __name__ == "__main__":
    main()
