"""Commands ask the daemon first; reading commands also work without it."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fake_daemon import fake_daemon
from tests.cli.process import Out
from tests.output import answers
from vault_index.cli import client as calling, main
from vault_index.cli.arguments import Options
from vault_index.errors import BusyError, NotFoundError


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the index in this process; return the list of called methods."""
    methods: list[str] = []

    def call_here(options: Options, method: str, params: dict[str, Any], **more: Any) -> dict[str, Any]:
        methods.append(method)
        return answers.search()

    monkeypatch.setattr(calling, "call_here", call_here)
    return methods


def test_client_names_an_invalid_greeting_timeout(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.setenv("VAULT_INDEX_GREETING_SECONDS", "soon")
    with fake_daemon(home, lambda request: [{"text": "x"}]):
        assert main(["search", "wal"]) == 2
    assert "VAULT_INDEX_GREETING_SECONDS is 'soon'" in capsys.readouterr().err


def test_client_requests_toon_from_the_daemon_and_sends_its_folder(home: Path, here: list[str], capsys: Out) -> None:
    with fake_daemon(home, lambda request: [{"text": "toon of the daemon"}]) as daemon:
        assert main(["search", "wal", "--limit", "3"]) == 0
        assert main(["timeline", "wal.md", "--toon"]) == 0  # `timeline` does not depend on the folder
        assert main(["timeline", "--query", "wal", "--toon"]) == 0
    assert capsys.readouterr().out == "toon of the daemon\n" * 3
    asked = [(request["method"], request["format"], request["params"]) for request in daemon.requests]
    assert asked == [
        ("search", "toon", {"query": "wal", "limit": 3, "directory": os.getcwd()}),
        ("timeline", "toon", {"ref": "wal.md"}),
        ("timeline", "toon", {"query": "wal", "directory": os.getcwd()}),
    ]
    assert here == []


def test_client_renders_human_and_json_output_itself(home: Path, capsys: Out) -> None:
    answer = answers.search(answers.hit())
    with fake_daemon(home, lambda request: [{"result": answer}]) as daemon:
        assert main(["search", "wal", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == answer
        assert main(["search", "wal", "--human"]) == 0
        assert capsys.readouterr().out.startswith("0.93  Use WAL")
    assert [request["format"] for request in daemon.requests] == [None, None]


def test_client_reports_errors_of_the_daemon(home: Path, capsys: Out) -> None:
    error = {"code": "not_found", "message": "no document abc", "hint": "search for it", "exit_code": 3}
    with fake_daemon(home, lambda request: [{"error": error}]):
        assert main(["get", "abc"]) == NotFoundError.exit_code
    assert capsys.readouterr().err == "vault-index: error: no document abc\n  hint: search for it\n"


BUSY = {"error": {"code": "busy", "message": "stopping", "hint": "again", "exit_code": 5}}


def test_client_reads_itself_if_daemon_is_busy(home: Path, here: list[str], capsys: Out) -> None:
    with fake_daemon(home, lambda request: [BUSY]):
        assert main(["search", "x", "--toon"]) == 0
    assert here == ["search"]
    assert "running without the daemon: stopping" in capsys.readouterr().err


def test_client_fails_writes_if_the_daemon_is_busy(home: Path, here: list[str]) -> None:
    with fake_daemon(home, lambda request: [BUSY]), pytest.raises(BusyError, match="stopping"):
        calling.call(Options(), "sync", {})
    assert here == []


def test_client_skips_the_daemon_for_another_config_file(home: Path, here: list[str], tmp_path: Path) -> None:
    with fake_daemon(home, lambda request: [{"text": "of the daemon"}]) as daemon:
        assert main(["search", "x", "--config", str(tmp_path / "other.toml")]) == 0
    assert (here, daemon.requests) == (["search"], [])
