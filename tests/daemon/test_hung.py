"""A suspended daemon, or one with other settings: every entry point gives the same answer and names the problem."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.world import Process, World
from vault_index.cli import client as cli_client, main
from vault_index.daemon.client import SILENCE_SECONDS, connect, ping
from vault_index.mcp_server.backend import Backend

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(world: World, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process; returns the exit code, stdout and stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(["--home", str(world.home.data_dir), *words])
        return code, *capsys.readouterr()

    return run


def answer(run: Run, *words: str) -> dict[str, Any]:
    code, out, err = run(*words, "--json")
    assert code == 0, err
    told: dict[str, Any] = json.loads(out)
    return told


def gist(answer: dict[str, Any]) -> tuple[set[str], list[str]]:
    """Return the keys and the documents; the time and the number of accesses may differ."""
    return set(answer), [one["path"] for one in answer.get("results", answer.get("sources", ()))]


def set_greeting(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set how long this process waits for a daemon's greeting."""
    patch.setattr(connect, "__kwdefaults__", {"greeting": seconds, "silence": SILENCE_SECONDS})
    patch.setattr(ping, "__defaults__", (seconds,))


@contextmanager
def stopped(daemon: Process, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Suspend the daemon; meanwhile commands and the MCP server wait the usual time for its greeting."""
    with patch.context() as impatient:
        set_greeting(impatient, 1.5)
        impatient.setattr(cli_client, "_HUNG_SECONDS", 3600)
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(daemon.pid, signal.SIGCONT)


def test_suspended_daemon_changes_no_answer(world: World, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("b.md", "# Beta\n\nanother aardvark\n")
    daemon = world.daemon()
    questions = [("search", "aardvark"), ("list",), ("get", "a.md"), ("recall", "aardvark")]
    before = [answer(run, *words) for words in questions]
    with stopped(daemon, monkeypatch):
        after = [answer(run, *words) for words in questions]
        status = answer(run, "status")
        by_mcp = Backend(world.home).call("search", {"query": "aardvark"})
        doctor = json.loads(run("doctor", "--json")[1])
        added = answer(run, "add", "Aardvarks dig at night.")
    assert [gist(one) for one in after] == [gist(one) for one in before]
    assert [hit["path"] for hit in by_mcp["results"]] == [hit["path"] for hit in before[0]["results"]]
    for report in (status, doctor):
        assert report["problems"][0]["code"] == "daemon_silent"
    assert added["created"] is True
