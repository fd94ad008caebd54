"""Processes that answer beside a busy daemon."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from tests.waiting import until
from vault_index.callers import Caller, Scope
from vault_index.config import Home
from vault_index.daemon import workers
from vault_index.daemon.workers import Answer, Workers, open_index
from vault_index.errors import NotFoundError


def open_counted(home: Home) -> Answer:
    """As `open_index`, and tell the process."""
    answer = open_index(home)
    return lambda *asked: {**answer(*asked), "pid": os.getpid()}


@contextmanager
def busy(pool: Workers, requests: int) -> Iterator[None]:
    """Keep requests running in this process."""
    done = threading.Event()
    running = [threading.Thread(target=pool.call, args=(done.wait,)) for _ in range(requests)]
    for one in running:
        one.start()
    try:
        until(lambda: pool._running == requests)
        yield
    finally:
        done.set()
        for one in running:
            one.join()


def test_a_worker_answers_while_the_daemon_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MOST", 1)
    monkeypatch.setattr(workers, "_PROCESSORS", 1)
    with indexed(tmp_path, {"a.md": "alpha", "b/c.md": "alpha"}) as index:
        pool = Workers(open_counted, index._runtime.home)

        def ask(method: str = "search", **params: Any) -> dict[str, Any]:
            asked = params or {"query": "alpha"}
            return pool.call(lambda: {"pid": 0}, method, asked, Caller("one", False, Scope(folders=("b",))))

        def by_worker() -> dict[str, Any]:
            found = ask()
            return found if found["pid"] else {}

        assert not by_worker()
        assert not pool._all  # one request at a time starts none
        with busy(pool, 2):
            found = until(by_worker)
            assert [hit["path"] for hit in found["results"]] == ["b/c.md"]
            with pytest.raises(NotFoundError) as problem:
                ask("get", ref="missing.md")
            assert problem.value.hint
            os.kill(found["pid"], signal.SIGKILL)
            assert until(by_worker)["pid"] != found["pid"]  # meanwhile this process answered
            pool.release(0.0)
            assert not by_worker()
        pool.stop()
