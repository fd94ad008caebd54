"""The daemon as a process: found by its socket, alone in its home, quick to end, and unharmed by a kill."""

import os
import re
import shutil
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.process import vx
from tests.daemon.old_place import CODE as CODE, Place as Place, end as end, place as place
from tests.waiting import PATIENCE, until
from tests.world import World
from vault_index.errors import VaultIndexError


def test_it_answers_and_follows_the_files(world: World) -> None:
    daemon = world.daemon()
    assert world.found("aardvark") == {"a.md"}
    world.write("deep/er/b.md", "the buffalo")
    until(lambda: world.found("buffalo") == {"deep/er/b.md"})
    (world.vault / "a.md").rename(world.vault / "z.md")
    until(lambda: world.found("aardvark") == {"z.md"})
    (world.vault / "z.md").unlink()
    until(lambda: world.found("aardvark") == set())
    status = world.ask("status")
    since = status["daemon"]["since"]
    assert status["daemon"] == {"running": True, "pid": daemon.pid, "since": since, "work": None}
    assert status["watch"]["backend"] in ("native", "polling")
    assert status["watch"]["last_event"] is not None
    assert status["watch"]["missed"] == 0


def test_it_answers_as_text_and_writes_for_clients(world: World) -> None:
    world.daemon()
    client = world.connected()
    assert client is not None
    with client:
        text = client.call("search", {"query": "aardvark"}, format="toon")
        assert isinstance(text, str)
        assert "a.md" in text
        report = client.call("sync")
        assert isinstance(report, dict)
        assert report["scanned"] == 1
        with pytest.raises(VaultIndexError):
            client.call("search", {"query": "x", "limit": "many"})
        assert client.call("rebuild", {}) != {}
        with pytest.raises(VaultIndexError) as raised:
            client.call("sync", {"paths": ["/nowhere"]})
        assert raised.value.exit_code == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it(world: World, number: int) -> None:
    daemon = world.daemon()
    assert daemon.end(number) == 0
    assert "event=stopped" in world.log()
    assert "aardvark" not in world.log()
    assert not world.listens()
    assert not world.home.socket_path.exists()


def test_it_ends_in_the_middle_of_work(world: World) -> None:
    for number in range(200):
        world.write(f"{number % 10}/{number}.md", f"# {number}\n\n" + "some words of prose.\n" * 50)
    daemon = world.start_daemon()
    until(lambda: daemon.poll() is not None or world.listens())
    assert daemon.end() == 0
    world.daemon()
    until(lambda: world.ask("status")["index"]["documents"] == 201)


EAGER = """
from vault_index.daemon import progress_rate, run
progress_rate._SHORT, run._TELL_SECONDS = 0.1, 0.0
"""


def test_the_log_says_how_far_long_work_is(world: World) -> None:
    for number in range(1000):
        world.write(f"{number}.md", f"# {number}\n\n" + "some words of prose.\n" * 50)
    world.first = EAGER
    world.daemon(WATCHDOG_USEC="100000")  # looks every 0.05 seconds
    (line, *_) = [line for line in world.log().splitlines() if "event=working" in line]
    assert re.search(r" stage=text done=\d+ total=1001 rate=[\d.]+ seconds_left=\d+$", line)


@pytest.mark.skipif(sys.platform != "linux", reason="names elsewhere are UTF-8")
def test_a_name_that_is_not_utf_8_keeps_no_other_out(world: World) -> None:
    config = world.home.config_file
    config.write_text(config.read_text("utf-8").replace("quiet = 0.02", "quiet = 0.3"), "utf-8")  # both in one batch
    world.daemon()
    bad = os.fsencode(world.vault) + b"/bad\xff.md"
    Path(os.fsdecode(bad)).write_text("The heron stands.\n")
    world.write("good.md", "The heron flies.\n")
    until(lambda: world.found("heron") == {"good.md"})

    def told() -> list[str]:
        return [problem["message"] for problem in world.ask("status")["problems"]]

    until(lambda: any(message.startswith("bad\\xff.md: the name is not valid UTF-8") for message in told()))
    answer = world.ask("sync", paths=[os.fsdecode(bad)])
    (failure,) = answer["failed"]
    assert failure == {"path": "bad\\xff.md", "error": "the name is not valid UTF-8; rename it to have it indexed"}
    os.unlink(bad)
    until(lambda: told() == [])
    assert "job failed" not in world.log()


def test_half_a_character_keeps_no_other_out(world: World) -> None:
    world.daemon()
    world.write("board.canvas", r'{"nodes": [{"id": "a", "type": "text", "text": "half \ud83d a heron"}]}')
    world.write("good.md", "The heron flies.\n")
    until(lambda: world.found("heron") == {"board.canvas", "good.md"})
    assert world.ask("status")["problems"] == []


def test_the_privacy_ledger_is_told_while_it_runs(world: World) -> None:
    world.daemon()
    for more in ([], ["--json"], ["--format", "toon"]):
        told = vx("status", "--privacy", *more, environ={"VAULT_INDEX_HOME": str(world.home.data_dir)})
        assert (told.returncode, told.stderr) == (0, "")


DYING_WATCH = """
from watchdog.observers.inotify import InotifyEmitter
def die(emitter, timeout):
    raise RuntimeError
InotifyEmitter.queue_events = die
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a watch of inotify")
def test_a_watch_that_dies_each_time_is_not_begun_in_a_circle(world: World) -> None:
    world.first = DYING_WATCH
    world.daemon(WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    until(lambda: world.log().count("watch died, begun again") >= 3)
    log = world.log()
    assert log.count("event=watching") <= log.count("watch died, begun again") + 3
    assert world.found("aardvark") == {"a.md"}


def test_sources_that_come_later_are_found(world: World, tmp_path: Path) -> None:
    later, sessions = tmp_path / "later", tmp_path / "share/opencode"
    world.configure(world.vault, later)
    with world.home.config_file.open("a", encoding="utf-8") as config:
        config.write("[opencode]\nenabled = true\n")
    world.daemon(XDG_DATA_HOME=str(sessions.parent), WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    assert [problem["code"] for problem in world.ask("status")["problems"]] == ["source_vanished"]
    later.mkdir()
    (later / "b.md").write_text("the buffalo", "utf-8")
    until(lambda: world.found("buffalo") == {"b.md"})
    sessions.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[2] / "fixtures/opencode/opencode.db", sessions)
    until(lambda: [source["documents"] for source in world.ask("status")["sources"]] == [1, 1, 4])
    assert world.ask("status")["problems"] == []


HANGING_SHARE = """
import os, threading
scandir = os.scandir
def hanging(folder="."):
    if threading.current_thread().name.startswith("Thread-"):  # of watchdog, not of the writer
        threading.Event().wait()
    return scandir(folder)
os.scandir = hanging
"""


def test_it_ends_while_a_share_hangs(world: World) -> None:
    with world.home.config_file.open("a", encoding="utf-8") as config:
        config.write('backend = "polling"\n')
    world.first = HANGING_SHARE
    daemon = world.daemon()
    assert world.ask("status")["watch"]["backend"] == "polling"
    assert daemon.end() == 0
    assert "stopped in the middle" in world.log()


def test_socket_and_folder_are_private(world: World) -> None:
    world.daemon()
    assert stat.S_IMODE(world.home.socket_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(world.home.socket_path.parent.stat().st_mode) == 0o700


def test_the_second_daemon_is_refused(world: World) -> None:
    first = world.daemon()
    second = world.start_daemon()
    assert second.wait(PATIENCE) == 5
    assert f"pid {first.pid}" in world.log()
    assert world.found("aardvark") == {"a.md"}


def test_a_killed_daemon_is_followed_by_another(world: World) -> None:
    first = world.daemon()
    first.kill()
    first.wait()
    assert world.home.socket_path.exists()
    assert not world.listens()
    world.write("b.md", "the buffalo")
    world.daemon()
    assert world.found("buffalo") == {"b.md"}


def test_without_a_configuration_it_says_so(world: World) -> None:
    world.home.config_file.unlink()
    assert world.start_daemon().wait(PATIENCE) == 4
    assert "Traceback" not in world.log()


def test_sighup_takes_the_new_configuration(world: World, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("the cassowary", "utf-8")
    daemon = world.daemon()
    world.configure(world.vault, other)
    daemon.send_signal(signal.SIGHUP)
    until(lambda: world.found("cassowary") == {"c.md"})
    (other / "d.md").write_text("the dugong", "utf-8")
    until(lambda: world.found("dugong") == {"d.md"})
    world.home.config_file.write_text("[wach]\n", "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in world.log())
    world.write("e.md", "the echidna")
    until(lambda: world.found("echidna") == {"e.md"})
    world.configure(world.vault)
    daemon.send_signal(signal.SIGHUP)
    until(lambda: world.found("cassowary") == set())
    assert daemon.end() == 0


def test_a_vault_that_goes_and_comes_back_keeps_its_rows(world: World, tmp_path: Path) -> None:
    world.daemon(WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    world.vault.rename(tmp_path / "away")
    until(lambda: "source_vanished" in {problem["code"] for problem in world.ask("status")["problems"]})
    assert world.ask("status")["index"]["documents"] == 1
    (tmp_path / "away").rename(world.vault)
    until(lambda: "source_vanished" not in {problem["code"] for problem in world.ask("status")["problems"]})
    assert world.found("aardvark") == {"a.md"}
    world.write("b.md", "the buffalo")
    until(lambda: world.found("buffalo") == {"b.md"})


def messages(manager: socket.socket, wanted: Callable[[str], bool]) -> list[str]:
    got: list[str] = []
    deadline = time.monotonic() + 30
    while not any(wanted(message) for message in got):
        manager.settimeout(max(0.01, deadline - time.monotonic()))
        got += manager.recv(4096).decode().splitlines()
    return got


def test_systemd_hears_of_it(world: World, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        daemon = world.start_daemon(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="200000")
        assert messages(manager, lambda message: message == "WATCHDOG=1")[0] == "READY=1"
        assert world.listens()
        daemon.end()
        assert "STOPPING=1" in messages(manager, lambda message: message == "STOPPING=1")
