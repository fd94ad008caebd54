"""`config` and `source` on the command line."""

from pathlib import Path

import pytest

from tests.cli.fake_daemon import fake_daemon, replying
from tests.cli.process import Out, answer
from vault_index.cli import main


@pytest.fixture(autouse=True)
def configured(home: Path, vault: Path, capsys: Out) -> None:
    assert main(["init", str(vault), "--no-sync", "--toon"]) == 0
    capsys.readouterr()


def test_config_sets_gets_and_deletes_a_value(home: Path, capsys: Out) -> None:
    for words, said in [
        ("set search.limit 7", "search.limit = 7"),
        ("get search.limit", "7"),
        ("delete search.limit", "reset search.limit to its default"),
        ("delete search.limit", "search.limit was not set"),
        ("path", f"{home}/config.toml"),
    ]:
        assert main(["config", *words.split()]) == 0
        assert capsys.readouterr().out == f"{said}\n"
    assert "# vault-index." in (home / "config.toml").read_text(encoding="utf-8")  # comments stay
    assert main(["config", "set", "search.limt", "7"]) == 2
    assert "search.limit" in capsys.readouterr().err


def test_config_source_option_addresses_a_source_by_name(capsys: Out) -> None:
    assert main(["config", "set", "exclude", "Archive/, tmp/", "--source", "my-vault"]) == 0
    assert capsys.readouterr().out == 'exclude = ["Archive/", "tmp/"]\n'
    rows = answer(capsys, "config", "list", "--source", "my-vault")["results"]
    assert {"key": "sources.My-Vault.exclude", "value": ["Archive/", "tmp/"], "origin": "file"} in rows
    assert all(row["key"].startswith("sources.My-Vault.") for row in rows)


def test_config_masks_secrets(capsys: Out) -> None:
    secret = "sk-" + "x" * 30 + "wxyz"
    assert main(["config", "set", "embedding.api_key", secret]) == 0
    assert main(["config", "get", "embedding.api_key"]) == 0
    assert main(["config", "list"]) == 0
    assert main(["config", "list", "--human"]) == 0
    out, err = capsys.readouterr()
    assert secret not in out + err
    assert "sk-…wxyz" in out


def test_source_add_and_remove_edit_the_config(tmp_path: Path, capsys: Out) -> None:
    other = tmp_path / "Work"
    other.mkdir()
    assert main(["source", "add", str(other), "--name", "work", "--local-only", "private/"]) == 0
    out, err = capsys.readouterr()
    assert out == f"added work: {other}\n"
    assert "vault-index sync" in err
    rows = answer(capsys, "source", "list")["results"]
    assert [row["name"] for row in rows] == ["My-Vault", "work"]
    assert rows[1]["local_only"] == ["private/"]
    assert main(["source", "remove", "work"]) == 0
    assert capsys.readouterr().out == "removed work; its files stay\n"
    assert other.is_dir()
    assert main(["source", "remove", "work"]) == 3


def test_source_add_is_idempotent(home: Path, tmp_path: Path, capsys: Out) -> None:
    other = tmp_path / "Work"
    other.mkdir()
    add = ["source", "add", str(other), "--exclude", "old/", "--local-only", "private/"]
    assert main(add) == 0
    capsys.readouterr()
    written = (home / "config.toml").read_bytes()
    for again in (add, [*add, "--name", "work"], ["source", "add", f"{other}/"]):
        assert main(again) == 0
        assert capsys.readouterr().out == f"Work already exists: {other}\n"
    for different in ([*add, "--name", "job"], [*add, "--include", "new/"], [*add[:-1], "secret/"]):
        assert main(different) == 2
        assert "share the folder" in capsys.readouterr().err
    assert (home / "config.toml").read_bytes() == written


def test_config_and_source_reload_the_running_daemon(home: Path, tmp_path: Path, capsys: Out) -> None:
    (tmp_path / "Work").mkdir()
    with fake_daemon(home, lambda request: [{"result": {"sources": 2}}]) as daemon:
        assert main(["source", "add", str(tmp_path / "Work")]) == 0
        assert main(["config", "set", "search.limit", "7"]) == 0
        assert main(["config", "delete", "search.limit"]) == 0
    assert [request["method"] for request in daemon.requests] == ["reload"] * 3
    assert "has not loaded" not in capsys.readouterr().err


def test_config_names_a_daemon_that_did_not_reload(home: Path, capsys: Out) -> None:
    waiting = {"progress": {"stage": "waiting", "done": 0, "total": 0}}
    error = {"error": {"code": "config", "message": "config.toml:2: bad", "hint": "mend it"}}
    for reply, said in (
        (waiting, "the daemon is busy; it loads the settings when it is done"),
        (error, "config.toml:2: bad"),
    ):
        with fake_daemon(home, replying(reply)):
            assert main(["config", "set", "search.limit", "7"]) == 0
        out, err = capsys.readouterr()
        assert out == "search.limit = 7\n"
        assert "the daemon has not loaded the new settings yet: " in err
        assert said in err


def test_config_refuses_an_unavailable_model(home: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_index.embeddings.spaces.multilingual_is_installed", lambda: False)
    before = (home / "config.toml").read_bytes()
    for key, value, said in [
        ("model", "text-embedding-3-large", "has no model 'text-embedding-3-large'"),
        ("model", "multilingual-e5-small", "multilingual-e5-small is not installed"),
        ("dimensions", "99", "384 dimensions, not 99"),
    ]:
        assert main(["config", "set", f"embedding.{key}", value]) != 0
        err = capsys.readouterr().err
        assert (said in err, "  hint: " in err) == (True, True)
    assert (home / "config.toml").read_bytes() == before
