"""What the daemon needs of the operating system: a process, a lock, low priority, memory, the service manager."""

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
"""Half way down. Not further: a thread that gets no processor would keep Python's lock from those that answer."""

_M_ARENA_MAX = -8
"""`mallopt(3)`."""


def give_way() -> None:
    """Have the calling thread, and those it starts, stand behind the work of people, in processor and disk time.

    On Linux a thread has a priority of its own, from which that of its disk accesses follows; elsewhere nothing is
    done, because a process that is slow to work would be slow to answer as well.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, max(_NICE, os.getpriority(os.PRIO_PROCESS, thread)))


def share_heap() -> None:
    """Have all threads allocate from one heap, on glibc; call it before there are others. It would give each thread a
    heap of its own, none of which can use what another one freed: 9 MB after a few minutes of edits."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def take_turns() -> None:
    """Have threads hand on Python's lock ten times as often as it does by itself. A question gives it away with each
    statement of SQL, and the writer would keep it for five thousandths of a second every time."""
    sys.setswitchinterval(0.0005)


def trim_memory() -> None:
    """Give memory back to the system: what is remembered of single words and names, of which the caches hold as many as
    they may after a day, and what is free, which glibc would keep for itself."""
    # By `isinstance` a proxy would be asked what it stands for, and load it.
    caches = [found for found in gc.get_objects() if type(found) is _lru_cache_wrapper]
    for cache in caches:
        of_ours = str(getattr(cache, "__module__", "")).startswith("vault_index.")
        if of_ours and cache.cache_parameters()["maxsize"]:  # the others hold few things, which are slow to make
            cache.cache_clear()
    gc.collect()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def notify(message: str) -> None:
    """Send `READY=1`, `STATUS=…`, `STOPPING=1`, `WATCHDOG=1`, … to the socket in NOTIFY_SOCKET."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    # A service manager that does not listen is no reason to stop.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(message.encode(), address)


def watchdog_interval() -> float | None:
    """How often systemd wants WATCHDOG=1, half its limit; None when it does not want it."""
    limit = os.environ.get("WATCHDOG_USEC", "")
    if not limit.isdigit() or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return None
    return int(limit) / 2_000_000


def launch(home: Home, options: Sequence[str], *command: str) -> subprocess.Popen[bytes]:
    """Start the daemon, or another command, as a process of its own that outlives this one.

    `options` name its home. Where one runs already, it ends again. It logs to a file of its own (`vault-index logs`).
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
    """Taken by the constructor, held until `release` or the end of the process, however it ends.

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
                f"stop it first (kill {pid}), or leave it to its work",
            ) from fault
        os.ftruncate(self._descriptor, 0)
        with suppress(OSError):  # a full disk has no room for it; the lock holds all the same
            os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
