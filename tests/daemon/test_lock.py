"""One daemon per home, and the second one learns who is the first."""

import os
import stat
from pathlib import Path

import pytest

from vault_index.daemon.system import DaemonLock
from vault_index.errors import BusyError


def test_the_second_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "data" / "daemon.lock"
    lock = DaemonLock(path)
    with pytest.raises(BusyError, match=f"pid {os.getpid()}") as raised:
        DaemonLock(path)
    assert raised.value.exit_code == 5
    assert str(os.getpid()) in raised.value.hint
    lock.release()
    DaemonLock(path).release()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_a_dead_daemon_left_is_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "daemon.lock"
    path.write_text("4711\nand more", "ascii")
    lock = DaemonLock(path)
    assert path.read_text("ascii") == f"{os.getpid()}\n"
    lock.release()
