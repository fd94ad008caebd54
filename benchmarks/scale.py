"""Measure vaults of 1,800, 25,000 and 180,000 generated notes against their limits.

    python benchmarks/scale.py FOLDER --size 10k [--part search ...] [--texts FOLDER ...] \
        >> figures.jsonl
    python benchmarks/scale.py --plot docs/scale.svg < figures.jsonl

FOLDER keeps the vault and the index of each size (`10k/vault`, `10k/home`), made if missing: 0.06,
0.9 and 6 GB. The notes are assembled from --texts (folders of English texts), or from made-up
words. Each figure is a line of JSON that names the machine. Seconds are those of whole processes,
as users wait for them. The parts `change` and `burst` edit notes and restore them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import KINDS, ONE_PERCENT, Asker, Corpus, Topic, made_up_topics, topics_of
from benchmarks.machine import describe
from benchmarks.plot import Bar, bars
from benchmarks.process import resident_mb
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config
from vault_index.daemon.client import Client, connect
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


class Limit(NamedTuple):
    """The limit of figures with this prefix, for one size or all."""

    name: str
    size: str
    value: float


LIMITS = (
    Limit("first index, peak", "1m", 300),
    *(
        Limit(f"hybrid, {kind}, {share}", size, value)
        for kind in KINDS
        for size, values in (("10k", (6, 15)), ("140k", (15, 40)), ("1m", (40, 100)))
        for share, value in zip(("median", "95 %"), values, strict=True)
    ),
    *(
        Limit(f"text, {kind}, {share}", "1m", ms)
        for kind in KINDS
        for share, ms in (("median", 30), ("95 %", 100))
    ),
    Limit("disk", "140k", 2.5),
    Limit("change, median", "", 0.3),
    Limit("change, 95 %", "", 0.6),
    Limit("500 files edited", "", 2.0),
    Limit("folder of 500 renamed", "", 0.6),
    Limit("queries meanwhile, 99 %", "", 25),
)


class Figure(NamedTuple):
    """One measured value."""

    name: str
    value: float
    unit: str


class Run(NamedTuple):
    """A command as a whole process, with the processes it started."""

    seconds: float
    processor: float
    peak_mb: float
    """The most memory of all of them at one moment, mapped pages of the database included."""
    answer: dict[str, Any]


def compiled() -> dict[str, str]:
    """Return an environment with compiled modules, as users have them.

    Without them, the time of imports would dominate.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Scaled:
    """A vault of one size with its index, in a folder that stays."""

    def __init__(self, folder: Path, size: str, topics: Sequence[Topic], queries: int) -> None:
        self.vault, self.home = folder / size / "vault", folder / size / "home"
        self.topics = topics
        self.corpus = Corpus(topics, NOTES[size])
        self.queries = queries

    def build(self) -> None:
        """Whatever is missing: notes, text, vectors."""
        if not self.vault.exists():
            self.corpus.write(self.vault)
        if not self.home.exists():
            create_config(find_home(self.home), self.vault, provider="local", memory_dir=None)
            self.run("sync", "--no-embed")
        with VaultIndex.open(self.home) as index:
            if index.status().index.pending:
                from benchmarks.stand_in import embed_all

                passages = [
                    self.corpus.note(number)[:1000]
                    for number in range(min(_PASSAGES, self.corpus.notes))
                ]
                embed_all(index, [" ".join(topic) for topic in self.topics], passages)

    def run(self, *arguments: str, home: Path | None = None) -> Run:
        """Run a command as a whole process."""
        started = time.perf_counter()
        with tempfile.TemporaryFile() as answer:
            environment = compiled() | {"VAULT_INDEX_HOME": str(home or self.home)}
            process = subprocess.Popen(
                [*_COMMAND, *arguments, "--json"], env=environment, stdout=answer
            )
            peak = 0.0
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                peak = max(peak, resident_mb(process.pid))
                time.sleep(0.02)
            process.returncode = status
            answer.seek(0)
            if status:
                raise SystemExit(f"{arguments} failed: {status}")
            seconds = time.perf_counter() - started
            return Run(
                seconds, usage.ru_utime + usage.ru_stime, peak, json.loads(answer.read() or "{}")
            )

    # --- parts ------------------------------------------------------------------------------------

    def index(self) -> Iterator[Figure]:
        """Measure the first index."""
        with tempfile.TemporaryDirectory(dir=self.home.parent) as folder:
            home = Path(folder, "home")
            create_config(find_home(home), self.vault, provider="local", memory_dir=None)
            run = self.run("sync", "--no-embed", home=home)
        yield Figure("chunks", run.answer["chunks"], "")
        yield Figure("first index", run.seconds, "s")
        yield Figure("first index, processor", run.processor, "s")
        yield Figure("first index, peak memory", run.peak_mb, "MB")

    def unchanged(self) -> Iterator[Figure]:
        """Measure a sync without changes."""
        runs = [self.run("sync", "--no-embed") for _ in range(6)][1:]
        yield Figure("nothing changed", statistics.median(run.seconds for run in runs), "s")
        yield Figure("nothing changed, peak memory", max(run.peak_mb for run in runs), "MB")

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
            with live.asked(list(Asker(self.corpus).queries("four words", 400))) as spent:
                seconds = live.edit_many(range(_BURST))
                renamed = live.rename_folder("area 0", "area 0 renamed")
            yield Figure("500 files edited at once", seconds, "s")
            yield Figure("folder of 500 renamed", renamed, "s")
            yield from _percentiles("queries meanwhile", spent, "ms")
            yield Figure("queries meanwhile, 99 %", sorted(spent)[int(len(spent) * 0.99)], "ms")

    @contextmanager
    def _daemon(self) -> Iterator["Live"]:
        command = [*_COMMAND, "watch", "--quiet"]
        environment = compiled() | {"VAULT_INDEX_HOME": str(self.home)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as daemon:
            try:
                live = Live(self)
                live.until(live.is_quiet)
                try:
                    yield live
                finally:
                    live.restore()
                    live.client.close()
            finally:
                daemon.terminate()


class Live:
    """Edits a vault under watch, and tells when a search finds it."""

    def __init__(self, scaled: Scaled) -> None:
        self._scaled = scaled
        self._socket = find_home(scaled.home).socket_path
        self._edited: dict[Path, bytes] = {}
        self._renamed: list[tuple[Path, Path]] = []
        self._words = iter(f"qzyx{os.getpid()}w{number}" for number in range(1_000_000))

    @cached_property
    def client(self) -> Client:
        """Return a client of the daemon."""
        return self._connected()

    def _connected(self) -> Client:
        started = time.monotonic()
        while (client := connect(self._socket)) is None:
            if time.monotonic() - started > _PATIENCE:
                raise SystemExit("the daemon does not answer")
            time.sleep(0.05)
        return client

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
        wanted = {
            "query": self._word,
            "mode": "text",
            "limit": 1000,
            "per_document": 1,
            "fuzzy": False,
        }
        hits = self._answer("search", wanted)["results"]
        # A line that is a passage of its own says the same in each note: they are one hit, which
        # names the others.
        return {path for hit in hits for path in (hit["path"], *hit.get("also", ()))}

    @contextmanager
    def asked(self, queries: Sequence[str]) -> Iterator[list[float]]:
        """Milliseconds of hybrid queries, which another client asks meanwhile, twenty a second."""
        spent: list[float] = []
        over = threading.Event()

        def ask() -> None:
            with self._connected() as client:
                for query in cycle(queries):
                    if over.wait(0.05):
                        return
                    spent.append(_milliseconds(partial(client.call, "search", {"query": query})))

        asker = threading.Thread(target=ask, daemon=True)
        asker.start()
        try:
            yield spent
        finally:
            over.set()
            asker.join()

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


def limit_of(name: str, size: str) -> float | None:
    """Return the limit of a figure, if it has one."""
    return next(
        (
            limit.value
            for limit in LIMITS
            if name.startswith(limit.name) and limit.size in ("", size)
        ),
        None,
    )


def picture(lines: Sequence[dict[str, Any]]) -> str:
    """Return a picture of the last figures as shares of their limits, medians next to 95 %."""
    last = {(line["size"], line["name"]): line for line in lines if line["limit"]}
    groups = []
    for size, notes in NOTES.items():
        rows: dict[str, list[Bar]] = {}
        for (of, name), line in last.items():
            if of == size:
                name = name.removesuffix(", median").removesuffix(", 95 %")
                rows.setdefault(name, []).append(
                    Bar(name, line["value"], line["limit"], line["unit"])
                )
        if rows:
            groups.append((f"{notes:,} notes", list(rows.values())))
    return bars("Beside the limits", "The line is the limit; of two bars median and 95 %", groups)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--size", choices=NOTES, nargs="+", default=["10k"])
    parser.add_argument("--part", choices=PARTS, nargs="+", default=list(PARTS))
    parser.add_argument(
        "--texts", type=Path, nargs="+", default=[], help="folders of English texts"
    )
    parser.add_argument(
        "--queries", type=int, default=100, help="how many of each kind (default: 100)"
    )
    parser.add_argument(
        "--plot", type=Path, help="draw the figures that are read from the standard input"
    )
    options = parser.parse_args()
    if options.plot:
        options.plot.write_text(picture([json.loads(line) for line in sys.stdin]), encoding="utf-8")
        return
    if options.folder is None:
        parser.error("name a folder for the vaults and their indexes")
    topics = topics_of(options.texts) or made_up_topics()
    machine = describe()
    for size in options.size:
        scaled = Scaled(options.folder.absolute(), size, topics, options.queries)
        scaled.build()
        for part in options.part:
            for name, value, unit in PARTS[part](scaled):
                line = {
                    "machine": machine, "load": os.getloadavg()[0], "size": size, "part": part,
                    "name": name, "value": round(value, 4), "unit": unit,
                    "limit": limit_of(name, size),
                }  # fmt: skip
                print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
