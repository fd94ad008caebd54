"""A real watch on a database that a client writes: it notices every write, and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.sources.opencode.stores import Client, opencode_source
from tests.waiting import until
from vault_index.config import Config
from vault_index.config.schema import ClientConfig
from vault_index.daemon.sessions import SessionWatch
from vault_index.sources.sessions.source import SessionSource

_RECORDED = Path(__file__).resolve().parent.parent.parent / "fixtures/sessions/codex"


class Watched(SessionWatch):
    """A watch that records its marks."""

    def __init__(self, source: SessionSource, backend: str) -> None:
        self.marks: list[str] = []
        self.source = source
        super().__init__(source, lambda path, **_flags: self.marks.append(path), backend)


Start = Callable[..., Watched]


@pytest.fixture
def client(client: Client) -> Client:
    client.session()
    return client


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a watch on OpenCode's database, or on another source."""
    watches: list[Watched] = []

    def begin(backend: str = "auto", source: SessionSource | None = None) -> Watched:
        watches.append(Watched(source or opencode_source(tmp_path / "opencode"), backend))
        watches[-1].start()
        return watches[-1]

    yield begin
    for watch in watches:
        watch.stop()


@pytest.fixture
def codex(tmp_path: Path) -> SessionSource:
    """A client with one folder of files per day."""
    (tmp_path / "codex/sessions/2026/11/22").mkdir(parents=True)
    return SessionSource(Config(clients={"codex": ClientConfig(data=(str(tmp_path / "codex"),))}), "codex")


def test_session_watch_notices_a_turn(client: Client, start: Start) -> None:
    watch = start()
    assert watch.backend == "native"
    client.user("Hello")
    until(lambda: watch.marks)
    assert set(watch.marks) == {str(client.path.parent)}


def test_session_watch_polls_for_a_write_without_an_event(client: Client, start: Start) -> None:
    watch = start("polling")
    watch.tend()
    assert watch.marks == []
    client.user("Hello")
    watch.tend()
    watch.tend()
    assert len(watch.marks) == 1


def _rollout() -> Path:
    return min((_RECORDED / "sessions").rglob("*.jsonl"))


def test_session_watch_notices_a_file_in_the_folder_of_a_new_day(
    tmp_path: Path, start: Start, codex: SessionSource
) -> None:
    watch, source = start("auto", codex), codex
    assert watch.backend == "native"
    day = tmp_path / "codex/sessions/2026/12/01"
    day.mkdir(parents=True)
    until(lambda: watch.marks)
    watch.marks.clear()
    file = day / _rollout().name
    lines = _rollout().read_text("utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:9]), "utf-8")
    until(lambda: str(file) in watch.marks)
    assert source.relative(str(file)) == ""  # its session is not known yet
    (ref,) = source.scan_places([""]).refs
    watch.marks.clear()
    with file.open("a", encoding="utf-8") as rest:
        rest.writelines(lines[9:])
    until(lambda: watch.marks)
    assert set(watch.marks) == {str(file)}
    assert source.relative(str(file)) == ref.path
    archive = tmp_path / "codex/archived_sessions"
    archive.mkdir()
    file.rename(archive / file.name)
    (moved,) = source.scan_places([ref.path]).refs
    assert source.read(moved).data == source.read(source.scan_places([""]).refs[0]).data
