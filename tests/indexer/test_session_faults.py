"""Faulty OpenCode data: the sync names the fault and finds the rest."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.indexer.test_sessions import open_index
from tests.sources.opencode.stores import Client, copied
from vault_index import VaultIndex


def found(index: VaultIndex, word: str) -> list[str]:
    return [hit.path for hit in index.search(word, fuzzy=False).results]


@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_sync_names_a_locked_database_and_reads_the_others(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mirror: str
) -> None:
    monkeypatch.setattr("vault_index.sources.sessions.client_database._BUSY_MS", 1)
    client.begin("A heron at the lake")
    # In another process: ours would hold the database open and block the lock.
    open_index(tmp_path, mirror=mirror).close()
    environment = {**os.environ, "VAULT_INDEX_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-m", "vault_index", "sync", "--quiet"], env=environment, check=True)
    beta = Client(client.path.with_name("opencode-beta.db"))
    beta.session("ses_b", "Owls")
    beta.user("An owl by night", session="ses_b")
    client.connection.pragma("locking_mode", "exclusive")
    client.user("And an egret")
    with open_index(tmp_path, mirror=mirror) as index:
        report = index.sync()
        assert report.removed == 0
        assert [problem.code for problem in report.problems] == ["busy"]
        assert "opencode.db is locked by OpenCode" in report.problems[0].message
        assert [len(found(index, word)) for word in ("heron", "owl", "login", "egret")] == [1, 1, 1, 0]
        client.connection.pragma("locking_mode", "normal")
        client.user("And a stork")
        client.connection.execute("SELECT count(*) FROM session").fetchall()
        assert index.sync().problems == ()
        assert [len(found(index, word)) for word in ("heron", "egret", "stork")] == [1, 1, 1]
    beta.close()


@pytest.mark.parametrize("mirror", ["", "sessions"])
def test_sync_replaces_invalid_text_and_times_of_a_session(client: Client, tmp_path: Path, mirror: str) -> None:
    """Lone surrogates, bytes that are not UTF-8, and a time outside the calendar."""
    client.begin("An owl by night")
    message = client.user("A heron at the lake", session=client.session("ses_b", "Half"))
    client.part(message, r'{"type": "text", "text": "and half \ud83d an egret"}')
    call = r'{"type": "tool", "tool": "bash", "state": {"status": "error", "error": "\ud83d stork", "input": {}}}'
    client.part(message, call)
    client.user("A crane", session=client.session("ses_c", "Late"))
    client.run("UPDATE session SET title = CAST(x'41eda0bd' AS TEXT) WHERE id = 'ses_b'")
    client.run("UPDATE session SET time_created = 1000000000000000000 WHERE id = 'ses_c'")
    with open_index(tmp_path, mirror=mirror) as index:
        assert index.sync().failed == ()
        assert [len(found(index, word)) for word in ("owl", "heron", "egret", "stork", "login")] == [1] * 5
        assert "half \ufffd an egret" in index.search("egret").results[0].snippet
        assert [one.title for one in index.list(session="ses_b").results] == ["A\ufffd\ufffd\ufffd"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The files of an early OpenCode, which had no database."""
    (tmp_path / "opencode").mkdir()
    (storage,) = copied("json-1.1.65", tmp_path).rglob("storage")
    return Path(shutil.move(storage, tmp_path / "opencode/storage"))


def part_that_says(tree: Path, word: str) -> Path:
    return next(file for file in sorted(tree.rglob("part/*/*.json")) if word in file.read_text("utf-8"))


def test_sync_names_a_truncated_file_of_a_tree_and_finds_the_rest(tree: Path, tmp_path: Path) -> None:
    with open_index(tmp_path, home="whole") as index:
        index.sync()
        sessions, hits = index.list(kind="session").total, found(index, "login")
    part = part_that_says(tree, "Warum?")
    part.write_bytes(part.read_bytes()[:-20])
    message = min(tree.rglob("message/*/*.json"))
    shutil.rmtree(tree / "part" / message.stem, ignore_errors=True)
    with open_index(tmp_path) as index:
        index.sync()
        assert index.list(kind="session").total == sessions
        assert set(found(index, "login")) <= set(hits)
        told = " ".join(problem.message for problem in index.status().problems)
        assert f"part {part.stem} of message {part.parent.name} cannot be read" in told
        assert found(index, "Warum") == []
