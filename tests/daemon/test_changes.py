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


def after(world: World, who: Caller | None, since: str, count: int = 1) -> tuple[str, list[tuple[str, str]]]:
    """Return the serial and the changes after `since`, once there are `count`; they may come in several answers."""
    found: list[tuple[str, str]] = []
    serial = since

    def complete() -> bool:
        nonlocal serial
        answer = changes(world, who, since=serial, wait=20)
        assert not answer["reset"]
        serial = answer["serial"]
        found.extend((one["change"], one["path"]) for one in answer["changes"])
        return len(found) >= count

    until(complete)
    return serial, found


def test_changes_reports_added_changed_and_removed_files(running: World) -> None:
    first = changes(running)
    assert (first["changes"], first["reset"]) == ([], False)
    running.write("b.md", "the buffalo")
    serial, found = after(running, None, first["serial"])
    assert found == [("added", "b.md")]
    running.write("b.md", "the bison")
    serial, found = after(running, None, serial)
    assert found == [("changed", "b.md")]
    (running.vault / "b.md").rename(running.vault / "c.md")
    _, found = after(running, None, serial, 2)
    assert sorted(found) == [("added", "c.md"), ("removed", "b.md")]
    told = changes(running, since=first["serial"])["changes"]
    assert [(one["change"], one["path"]) for one in told[:2]] == [("added", "b.md"), ("changed", "b.md")]
    assert told[0] == {"change": "added", "kind": "note", "source": "vault", "path": "b.md", "id": told[0]["id"]}


def test_changes_reports_only_files_of_the_scope(running: World) -> None:
    serial, everything = changes(running, BELOW)["serial"], changes(running)["serial"]
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(after(running, BELOW, serial)[1]))
    waiting.start()
    running.write("other.md", "the otter")
    assert after(running, None, everything)[1] == [("added", "other.md")]
    assert changes(running, BELOW, since=serial, wait=0.3)["changes"] == []
    (running.vault / "work/seen.md").rename(running.vault / "seen.md")
    waiting.join(PATIENCE)
    assert found == [[("removed", "work/seen.md")]]


def test_changes_resets_a_reader_with_an_unknown_serial(running: World) -> None:
    serial = changes(running)["serial"]
    name, _, number = serial.partition("-")
    for other in ("x-1", f"{name}-{int(number) + 1000}", f"{name}-", f"{name}-x", "-", f"{name}-1{number}" + "9" * 99):
        answer = changes(running, since=other)
        assert (answer["reset"], answer["changes"]) == (True, []), other
    assert not changes(running, since=serial)["reset"]


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
