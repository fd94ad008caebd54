"""Processes that answer beside a busy daemon."""

import os
import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed
from tests.waiting import until
from vault_index.callers import Caller, Scope
from vault_index.daemon import workers
from vault_index.errors import NotFoundError


def test_a_worker_answers_while_the_daemon_is_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MOST", 1)
    monkeypatch.setattr(workers, "_PROCESSORS", 1)
    with indexed(tmp_path, {"a.md": "alpha", "b/c.md": "alpha"}) as index:
        pool = workers.Workers(workers.open_index, index._runtime.home)
        caller, done = Caller("one", False, Scope(folders=("b",))), threading.Event()

        def ask(method: str = "search", **params: Any) -> dict[str, Any]:
            """Return the answer of a worker; an empty one if this process had to answer."""
            return pool.call(dict, method, params or {"query": "alpha"}, caller)

        assert not ask()
        assert not pool._all  # one request at a time starts none
        busy = [threading.Thread(target=pool.call, args=(done.wait,)) for _ in range(2)]
        for one in busy:
            one.start()
        try:
            assert [hit["path"] for hit in until(ask)["results"]] == ["b/c.md"]
            with pytest.raises(NotFoundError, match="missing"):
                until(partial(ask, "get", ref="missing.md"))
            for pid in pool._all[0]._processes:
                os.kill(pid, signal.SIGKILL)
            assert until(ask)  # by another one; meanwhile this process answered
            pool.release(0.0)
            assert not ask()
        finally:
            done.set()
            pool.stop()
            for one in busy:
                one.join()
