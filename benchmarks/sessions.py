"""What sessions cost: a first sync of many, one that finds nothing changed, lists of them, and a new turn until search
finds it.

    python benchmarks/sessions.py [--sessions 2000] [--runs 9]

The database is made up: a hundred parts a session, a fifth of it text that is indexed, the rest output of tools and
reasoning. Its words are those of the notes in fixtures/vault, as often as they stand there.
"""

import argparse
import json
import random
import re
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import apsw

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.indexing import Bench
from benchmarks.machine import describe, summary
from vault_index.daemon.client import Client

_FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
_TURNS = 10
_START = 1_790_000_000_000
_PATIENCE = 30.0


class Store:
    """A database as OpenCode writes it."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True)
        self.connection = apsw.Connection(str(path))
        self.connection.pragma("journal_mode", "wal")
        for _ in self.connection.execute((_FIXTURES / "opencode/schema-1.18.33.sql").read_text("utf-8")):
            pass
        self._random = random.Random(7)
        notes = " ".join(note.read_text("utf-8", "replace") for note in sorted((_FIXTURES / "vault").rglob("*.md")))
        self._words = re.findall(r"\w+", notes)
        self.clock = _START
        self._number = 0
        self.parts = self.text = 0

    def fill(self, sessions: int) -> None:
        for number in range(10):
            self.connection.execute(
                "INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES (?, ?, 0, 0, '[]')",
                (f"p{number}", f"/home/user/project-{number}"),
            )
        for number in range(sessions):
            with self.connection:
                self.session(f"ses_{number:06d}", f"p{number % 10}")
                for _ in range(_TURNS):
                    self.turn(f"ses_{number:06d}")
        self.connection.pragma("wal_checkpoint(TRUNCATE)")

    def session(self, id_: str, project: str) -> None:
        self.clock += 60_000
        self.connection.execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)"
            " VALUES (?, ?, ?, ?, ?, '1.18.33', ?, ?)",
            (id_, project, id_, f"/home/user/{project}", self._prose(50).strip(), self.clock, self.clock),
        )

    def turn(self, session: str, said: str = "") -> None:
        """A prompt and its answer in two steps: ten parts."""
        prompt = self._message(session, {"role": "user"}, [{"type": "text", "text": self._said(300) + said}])
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
        self.connection.execute("UPDATE session SET time_updated = ? WHERE id = ?", (self.clock, session))

    def _message(self, session: str, data: dict[str, object], parts: list[dict[str, object]]) -> str:
        id_ = self._id("msg")
        started = self.clock
        done = {"time": {"created": started, "completed": started + 900}, "agent": "build", "modelID": "model"}
        rows = [(self._id("prt"), id_, session, self.clock, self.clock, json.dumps(part)) for part in parts]
        self.connection.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)", (id_, session, started, self.clock, json.dumps(data | done))
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
        given = {"filePath": f"src/f{self._random.randrange(400)}.py"} if edits else {"command": self._prose(60)}
        metadata = {} if edits else {"exit": 0}
        state = {"status": "completed", "input": given, "output": output, "metadata": metadata}
        return {"type": "tool", "tool": "edit" if edits else "bash", "state": state}

    def _said(self, size: int) -> str:
        """Paragraphs of a few sentences."""
        text = "\n\n".join(self._prose(min(size, 350)) for _ in range(max(size // 350, 1)))
        self.text += len(text)
        return text

    def _prose(self, size: int) -> str:
        start = self._random.randrange(len(self._words) - size)
        found = " ".join(self._words[start : start + size // 4])
        return found[:size].ljust(size, ".")


def found(client: Client, word: str) -> bool:
    answer = client.call("search", {"query": word, "mode": "text", "limit": 5})
    assert isinstance(answer, dict)
    return bool(answer["results"])


def new_turns(store: Store, client: Client, runs: int) -> Iterator[float]:
    for number in range(runs):
        word = f"zyx{number:05d}q"
        with store.connection:
            store.turn(f"ses_{number:06d}", f" {word}")
        started = time.perf_counter()
        while not found(client, word):
            if time.perf_counter() - started > _PATIENCE:
                raise SystemExit("not found in time")
            time.sleep(0.005)
        yield time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "notes").mkdir()
        bench = Bench(folder / "notes", folder)
        database = folder / "share/opencode/opencode.db"
        store = Store(database)
        store.fill(options.sessions)
        print(
            f"{options.sessions} sessions, {store.parts:,} parts, {database.stat().st_size / 1e6:.0f} MB, of which"
            f" {store.text / 1e6:.0f} MB is text"
        )
        (bench.vault / "note.md").write_text("A note.\n", "utf-8")
        bench.environment |= {"XDG_DATA_HOME": str(folder / "share"), "OPENCODE_DB": ""}
        bench.run("init", str(bench.vault), "--no-sync", "--provider", "none")
        report, seconds = bench.run("sync", "--no-embed")
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(
            f"first sync              {seconds:.1f} s ({used.ru_utime + used.ru_stime:.1f} s of a processor),"
            f" {report['chunks']} chunks, peak memory of the larger process {used.ru_maxrss / 1024:.0f} MB"
        )
        print(f"nothing changed         {summary([bench.run('sync')[1] for _ in range(options.runs)])}")
        day = time.strftime("%Y-%m-%d", time.localtime(store.clock / 1000))
        for told, arguments in (
            ("the newest", ()),
            ("of a file", ("--file", "src/f7.py")),
            ("summary of a day", ("--summary", "--since", day)),
        ):
            took = summary([bench.run("sessions", *arguments)[1] for _ in range(options.runs)])
            print(f"sessions, {told:<18} {took}")
        with store.connection:
            store.turn("ses_000100")
        report, seconds = bench.run("sync", "--no-embed")
        print(f"a new turn, by sync     {seconds * 1000:.0f} ms, {report['changed']} changed")
        with bench.daemon() as client:
            print(f"a new turn, by daemon   {summary(list(new_turns(store, client, options.runs)))}")


if __name__ == "__main__":
    main()
