"""`init`: the first set-up, repeated runs, and refusals that write nothing."""

import shutil
from pathlib import Path

import pytest

from tests.cli.process import Out, answer
from vault_index.cli import main
from vault_index.config.schema import CLIENTS


def test_init_indexes_the_vault_and_prints_the_next_command(home: Path, vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--provider", "none", "--human"]) == 0
    out, err = capsys.readouterr()
    assert "My-Vault" in out
    assert "2 added" in out
    assert 'vault-index search "…"' in out
    assert "config.toml" in err
    found = answer(capsys, "search", "readers", "wait")
    assert found["results"][0]["path"] == "wal.md"


def test_init_again_keeps_the_config_and_adds_another_vault(
    home: Path, vault: Path, tmp_path: Path, capsys: Out
) -> None:
    first = answer(capsys, "init", str(vault), "--provider", "none")
    written = (home / "config.toml").read_bytes()
    second = answer(capsys, "init", str(vault))
    third = answer(capsys, "init")
    assert (first["created"], second["created"], second["added"]) == (True, False, False)
    assert (first["sync"]["added"], second["sync"]["added"], third["sync"]["added"]) == (2, 0, 0)
    assert (home / "config.toml").read_bytes() == written
    (tmp_path / "OpenCode").mkdir()
    (tmp_path / "OpenCode/plan.md").write_text("# Plan\n\nShip it.\n", encoding="utf-8")
    other = answer(capsys, "init", str(tmp_path / "OpenCode"))
    assert (other["source"], other["added"], other["sync"]["added"]) == ("OpenCode-2", True, 1)


def test_init_no_sync_writes_only_the_config(home: Path, vault: Path, sessions: Path, capsys: Out) -> None:
    said = answer(capsys, "init", str(vault), "--no-sync", "--no-sessions", "--memory-dir", "memories")
    assert (said["sync"], said["sessions"], said["opencode"]) == (None, [], None)
    assert sorted(path.name for path in home.iterdir()) == ["config.toml"]
    text = (home / "config.toml").read_text(encoding="utf-8")
    assert 'dir = "memories"' in text
    assert text.count("enabled = false") == len(CLIENTS)


def test_init_never_prompts_without_a_terminal(home: Path, capsys: Out) -> None:
    assert main(["init"]) == 2
    assert "vault-index init" in capsys.readouterr().err
    assert list(home.iterdir()) == []


@pytest.fixture
def sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of an OpenCode with sessions."""
    folder = tmp_path / "share/opencode"
    folder.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[2] / "fixtures/opencode/opencode.db", folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(folder.parent))
    return folder


def test_init_finds_opencode_sessions(
    vault: Path, sessions: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(capsys, "init", str(vault), "--provider", "none")
    assert (first["opencode"], first["sync"]["added"]) == (str(sessions), 6)
    # The daemon of another environment reads them, too.
    monkeypatch.delenv("XDG_DATA_HOME")
    assert answer(capsys, "sync")["unchanged"] == 6
    assert [row["kind"] for row in answer(capsys, "source", "list")["results"]] == ["vault", "opencode"]
    assert main(["init", "--human"]) == 0
    wrapped = "".join(capsys.readouterr().out.split())
    assert "".join(f"OpenCode · {sessions} · 4 sessions since 2026-11-21".split()) in wrapped


def test_init_saves_the_opencode_database_of_the_environment(
    vault: Path, sessions: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = (sessions / "opencode.db").rename(vault.parent / "mine.db")
    monkeypatch.setenv("OPENCODE_DB", str(mine))
    assert answer(capsys, "init", str(vault), "--provider", "none")["opencode"] == str(mine)


def test_sync_finds_sessions_created_after_init(
    home: Path, vault: Path, sessions: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    later = sessions.rename(sessions.with_name("later"))
    assert main(["init", str(vault), "--provider", "none", "--human"]) == 0
    assert "No agent sessions found yet (OpenCode, " in capsys.readouterr().err
    status = answer(capsys, "status")
    assert (status["problems"], [row["documents"] for row in status["sources"]]) == ([], [2])
    assert answer(capsys, "sync")["problems"] == []
    later.rename(sessions)
    assert answer(capsys, "sync")["added"] == 4
    sessions.rename(later)
    (problem,) = answer(capsys, "sync")["problems"]
    assert (problem["code"], "its 4 documents stay" in problem["message"]) == ("source_vanished", True)


@pytest.mark.parametrize("settled", [["init", "--no-sync"], ["config", "set", "sessions.opencode.enabled", "false"]])
def test_sync_keeps_sessions_local_only_until_the_user_configures_them(
    settled: list[str], home: Path, vault: Path, sessions: Path, capsys: Out
) -> None:
    text = f'[sources.vault]\npath = "{vault}"\n[embedding]\nprovider = "openai"\nmodel = "m"\n'
    (home / "config.toml").write_text(f'{text}base_url = "http://127.0.0.1:1/v1"\n', "utf-8")
    assert answer(capsys, "sync", "--no-embed")["scanned"] == 6
    rows = answer(capsys, "source", "list")["results"]
    assert [(row["name"], row["local_only"]) for row in rows] == [("vault", []), ("opencode", True)]
    status = answer(capsys, "status")
    assert [row.get("since") for row in status["sources"]] == [None, "2026-11-21"]
    assert [problem["code"] for problem in status["problems"]] == ["sessions_untold"]
    assert main(settled) == 0
    capsys.readouterr()
    assert answer(capsys, "status")["problems"] == []
    kept = [row["local_only"] for row in answer(capsys, "source", "list")["results"]]
    assert kept == ([[], []] if settled[0] == "init" else [[]])
