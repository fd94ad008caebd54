"""Operating system services for the daemon: process, lock, priority, memory, systemd."""

import ctypes
import fcntl
import gc
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from functools import _lru_cache_wrapper
from pathlib import Path

from vault_index.config import Home, private_folder
from vault_index.disk import open_own
from vault_index.errors import BusyError

_NICE = 10
"""Not the lowest: a starved thread would hold Python's lock and delay those that answer."""

_M_ARENA_MAX = -8
"""A parameter of `mallopt(3)`."""


def give_way() -> None:
    """Lower the priority of the calling thread and those it starts, for processor and disk.

    Linux has priorities per thread, which also set the I/O priority. Elsewhere nothing is done,
    because a low process priority would slow down answers too.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(
                os.PRIO_PROCESS, thread, max(_NICE, os.getpriority(os.PRIO_PROCESS, thread))
            )


def share_heap() -> None:
    """Make all threads allocate from one heap, on glibc. Call it before starting threads.

    Separate heaps cannot reuse each other's free memory: 9 MB more after a few minutes of edits.
    """
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def take_turns() -> None:
    """Let threads switch ten times as often as by default.

    A query releases Python's lock at each SQL statement, and the writer would keep it for 5 ms each
    time.
    """
    sys.setswitchinterval(0.0005)


def trim_memory() -> None:
    """Free memory: clear the caches of words and names, and return free heap to the system."""
    # `isinstance` would make lazy proxies load their objects.
    caches = [found for found in gc.get_objects() if type(found) is _lru_cache_wrapper]
    for cache in caches:
        of_ours = str(getattr(cache, "__module__", "")).startswith("vault_index.")
        # Unlimited caches are small and slow to fill.
        if of_ours and cache.cache_parameters()["maxsize"]:
            cache.cache_clear()
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def notify(message: str) -> None:
    """Send `READY=1`, `STATUS=…`, `STOPPING=1`, `WATCHDOG=1`, … to the socket in NOTIFY_SOCKET."""
    if not (address := os.environ.get("NOTIFY_SOCKET", "")):
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # Errors of the service manager are ignored.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(message.encode(), address)


def watchdog_interval() -> float | None:
    """Return the seconds between WATCHDOG=1 messages, half of systemd's limit.

    None if not requested.
    """
    limit = os.environ.get("WATCHDOG_USEC", "")
    if not limit.isdigit() or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(limit) / 2_000_000


def launch(home: Home, options: Sequence[str], *command: str) -> subprocess.Popen[bytes]:
    """Start the daemon, or another command, as a detached process.

    `options` select its home. It exits if a daemon already runs there. It logs to its own file
    (`vault-index logs`).
    """
    private_folder(home.data_dir)
    return subprocess.Popen(
        [sys.executable, "-m", "vault_index", *options, *(command or ("watch",))],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        start_new_session=True,
    )


class DaemonLock:
    """Taken by the constructor, held until `release` or the end of the process.

    Raises BusyError with the pid of the daemon that holds it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = open_own(path, os.O_RDWR)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            pid = os.pread(self._descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise BusyError(
                f"a daemon already runs for this home (pid {pid})",
                f"stop it first (kill {pid}), or keep using it",
            ) from fault
        os.ftruncate(self._descriptor, 0)
        with suppress(OSError):  # a full disk has no room for it; the lock holds all the same
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Release the lock and clear the pid."""
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
