"""`config` and `source` through the command line."""

import json
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


def test_a_running_daemon_reads_it_before_the_command_returns(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Work").mkdir()
    with fake_daemon(home, lambda request: [{"result": {"sources": 2}}]) as daemon:
        assert main(["source", "add", str(tmp_path / "Work")]) == 0
        assert main(["config", "set", "search.limit", "7"]) == 0
        assert main(["config", "delete", "search.limit"]) == 0
    assert [request["method"] for request in daemon.requests] == ["reload"] * 3
    assert "has not read" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"progress": {"stage": "waiting", "done": 0, "total": 0}}, "it is at work; it reads them when that is done"),
        ({"error": {"code": "config", "message": "config.toml:2: bad", "hint": "mend it"}}, "config.toml:2: bad"),
    ],
)
def test_one_that_did_not_read_it_is_told_of(
    home: Path, reply: dict[str, Any], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_daemon(home, lambda request: [reply]):
        assert main(["config", "set", "search.limit", "7"]) == 0
    out, err = capsys.readouterr()
    assert out == "search.limit = 7\n"
    assert "the daemon has not read the new settings yet: " in err
    assert said in err


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("embedding.model", "text-embedding-3-large", "has no model 'text-embedding-3-large'"),
        ("embedding.model", "multilingual-e5-small", "multilingual-e5-small is not installed"),
        ("embedding.dimensions", "99", "384 dimensions, not 99"),
    ],
)
def test_a_model_that_is_not_here_is_refused(
    home: Path, key: str, value: str, said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_index.embeddings.spaces.multilingual_is_installed", lambda: False)
    before = (home / "config.toml").read_bytes()
    assert main(["config", "set", key, value]) != 0
    err = capsys.readouterr().err
    assert said in err
    assert "  hint: " in err
    assert (home / "config.toml").read_bytes() == before


def test_the_model_of_a_server_may_be_named_first_and_may_stay_behind(capsys: pytest.CaptureFixture[str]) -> None:
    """What does not fit together yet is told: nothing is to be sent anywhere in between."""

    def told(*words: str) -> bool:
        capsys.readouterr()
        assert main(["config", *words]) == 0
        return "Not yet: the local embedder has no model 'bge-m3'" in capsys.readouterr().err

    assert not told("set", "embedding.base_url", "http://127.0.0.1:9/v1")
    assert told("set", "embedding.model", "bge-m3")
    assert not told("set", "embedding.provider", "openai")
    assert told("set", "embedding.provider", "local")
    assert told("delete", "embedding.base_url")
    assert not told("delete", "embedding.model")


def test_a_model_that_a_file_names_by_hand_is_told_of(
    home: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The vectors that are there go on serving."""
    assert main(["sync", "--toon"]) == 0
    file = home / "config.toml"
    file.write_text(file.read_text("utf-8").replace('# model = ""', 'model = "bge-m3"'), "utf-8")
    for command, code in (("status", 0), ("doctor", 1)):
        capsys.readouterr()
        assert main([command, "--json"]) == code
        report = json.loads(capsys.readouterr().out)
        assert "the local embedder has no model 'bge-m3'" in [one["message"] for one in report["problems"]]
    assert main(["status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["index"]["documents"], status["embedder"]["ready"]) == (2, False)
