"""Measure the time from saving a file until a search finds the change.

    python benchmarks/saving.py FOLDER [--runs 9]

FOLDER is a vault; the daemon watches a copy of it. Every operation is repeated and restores the
state, also a burst of 200 files.
"""

import argparse
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary
from vault_index.daemon.client import Client

_PATIENCE = 30.0


class Watched:
    """A vault under watch, and the words that were written into it."""

    def __init__(self, vault: Path, outside: Path, client: Client) -> None:
        self.vault = vault
        self.outside = outside
        self._client = client
        self._numbers = itertools.count(1)

    def word(self) -> str:
        """A word that stands nowhere yet."""
        return f"zyx{next(self._numbers):05d}q"

    def paths(self, word: str) -> set[str]:
        """Return the paths that a search for a word finds."""
        answer = self._client.call(
            "search", {"query": word, "mode": "text", "limit": 300, "per_document": 1}
        )
        assert isinstance(answer, dict)
        return {hit["path"] for hit in answer["results"]}

    def seconds_until(self, condition: Callable[[], bool]) -> float:
        """Return the seconds until a condition is true."""
        started = time.perf_counter()
        while not condition():
            if time.perf_counter() - started > _PATIENCE:
                raise SystemExit("not found in time")
            time.sleep(0.005)
        return time.perf_counter() - started

    def new_note(self, name: str) -> tuple[Path, str]:
        """A note that is already found."""
        word, path = self.word(), self.vault / name
        path.write_text(f"# {word}\n\nThis note says {word}.\n", encoding="utf-8")
        self.seconds_until(lambda: self.paths(word) == {name})
        return path, word


def operations(watched: Watched) -> Iterator[tuple[str, Callable[[int], float]]]:
    """Each does one thing to the vault and returns the seconds until a search shows it."""

    def append(run: int) -> float:
        path, _ = watched.new_note(f"append {run}.md")
        word = watched.word()
        with path.open("a", encoding="utf-8") as note:
            note.write(f"\nAlso {word}.\n")
        return watched.seconds_until(lambda: watched.paths(word) == {path.name})

    def atomic_save(run: int) -> float:
        path, old = watched.new_note(f"atomic {run}.md")
        word = watched.word()
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_text(f"Now {word}.\n", encoding="utf-8")
        temporary.rename(path)
        return watched.seconds_until(
            lambda: watched.paths(word) == {path.name} and not watched.paths(old)
        )

    def new_file(run: int) -> float:
        word = watched.word()
        (watched.vault / f"new {run}.md").write_text(f"Here is {word}.\n", encoding="utf-8")
        return watched.seconds_until(lambda: bool(watched.paths(word)))

    def new_nested_folder(run: int) -> float:
        word = watched.word()
        folder = watched.vault / f"deep {run}" / "er" / "still"
        folder.mkdir(parents=True)
        (folder / "note.md").write_text(f"Down here {word}.\n", encoding="utf-8")
        return watched.seconds_until(lambda: bool(watched.paths(word)))

    def folder_moved_in(run: int) -> float:
        word = watched.word()
        folder = watched.outside / f"moved {run}"
        (folder / "sub").mkdir(parents=True)
        for number in range(4):
            (folder / "sub" / f"{number}.md").write_text(
                f"Moved {word} {number}.\n", encoding="utf-8"
            )
        folder.rename(watched.vault / folder.name)
        return watched.seconds_until(lambda: len(watched.paths(word)) == 4)

    def rename(run: int) -> float:
        path, word = watched.new_note(f"rename {run}.md")
        path.rename(path.with_name(f"renamed {run}.md"))
        return watched.seconds_until(lambda: watched.paths(word) == {f"renamed {run}.md"})

    def delete(run: int) -> float:
        path, word = watched.new_note(f"delete {run}.md")
        path.unlink()
        return watched.seconds_until(lambda: not watched.paths(word))

    yield "append", append
    yield "atomic save", atomic_save
    yield "new file", new_file
    yield "new nested folder", new_nested_folder
    yield "folder moved in", folder_moved_in
    yield "rename", rename
    yield "delete", delete


def burst(watched: Watched) -> float:
    """200 files at once, the half of them in new folders."""
    word = watched.word()
    for number in range(200):
        folder = watched.vault / f"burst {number // 20}" if number % 2 else watched.vault
        folder.mkdir(exist_ok=True)
        (folder / f"burst {number}.md").write_text(f"Burst {word} {number}.\n", encoding="utf-8")
    return watched.seconds_until(lambda: len(watched.paths(word)) == 200)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vault", type=Path)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        bench = Bench(options.vault, Path(temporary))
        bench.run("init", str(bench.vault))
        with bench.daemon() as client:
            watched = Watched(bench.vault, Path(temporary), client)
            watched.new_note("first.md")  # the first reconcile is over
            for name, operation in operations(watched):
                print(f"{name:20}{summary([operation(run) for run in range(options.runs)])}")
            print(f"{'burst of 200 files':20}{burst(watched):.2f} s until the last one is found")


if __name__ == "__main__":
    main()
