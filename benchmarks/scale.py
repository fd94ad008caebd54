"""Measure vaults of 1,800, 25,000 and 180,000 generated notes.

    python -m benchmarks.scale FOLDER --size 10k [--part search ...] >> figures.jsonl

FOLDER keeps the vault and the index of each size (`10k/vault`, `10k/home`), made if missing: 0.06,
0.9 and 6 GB. Each figure is a line of JSON that names the machine. Seconds are those of whole
processes, as users wait for them. The parts `change` and `burst` edit notes and restore them.
"""

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import KINDS, ONE_PERCENT, Asker, Corpus, made_up_topics
from benchmarks.everyday import daemon
from benchmarks.machine import arguments, describe, run
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config
from vault_index.daemon.client import connect
from vault_index.query.search import Mode

NOTES = {"10k": 1_800, "140k": 25_000, "1m": 180_000}
_COMMAND = [sys.executable, "-m", "vault_index"]
_MODES: tuple[Mode, ...] = ("text", "hybrid")
_WARM = 8
_BURST = 500
_PAUSE = 0.1
"""Between two searches for all of a burst, which are work themselves."""
_PASSAGES = 1300
"""So many are embedded by the model, to make the other vectors like them."""
_PATIENCE = 300.0


class Figure(NamedTuple):
    """One measured value."""

    name: str
    value: float
    unit: str


class Scaled:
    """A vault of one size with its index, in a folder that stays."""

    def __init__(self, folder: Path, size: str, queries: int) -> None:
        self.vault, self.home = folder / size / "vault", folder / size / "home"
        self.topics = made_up_topics()
        self.corpus = Corpus(self.topics, NOTES[size])
        self.queries = queries

    def build(self) -> None:
        """Whatever is missing: notes, text, vectors."""
        if not self.vault.exists():
            self.corpus.write(self.vault)
        if not self.home.exists():
            create_config(find_home(self.home), self.vault, provider="local", memory_dir=None)
            run(self.home, "sync", "--no-embed")
        with VaultIndex.open(self.home) as index:
            if index.status().index.pending:
                from benchmarks.stand_in import embed_all

                passages = [
                    self.corpus.note(number)[:1000]
                    for number in range(min(_PASSAGES, self.corpus.notes))
                ]
                embed_all(index, [" ".join(topic) for topic in self.topics], passages)

    # --- parts ------------------------------------------------------------------------------------

    def index(self) -> Iterator[Figure]:
        """Measure the first index."""
        with tempfile.TemporaryDirectory(dir=self.home.parent) as folder:
            home = Path(folder, "home")
            create_config(find_home(home), self.vault, provider="local", memory_dir=None)
            first = run(home, "sync", "--no-embed")
        yield Figure("chunks", first.answer["chunks"], "")
        yield Figure("first index", first.seconds, "s")
        yield Figure("first index, processor", first.processor, "s")
        yield Figure("first index, peak memory", first.peak_mb, "MB")

    def unchanged(self) -> Iterator[Figure]:
        """Measure a sync without changes."""
        runs = [run(self.home, "sync", "--no-embed") for _ in range(6)][1:]
        yield Figure("nothing changed", statistics.median(one.seconds for one in runs), "s")
        yield Figure("nothing changed, peak memory", max(one.peak_mb for one in runs), "MB")

    def disk(self) -> Iterator[Figure]:
        """Measure the sizes on disk."""
        text = sum(path.stat().st_size for path in self.vault.rglob("*.md"))
        databases = [(self.home / f"{name}.db").stat().st_size for name in ("index", "cache")]
        yield Figure("disk, index and cache", sum(databases) / text, "x text")
        yield Figure("index", databases[0] / text, "x text")
        yield Figure("cache", databases[1] / text, "x text")

    def search(self) -> Iterator[Figure]:
        """Measure searches."""
        with VaultIndex.open(self.home) as index:
            for kind in KINDS:
                queries = list(Asker(self.corpus).queries(kind, self.queries))
                tags = (ONE_PERCENT,) if kind == "filter of 1 %" else ()
                for mode in _MODES:
                    for query in queries[:_WARM]:
                        index.search(query, mode=mode, tags=tags)
                    before = time.process_time()
                    spent = [
                        _milliseconds(partial(index.search, query, mode=mode, tags=tags))
                        for query in queries
                    ]
                    processor = (time.process_time() - before) * 1000 / len(queries)
                    yield from _percentiles(f"{mode}, {kind}", spent, "ms")
                    yield Figure(f"{mode}, {kind}, processor, mean", processor, "ms")

    def change(self) -> Iterator[Figure]:
        """Measure one edited note with a daemon."""
        with self._daemon() as live:
            yield from _percentiles(
                "change", [live.edit(number * 7) for number in range(21)][1:], "s"
            )

    def burst(self) -> Iterator[Figure]:
        """Measure many edits at once with a daemon."""
        with self._daemon() as live:
            live.edit(0)
            yield Figure("500 files edited at once", live.edit_many(range(_BURST)), "s")
            renamed = live.rename_folder("area 0", "area 0 renamed")
            yield Figure("folder of 500 renamed", renamed, "s")

    @contextmanager
    def _daemon(self) -> Iterator["Live"]:
        with daemon(self.home):
            live = Live(self)
            live.until(live.is_quiet)
            try:
                yield live
            finally:
                live.restore()
                live.client.close()


class Live:
    """Edits a vault under watch, and tells when a search finds it."""

    def __init__(self, scaled: Scaled) -> None:
        self._scaled = scaled
        client = connect(find_home(scaled.home).socket_path)
        assert client is not None
        self.client = client
        self._edited: dict[Path, bytes] = {}
        self._renamed: list[tuple[Path, Path]] = []
        self._words = iter(f"qzyx{os.getpid()}w{number}" for number in range(1_000_000))

    def until(self, condition: Callable[[], bool], pause: float = 0.01) -> float:
        """Wait until a condition is true."""
        started = time.perf_counter()
        while not condition():
            if time.perf_counter() - started > _PATIENCE:
                raise SystemExit("not found in time")
            time.sleep(pause)
        return time.perf_counter() - started

    def is_quiet(self) -> bool:
        """Whether the daemon has looked at everything, and embedded it."""
        status = self._answer("status", {})
        return status["watch"]["last_reconcile"] is not None and status["index"]["pending"] == 0

    def _answer(self, method: str, options: dict[str, Any]) -> dict[str, Any]:
        answer = self.client.call(method, options)
        assert isinstance(answer, dict)
        return answer

    def edit(self, number: int) -> float:
        """Append a line to a note; return the seconds until a search finds it."""
        return self.edit_many([number])

    def edit_many(self, numbers: Sequence[int]) -> float:
        """Append a line to each of these notes; the seconds until all of them are found by it."""
        self._word = next(self._words)
        for number in numbers:
            path = self._scaled.vault / self._scaled.corpus.path(number)
            self._edited.setdefault(path, path.read_bytes())
            path.write_bytes(path.read_bytes() + f"\nA line that says {self._word}.\n".encode())
        return self.until(
            lambda: len(self._found()) == len(numbers), _PAUSE if len(numbers) > 1 else 0.01
        )

    def rename_folder(self, old: str, new: str) -> float:
        """Of the notes that were edited last."""
        count = len(self._found())
        places = self._scaled.vault / old, self._scaled.vault / new
        places[0].rename(places[1])
        self._renamed.append(places)
        return self.until(
            lambda: sum(path.startswith(f"{new}/") for path in self._found()) == count, _PAUSE
        )

    def _found(self) -> set[str]:
        wanted = {"query": self._word, "mode": "text", "limit": 1000, "fuzzy": False}
        hits = self._answer("search", wanted | {"per_document": 1})["results"]
        # A line that is a passage of its own says the same in each note: they are one hit, which
        # names the others.
        return {path for hit in hits for path in (hit["path"], *hit.get("also", ()))}

    def restore(self) -> None:
        """Restore the edited notes."""
        for old, new in self._renamed:
            new.rename(old)
        for path, data in self._edited.items():
            path.write_bytes(data)
        self.until(lambda: not self._found())


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _percentiles(name: str, values: Sequence[float], unit: str) -> Iterator[Figure]:
    yield Figure(f"{name}, median", statistics.median(values), unit)
    yield Figure(f"{name}, 95 %", sorted(values)[int(len(values) * 0.95)], unit)


PARTS: dict[str, Callable[[Scaled], Iterator[Figure]]] = {
    "index": Scaled.index, "unchanged": Scaled.unchanged, "disk": Scaled.disk,
    "search": Scaled.search, "change": Scaled.change, "burst": Scaled.burst,
}  # fmt: skip


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=NOTES, nargs="+", default=["10k"])
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument("--queries", type=int, default=100, help="of each kind (default: 100)")
    options = parser.parse_args()
    machine = describe()
    for size in options.size:
        scaled = Scaled(options.folder.absolute(), size, options.queries)
        scaled.build()
        for part in options.part:
            for name, value, unit in PARTS[part](scaled):
                line = {
                    "machine": machine, "load": os.getloadavg()[0], "size": size, "part": part,
                    "name": name, "value": round(value, 4), "unit": unit,
                }  # fmt: skip
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
