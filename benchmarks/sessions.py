"""Measure sessions: a first sync of many, a sync without changes, lists, and a new turn.

    python benchmarks/sessions.py [--sessions 2000] [--runs 9] [--files [--long MB]]

A new turn is timed until a search finds it. The database of OpenCode is generated: a hundred parts
per session, a fifth of it indexed text, the rest output of tools and reasoning. Its words have the
frequencies of the notes in fixtures/vault. The files of other clients are generated too
(`benchmarks/transcripts.py`).
"""

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary
from benchmarks.process import resident_mb
from benchmarks.transcripts import KINDS, Prose, Transcripts
from vault_index.daemon.client import Client

_FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
_TURNS = 10
_START = 1_790_000_000_000
_PATIENCE = 30.0

Turn = Callable[[int, str], None]
"""Writes a turn more into the session of a number, at whose end this is said."""


class Store:
    """A database as OpenCode writes it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True)
        self.connection = apsw.Connection(str(path))
        self.connection.pragma("journal_mode", "wal")
        for _ in self.connection.execute(
            (_FIXTURES / "opencode/schema-1.18.33.sql").read_text("utf-8")
        ):
            pass
        self._random = random.Random(7)
        self._words = Prose()
        self.clock = _START
        self._number = 0
        self.parts = self.text = 0

    def fill(self, sessions: int) -> None:
        """Write the sessions."""
        for number in range(10):
            self.connection.execute(
                "INSERT INTO project (id, worktree, time_created, time_updated, "
                "sandboxes) VALUES (?, ?, 0, 0, '[]')",
                (f"p{number}", f"/home/user/project-{number}"),
            )
        for number in range(sessions):
            with self.connection:
                self.session(f"ses_{number:06d}", f"p{number % 10}")
                for _ in range(_TURNS):
                    self.turn(f"ses_{number:06d}")
        self.connection.pragma("wal_checkpoint(TRUNCATE)")

    def session(self, id_: str, project: str) -> None:
        """Write one session."""
        self.clock += 60_000
        self.connection.execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, "
            "time_updated) VALUES (?, ?, ?, ?, ?, '1.18.33', ?, ?)",
            (
                id_,
                project,
                id_,
                f"/home/user/{project}",
                self._prose(50).strip(),
                self.clock,
                self.clock,
            ),
        )

    def turn(self, session: str, said: str = "") -> None:
        """A prompt and its answer in two steps: ten parts."""
        prompt = self._message(
            session, {"role": "user"}, [{"type": "text", "text": self._said(300) + said}]
        )
        work: list[dict[str, object]] = [
            {"type": "step-start", "snapshot": "0" * 40},
            {"type": "reasoning", "text": self._prose(1500)},
            {"type": "text", "text": self._said(700)},
            *(self._tool_call() for _ in range(2)),
            {"type": "step-finish", "reason": "tool-calls"},
        ]
        self._message(session, {"role": "assistant", "parentID": prompt}, work)
        answer: list[dict[str, object]] = [
            {"type": "step-start"},
            {"type": "text", "text": self._said(2000)},
            {"type": "step-finish"},
        ]
        self._message(session, {"role": "assistant", "parentID": prompt}, answer)
        self.connection.execute(
            "UPDATE session SET time_updated = ? WHERE id = ?", (self.clock, session)
        )

    def _message(
        self, session: str, data: dict[str, object], parts: list[dict[str, object]]
    ) -> str:
        id_ = self._id("msg")
        started = self.clock
        done = {
            "time": {"created": started, "completed": started + 900},
            "agent": "build",
            "modelID": "model",
        }
        rows = [
            (self._id("prt"), id_, session, self.clock, self.clock, json.dumps(part))
            for part in parts
        ]
        self.connection.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
            (id_, session, started, self.clock, json.dumps(data | done)),
        )
        self.connection.executemany("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", rows)
        self.parts += len(rows)
        return id_

    def _id(self, kind: str) -> str:
        self.clock += 1000
        self._number += 1
        return f"{kind}_{self._number:012x}"

    def _tool_call(self) -> dict[str, object]:
        edits, output = self._random.random() < 0.3, self._prose(2800)
        given = (
            {"filePath": f"src/f{self._random.randrange(400)}.py"}
            if edits
            else {"command": self._prose(60)}
        )
        metadata = {} if edits else {"exit": 0}
        state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
        return {"type": "tool", "tool": "edit" if edits else "bash", "state": state}

    def _said(self, size: int) -> str:
        self.text += size
        return self._words.said(size)

    def _prose(self, size: int) -> str:
        return self._words.any(size)


def found(client: Client, word: str) -> bool:
    """Return whether a search finds a word."""
    answer = client.call("search", {"query": word, "mode": "text", "limit": 5})
    assert isinstance(answer, dict)
    return bool(answer["results"])


def new_turns(turn: Turn, client: Client, runs: int) -> Iterator[float]:
    """Measure the time until a search finds new turns."""
    for number in range(runs):
        word = f"zyx{number:05d}q"
        turn(number, f" {word}")
        started = time.perf_counter()
        while not found(client, word):
            if time.perf_counter() - started > _PATIENCE:
                raise SystemExit("not found in time")
            time.sleep(0.005)
        yield time.perf_counter() - started


def opencode(folder: Path, sessions: int) -> tuple[Turn, Store | Transcripts]:
    """Make the database of OpenCode."""
    database = folder / "share/opencode/opencode.db"
    store = Store(database)
    store.fill(sessions)
    size = database.stat().st_size / 1e6
    print(
        f"{sessions} sessions, {store.parts:,} parts, {size:.0f} MB, "
        f"of which {store.text / 1e6:.0f} MB is text"
    )

    def turn(number: int, said: str) -> None:
        with store.connection:
            store.turn(f"ses_{number:06d}", said)

    return turn, store


def files(folder: Path, sessions: int, megabytes: int) -> tuple[Turn, Store | Transcripts]:
    """Make the files of all other clients, with one session of so many megabytes for new turns."""
    prose, made = Prose(), list[Transcripts]()
    for kind, share in KINDS.values():
        made.append(kind(folder, prose))
        made[-1].fill(int(sessions * share))
    if megabytes:
        for one in made[:2]:
            one.sessions.clear()
            one.fill(1, megabytes * 1_000_000 // 21_000)
    size = sum(file.stat().st_size for file in folder.rglob("*.json*")) / 1e6
    print(f"{sessions} sessions, {size:.0f} MB, of which {prose.size / 1e6:.0f} MB is text")

    def turn(number: int, said: str) -> None:
        one = made[number % (2 if megabytes else 3)]
        one.turn(one.sessions[number % len(one.sessions)], said)

    return turn, made[0]


def first_sync(bench: Bench) -> None:
    """With the memory of both its processes at the same moment."""
    peak, over = 0.0, threading.Event()

    def look() -> None:
        nonlocal peak
        while not over.wait(0.05):
            peak = max(peak, resident_mb(os.getpid()) - resident_alone)

    resident_alone = resident_mb(os.getpid())
    watching = threading.Thread(target=look)
    watching.start()
    report, seconds = bench.run("sync", "--no-embed")
    over.set()
    watching.join()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    home = sum(
        file.stat().st_size
        for file in Path(bench.environment["VAULT_INDEX_HOME"]).rglob("*")
        if file.is_file()
    )
    print(
        f"first sync              {seconds:.1f} s ({used.ru_utime + used.ru_stime:.1f} s of a "
        f"processor), {report['chunks']} chunks, peak memory of all its processes {peak:.0f} MB, "
        f"{home / 1e6:.0f} MB of disk"
    )


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument(
        "--files", action="store_true", help="of Claude Code, Codex CLI and Gemini CLI, 110 kB each"
    )
    parser.add_argument(
        "--long",
        type=int,
        default=0,
        metavar="MB",
        help="have one long session of each in the files",
    )
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "notes").mkdir()
        bench = Bench(folder / "notes", folder)
        made = (
            files(folder, options.sessions, options.long)
            if options.files
            else opencode(folder, options.sessions)
        )
        turn, store = made
        (bench.vault / "note.md").write_text("A note.\n", "utf-8")
        bench.environment |= {
            "XDG_DATA_HOME": str(folder / "share"),
            "OPENCODE_DB": "",
            "HOME": str(folder),
        }
        bench.environment |= dict.fromkeys(
            ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"), ""
        )
        bench.run("init", str(bench.vault), "--no-sync", "--provider", "none")
        first_sync(bench)
        print(
            "nothing changed         "
            f"{summary([bench.run('sync')[1] for _ in range(options.runs)])}"
        )
        day = time.strftime("%Y-%m-%d", time.localtime(store.clock / 1000))
        for told, arguments in (
            ("the newest", ()),
            ("of a file", ("--file", "src/f7.py")),
            ("summary of a day", ("--summary", "--since", day)),
        ):
            took = summary([bench.run("sessions", *arguments)[1] for _ in range(options.runs)])
            print(f"sessions, {told:<18} {took}")
        turn(20, "")
        report, seconds = bench.run("sync", "--no-embed")
        print(f"a new turn, by sync     {seconds * 1000:.0f} ms, {report['changed']} changed")
        with bench.daemon() as client:
            print(f"a new turn, by daemon   {summary(list(new_turns(turn, client, options.runs)))}")


if __name__ == "__main__":
    main()
