"""`changes` returns the events that a caller may see, and no others."""

import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from tests.world import World, opened_world
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.daemon.client import Client
from vault_index.errors import BusyError, UsageError

BELOW = Caller("friend", scope=Scope(folders=("work",)))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with a daemon; each test writes its own files."""
    with opened_world(tmp_path_factory.mktemp("changes")) as world:
        world.write("work/seen.md", "the seal")
        world.daemon()
        yield world


def changes(world: World, who: Caller | None = None, by: Client | None = None, **params: Any) -> dict[str, Any]:
    client = by or world.connected()
    assert client is not None
    with closing(client):
        if who is None:
            answer = client.call("changes", params)
        else:
            answer = client.call("served", {"caller": caller_to_json(who), "method": "changes", "params": params})
    assert isinstance(answer, dict)
    return answer


def after(world: World, who: Caller | None, since: str) -> dict[str, Any]:
    """Return the first answer after `since` that reports changed documents."""
    answer: dict[str, Any] = {"serial": since}

    def changed() -> bool:
        nonlocal answer
        answer = changes(world, who, since=answer["serial"], wait=20)
        return bool(answer["changed"])

    until(changed)
    return answer


def test_changes_reports_added_changed_and_removed_files(running: World) -> None:
    first = changes(running)
    assert (first["changed"], first["documents"]) == (False, {"note": 1})
    running.write("b.md", "the buffalo")
    added = after(running, None, first["serial"])
    assert added["documents"] == {"note": 2}
    running.write("b.md", "the bison")
    edited = after(running, None, added["serial"])
    assert edited["documents"] == {"note": 2}
    (running.vault / "b.md").unlink()
    assert after(running, None, edited["serial"])["documents"] == {"note": 1}
    assert changes(running, since=first["serial"])["changed"]


def test_changes_reports_only_files_of_the_scope(running: World) -> None:
    serial, everything = changes(running, BELOW)["serial"], changes(running)["serial"]
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(after(running, BELOW, serial)["documents"]))
    waiting.start()
    running.write("other.md", "the otter")
    assert after(running, None, everything)["documents"] == {"note": 2}
    assert not changes(running, BELOW, since=serial, wait=0.3)["changed"]
    (running.vault / "work/seen.md").rename(running.vault / "seen.md")
    waiting.join(PATIENCE)
    assert found == [{}]


def test_changes_reports_a_change_for_an_unknown_serial(running: World) -> None:
    serial = changes(running)["serial"]
    name, _, number = serial.partition("-")
    for other in ("x-1", f"{name}-{int(number) + 1000}", f"{name}-", f"{name}-x", "-", f"{name}-1{number}" + "9" * 99):
        assert changes(running, since=other)["changed"], other
    assert not changes(running, since=serial)["changed"]


def test_changes_reports_progress_only_to_unscoped_callers(running: World) -> None:
    assert changes(running, Caller("all"))["progress"].keys() == {"work", "waiting", "pending"}
    assert "progress" not in changes(running, BELOW)


def test_changes_refuses_invalid_parameters(running: World) -> None:
    wrong: list[dict[str, Any]] = [{"since": 3}, {"wait": "x"}, {"wait": -1}, {"wait": True}, {"more": 1}]
    for params in wrong:
        with pytest.raises(UsageError):
            changes(running, **params)


def test_daemon_stops_at_once_while_clients_wait_for_changes(world: World) -> None:
    daemon = world.daemon()
    serial, client = changes(world, BELOW)["serial"], world.connected()

    def wait() -> None:
        with suppress(BusyError):  # the daemon reports that it stops, or hangs up
            changes(world, BELOW, client, since=serial, wait=20)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert daemon.end() == 0
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
