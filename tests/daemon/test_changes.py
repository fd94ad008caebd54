"""`changes` tells those who wait what they may see of what happened, and of nothing else."""

import threading
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from tests.world import World
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.daemon.client import Client
from vault_index.errors import BusyError, UsageError

BELOW = Caller("friend", scope=Scope(folders=("work",)))


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


def told(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["change"], one["path"]) for one in answer["changes"]]


def after(world: World, who: Caller | None, since: str) -> tuple[str, list[tuple[str, str]]]:
    """The next serial with changes, of which there must be some."""
    while True:
        answer = changes(world, who, since=since, wait=20)
        assert not answer["reset"]
        if answer["changes"]:
            return answer["serial"], told(answer)
        since = answer["serial"]


def test_what_is_added_changed_and_removed(world: World) -> None:
    world.daemon()
    first = changes(world)
    assert (first["changes"], first["reset"]) == ([], False)
    world.write("b.md", "the buffalo")
    serial, found = after(world, None, first["serial"])
    assert found == [("added", "b.md")]
    world.write("b.md", "the bison")
    serial, found = after(world, None, serial)
    assert found == [("changed", "b.md")]
    (world.vault / "b.md").rename(world.vault / "c.md")
    serial, found = after(world, None, serial)
    assert found == [("removed", "b.md"), ("added", "c.md")]
    assert after(world, None, first["serial"]) == (
        serial,
        [("added", "b.md"), ("changed", "b.md"), ("removed", "b.md"), ("added", "c.md")],
    )
    one = changes(world, since=first["serial"])["changes"][0]
    assert one == {"change": "added", "kind": "note", "source": "vault", "path": "b.md", "id": one["id"]}


def test_one_who_waits_is_answered_at_once(world: World) -> None:
    world.daemon()
    serial = changes(world, BELOW)["serial"]
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(after(world, BELOW, serial)[1]))
    waiting.start()
    world.write("work/b.md", "the buffalo")
    waiting.join(PATIENCE)
    assert found == [[("added", "work/b.md")]]


def test_a_scope_is_told_of_nothing_else(world: World) -> None:
    world.write("work/seen.md", "the seal")
    world.daemon()
    serial, everything = changes(world, BELOW)["serial"], changes(world)["serial"]
    world.write("other.md", "the otter")
    world.write("a.md", "the ant")
    everything, found = after(world, None, everything)
    if len(found) == 1:
        everything, more = after(world, None, everything)
        found += more
    assert sorted(found) == [("added", "other.md"), ("changed", "a.md")]
    answer = changes(world, BELOW, since=serial, wait=0.3)
    assert answer == {"serial": serial, "reset": False, "changes": []}
    (world.vault / "work/seen.md").rename(world.vault / "seen.md")
    assert after(world, BELOW, serial)[1] == [("removed", "work/seen.md")]


def test_an_isolated_scope_is_told_of_its_own_index(world: World) -> None:
    from vault_index.access import Tokens

    isolated = BELOW._replace(scope=BELOW.scope._replace(isolated=True))
    Tokens(world.home.tokens_file).add(isolated, created=1.0)
    world.write("work/seen.md", "the seal")
    world.daemon()
    until(lambda: world.ask("status")["daemon"]["isolated"][0]["waiting"] == 0)
    serial = changes(world, isolated)["serial"]
    world.write("other.md", "the otter")
    world.write("work/more.md", "the moth")
    assert after(world, isolated, serial)[1] == [("added", "work/more.md")]


def test_a_serial_that_is_not_known_has_everything_read_anew(world: World) -> None:
    world.daemon()
    serial = changes(world)["serial"]
    name, _, number = serial.partition("-")
    for other in ("x-1", f"{name}-{int(number) + 1000}", f"{name}-", f"{name}-x", "-", f"{name}-1{number}" + "9" * 99):
        answer = changes(world, since=other)
        assert (answer["reset"], answer["changes"]) == (True, [])
    assert not changes(world, since=serial)["reset"]


def test_a_whole_caller_is_told_how_far_the_work_is(world: World) -> None:
    world.daemon()
    assert changes(world, Caller("all"))["progress"].keys() == {"work", "waiting", "pending"}
    assert "progress" not in changes(world, BELOW)


@pytest.mark.parametrize("params", [{"since": 3}, {"wait": "x"}, {"wait": -1}, {"wait": True}, {"more": 1}])
def test_wrong_parameters(world: World, params: dict[str, Any]) -> None:
    world.daemon()
    with pytest.raises(UsageError):
        changes(world, **params)


def test_a_daemon_with_waiting_clients_ends_at_once(world: World) -> None:
    daemon = world.daemon()
    serial, client = changes(world, BELOW)["serial"], world.connected()

    def wait() -> None:
        with suppress(BusyError):  # it is told that the daemon stops, or hung up on
            changes(world, BELOW, client, since=serial, wait=20)

    waiting = threading.Thread(target=wait)
    waiting.start()
    daemon.terminate()
    assert daemon.wait(PATIENCE) == 0
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
