"""The daemon as a process: found by its socket, alone in its home, quick to end, and unharmed by a kill."""

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import vx
from tests.daemon.fake_index import until
from vault_index.config import Home, find_home
from vault_index.daemon.client import Client, connect, ping
from vault_index.errors import VaultIndexError

CODE = """
import sys
from pathlib import Path
from vault_index.config import Home
from vault_index.daemon.run import run
from vault_index.errors import VaultIndexError
config, data, runtime, name = sys.argv[1:]
try:
    sys.exit(run(Home(Path(config), Path(data), Path(runtime), name)))
except VaultIndexError as error:
    print(error.message, error.hint, sep=" | ", file=sys.stderr)
    sys.exit(error.exit_code)
"""


@dataclass
class Place:
    """A home with one vault, and the daemons started for it."""

    home: Home
    vault: Path
    log_file: Path
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    within: tuple[str, ...] = ()
    """The words of a command that runs the daemons."""
    first: str = ""
    """What the daemons' Python does first."""

    def log(self) -> str:
        """What all its daemons wrote."""
        return self.log_file.read_text("utf-8")

    def configure(self, *vaults: Path) -> None:
        sources = "\n".join(f'[sources.{vault.name}]\npath = "{vault}"' for vault in vaults or (self.vault,))
        settings = '[embedding]\nprovider = "none"\n[watch]\nquiet = 0.02\n'
        self.home.config_file.write_text(f"{sources}\n{settings}", "utf-8")

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        with self.log_file.open("a", encoding="utf-8") as log:
            daemon = subprocess.Popen(
                [*self.within, sys.executable, "-c", self.first + CODE, *map(str, self.home)],
                stderr=log,
                env={**os.environ, **environment},
            )
        self.daemons.append(daemon)
        return daemon

    def started(self, **environment: str) -> subprocess.Popen[bytes]:
        """A daemon that listens and has reconciled."""
        daemon = self.start(**environment)

        def ready() -> bool:
            if daemon.poll() is not None:
                raise RuntimeError(self.log())
            try:
                return self.ask("status")["watch"]["last_reconcile"] is not None
            except (ConnectionError, VaultIndexError):
                return False

        try:
            until(ready, 30)
        except AssertionError:
            raise AssertionError(self.log()) from None
        return daemon

    def end(self) -> None:
        for daemon in self.daemons:
            if daemon.poll() is None:
                daemon.kill()
            daemon.wait()

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        client = self.connected()
        if client is None:
            raise ConnectionError
        with client:
            answer = client.call(method, params)
        assert isinstance(answer, dict)
        return answer

    def connected(self) -> Client | None:
        return connect(self.home.socket_path)

    def listens(self) -> bool:
        return ping(self.home.socket_path) is not None

    def found(self, words: str) -> set[str]:
        return {hit["path"] for hit in self.ask("search", query=words)["results"]}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    vault, data = tmp_path / "vault", tmp_path / "home"
    vault.mkdir()
    data.mkdir(mode=0o700)
    place = Place(find_home(data), vault, tmp_path / "log")
    place.configure()
    place.write("a.md", "# Alpha\n\nthe aardvark\n")
    yield place
    place.end()


def end(daemon: subprocess.Popen[bytes], number: int = signal.SIGTERM) -> int:
    daemon.send_signal(number)
    return daemon.wait(20)


def test_it_answers_and_follows_the_files(place: Place) -> None:
    daemon = place.started()
    assert place.found("aardvark") == {"a.md"}
    place.write("deep/er/b.md", "the buffalo")
    until(lambda: place.found("buffalo") == {"deep/er/b.md"})
    (place.vault / "a.md").rename(place.vault / "z.md")
    until(lambda: place.found("aardvark") == {"z.md"})
    (place.vault / "z.md").unlink()
    until(lambda: place.found("aardvark") == set())
    status = place.ask("status")
    since = status["daemon"]["since"]
    assert status["daemon"] == {"running": True, "pid": daemon.pid, "since": since, "work": None}
    assert status["watch"]["backend"] in ("native", "polling")
    assert status["watch"]["last_event"] is not None
    assert status["watch"]["missed"] == 0


def test_it_answers_as_text_and_writes_for_clients(place: Place) -> None:
    place.started()
    client = place.connected()
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
def test_a_signal_ends_it(place: Place, number: int) -> None:
    daemon = place.started()
    assert end(daemon, number) == 0
    assert "event=stopped" in place.log()
    assert "aardvark" not in place.log()
    assert not place.listens()
    assert not place.home.socket_path.exists()


def test_it_ends_in_the_middle_of_work(place: Place) -> None:
    for number in range(200):
        place.write(f"{number % 10}/{number}.md", f"# {number}\n\n" + "some words of prose.\n" * 50)
    daemon = place.start()
    until(lambda: daemon.poll() is not None or place.listens(), 30)
    assert end(daemon) == 0
    place.started()
    until(lambda: place.ask("status")["index"]["documents"] == 201, 60)


EAGER = """
from vault_index.daemon import progress_rate, run
progress_rate._SHORT, run._TELL_SECONDS = 0.1, 0.0
"""


def test_the_log_says_how_far_long_work_is(place: Place) -> None:
    for number in range(1000):
        place.write(f"{number}.md", f"# {number}\n\n" + "some words of prose.\n" * 50)
    place.first = EAGER
    place.started(WATCHDOG_USEC="100000")  # looks every 0.05 seconds
    (line, *_) = [line for line in place.log().splitlines() if "event=working" in line]
    assert re.search(r" stage=text done=\d+ total=1001 rate=[\d.]+ seconds_left=\d+$", line)


@pytest.mark.skipif(sys.platform != "linux", reason="names elsewhere are UTF-8")
def test_a_name_that_is_not_utf_8_keeps_no_other_out(place: Place) -> None:
    config = place.home.config_file
    config.write_text(config.read_text("utf-8").replace("quiet = 0.02", "quiet = 0.3"), "utf-8")  # both in one batch
    place.started()
    bad = os.fsencode(place.vault) + b"/bad\xff.md"
    Path(os.fsdecode(bad)).write_text("The heron stands.\n")
    place.write("good.md", "The heron flies.\n")
    until(lambda: place.found("heron") == {"good.md"})

    def told() -> list[str]:
        return [problem["message"] for problem in place.ask("status")["problems"]]

    until(lambda: any(message.startswith("bad\\xff.md: the name is not valid UTF-8") for message in told()))
    answer = place.ask("sync", paths=[os.fsdecode(bad)])
    (failure,) = answer["failed"]
    assert failure == {"path": "bad\\xff.md", "error": "the name is not valid UTF-8; rename it to have it indexed"}
    os.unlink(bad)
    until(lambda: told() == [])
    assert "job failed" not in place.log()


def test_half_a_character_keeps_no_other_out(place: Place) -> None:
    place.started()
    place.write("board.canvas", r'{"nodes": [{"id": "a", "type": "text", "text": "half \ud83d a heron"}]}')
    place.write("good.md", "The heron flies.\n")
    until(lambda: place.found("heron") == {"board.canvas", "good.md"})
    assert place.ask("status")["problems"] == []


def test_the_privacy_ledger_is_told_while_it_runs(place: Place) -> None:
    place.started()
    for more in ([], ["--json"], ["--format", "toon"]):
        told = vx("status", "--privacy", *more, environ={"VAULT_INDEX_HOME": str(place.home.data_dir)})
        assert (told.returncode, told.stderr) == (0, "")


DYING_WATCH = """
from watchdog.observers.inotify import InotifyEmitter
def die(emitter, timeout):
    raise RuntimeError
InotifyEmitter.queue_events = die
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a watch of inotify")
def test_a_watch_that_dies_each_time_is_not_begun_in_a_circle(place: Place) -> None:
    place.first = DYING_WATCH
    place.started(WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    until(lambda: place.log().count("watch died, begun again") >= 3, 30)
    log = place.log()
    assert log.count("event=watching") <= log.count("watch died, begun again") + 3
    assert place.found("aardvark") == {"a.md"}


def test_sources_that_come_later_are_found(place: Place, tmp_path: Path) -> None:
    later, sessions = tmp_path / "later", tmp_path / "share/opencode"
    place.configure(place.vault, later)
    with place.home.config_file.open("a", encoding="utf-8") as config:
        config.write("[opencode]\nenabled = true\n")
    place.started(XDG_DATA_HOME=str(sessions.parent), WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    assert [problem["code"] for problem in place.ask("status")["problems"]] == ["source_vanished"]
    later.mkdir()
    (later / "b.md").write_text("the buffalo", "utf-8")
    until(lambda: place.found("buffalo") == {"b.md"})
    sessions.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[2] / "fixtures/opencode/opencode.db", sessions)
    until(lambda: [source["documents"] for source in place.ask("status")["sources"]] == [1, 1, 4])
    assert place.ask("status")["problems"] == []


HANGING_SHARE = """
import os, threading
scandir = os.scandir
def hanging(folder="."):
    if threading.current_thread().name.startswith("Thread-"):  # of watchdog, not of the writer
        threading.Event().wait()
    return scandir(folder)
os.scandir = hanging
"""


def test_it_ends_while_a_share_hangs(place: Place) -> None:
    with place.home.config_file.open("a", encoding="utf-8") as config:
        config.write('backend = "polling"\n')
    place.first = HANGING_SHARE
    daemon = place.started()
    assert place.ask("status")["watch"]["backend"] == "polling"
    assert end(daemon) == 0
    assert "stopped in the middle" in place.log()


def test_socket_and_folder_are_private(place: Place) -> None:
    place.started()
    assert stat.S_IMODE(place.home.socket_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(place.home.socket_path.parent.stat().st_mode) == 0o700


def test_the_second_daemon_is_refused(place: Place) -> None:
    first = place.started()
    second = place.start()
    assert second.wait(30) == 5
    assert f"pid {first.pid}" in place.log()
    assert place.found("aardvark") == {"a.md"}


def test_a_killed_daemon_is_followed_by_another(place: Place) -> None:
    first = place.started()
    first.kill()
    first.wait()
    assert place.home.socket_path.exists()
    assert not place.listens()
    place.write("b.md", "the buffalo")
    place.started()
    assert place.found("buffalo") == {"b.md"}


def test_without_a_configuration_it_says_so(place: Place) -> None:
    place.home.config_file.unlink()
    assert place.start().wait(30) == 4
    assert "Traceback" not in place.log()


def test_sighup_takes_the_new_configuration(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "c.md").write_text("the cassowary", "utf-8")
    daemon = place.started()
    place.configure(place.vault, other)
    daemon.send_signal(signal.SIGHUP)
    until(lambda: place.found("cassowary") == {"c.md"})
    (other / "d.md").write_text("the dugong", "utf-8")
    until(lambda: place.found("dugong") == {"d.md"})
    place.home.config_file.write_text("[wach]\n", "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in place.log())
    place.write("e.md", "the echidna")
    until(lambda: place.found("echidna") == {"e.md"})
    place.configure(place.vault)
    daemon.send_signal(signal.SIGHUP)
    until(lambda: place.found("cassowary") == set())
    assert end(daemon) == 0


def test_a_vault_that_goes_and_comes_back_keeps_its_rows(place: Place, tmp_path: Path) -> None:
    place.started(WATCHDOG_USEC="200000")  # looks every 0.1 seconds
    place.vault.rename(tmp_path / "away")
    until(lambda: "source_vanished" in {problem["code"] for problem in place.ask("status")["problems"]})
    assert place.ask("status")["index"]["documents"] == 1
    (tmp_path / "away").rename(place.vault)
    until(lambda: "source_vanished" not in {problem["code"] for problem in place.ask("status")["problems"]})
    assert place.found("aardvark") == {"a.md"}
    place.write("b.md", "the buffalo")
    until(lambda: place.found("buffalo") == {"b.md"})


def messages(manager: socket.socket, wanted: Callable[[str], bool]) -> list[str]:
    got: list[str] = []
    deadline = time.monotonic() + 30
    while not any(wanted(message) for message in got):
        manager.settimeout(max(0.01, deadline - time.monotonic()))
        got += manager.recv(4096).decode().splitlines()
    return got


def test_systemd_hears_of_it(place: Place, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        daemon = place.start(NOTIFY_SOCKET=str(tmp_path / "notify"), WATCHDOG_USEC="200000")
        assert messages(manager, lambda message: message == "WATCHDOG=1")[0] == "READY=1"
        assert place.listens()
        end(daemon)
        assert "STOPPING=1" in messages(manager, lambda message: message == "STOPPING=1")
