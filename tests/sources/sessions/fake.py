"""A client with one file per session: `<folder>/talks/<id>.jsonl`, whose first line is its head."""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vault_index import VaultIndex
from vault_index.config import Home, find_home
from vault_index.config.edit import create_config
from vault_index.sources.sessions import clients
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.files import FileClient, Layout
from vault_index.sources.sessions.json_access import millis_of, text_of
from vault_index.sources.sessions.jsonl import objects_in
from vault_index.sources.sessions.model import Listed, Message, Session, Speaker, Text

T0 = 1_795_000_000_000
"""2026-11-18 11:06:40 UTC."""


class Fake(FileClient):
    name = "codex"
    layout = Layout(("talks",), re.compile("(?!)"), re.compile(r"[^/]+\.jsonl"))

    def head(self, file: Path, problems: list[str]) -> Session | None:
        for _, _, line in objects_in(file, problems):
            began = millis_of(line, "at") or 0
            cwd, original = text_of(line, "cwd"), text_of(line, "from")
            return Session(file.stem, text_of(line, "title"), cwd, "", "", "1.0", began, began, original)
        return None

    def read(self, listed: Listed, include: Collection[str], earlier: Conversation | None = None) -> Conversation:
        problems = list[str]()
        return Conversation(listed.session, list(self._messages(listed, problems)), problems)

    def _messages(self, listed: Listed, problems: list[str]) -> Iterator[Message]:
        for number, (begin, _, line) in enumerate(objects_in(Path(listed.place), problems)):
            if begin:
                speaker: Speaker = "user" if number % 2 else "assistant"
                at, said = millis_of(line, "at") or 0, (Text(text_of(line, "said")),)
                yield Message(str(begin), "", speaker, at, True, "", "maker/gpt-9", "", said, 7)


def write(folder: Path, name: str, *said: str, **head: Any) -> Path:
    """Write a session, or append to it."""
    file = folder / "talks" / f"{name}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [] if file.exists() else [{"at": T0, "cwd": "/home/user/api", "title": name, **head}]
    lines += [{"at": T0 + 1000 * (number + 1), "said": text} for number, text in enumerate(said)]
    with file.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return file


def pretend(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Register the client in place of Codex, and return its data folder."""
    known = clients.Known("tests.sources.sessions.fake", "Fake", "CODEX_HOME", "", ".codex", resume=("fake", "go on"))
    monkeypatch.setitem(clients.KNOWN, "codex", known)
    monkeypatch.setenv("CODEX_HOME", str(folder / "codex"))
    return folder / "codex"


def home_at(folder: Path) -> Home:
    """A home with a vault of one note."""
    (folder / "vault").mkdir()
    (folder / "vault/note.md").write_text("Nothing here.\n", "utf-8")
    home = find_home(folder / "home")
    create_config(home, folder / "vault", provider="none")
    return home


@contextmanager
def opened(home: Home) -> Iterator[VaultIndex]:
    with VaultIndex.open(home) as index:
        index.sync()
        yield index
