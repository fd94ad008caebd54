"""Messages of the daemon to a service manager that listens like systemd (sd_notify(3))."""

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import PATIENCE
from tests.world import Process, World, opened_world


class Manager:
    """Starts the daemon as a unit of Type=notify, and receives its messages."""

    def __init__(self, world: World, address: Path) -> None:
        self._world, self._address = world, str(address)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self._address)
        self.socket.settimeout(PATIENCE)

    def start(self) -> Process:
        return self._world.start_daemon(NOTIFY_SOCKET=self._address, WATCHDOG_USEC="200000")

    def until(self, wanted: str) -> list[str]:
        """Return the messages up to the first that begins with `wanted`."""
        heard: list[str] = []
        while not (heard and heard[-1].startswith(wanted)):
            messages = self.socket.recv(4096).decode().splitlines()
            ends = [number for number, message in enumerate(messages, 1) if message.startswith(wanted)]
            heard += messages[: ends[0]] if ends else messages
            assert len(heard) < 10_000, heard[:9]
        return heard

    def is_told_nothing(self) -> bool:
        self.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            self.socket.recv(4096)
        return True


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with opened_world(tmp_path) as world:
        world.write("a.md", "# Alpha\n\nthe aardvark\n")
        yield world


@pytest.fixture
def manager(world: World, tmp_path: Path) -> Iterator[Manager]:
    manager = Manager(world, tmp_path / "notify")
    with manager.socket:
        yield manager


def test_daemon_notifies_ready_first_and_stopping_last(manager: Manager, world: World) -> None:
    unit = manager.start()
    assert manager.until("STATUS=") == ["READY=1", "STATUS=0 waiting, 0 without a vector, 0 missed"]
    assert world.ask("status")["daemon"]["pid"] == unit.pid
    manager.until("WATCHDOG=1")
    for _ in range(2):
        status, alive = manager.until("WATCHDOG=1")
        assert status.startswith("STATUS=")
        assert "waiting" in status
        assert alive == "WATCHDOG=1"
    unit.terminate()
    manager.until("STOPPING=1")
    assert unit.wait(PATIENCE) == 0
    assert manager.is_told_nothing()


def test_daemon_notifies_the_begin_and_end_of_a_reload(manager: Manager, world: World) -> None:
    unit = manager.start()
    manager.until("READY=1")
    for settings in (world.home.config_file.read_text("utf-8"), "[wach]\n"):
        world.home.config_file.write_text(settings, "utf-8")
        before = time.monotonic_ns() // 1000
        unit.send_signal(signal.SIGHUP)
        *_, reloading, begun = manager.until("MONOTONIC_USEC=")
        assert reloading == "RELOADING=1"
        assert before <= int(begun.partition("=")[2]) <= time.monotonic_ns() // 1000
        manager.until("READY=1")
        manager.until("WATCHDOG=1")
    assert world.listens()


@pytest.mark.parametrize(("settings", "code"), [("[wach]\n", 2), ("", 4)], ids=["faulty", "missing"])
def test_daemon_is_never_ready_without_a_valid_configuration(
    manager: Manager, world: World, settings: str, code: int
) -> None:
    world.home.config_file.write_text(settings, "utf-8")
    if not settings:
        world.home.config_file.unlink()
    unit = manager.start()
    assert unit.wait(PATIENCE) == code  # the unit does not restart it
    assert "Traceback" not in unit.stderr_text()
    assert manager.is_told_nothing()
