"""Routing of requests: to the daemon itself, the index, or the writer."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from tests.waiting import PATIENCE
from vault_index import __version__
from vault_index.config import private_folder
from vault_index.daemon import protocol
from vault_index.daemon.run import Daemon
from vault_index.daemon.server import Request
from vault_index.daemon.signals import EventQueue
from vault_index.daemon.watcher import Watcher
from vault_index.mcp_server.toolbox import answer_tool
from vault_index.results.base import Problem

POLLED = Problem("watch_polling", "polled", "raise the limit")


class PolledWatcher(Watcher):
    """A watcher that reports a polled source."""

    backend = "polling"
    problems = (POLLED,)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    """With a listening server and a writer that was not started."""
    with indexed(tmp_path, {"a.md": "alpha"}) as index, EventQueue() as inbox:
        runtime = index._runtime
        private_folder(runtime.home.runtime_dir)
        daemon = Daemon(runtime, inbox, answer_tool)
        daemon._watcher = PolledWatcher((), daemon._writer.mark)
        daemon._server.start()
        yield daemon
        daemon._server.stop()
        if daemon._writer.is_alive():
            assert daemon._writer.stop(PATIENCE)


Steps = list[tuple[str, int, int]]


def ask(daemon: Daemon, method: str, **params: object) -> dict[str, Any]:
    result = daemon.answer(Request(method, params, None), lambda *_: None)
    assert isinstance(result, dict)
    return result


def test_answer_serves_ping_and_reads_without_the_writer(daemon: Daemon) -> None:
    told = ask(daemon, "ping")
    assert (told["version"], told["protocol"], told["pid"]) == (__version__, 1, os.getpid())
    found = ask(daemon, "search", query="alpha")  # the writer was never started
    assert [hit["path"] for hit in found["results"]] == ["a.md"]


def test_answer_returns_tool_results_as_text(daemon: Daemon) -> None:
    params = {"name": "memory_search", "arguments": {"query": "alpha", "limit": "1"}, "directory": "/shop"}
    text = daemon.answer(Request("tool", params, "markdown"), lambda *_: None)
    assert isinstance(text, str)
    assert 'a.md,"1"' in text


def test_answer_adds_daemon_watch_and_problems_to_status_and_doctor(daemon: Daemon) -> None:
    problem = {"code": "watch_polling", "message": "polled", "hint": "raise the limit"}
    status, doctor = ask(daemon, "status"), ask(daemon, "doctor")
    assert (status["daemon"]["pid"], status["watch"]["backend"]) == (os.getpid(), "polling")
    assert problem in status["problems"]
    assert problem in doctor["problems"]
    assert not doctor["healthy"]


def test_answer_waits_for_a_write_to_end(daemon: Daemon) -> None:
    daemon._writer.start()
    assert ask(daemon, "sync")["pending"] == 0


def test_answer_sends_heartbeats_during_a_long_request(daemon: Daemon, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEARTBEAT_SECONDS", 0.01)
    gate, steps = threading.Event(), Steps()

    def hear(stage: str, done: int, total: int) -> None:
        steps.append((stage, done, total))
        if len(steps) == 3:
            gate.set()

    daemon._writer.call(lambda: gate.wait())
    daemon._writer.start()
    daemon.answer(Request("sync", {}, None), hear)
    assert steps[:3] == [("waiting", 0, 0)] * 3
