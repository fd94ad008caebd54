"""What goes wrong around a running daemon is named by `status`, and mended without a restart."""

import signal
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from tests.daemon.fake_index import until
from tests.daemon.test_run import Place, end, place as place
from vault_index import VaultIndex
from vault_index.errors import BusyError


def codes(place: Place) -> list[str]:
    return [problem["code"] for problem in place.ask("status")["problems"]]


def test_a_broken_configuration_is_named_until_it_is_mended_and_read(place: Place) -> None:
    daemon = place.started()
    place.home.config_file.write_text("[wach]\n", "utf-8")
    daemon.send_signal(signal.SIGHUP)
    until(lambda: "code=config" in place.log())
    assert codes(place) == ["config"]
    assert place.found("aardvark") == {"a.md"}
    place.configure()
    with place.home.config_file.open("a", encoding="utf-8") as file:
        file.write("[search]\nlimit = 3\n")
    assert codes(place) == ["config_changed"]
    daemon.send_signal(signal.SIGHUP)
    until(lambda: codes(place) == [])


def test_what_a_killed_daemon_left_is_named_and_taken_over(place: Place) -> None:
    place.home.config_file.chmod(0o600)
    first = place.started()
    first.kill()
    first.wait()
    with VaultIndex.open(place.home) as index:
        assert [problem.code for problem in index.status().problems] == ["daemon_died"]
        place.started()
        assert codes(place) == []
        assert place.ask("doctor")["healthy"]


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
    place: Place, number: int, told: list[str]
) -> None:
    place.home.config_file.chmod(0o600)
    place.first = ENDLESS_JOB
    daemon, client = place.started(), place.connected()
    assert client is not None
    with client, ThreadPoolExecutor() as pool:
        asked = pool.submit(client.call, "repair")
        until(lambda: asked.done() or "begun" in place.log())
        assert end(daemon, number) in (0, -number)
        with pytest.raises(BusyError, match="stopp"):
            asked.result(20)
    with VaultIndex.open(place.home) as index:
        assert [problem.code for problem in index.doctor().problems] == told


def test_the_daemon_mends_its_own_index(place: Place) -> None:
    place.home.config_file.chmod(0o600)
    place.started()
    connection = apsw.Connection(str(place.home.index_db))
    connection.set_busy_timeout(10_000)  # the daemon may be writing
    connection.execute("DELETE FROM chunk_fts")
    connection.close()
    assert [problem["code"] for problem in place.ask("doctor")["problems"]] == ["terms"]
    mended = place.ask("repair")
    assert (mended["healthy"], [problem["code"] for problem in mended["fixed"]]) == (True, ["terms"])
    assert place.found("aardvark") == {"a.md"}
