"""What the daemon tells a service manager, heard by one that listens as systemd does (sd_notify(3))."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from vault_index.config import Home, find_home
from vault_index.daemon.client import ping

SECONDS = 30.0


class Manager:
    """Starts the daemon as a unit of Type=notify, and hears what it says."""

    def __init__(self, folder: Path, home: Home) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / "notify"))
        self._socket.settimeout(SECONDS)
        self._log = (folder / "log").open("w+", encoding="utf-8")
        self.unit = subprocess.Popen(
            [sys.executable, "-m", "vault_index", "watch", "--home", str(home.data_dir)],
            stderr=self._log,
            env={**os.environ, "NOTIFY_SOCKET": str(folder / "notify"), "WATCHDOG_USEC": "200000"},
        )

    def until(self, wanted: str) -> list[str]:
        """The messages up to the first that begins so, with it."""
        heard: list[str] = []
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            for message in self._socket.recv(4096).decode().splitlines():
                heard.append(message)
                if message.startswith(wanted):
                    return heard
        raise AssertionError(heard)

    def close(self) -> None:
        if self.unit.poll() is None:
            self.unit.kill()
        self.unit.wait()
        self._socket.close()
        self._log.close()


@pytest.fixture
def home(tmp_path: Path) -> Home:
    vault, data = tmp_path / "vault", tmp_path / "home"
    vault.mkdir()
    data.mkdir(mode=0o700)
    (vault / "a.md").write_text("# Alpha\n\nthe aardvark\n", "utf-8")
    settings = f'[sources.vault]\npath = "{vault}"\n[embedding]\nprovider = "none"\n'
    (data / "config.toml").write_text(settings, "utf-8")
    return find_home(data)


@pytest.fixture
def manager(tmp_path: Path, home: Home) -> Iterator[Manager]:
    manager = Manager(tmp_path, home)
    yield manager
    manager.close()


def test_ready_is_the_first_word_and_said_by_who_answers(manager: Manager, home: Home) -> None:
    assert manager.until("STATUS=") == ["READY=1", "STATUS=0 waiting, 0 without a vector, 0 missed"]
    daemon = ping(home.socket_path)
    assert daemon is not None
    assert daemon["pid"] == manager.unit.pid


def test_it_tells_its_state_and_that_it_lives_again_and_again(manager: Manager) -> None:
    manager.until("READY=1")
    for _ in range(3):
        status, alive = manager.until("WATCHDOG=1")
        assert status.startswith("STATUS=")
        assert "waiting" in status
        assert alive == "WATCHDOG=1"


@pytest.mark.parametrize("faulty", [False, True], ids=["good", "faulty"])
def test_a_reload_is_told_from_its_beginning_to_its_end(manager: Manager, home: Home, faulty: bool) -> None:
    manager.until("READY=1")
    if faulty:
        home.config_file.write_text("[wach]\n", "utf-8")
    before = time.monotonic_ns() // 1000
    manager.unit.send_signal(signal.SIGHUP)
    *_, reloading, begun = manager.until("MONOTONIC_USEC=")
    assert reloading == "RELOADING=1"
    assert before <= int(begun.partition("=")[2]) <= time.monotonic_ns() // 1000
    manager.until("READY=1")
    for _ in range(2):
        manager.until("WATCHDOG=1")
    assert ping(home.socket_path) is not None


def test_stopping_is_its_last_word(manager: Manager) -> None:
    manager.until("READY=1")
    manager.unit.terminate()
    manager.until("STOPPING=1")
    assert manager.unit.wait(SECONDS) == 0
    manager._socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager._socket.recv(4096)


def test_a_faulty_configuration_is_never_ready(tmp_path: Path, home: Home) -> None:
    home.config_file.write_text("[wach]\n", "utf-8")
    manager = Manager(tmp_path, home)
    try:
        assert manager.unit.wait(SECONDS) == 2, "which the unit does not restart"
        manager._socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            manager._socket.recv(4096)
    finally:
        manager.close()
