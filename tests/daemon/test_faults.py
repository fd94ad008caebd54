"""What goes wrong around a running daemon is named by `status`, and mended without a restart."""

import signal
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from tests.waiting import PATIENCE, until
from tests.world import World
from vault_index import VaultIndex
from vault_index.errors import BusyError


def codes(world: World) -> list[str]:
    return [problem["code"] for problem in world.ask("status")["problems"]]


def test_a_broken_configuration_is_named_until_it_is_mended_and_read(world: World) -> None:
    daemon = world.daemon()
    world.home.config_file.write_text("[wach]\n", "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in world.log())
    assert codes(world) == ["config"]
    assert world.found("aardvark") == {"a.md"}
    world.configure()
    with world.home.config_file.open("a", encoding="utf-8") as file:
        file.write("[search]\nlimit = 3\n")
    assert codes(world) == ["config_changed"]
    daemon.send_signal(signal.SIGHUP)
    until(lambda: codes(world) == [])


def test_what_a_killed_daemon_left_is_named_and_taken_over(world: World) -> None:
    world.home.config_file.chmod(0o600)
    first = world.daemon()
    first.kill()
    first.wait()
    with VaultIndex.open(world.home) as index:
        assert [problem.code for problem in index.status().problems] == ["daemon_died"]
        world.daemon()
        assert codes(world) == []
        assert world.ask("doctor")["healthy"]


ENDLESS_JOB = """
import sys, threading
from vault_index import VaultIndex
def endless(self):
    print("begun", file=sys.stderr, flush=True)
    threading.Event().wait()
VaultIndex.repair = endless
"""


@pytest.mark.parametrize(("number", "told"), [(signal.SIGTERM, []), (signal.SIGKILL, ["daemon_died"])])
def test_who_stops_it_in_the_middle_of_a_job_is_not_told_that_it_died(
    world: World, number: int, told: list[str]
) -> None:
    world.home.config_file.chmod(0o600)
    world.first = ENDLESS_JOB
    daemon, client = world.daemon(), world.connected()
    assert client is not None
    with client, ThreadPoolExecutor() as pool:
        asked = pool.submit(client.call, "repair")
        until(lambda: asked.done() or "begun" in world.log())
        assert daemon.end(number) in (0, -number)
        with pytest.raises(BusyError, match="stopp"):
            asked.result(PATIENCE)
    with VaultIndex.open(world.home) as index:
        assert [problem.code for problem in index.doctor().problems] == told


def test_the_daemon_mends_its_own_index(world: World) -> None:
    world.home.config_file.chmod(0o600)
    world.daemon()
    connection = apsw.Connection(str(world.home.index_db))
    connection.set_busy_timeout(10_000)  # the daemon may be writing
    connection.execute("DELETE FROM chunk_fts")
    connection.close()
    assert [problem["code"] for problem in world.ask("doctor")["problems"]] == ["terms"]
    mended = world.ask("repair")
    assert (mended["healthy"], [problem["code"] for problem in mended["fixed"]]) == (True, ["terms"])
    assert world.found("aardvark") == {"a.md"}
