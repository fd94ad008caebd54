"""One daemon per home: a lock file that names the pid of its holder."""

import contextlib
import fcntl
import os
from pathlib import Path

from vault_index.errors import BusyError


class DaemonLock:
    """Taken by the constructor, held until `release` or the end of the process, however it ends.

    Raises BusyError with the pid of the daemon that holds it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            pid = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise BusyError(
                f"a daemon already runs for this home (pid {pid})",
                f"stop it first (kill {pid}), or leave it to its work",
            ) from fault
        os.ftruncate(self._descriptor, 0)
        with contextlib.suppress(OSError):  # a full disk has no room for it; the lock holds all the same
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
