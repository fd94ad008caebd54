"""OpenCode databases and trees for tests: copies of real data, and small ones made here."""

import json
import shutil
from collections.abc import Iterable
from datetime import UTC
from pathlib import Path
from typing import Any

import apsw

from vault_index.config import ClientConfig, Config
from vault_index.sources.opencode.database import Database
from vault_index.sources.opencode.entries import read_messages
from vault_index.sources.opencode.tree import Tree
from vault_index.sources.sessions.model import Message
from vault_index.sources.sessions.render import Transcript, render
from vault_index.sources.sessions.source import SessionSource

Store = Database | Tree
FIXTURES = Path(__file__).parents[3] / "fixtures/opencode"
T0 = 1_795_000_000_000
"""2026-11-18 11:06:40 UTC."""


def copied(name: str, tmp_path: Path) -> Path:
    """Real data in a folder of its own: readers leave `-shm` next to a database."""
    target = tmp_path / Path(name).name
    if (FIXTURES / name).is_dir():
        shutil.copytree(FIXTURES / name, target)
    else:
        shutil.copy(FIXTURES / name, target)
    return target


def opencode_source(data: Path | str, **settings: Any) -> SessionSource:
    client = ClientConfig(data=(str(data),), **settings)
    return SessionSource(Config(clients={"opencode": client}, configured=frozenset({"opencode"})), "opencode")


def transcripts(store: Store, problems: list[str], include: Iterable[str] = ()) -> dict[str, Transcript]:
    """Every session as it is rendered, by title."""
    return {
        listed.session.title: render(
            listed.session,
            read_messages(store.messages(listed.session.id, problems), listed.place.revert, set(include), problems),
            "opencode",
            zone=UTC,
        )
        for listed in store.sessions(problems)
    }


def messages(store: Store, session: str, problems: list[str] | None = None) -> list[Message]:
    found = [] if problems is None else problems
    listed = next(one for one in store.sessions(found) if one.session.id == session)
    return list(read_messages(store.messages(session, found), listed.place.revert, (), found))


def one(path: Path, session: str = "ses_a", problems: list[str] | None = None) -> str:
    """One session of a database as markdown."""
    found = [] if problems is None else problems
    store = Database(path)
    try:
        listed = next(one for one in store.sessions(found) if one.session.id == session)
        raw = store.messages(session, found)
        return render(listed.session, read_messages(raw, listed.place.revert, (), found), "opencode", zone=UTC).text
    finally:
        store.close()


class Client:
    """Writes a database as OpenCode does; every call is committed when it returns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        new = not path.exists()
        self.connection = apsw.Connection(str(path))
        self.connection.pragma("journal_mode", "wal")
        self.connection.pragma("foreign_keys", True)
        if new:
            for _ in self.connection.execute((FIXTURES / "schema-1.18.33.sql").read_text("utf-8")):
                pass
            self.run("INSERT INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES"
                     " ('global', '/', 0, 0, '[]'), ('p1', '/home/user/api', 0, 0, '[]')")  # fmt: skip
        self._clock = T0

    def close(self) -> None:
        self.connection.close()

    def run(self, sql: str, *values: Any) -> None:
        self.connection.execute(sql, values)

    def tick(self) -> int:
        self._clock += 1000
        return self._clock

    def session(self, id_: str = "ses_a", title: str = "A session", **columns: Any) -> str:
        now = self.tick()
        values = {"id": id_, "project_id": "p1", "slug": id_, "directory": "/home/user/api", "title": title,
                  "version": "1.18.33", "time_created": now, "time_updated": now} | columns  # fmt: skip
        marks = ", ".join("?" for _ in values)
        self.run(f"INSERT INTO session ({', '.join(values)}) VALUES ({marks})", *values.values())
        return id_

    def begin(self, text: str) -> None:
        """A new session with this prompt of the user."""
        self.user(text, session=self.session())

    def user(self, text: str, session: str = "ses_a", id_: str = "", **data: Any) -> str:
        at = self.tick()
        message = self.message(session, at, {"role": "user", "time": {"created": at}, "agent": "build"} | data, id_)
        self.part(message, {"type": "text", "text": text})
        return message

    def assistant(self, *parts: dict[str, Any] | str, session: str = "ses_a", done: bool = True, **data: Any) -> str:
        at = self.tick()
        time = {"created": at, "completed": at + 500} if done else {"created": at}
        base = {"role": "assistant", "time": time, "agent": "build", "modelID": "m", "providerID": "p"}
        message = self.message(session, at, base | data)
        for part in parts:
            self.part(message, {"type": "text", "text": part} if isinstance(part, str) else part)
        return message

    def message(self, session: str, at: int, data: dict[str, Any] | str, id_: str = "") -> str:
        id_ = id_ or f"msg_{at:x}"
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self.run("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?, ?, ?, ?, ?)",
                 id_, session, at, at, text)  # fmt: skip
        self.run("UPDATE session SET time_updated = ? WHERE id = ?", at, session)
        return id_

    def part(self, message: str, data: dict[str, Any] | str, id_: str = "") -> str:
        at = self.tick()
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self.run(
            "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)"
            " SELECT ?, id, session_id, ?, ?, ? FROM message WHERE id = ?", id_ or f"prt_{at:x}", at, at, text, message,
        )  # fmt: skip
        return id_ or f"prt_{at:x}"

    def fork(self, session: str, new: str, until: str = "") -> str:
        """As `Session.fork` does: new ids, all else equal, including the times of the messages."""
        self.session(new, f"{session} (fork #1)")
        rows = self.connection.execute(
            "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,)
        ).fetchall()
        for id_, at, data in rows:
            if id_ == until:
                break
            copy = self.message(new, int(str(at)), str(data), f"{id_}_{new}")
            for (part,) in self.connection.execute("SELECT data FROM part WHERE message_id = ? ORDER BY id", (id_,)):
                self.part(copy, str(part))
        return new


def tool(name: str, given: dict[str, Any], output: str = "", **state: Any) -> dict[str, Any]:
    done = {"status": "completed", "input": given, "output": output, "title": "", "metadata": {}}
    return {"type": "tool", "tool": name, "callID": "c", "state": done | state}


def tree(root: Path, files: dict[str, Any]) -> Tree:
    """A tree of `storage/…` with these files; texts are written as they are."""
    for name, value in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), "utf-8")
    return Tree(root)
