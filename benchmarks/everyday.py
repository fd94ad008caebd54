"""Measure one vault: the first sync, a sync without changes, edits, and commands as processes.

    python -m benchmarks.everyday FOLDER [--runs 15] [--vectors]

FOLDER is a vault; a copy of it is measured. With --vectors, it also counts the texts that an
inserted line and a renamed note embed. Commands run with the daemon and without.
"""

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import COMMAND, arguments, describe, environment, run, summary
from vault_index.config.home import find_home
from vault_index.daemon.client import connect

_QUERY = "how do I link to a heading"
COMMANDS: dict[str, Sequence[str]] = {
    "search, hybrid, TOON": ["search", _QUERY],
    "search, hybrid, JSON": ["search", _QUERY, "--json"],
    "search, hybrid, human": ["search", _QUERY, "--human"],
    "search, text, JSON": ["search", _QUERY, "--mode", "text", "--json"],
    "list, JSON": ["list", "--json"],
    "status, JSON": ["status", "--json"],
}


@contextmanager
def daemon(home: Path) -> Iterator[None]:
    """Run a daemon, from the moment it answers."""
    command = [*COMMAND, "watch", "--quiet"]
    process = subprocess.Popen(command, env=environment(home), stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while (client := connect(find_home(home).socket_path)) is None:
            if time.monotonic() > deadline:
                raise SystemExit("the daemon does not answer")
            time.sleep(0.02)
        client.close()
        yield
    finally:
        process.terminate()
        process.wait()


def time_commands(home: Path, runs: int) -> None:
    """Print how long each command takes as a process."""
    installed = Path(sys.executable).with_name("vault-index")
    start = [str(installed)] if installed.exists() else COMMAND
    for name, given in COMMANDS.items():
        seconds = []
        for _ in range(runs + 1):
            started = time.perf_counter()
            subprocess.run(
                [*start, *given], env=environment(home), stdout=subprocess.DEVNULL, check=True
            )
            seconds.append(time.perf_counter() - started)
        print(f"  {name:24}{summary(seconds[1:])}")


def time_syncs(home: Path) -> None:
    """Print the time of the first sync, and of one without changes."""
    first = run(home, "sync", "--no-embed")
    notes, chunks = first.answer["scanned"], first.answer["chunks"]
    print(f"{notes} notes, {chunks} chunks, text searchable after {first.seconds:.2f} s")
    print(f"  {first.seconds * 1000 / notes:.2f} ms a note, peak memory {first.peak_mb:.0f} MB")
    again = [run(home, "sync", "--no-embed").seconds for _ in range(9)]
    print(f"nothing changed        {summary(again)}")


def count_embedded(home: Path, vault: Path, count: int = 20) -> None:
    """Print how many texts an inserted line and a renamed note embed."""
    notes = sorted(vault.rglob("*.md"))
    notes = notes[:: max(len(notes) // count, 1)]
    inserted, renamed = [], []
    for note in notes:
        insert_line(note)
        inserted.append(run(home, "sync").answer["embedded"])
    for note in notes:
        note.rename(note.with_name(f"renamed {note.name}"))
        renamed.append(run(home, "sync").answer["embedded"])
    for name, texts in (("a line inserted", inserted), ("a note renamed", renamed)):
        print(f"{name:23}embeds {sum(texts) / len(texts):.2f} texts, at most {max(texts)}")


def insert_line(note: Path) -> None:
    """Insert a line at the top of the body, below the frontmatter."""
    data = note.read_bytes()
    start = 0
    if data.startswith(b"---\n") and (end := data.find(b"\n---\n")) > 0:
        start = end + len(b"\n---\n")
    note.write_bytes(data[:start] + b"A line that was not there before.\n\n" + data[start:])


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=15, help="runs of each command (default: 15)")
    parser.add_argument("--vectors", action="store_true", help="count the texts that edits embed")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        vault, home = Path(temporary, "vault"), Path(temporary, "home")
        shutil.copytree(options.vault, vault)
        run(home, "init", str(vault), "--no-sync")
        time_syncs(home)
        embedded = run(home, "embed")
        count = embedded.answer["embedded"]
        print(f"{count} chunks embedded in {embedded.seconds:.1f} s", end=" ")
        print(f"({count / embedded.seconds:.0f}/s, peak memory {embedded.peak_mb:.0f} MB)")
        print("without the daemon")
        time_commands(home, options.runs)
        with daemon(home):
            print("with the daemon")
            time_commands(home, options.runs)
        if options.vectors:
            count_embedded(home, vault)


if __name__ == "__main__":
    main()
