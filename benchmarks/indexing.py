"""Measure indexing: a full sync, a sync without changes, an inserted line, a renamed note.

    python benchmarks/indexing.py FOLDER [--vectors] [--notes N]

FOLDER is a vault; a copy of it is measured. Commands are timed as whole processes.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe, summary
from vault_index.config.home import find_home
from vault_index.daemon.client import Client, connect

_COMMAND = [sys.executable, "-m", "vault_index"]


class Bench:
    """A copy of a vault with an index of its own."""

    def __init__(self, vault: Path, folder: Path) -> None:
        self.vault = folder / "vault"
        shutil.copytree(vault, self.vault)
        self.environment = {**os.environ, "VAULT_INDEX_HOME": str(folder / "home")}

    def run(self, *arguments: str) -> tuple[dict[str, Any], float]:
        """The answer of a command, and the seconds it took as a process."""
        started = time.perf_counter()
        done = subprocess.run(
            [*_COMMAND, *arguments, "--json"], env=self.environment, capture_output=True, text=True
        )
        seconds = time.perf_counter() - started
        if done.returncode:
            raise SystemExit(f"{' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout) if done.stdout else {}, seconds

    @contextmanager
    def daemon(self) -> Iterator[Client]:
        """A daemon that watches the copy, and a client that talks to it."""
        process = subprocess.Popen(
            [*_COMMAND, "watch", "--quiet"], env=self.environment, stderr=subprocess.DEVNULL
        )
        try:
            with self.connected() as client:
                yield client
        finally:
            process.terminate()
            process.wait()

    def connected(self) -> Client:
        """Wait for the daemon and return a client."""
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if client := connect(find_home(environ=self.environment).socket_path):
                return client
            time.sleep(0.02)
        raise SystemExit("the daemon does not answer")


def insert_line(note: Path) -> None:
    """A line at the top of the body: below the frontmatter, where there is some."""
    data = note.read_bytes()
    start = 0
    if data.startswith(b"---\n") and (end := data.find(b"\n---\n")) > 0:
        start = end + len(b"\n---\n")
    note.write_bytes(data[:start] + b"A line that was not there before.\n\n" + data[start:])


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument(
        "--vectors", action="store_true", help="embed as well, and count what edits embed again"
    )
    parser.add_argument("--notes", type=int, default=20, help="how many notes to edit and rename")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.vault, Path(temporary))
        bench.run("init", str(bench.vault), "--no-sync")
        report, seconds = bench.run("sync", "--no-embed")
        notes = report["scanned"]
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        print(f"{notes} notes, {report['chunks']} chunks, text searchable after {seconds:.2f} s")
        print(f"  {seconds * 1000 / notes:.2f} ms a note, peak memory {peak:.0f} MB")
        print(
            "nothing changed        "
            f"{summary([bench.run('sync', '--no-embed')[1] for _ in range(9)])}"
        )
        if options.vectors:
            measure_edits(bench, options.notes)


def measure_edits(bench: Bench, count: int) -> None:
    """Print how many texts an inserted line and a renamed note embed."""
    report, seconds = bench.run("embed")
    print(
        f"{report['embedded']} chunks embedded in {seconds:.1f} s "
        f"({report['embedded'] / seconds:.0f}/s)"
    )
    notes = sorted(bench.vault.rglob("*.md"))
    notes = notes[:: max(len(notes) // count, 1)]
    inserted, renamed = [], []
    for note in notes:
        insert_line(note)
        inserted.append(bench.run("sync")[0]["embedded"])
    for note in notes:
        note.rename(note.with_name(f"renamed {note.name}"))
        report = bench.run("sync")[0]
        assert report["moved"] == 1, report
        renamed.append(report["embedded"])
    print(
        f"a line inserted        embeds {sum(inserted) / len(inserted):.2f} texts on average, "
        f"{max(inserted)} at most"
    )
    print(
        f"a note renamed         embeds {sum(renamed) / len(renamed):.2f} texts on average, "
        f"at most {max(renamed)}"
    )


if __name__ == "__main__":
    main()
