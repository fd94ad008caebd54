"""A suspended daemon, or one with other settings: every entry point gives the same answer and names the problem."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from tests.cli.process import Out, answer
from tests.world import Process, World
from vault_index.cli import client as cli_client
from vault_index.daemon.client import SILENCE_SECONDS, connect, ping
from vault_index.mcp_server.backend import Backend


def gist(answer: dict[str, Any]) -> tuple[set[str], list[str]]:
    """Return the keys and the documents; the time and the number of accesses may differ."""
    return set(answer), [one["path"] for one in answer.get("results", answer.get("sources", ()))]


@contextmanager
def stopped(daemon: Process, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Suspend the daemon; meanwhile commands and the MCP server wait the usual time for its greeting."""
    with patch.context() as impatient:
        impatient.setattr(connect, "__kwdefaults__", {"greeting": 1.5, "silence": SILENCE_SECONDS})
        impatient.setattr(ping, "__defaults__", (1.5,))
        impatient.setattr(cli_client, "_HUNG_SECONDS", 3600)
        os.kill(daemon.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(daemon.pid, signal.SIGCONT)


def test_suspended_daemon_changes_no_answer(world: World, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    run = partial(answer, capsys, "--home", str(world.home.data_dir))
    world.write("b.md", "# Beta\n\nanother aardvark\n")
    daemon = world.daemon()
    questions = [("search", "aardvark"), ("list",), ("get", "a.md"), ("recall", "aardvark")]
    before = [run(*words) for words in questions]
    with stopped(daemon, monkeypatch):
        after = [run(*words) for words in questions]
        status = run("status")
        by_mcp = Backend(world.home).call("search", {"query": "aardvark"})
        doctor = run("doctor", code=1)
        added = run("add", "Aardvarks dig at night.")
    assert [gist(one) for one in after] == [gist(one) for one in before]
    assert [hit["path"] for hit in by_mcp["results"]] == [hit["path"] for hit in before[0]["results"]]
    for report in (status, doctor):
        assert report["problems"][0]["code"] == "daemon_silent"
    assert added["created"] is True
