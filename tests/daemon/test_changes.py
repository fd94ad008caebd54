"""`changes` tells those who wait what they may see of what happened, and of nothing else."""

import threading
from contextlib import closing, suppress
from typing import Any

import pytest

from tests.daemon.fake_index import until
from tests.daemon.test_run import Place, place as place
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.daemon.client import Client
from vault_index.errors import BusyError, UsageError

BELOW = Caller("friend", scope=Scope(folders=("work",)))


def changes(place: Place, who: Caller | None = None, by: Client | None = None, **params: Any) -> dict[str, Any]:
    client = by or place.connected()
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


def after(place: Place, who: Caller | None, since: str) -> tuple[str, list[tuple[str, str]]]:
    """The next serial with changes, of which there must be some."""
    while True:
        answer = changes(place, who, since=since, wait=20)
        assert not answer["reset"]
        if answer["changes"]:
            return answer["serial"], told(answer)
        since = answer["serial"]


def test_what_is_added_changed_and_removed(place: Place) -> None:
    place.started()
    first = changes(place)
    assert (first["changes"], first["reset"]) == ([], False)
    place.write("b.md", "the buffalo")
    serial, found = after(place, None, first["serial"])
    assert found == [("added", "b.md")]
    place.write("b.md", "the bison")
    serial, found = after(place, None, serial)
    assert found == [("changed", "b.md")]
    (place.vault / "b.md").rename(place.vault / "c.md")
    serial, found = after(place, None, serial)
    assert found == [("removed", "b.md"), ("added", "c.md")]
    assert after(place, None, first["serial"]) == (
        serial,
        [("added", "b.md"), ("changed", "b.md"), ("removed", "b.md"), ("added", "c.md")],
    )
    one = changes(place, since=first["serial"])["changes"][0]
    assert one == {"change": "added", "kind": "note", "source": "vault", "path": "b.md", "id": one["id"]}


def test_one_who_waits_is_answered_at_once(place: Place) -> None:
    place.started()
    serial = changes(place, BELOW)["serial"]
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(after(place, BELOW, serial)[1]))
    waiting.start()
    place.write("work/b.md", "the buffalo")
    waiting.join(30)
    assert found == [[("added", "work/b.md")]]


def test_a_scope_is_told_of_nothing_else(place: Place) -> None:
    place.write("work/seen.md", "the seal")
    place.started()
    serial, everything = changes(place, BELOW)["serial"], changes(place)["serial"]
    place.write("other.md", "the otter")
    place.write("a.md", "the ant")
    everything, found = after(place, None, everything)
    if len(found) == 1:
        everything, more = after(place, None, everything)
        found += more
    assert sorted(found) == [("added", "other.md"), ("changed", "a.md")]
    answer = changes(place, BELOW, since=serial, wait=0.3)
    assert answer == {"serial": serial, "reset": False, "changes": []}
    (place.vault / "work/seen.md").rename(place.vault / "seen.md")
    assert after(place, BELOW, serial)[1] == [("removed", "work/seen.md")]


def test_an_isolated_scope_is_told_of_its_own_index(place: Place) -> None:
    from vault_index.access import Tokens

    isolated = BELOW._replace(scope=BELOW.scope._replace(isolated=True))
    Tokens(place.home.tokens_file).add(isolated, created=1.0)
    place.write("work/seen.md", "the seal")
    place.started()
    until(lambda: place.ask("status")["daemon"]["isolated"][0]["waiting"] == 0)
    serial = changes(place, isolated)["serial"]
    place.write("other.md", "the otter")
    place.write("work/more.md", "the moth")
    assert after(place, isolated, serial)[1] == [("added", "work/more.md")]


def test_a_serial_that_is_not_known_has_everything_read_anew(place: Place) -> None:
    place.started()
    serial = changes(place)["serial"]
    name, _, number = serial.partition("-")
    for other in ("x-1", f"{name}-{int(number) + 1000}", f"{name}-", f"{name}-x", "-", f"{name}-1{number}" + "9" * 99):
        answer = changes(place, since=other)
        assert (answer["reset"], answer["changes"]) == (True, [])
    assert not changes(place, since=serial)["reset"]


def test_a_whole_caller_is_told_how_far_the_work_is(place: Place) -> None:
    place.started()
    assert changes(place, Caller("all"))["progress"].keys() == {"work", "waiting", "pending"}
    assert "progress" not in changes(place, BELOW)


@pytest.mark.parametrize("params", [{"since": 3}, {"wait": "x"}, {"wait": -1}, {"wait": True}, {"more": 1}])
def test_wrong_parameters(place: Place, params: dict[str, Any]) -> None:
    place.started()
    with pytest.raises(UsageError):
        changes(place, **params)


def test_a_daemon_with_waiting_clients_ends_at_once(place: Place) -> None:
    daemon = place.started()
    serial, client = changes(place, BELOW)["serial"], place.connected()

    def wait() -> None:
        with suppress(BusyError):  # it is told that the daemon stops, or hung up on
            changes(place, BELOW, client, since=serial, wait=20)

    waiting = threading.Thread(target=wait)
    waiting.start()
    daemon.terminate()
    assert daemon.wait(10) == 0
    waiting.join(10)
    assert not waiting.is_alive()
