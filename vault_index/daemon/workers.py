"""More processes that answer reading requests while many run at once.

Python runs one thread at a time, so a process alone leaves processors idle. Workers share only the
files with it. They start with the load, and end after a rest.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from vault_index.api import VaultIndex, dispatch
from vault_index.callers import Caller
from vault_index.config import Home
from vault_index.runtime import Runtime

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

_PROCESSORS = os.cpu_count() or 1
_MOST = min(_PROCESSORS - 1, 3)
"""Maximum number of workers; each needs about 100 MB."""

T = TypeVar("T")
Answer = Callable[..., dict[str, Any]]


class Workers:
    """Starts, uses and ends the workers of one home. Thread-safe.

    Each calls `opener(home)` once, for the function that answers there.
    """

    def __init__(self, opener: Callable[[Home], Answer], home: Home) -> None:
        self._opened = opener, home
        self._lock = threading.Lock()
        self._running = 0
        """Number of requests that run in this process."""
        self._used = 0.0
        self._all: list[ProcessPoolExecutor] = []
        self._free: SimpleQueue[ProcessPoolExecutor] = SimpleQueue()

    def call(self, here: Callable[[], T], *asked: Any) -> T | dict[str, Any]:
        """Return `here()`; if other requests run here, let a free worker answer `asked`."""
        if self._running:
            with suppress(Empty, RuntimeError):  # all are busy, or this one has ended
                return self._elsewhere(*asked)
        with self._lock:
            self._running += 1
            if self._running > _PROCESSORS and len(self._all) < _MOST:
                self._start()
        try:
            return here()
        finally:
            with self._lock:
                self._running -= 1

    def release(self, unused: float) -> None:
        """End the workers if none was used for `unused` seconds."""
        if self._all and time.monotonic() - self._used > unused:
            self.stop()

    def stop(self) -> None:
        """End the workers after their current requests; the next ones read the settings again."""
        with self._lock:
            ended, self._all = self._all, []
            self._free = SimpleQueue()
        for worker in ended:
            worker.shutdown(wait=False)

    def _elsewhere(self, *asked: Any) -> dict[str, Any]:
        free = self._free
        worker, self._used = free.get_nowait(), time.monotonic()
        try:
            return worker.submit(_answer, *asked).result()
        except BrokenExecutor:
            self.stop()
            raise
        finally:
            free.put(worker)

    def _start(self) -> None:
        """Start a worker, which is free once it has opened the index."""
        import multiprocessing  # late: 15 ms, and few daemons need it
        from concurrent.futures import ProcessPoolExecutor

        free, self._used = self._free, time.monotonic()
        worker = ProcessPoolExecutor(
            1, multiprocessing.get_context("spawn"), initializer=_open, initargs=self._opened
        )
        self._all.append(worker)
        worker.submit(os.getpid).add_done_callback(lambda _: free.put(worker))


# --- in a worker ----------------------------------------------------------------------------------

_opened: dict[str, Answer] = {}


def _open(opener: Callable[[Home], Answer], home: Home) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _opened["answer"] = opener(home)


def _end_with_parent() -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(0)


def _answer(*asked: Any) -> dict[str, Any]:
    return _opened["answer"](*asked)


def open_index(home: Home) -> Answer:
    """Return a function that answers a method for a caller, or for the user (None)."""
    runtime = Runtime.open(home)

    def answer(method: str, params: dict[str, Any], caller: Caller | None) -> dict[str, Any]:
        seen = runtime.within(caller.scope, caller.name) if caller else runtime
        return dispatch(VaultIndex(seen), method, params)

    return answer
