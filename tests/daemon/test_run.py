"""The daemon as a process: reachable by its socket, one per home, quick to stop, and unharmed by a kill."""

import shutil
import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.waiting import PATIENCE, until
from tests.world import World
from vault_index import VaultIndex
from vault_index.cli import main
from vault_index.errors import BusyError

TENDING = {"WATCHDOG_USEC": "200000"}
"""Makes a daemon check its sources every 0.1 seconds."""


def codes(world: World) -> list[str]:
    return [problem["code"] for problem in world.ask("status")["problems"]]


def test_daemon_answers_and_follows_the_files(running: World) -> None:
    assert running.found("aardvark") == {"a.md"}
    running.write("deep/er/b.md", "the buffalo")
    until(lambda: running.found("buffalo") == {"deep/er/b.md"})
    (running.vault / "deep/er/b.md").rename(running.vault / "z.md")
    until(lambda: running.found("buffalo") == {"z.md"})
    (running.vault / "z.md").unlink()
    until(lambda: running.found("buffalo") == set())
    status = running.ask("status")
    assert (status["daemon"]["running"], status["daemon"]["work"]) == (True, None)
    assert status["watch"]["backend"] in ("native", "polling")
    assert status["watch"]["last_event"] is not None
    assert status["watch"]["missed"] == 0
    assert stat.S_IMODE(running.home.socket_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(running.home.socket_path.parent.stat().st_mode) == 0o700


def test_status_privacy_works_while_a_daemon_runs(running: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--home", str(running.home.data_dir), "status", "--privacy"]) == 0
    assert capsys.readouterr().err == ""


def test_daemon_repairs_its_own_index(running: World) -> None:
    connection = apsw.Connection(str(running.home.index_db))
    connection.set_busy_timeout(int(PATIENCE * 1000))  # the daemon may be writing
    connection.execute("DELETE FROM chunk_fts")
    connection.close()
    assert [problem["code"] for problem in running.ask("doctor")["problems"]] == ["terms"]
    repaired = running.ask("repair")
    assert (repaired["healthy"], [problem["code"] for problem in repaired["fixed"]]) == (True, ["terms"])
    assert running.found("aardvark") == {"a.md"}


def test_daemon_refuses_a_second_one_and_stops_on_sigterm(world: World) -> None:
    first = world.daemon()
    second = world.start_daemon()
    assert second.wait(PATIENCE) == 5
    assert f"pid {first.pid}" in second.stderr_text()
    assert world.found("aardvark") == {"a.md"}
    assert first.end() == 0
    assert "event=stopped" in world.log()
    assert not world.listens()
    assert not world.home.socket_path.exists()


def test_daemon_continues_work_that_an_earlier_one_left(world: World) -> None:
    for number in range(200):
        world.write(f"{number % 10}/{number}.md", f"# {number}\n\n" + "some words of prose.\n" * 50)
    daemon = world.start_daemon()
    until(lambda: daemon.poll() is not None or world.listens())
    assert daemon.end() == 0
    world.daemon()
    until(lambda: world.ask("status")["index"]["documents"] == 201)


ENDLESS_JOB = """
import sys, threading
from vault_index import VaultIndex
def endless(self):
    print("begun", file=sys.stderr, flush=True)
    threading.Event().wait()
VaultIndex.repair = endless
"""


def test_daemon_stopped_in_a_job_is_not_reported_as_died(world: World) -> None:
    world.first = ENDLESS_JOB
    daemon, client = world.daemon(), world.connected()
    assert client is not None
    with client, ThreadPoolExecutor() as pool:
        asked = pool.submit(client.call, "repair")
        until(lambda: asked.done() or "begun" in world.log())
        assert daemon.end() == 0
        with pytest.raises(BusyError, match="stopp"):
            asked.result(PATIENCE)
    with VaultIndex.open(world.home) as index:
        assert index.doctor().problems == ()


def test_daemon_takes_over_after_a_killed_one_that_doctor_names(world: World) -> None:
    world.daemon().end(signal.SIGKILL)
    assert world.home.socket_path.exists()
    assert not world.listens()
    world.write("b.md", "the buffalo")
    with VaultIndex.open(world.home) as index:
        assert [problem.code for problem in index.status().problems] == ["daemon_died"]
    world.daemon()
    assert codes(world) == []
    assert world.ask("doctor")["healthy"]
    assert world.found("buffalo") == {"b.md"}


def test_daemon_reloads_a_valid_configuration_on_sighup(world: World, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other/c.md").write_text("the cassowary", "utf-8")
    daemon = world.daemon()
    world.home.config_file.write_text("[wach]\n", "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in world.log())
    assert codes(world) == ["config"]
    assert world.found("aardvark") == {"a.md"}
    world.configure(world.vault, tmp_path / "other")
    assert codes(world) == ["config_changed"]
    daemon.send_signal(signal.SIGHUP)
    until(lambda: world.found("cassowary") == {"c.md"})
    until(lambda: codes(world) == [])
    (tmp_path / "other/c.md").rename(tmp_path / "other/d.md")
    until(lambda: world.found("cassowary") == {"d.md"})
    world.configure()
    daemon.send_signal(signal.SIGHUP)
    until(lambda: world.found("cassowary") == set())


def test_daemon_follows_a_source_that_appears_vanishes_and_returns(world: World, tmp_path: Path) -> None:
    later, sessions = tmp_path / "later", tmp_path / "share/opencode"
    world.more = "[sessions.opencode]\nenabled = true\n"
    world.configure(world.vault, later)
    world.daemon(XDG_DATA_HOME=str(sessions.parent), **TENDING)
    assert codes(world) == ["source_vanished"]
    later.mkdir()
    (later / "b.md").write_text("the buffalo", "utf-8")
    until(lambda: world.found("buffalo") == {"b.md"})
    sessions.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[2] / "fixtures/opencode/opencode.db", sessions)

    def documents() -> list[int]:
        return [source["documents"] for source in world.ask("status")["sources"]]

    until(lambda: documents() == [1, 1, 4])
    assert codes(world) == []
    later.rename(tmp_path / "away")
    until(lambda: codes(world) == ["source_vanished"])
    assert documents() == [1, 1, 4]
    (tmp_path / "away").rename(later)
    until(lambda: codes(world) == [])
    assert world.found("buffalo") == {"b.md"}
    (later / "b.md").rename(later / "c.md")
    until(lambda: world.found("buffalo") == {"c.md"})
