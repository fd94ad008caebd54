"""Compress a long day: random edits, moves, deletions and queries, with a failing embedder.

    python benchmarks/soak.py [--minutes 60] [--edits 20000] [--queries 5000]
                              [--plot docs/soak.svg]

A daemon watches a vault of generated notes. Its embedder is a server on 127.0.0.1 that fails one
call in ten. At the end, the index must equal a fresh build of the files, row for row. Linux only.
"""

import argparse
import os
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import Author, make_vault
from benchmarks.indexing import Bench
from benchmarks.machine import describe
from benchmarks.plot import Line, draw
from benchmarks.process import Usage, usage
from tests.api.vaults import rows
from tests.embeddings.failures import server_error
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import create_config, set_value
from vault_index.daemon.client import Client, connect
from vault_index.errors import VaultIndexError

_PATIENCE = 900.0
_QUIET_SECONDS = 5.0
_WARM = 0.1
"""The part of the time after which memory is expected to grow no more."""


class Editor:
    """A user who edits a vault; equal seeds give equal edits. The number of notes stays stable."""

    def __init__(self, vault: Path, outside: Path, seed: int) -> None:
        self._vault = vault
        self._outside = outside
        self._author = Author(seed)
        self._random = random.Random(seed)
        self._notes = sorted(vault.rglob("*.md"))
        self._usual = len(self._notes)
        self._number = 0

    def edit(self) -> None:
        """Make one random edit."""
        actions: list[tuple[Callable[[], None], int]] = [
            (self._append, 30), (self._insert, 20), (self._atomic_save, 20), (self._rename, 12),
            (self._move, 8),
            (self._create if len(self._notes) < self._usual else self._delete, 16),
            (self._rename_folder, 1), (self._take_out_and_back, 1),
        ]  # fmt: skip
        (action,) = self._random.choices([a for a, _ in actions], [weight for _, weight in actions])
        action()

    def _any(self) -> Path:
        return self._random.choice(self._notes)

    def _new_name(self) -> str:
        self._number += 1
        return f"{self._author.words(2)} new {self._number}.md"

    def _append(self) -> None:
        with self._any().open("a", encoding="utf-8") as note:
            note.write(f"\n{self._author.sentence()}\n")

    def _insert(self) -> None:
        note = self._any()
        lines = note.read_text("utf-8").splitlines(keepends=True)[:200]
        lines.insert(self._random.randint(4, len(lines)), f"{self._author.sentence()}\n\n")
        note.write_text("".join(lines), encoding="utf-8")

    def _atomic_save(self) -> None:
        note = self._any()
        temporary = note.with_name(f".{note.name}.tmp")
        temporary.write_text(self._author.note(), encoding="utf-8")
        temporary.rename(note)

    def _replace(self, old: Path, new: Path) -> None:
        new.parent.mkdir(parents=True, exist_ok=True)
        old.rename(new)
        self._notes[self._notes.index(old)] = new

    def _rename(self) -> None:
        note = self._any()
        self._replace(note, note.with_name(self._new_name()))

    def _move(self) -> None:
        self._replace(self._any(), self._any().parent / self._new_name())

    def _create(self) -> None:
        folder = self._any().parent
        if self._random.random() < 0.2:
            folder = folder.parent / f"topic new {self._number}"
            folder.mkdir(exist_ok=True)
        note = folder / self._new_name()
        note.write_text(self._author.note(), encoding="utf-8")
        self._notes.append(note)

    def _delete(self) -> None:
        note = self._any()
        note.unlink()
        self._notes.remove(note)

    def _rename_folder(self) -> None:
        old = self._any().parent
        self._number += 1
        new = old.with_name(f"topic renamed {self._number}")
        old.rename(new)
        self._notes = [new / note.name if note.parent == old else note for note in self._notes]

    def _take_out_and_back(self) -> None:
        folder = self._any().parent
        folder.rename(self._outside / "away")
        (self._outside / "away").rename(folder)


@dataclass(slots=True)
class Reader:
    """Somebody who asks, now and then on a new connection."""

    socket: Path
    author: Author
    client: Client | None = None
    seconds: list[float] = field(default_factory=list)
    degraded: int = 0
    failed: int = 0

    def ask(self) -> None:
        """Send one random query."""
        chance = self.author.random.random()
        if self.client is None or chance < 0.05:
            self.close()
            self.client = connect(self.socket)
        assert self.client is not None
        started = time.perf_counter()
        try:
            answer = self.client.call(
                "search", {"query": self.author.words(1 + int(chance * 4)), "limit": 10}
            )
        except VaultIndexError:
            self.failed += 1
            self.client = None
            return
        self.seconds.append(time.perf_counter() - started)
        self.degraded += isinstance(answer, dict) and bool(answer.get("degraded"))

    def close(self) -> None:
        """Close the connection."""
        if self.client is not None:
            self.client.close()
            self.client = None


@dataclass(frozen=True, slots=True)
class Sample:
    """The resources at one moment."""

    minute: float
    usage: Usage
    wal_mb: float
    """Of the larger one of the two databases."""


def main() -> None:
    """Run the soak test."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--edits", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--notes", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    print(describe())
    print(
        f"{options.notes} notes, {options.edits} edits and {options.queries} queries in "
        f"{options.minutes:g} minutes"
    )
    print("load", *os.getloadavg(), flush=True)
    os.environ |= {"NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "sk-soak"}
    with tempfile.TemporaryDirectory() as temporary, EmbeddingServer(dimensions=64) as server:
        folder = Path(temporary)
        make_vault(folder / "made", options.notes)
        bench = Bench(folder / "made", folder)
        _configure(folder / "home", bench.vault, server)
        server.fail_always(_one_in_ten(options.seed))
        with bench.daemon():
            samples = soak(bench, folder, options)
        server.fail_always(None)
        _compare(folder, bench.vault, server)
        print(f"{len(server.requests)} calls of the embedder")
    print("load", *os.getloadavg())
    if options.plot:
        options.plot.write_text(_picture(samples, options), encoding="utf-8")


def soak(bench: Bench, folder: Path, options: argparse.Namespace) -> list[Sample]:
    """Everything between the first reconcile and the moment when nothing is left to do."""
    pid = int(_call(bench, "ping")["pid"])
    _until_quiet(bench)
    (folder / "outside").mkdir()
    editor = Editor(bench.vault, folder / "outside", options.seed)
    reader = Reader(find_home(environ=bench.environment).socket_path, Author(options.seed))
    seconds = options.minutes * 60
    errors: list[BaseException] = []
    before = usage(pid)
    threads = [
        threading.Thread(target=_paced, args=(work, count, seconds, errors), daemon=True)
        for work, count in ((editor.edit, options.edits), (reader.ask, options.queries))
    ]
    for thread in threads:
        thread.start()
    samples = []
    started = time.monotonic()
    while any(thread.is_alive() for thread in threads):
        samples.append(
            Sample((time.monotonic() - started) / 60, usage(pid), _wal_mb(folder / "home"))
        )
        time.sleep(min(5.0, seconds / 50))
    took = time.monotonic() - started
    if errors:
        raise SystemExit(f"the soak itself failed: {errors[0]!r}")
    reader.close()
    settled = _until_quiet(bench)
    after = usage(pid)
    status = _call(bench, "status")
    print(f"took {took / 60:.1f} minutes, and {settled:.1f} s more until nothing was left to do")
    _report(samples, reader, before, after, status)
    return samples


def _report(
    samples: list[Sample], reader: Reader, before: Usage, after: Usage, status: dict[str, Any]
) -> None:
    warm = samples[int(len(samples) * _WARM) :]
    tenth = max(1, len(warm) // 10)
    first, last = (
        statistics.median(sample.usage.anonymous_mb for sample in part)
        for part in (warm[:tenth], warm[-tenth:])
    )
    ms = sorted(second * 1000 for second in reader.seconds)
    print(
        f"memory: {first:.1f} MB anonymous when warm, "
        f"{last:.1f} MB at the end ({100 * (last / first - 1):+.1f} %)"
    )
    print(f"  at most {max(sample.usage.anonymous_mb for sample in samples):.1f} MB")
    print(
        f"open files: {before.files} before, {after.files} after; "
        f"threads: {before.threads}, {after.threads}"
    )
    print(f"WAL: at most {max(sample.wal_mb for sample in samples):.1f} MB")
    print(
        "processor: "
        f"{100 * (after.cpu_seconds - before.cpu_seconds) / (after.seconds - before.seconds):.0f} "
        "% of one"
    )
    print(
        f"queries: median {statistics.median(ms):.1f} ms, 95 % under {ms[int(len(ms) * 0.95)]:.1f} "
        f"ms, {reader.degraded} by keywords only, {reader.failed} failed"
    )
    print(
        f"missed by the watcher: {status['watch']['missed']}; "
        f"problems: {[p['code'] for p in status['problems']]}"
    )


def _paced(
    work: Callable[[], object], count: int, seconds: float, errors: list[BaseException]
) -> None:
    """Do `work` so often, evenly over the time; what is late is caught up with."""
    started = time.monotonic()
    try:
        for number in range(count):
            wait = started + seconds * number / count - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            work()
    except BaseException as error:  # noqa: BLE001 - the main thread ends with it
        errors.append(error)


def _one_in_ten(seed: int) -> Callable[[Request, Reply], Reply]:
    chance = random.Random(seed)

    def fail(request: Request, reply: Reply) -> Reply:
        return server_error(request, reply) if chance.random() < 0.1 else reply

    return fail


def _configure(home: Path, vault: Path, server: EmbeddingServer) -> None:
    places = find_home(home)
    create_config(places, vault, provider="none", memory_dir=None)
    settings = {"base_url": server.base_url, "model": "toy", "dimensions": "64", "max_retries": "1"}
    for key, value in {**settings, "provider": "openai"}.items():
        set_value(places, f"embedding.{key}", value)


def _compare(folder: Path, vault: Path, server: EmbeddingServer) -> None:
    """Exit with an error unless the index equals a fresh build; the daemon has ended."""
    found = rows(find_home(folder / "home").index_db)
    _configure(folder / "fresh", vault, server)
    with VaultIndex.open(find_home(folder / "fresh")) as index:
        report = index.sync()
    expected = rows(find_home(folder / "fresh").index_db)
    shutil.rmtree(folder / "fresh")
    different = [name for name in expected if expected[name] != found.get(name)]
    if different or report.pending:
        raise SystemExit(f"the index is not that of a fresh build: {different}")
    counts = ", ".join(f"{len(values)} {name}" for name, values in expected.items())
    print(f"the index is that of a fresh build, row for row: {counts}")


def _until_quiet(bench: Bench) -> float:
    """Wait until every file is indexed and every chunk has its vector; return the seconds.

    The state must last for a while.
    """
    started = quiet_since = time.monotonic()
    while (now := time.monotonic()) - started < _PATIENCE:
        index = _call(bench, "status")["index"]
        files = sum(1 for _ in bench.vault.rglob("*.md"))
        if index["documents"] != files or not index["chunks"] or index["pending"]:
            quiet_since = now
        elif now - quiet_since > _QUIET_SECONDS:
            return quiet_since - started
        time.sleep(0.2)
    raise SystemExit("the daemon did not come to rest")


def _wal_mb(home: Path) -> float:
    return max((file.stat().st_size / 1e6 for file in home.glob("*.db-wal")), default=0.0)


def _call(bench: Bench, method: str) -> dict[str, Any]:
    with bench.connected() as client:  # one that is kept would be idle for too long
        answer = client.call(method, {})
    assert isinstance(answer, dict)
    return answer


def _picture(samples: list[Sample], options: argparse.Namespace) -> str:
    return draw(
        f"{options.edits} edits and {options.queries} queries, "
        "an embedder that fails one call in ten",
        [sample.minute for sample in samples],
        [
            Line("anonymous memory, MB", [sample.usage.anonymous_mb for sample in samples]),
            Line("write-ahead log, MB", [sample.wal_mb for sample in samples]),
            Line("open files", [sample.usage.files for sample in samples]),
        ],
    )


if __name__ == "__main__":
    main()
