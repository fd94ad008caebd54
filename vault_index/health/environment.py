"""What can be wrong around an index: the settings in force, the disk, a daemon that is no more. `status` asks each
time, so that a problem is gone from it as soon as it is mended."""

import fcntl
import os
from pathlib import Path

from vault_index.config import Config, Home, load_config
from vault_index.errors import VaultIndexError
from vault_index.results import DaemonStatus, Problem

_LOW_SPACE = 64 * 2**20
"""Bytes: what the log of the database may take while it is written."""
_START = "vault-index service restart, or vault-index watch"


def surrounding_problems(home: Home, config: Config, daemon: DaemonStatus) -> list[Problem]:
    pid = daemon.pid if daemon.running else os.getpid() if _holder(home.daemon_lock) == os.getpid() else None
    return [
        problem
        for problem in (
            _settings(home, config, pid) if pid is not None else left_behind(home),
            space_problem(home.data_dir, _free(home.data_dir)),
        )
        if problem is not None
    ]


def _settings(home: Home, config: Config, pid: int) -> Problem | None:
    """Whether the daemon goes by the configuration as the file has it now."""
    again = f"kill -HUP {pid}"
    try:
        now = load_config(home)
    except VaultIndexError as error:
        return Problem(
            "config", f"{error.message} The daemon goes on with what it read before.", f"{error.hint} {again}"
        )
    if now == config:
        return None
    return Problem("config_changed", "the configuration was changed since the daemon read it", f"have it read: {again}")


def space_problem(folder: Path, free: int | None) -> Problem | None:
    if free is None or free >= _LOW_SPACE:
        return None
    return Problem(
        "disk_full",
        f"only {free / 2**20:.0f} MiB are free where {folder} lies: the index may fail to grow",
        "free some space; nothing is lost, and what could not be written is tried again",
    )


def left_behind(home: Home) -> Problem | None:
    """A daemon that ended without taking its leave, or is there and gives no answer."""
    pid = _holder(home.daemon_lock)
    if pid is None:
        return None
    if not _alive(pid) or not _locked(home.daemon_lock):
        return Problem(
            "daemon_died",
            f"the daemon (pid {pid}) ended without cleaning up: it crashed or was killed",
            f"start it again: {_START}. What it left behind is taken over",
        )
    return Problem(
        "daemon_silent",
        f"the daemon (pid {pid}) runs, but does not answer",
        f"it may just be starting; otherwise end it (kill {pid}), then: {_START}",
    )


def _holder(lock: Path) -> int | None:
    try:
        text = lock.read_text("ascii", "replace").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _locked(lock: Path) -> bool:
    """Asked only of a pid that is alive: it may be another program's by now."""
    descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _free(folder: Path) -> int | None:
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize
