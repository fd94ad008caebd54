"""The write lock: one writer at a time over all processes, with the name of its holder."""

import contextlib
import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vault_index.disk import open_own, os_errors_as
from vault_index.errors import BusyError

_POLL_SECONDS = 0.02


class WriteLock:
    """An advisory file lock, which the kernel releases when the holder dies.

    The file names the holder's pid and work. Safe for several threads of one process; not
    reentrant.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._threads = threading.Lock()

    @contextmanager
    def held(self, work: str, timeout: float) -> Iterator[None]:
        """Hold the lock while doing `work`.

        Raises BusyError after `timeout` seconds, naming the holder.
        """
        deadline = time.monotonic() + timeout
        if not self._threads.acquire(timeout=timeout):
            raise self._busy()
        try:
            hint = "check the permissions of its folder, or choose another place with --home DIR"
            with os_errors_as(str(self._path), hint):
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                descriptor = open_own(self._path, os.O_RDWR)
            try:
                self._take(descriptor, deadline)
                os.ftruncate(descriptor, 0)
                # On a full disk the name cannot be written, but the lock works.
                with contextlib.suppress(OSError):
                    os.pwrite(descriptor, f"{os.getpid()} {work}\n".encode(), 0)
                yield
                os.ftruncate(descriptor, 0)
            finally:
                os.close(descriptor)
        finally:
            self._threads.release()

    def _take(self, descriptor: int, deadline: float) -> None:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise self._busy() from None
                time.sleep(_POLL_SECONDS)
            else:
                return

    def _busy(self) -> BusyError:
        try:
            holder = self._path.read_text("utf-8").strip()
        except OSError:
            holder = ""
        pid, _, work = holder.partition(" ")
        owner = f"process {pid} ({work})" if pid else "another process"
        return BusyError(
            f"the index is being written by {owner}", "wait until it is done, and try again"
        )
