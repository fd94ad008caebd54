"""`config` and `source` through the command line."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_daemon import fake_daemon
from vault_index.cli import main


@pytest.fixture(autouse=True)
def configured(home: Path, vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(vault), "--no-sync", "--toon"]) == 0
    capsys.readouterr()


def test_a_setting_is_set_read_and_deleted(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "search.limit", "7"]) == 0
    assert capsys.readouterr().out == "search.limit = 7\n"
    assert main(["config", "get", "search.limit"]) == 0
    assert capsys.readouterr().out == "7\n"
    assert main(["config", "get", "search.limit", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"key": "search.limit", "value": 7}
    assert main(["config", "delete", "search.limit"]) == 0
    assert capsys.readouterr().out == "search.limit has its default again\n"
    assert main(["config", "delete", "search.limit"]) == 0
    assert capsys.readouterr().out == "search.limit was not set\n"
    assert "# vault-index." in (home / "config.toml").read_text(encoding="utf-8")  # comments stay


def test_a_source_is_addressed_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "exclude", "Archive/, tmp/", "--source", "my-vault"]) == 0
    assert capsys.readouterr().out == 'exclude = ["Archive/", "tmp/"]\n'
    assert main(["config", "list", "--source", "my-vault", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert {"key": "sources.my-vault.exclude", "value": ["Archive/", "tmp/"], "origin": "file"} in rows
    assert all(row["key"].startswith("sources.my-vault.") for row in rows)


def test_secrets_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    secret = "sk-" + "x" * 30 + "wxyz"
    assert main(["config", "set", "embedding.api_key", secret]) == 0
    assert main(["config", "get", "embedding.api_key"]) == 0
    assert main(["config", "list"]) == 0
    assert main(["config", "list", "--human"]) == 0
    out, err = capsys.readouterr()
    assert secret not in out + err
    assert "sk-…wxyz" in out


def test_a_typo_names_the_nearest_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "search.limt", "7"]) == 2
    assert "search.limit" in capsys.readouterr().err


def test_the_path_of_the_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "path"]) == 0
    assert capsys.readouterr().out == f"{home}/config.toml\n"


def test_sources_come_and_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "Work"
    other.mkdir()
    assert main(["source", "add", str(other), "--name", "work", "--local-only", "private/"]) == 0
    out, err = capsys.readouterr()
    assert out == f"added work: {other}\n"
    assert "vault-index sync" in err
    assert main(["source", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["results"]
    assert [row["name"] for row in rows] == ["my-vault", "work"]
    assert rows[1]["local_only"] == ["private/"]
    assert main(["source", "remove", "work"]) == 0
    assert capsys.readouterr().out == "removed work; its files stay\n"
    assert other.is_dir()
    assert main(["source", "remove", "work"]) == 3


def test_a_source_is_added_once(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command that is run again, because it was killed on its way, comes to the same end."""
    other = tmp_path / "Work"
    other.mkdir()
    add = ["source", "add", str(other), "--exclude", "old/", "--local-only", "private/"]
    assert main(add) == 0
    capsys.readouterr()
    written = (home / "config.toml").read_bytes()
    for again in (add, [*add, "--name", "work"], ["source", "add", f"{other}/"]):
        assert main(again) == 0
        assert capsys.readouterr().out == f"work is there already: {other}\n"
    for different in ([*add, "--name", "job"], [*add, "--include", "new/"], [*add[:-1], "secret/"]):
        assert main(different) == 2
        assert "share the folder" in capsys.readouterr().err
    assert (home / "config.toml").read_bytes() == written


def test_a_running_daemon_is_told_and_waited_for(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "Work").mkdir()
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
    asked: list[int] = []

    def status(request: dict[str, Any]) -> list[dict[str, Any]]:
        asked.append(len(asked))
        known = ["my-vault", "work"] if len(asked) > 2 else ["my-vault"]
        return [{"result": {"sources": [{"name": name} for name in known]}}]

    with fake_daemon(home, status):
        assert main(["source", "add", str(tmp_path / "Work")]) == 0
    assert signals == [(os.getpid(), signal.SIGHUP)]
    assert len(asked) == 3
