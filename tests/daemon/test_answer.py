"""Requests find their way: to the daemon itself, the index, or the writer."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.fake_index import FakeIndex, until
from vault_index.daemon import protocol
from vault_index.daemon.answer import Answers
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import Stepper
from vault_index.daemon.server import Request
from vault_index.daemon.watcher import Watcher
from vault_index.daemon.writer import Settings, Writer
from vault_index.errors import BusyError, NotFoundError
from vault_index.results.base import Problem

POLLED = Problem("watch_polling", "polled", "raise the limit")


class PolledWatcher(Watcher):
    """A watcher of nothing, which tells of a source that is polled."""

    backend = "polling"
    problems = (POLLED,)


@pytest.fixture
def index(tmp_path: Path) -> FakeIndex:
    (tmp_path / "a.md").write_text("alpha", "utf-8")
    return FakeIndex(tmp_path)


@pytest.fixture
def writer(index: FakeIndex) -> Iterator[Writer]:
    writer = Writer(index, index.call, Settings(Debounce(0, 0), Stepper(lambda: index), 0))
    yield writer
    if writer.is_alive():
        assert writer.stop(5)


@pytest.fixture
def answers(index: FakeIndex, writer: Writer) -> Answers:
    watcher = PolledWatcher((), writer.mark)
    render = "{0}|{1}|{2}".format
    return Answers("1.2", index.call, index.status, render, writer, lambda: watcher)


Steps = list[tuple[str, int, int]]


def ask(answers: Answers, method: str, form: str | None = None, **params: object) -> tuple[dict[str, Any], Steps]:
    steps: Steps = []
    result = answers(Request(method, params, form), lambda stage, done, total: steps.append((stage, done, total)))
    assert isinstance(result, dict)
    return result, steps


def test_ping(answers: Answers) -> None:
    result, _ = ask(answers, "ping")
    assert (result["version"], result["protocol"], result["pid"]) == ("1.2", 1, os.getpid())


def test_reading_does_not_wait_for_the_writer(answers: Answers, index: FakeIndex) -> None:
    index.rows["a.md"] = "alpha"
    result, _ = ask(answers, "search", query="alpha")  # the writer was never started
    assert result["results"] == [{"path": "a.md"}]


def test_status_tells_of_daemon_watch_and_problems(answers: Answers, index: FakeIndex) -> None:
    result, _ = ask(answers, "status")
    daemon, watch = result["daemon"], result["watch"]
    assert (daemon["pid"], watch["backend"]) == (os.getpid(), "polling")
    assert result["problems"] == [{"code": "watch_polling", "message": "polled", "hint": "raise the limit"}]


def test_doctor_knows_the_problems_of_the_daemon_too(answers: Answers) -> None:
    result, _ = ask(answers, "doctor")
    assert not result["healthy"]
    assert result["problems"] == [{"code": "watch_polling", "message": "polled", "hint": "raise the limit"}]


def test_a_format_is_rendered(answers: Answers) -> None:
    assert answers(Request("search", {"query": "x"}, "toon"), lambda *_: None) == (
        "search|{'query': 'x', 'results': []}|toon"
    )


def test_errors_of_the_index_pass(answers: Answers) -> None:
    with pytest.raises(NotFoundError):
        ask(answers, "nonsense")


def test_writing_is_followed_to_its_end(answers: Answers, writer: Writer) -> None:
    writer.start()
    result, _ = ask(answers, "sync")
    assert result["pending"] == 0


def test_a_long_request_is_heard_of(
    answers: Answers, writer: Writer, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEARTBEAT_SECONDS", 0.01)
    index.gate = threading.Event()
    steps: Steps = []

    def hear(stage: str, done: int, total: int) -> None:
        steps.append((stage, done, total))
        if len(steps) == 3 and index.gate is not None:
            index.gate.set()

    writer.start()
    answers(Request("sync", {}, None), hear)
    assert steps[:3] == [("waiting", 0, 0)] * 3


def test_who_waits_for_a_daemon_that_stops_is_told(answers: Answers, writer: Writer, index: FakeIndex) -> None:
    index.gate = threading.Event()
    writer.start()
    until(lambda: index.syncs)
    told: list[BusyError] = []

    def wait() -> None:
        try:
            ask(answers, "sync")
        except BusyError as error:
            told.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    until(lambda: writer.state().waiting)
    assert not writer.stop(0.01)
    index.gate.set()
    waiting.join(10)
    assert [error.exit_code for error in told] == [5]
