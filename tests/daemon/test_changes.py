"""`changes` returns the events that a caller may see, and no others."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.waiting import until
from tests.world import World, opened_world
from vault_index.callers import Caller, Scope
from vault_index.errors import UsageError

BELOW = Caller("friend", scope=Scope(folders=("work",)))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with a daemon; each test writes its own files."""
    with opened_world(tmp_path_factory.mktemp("changes")) as world:
        world.write("work/seen.md", "the seal")
        world.daemon()
        yield world


def changes(world: World, who: Caller | None = None, **params: Any) -> dict[str, Any]:
    return world.ask_for(who, "changes", **params) if who else world.ask("changes", **params)


def after(world: World, who: Caller | None, since: str) -> dict[str, Any]:
    """Return the first answer after `since` that reports changed documents."""
    answer: dict[str, Any] = {"serial": since}

    def changed() -> bool:
        nonlocal answer
        answer = changes(world, who, since=answer["serial"])
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
    assert not changes(running, since=first["serial"])["changed"], "the documents are those of the first answer"


def test_changes_reports_only_files_of_the_scope(running: World) -> None:
    serial, everything = changes(running, BELOW)["serial"], changes(running)["serial"]
    running.write("other.md", "the otter")
    assert after(running, None, everything)["documents"] == {"note": 2}
    assert not changes(running, BELOW, since=serial)["changed"]
    (running.vault / "work/seen.md").rename(running.vault / "seen.md")
    assert after(running, BELOW, serial)["documents"] == {}


def test_changes_reports_a_change_for_an_unknown_serial(running: World) -> None:
    serial = changes(running)["serial"]
    for other in ("x.1", f"{serial}0", serial.partition(".")[0], "."):
        assert changes(running, since=other)["changed"], other
    assert not changes(running, since=serial)["changed"]


def test_changes_reports_progress_only_to_unscoped_callers(running: World) -> None:
    assert changes(running, Caller("all"))["progress"].keys() == {"work", "waiting", "pending"}
    assert "progress" not in changes(running, BELOW)


def test_changes_refuses_invalid_parameters(running: World) -> None:
    wrong: list[dict[str, Any]] = [{"since": 3}, {"more": 1}]
    for params in wrong:
        with pytest.raises(UsageError):
            changes(running, **params)
