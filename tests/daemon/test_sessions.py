"""A real watch on a database that a client writes: every write is noticed, and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.daemon.fake_index import until
from tests.sources.opencode.stores import Client, opencode_source
from vault_index.daemon.sessions import SessionWatch

Start = Callable[..., tuple[SessionWatch, list[str]]]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    (tmp_path / "opencode").mkdir()
    client = Client(tmp_path / "opencode/opencode.db")
    client.session()
    yield client
    client.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    watches: list[SessionWatch] = []

    def begin(backend: str = "auto") -> tuple[SessionWatch, list[str]]:
        marks: list[str] = []
        source = opencode_source(tmp_path / "opencode")
        watches.append(SessionWatch(source, lambda path, **_flags: marks.append(path), backend))
        watches[-1].start()
        return watches[-1], marks

    yield begin
    for watch in watches:
        watch.stop()


def test_a_turn_is_noticed(client: Client, start: Start) -> None:
    watch, marks = start()
    assert watch.backend == "native"
    client.user("Hello")
    until(lambda: marks)
    assert set(marks) == {str(client.path.parent)}


def test_a_write_without_an_event_is_noticed_by_asking(client: Client, start: Start) -> None:
    watch, marks = start("polling")
    watch.tend()
    assert marks == []
    client.user("Hello")
    watch.tend()
    watch.tend()
    assert len(marks) == 1


def test_reading_is_no_change(client: Client, start: Start, tmp_path: Path) -> None:
    _, marks = start()
    source = opencode_source(tmp_path / "opencode")
    source.scan_places([""])
    (client.path.parent / "log.txt").write_text("of no concern")
    client.user("Hello")
    until(lambda: marks)
    first = len(marks)
    source.scan_places([""])
    (client.path.parent / "opencode.db-shm.bak").write_text("of no concern")
    other = client.path.with_name("opencode-beta.db")
    other.touch()
    until(lambda: len(marks) > first)


def test_a_folder_that_comes_later_is_watched_from_then_on(start: Start, tmp_path: Path) -> None:
    watch, marks = start()
    (tmp_path / "opencode").mkdir()
    client = Client(tmp_path / "opencode/opencode.db")
    watch.tend()
    assert (watch.backend, len(marks)) == ("native", 1)
    client.session()
    until(lambda: len(marks) > 1)
    client.close()
