"""Memories through the daemon: at once, whatever else it does, and pruned by it where that is asked for."""

import os
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import opened, write
from tests.daemon.fake_index import FakeIndex
from tests.embeddings.replies import Reply, Request
from tests.embeddings.server import EmbeddingServer
from tests.sources.opencode.stores import Client
from tests.waiting import PATIENCE, until
from tests.world import World
from vault_index.api import to_json
from vault_index.cancel import CancelToken
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import Stepper
from vault_index.daemon.work_queue import Job
from vault_index.daemon.writer import Settings, Writer
from vault_index.errors import UsageError
from vault_index.models import Progress
from vault_index.results.changes import SyncReport


def test_a_memory_is_found_when_the_daemon_has_answered(world: World) -> None:
    world.daemon()
    stored = world.ask("add", text="The buffalo likes mud.", tags=["animals"])
    assert world.found("buffalo") == {stored["path"]}
    world.ask("update", ref=stored["id"][:8], content="And grass.", append=True)
    assert world.found("grass") == {stored["path"]}
    assert world.ask("add", text="The buffalo likes mud.\n\nAnd grass.", title="The buffalo likes mud")["duplicate_of"]
    with pytest.raises(UsageError, match="is no memory"):
        world.ask("delete", ref="a.md")
    world.ask("delete", ref=[stored["id"]])
    assert world.found("buffalo") == set()
    # What it wrote itself it also hears of, and finds nothing new in it.
    assert world.ask("sync", embed=False)["changed"] == 0
    assert world.ask("status")["watch"]["missed"] == 0


@pytest.mark.parametrize("by_hand", [False, True])
def test_what_quotes_a_deleted_memory_is_not_found_when_the_daemon_has_heard(
    world: World, tmp_path: Path, by_hand: bool
) -> None:
    (tmp_path / "opencode").mkdir()
    with closing(Client(tmp_path / "opencode/opencode.db")) as client:
        client.session(title="Work")
        client.user("What does it like?")
        client.assistant("As is remembered, the buffalo likes mud in the morning.")
    with world.home.config_file.open("a", encoding="utf-8") as settings:
        settings.write(f'\n[opencode]\nenabled = true\ndata = "{tmp_path}/opencode"\n')
    world.daemon()
    stored = world.ask("add", text="The buffalo likes mud in the morning.")
    assert len(world.found("mud")) == 2
    if by_hand:
        (world.vault / stored["path"]).unlink()
    else:
        world.ask("delete", ref=[stored["id"]])
    until(lambda: world.found("mud") == set())


def test_the_daemon_prunes_where_that_is_asked_for(world: World) -> None:
    settings = world.home.config_file.read_text("utf-8")
    world.home.config_file.write_text(f"{settings}\n[memory]\nauto_prune = true\n", "utf-8")
    world.write("80-memory/old.md", "---\nexpires: 2020-01-01\n---\nOver.\n")
    world.write("80-memory/lasting.md", "---\nexpires: 2999-01-01\n---\nNot over.\n")
    world.daemon()
    until(lambda: (world.vault / ".trash/80-memory/old.md").exists())
    assert (world.vault / "80-memory/lasting.md").exists()
    until(lambda: world.ask("list", kind="memory")["total"] == 1)


def test_the_daemon_archives_what_nobody_uses_where_that_is_asked_for(world: World) -> None:
    with world.home.config_file.open("a", encoding="utf-8") as settings:
        settings.write('\n[memory]\narchive_after = "2 years"\n')
    world.write("80-memory/old.md", "---\ncreated: 2010-01-01\nupdated: 2010-01-01\n---\nLong ago.\n")
    world.write("80-memory/new.md", "Of today.\n")
    os.utime(world.vault / "80-memory/old.md", times=(1.3e9, 1.3e9))
    world.daemon()
    until(lambda: world.ask("list", state="archived")["total"] == 1)
    assert "archived: " in (world.vault / "80-memory/old.md").read_text("utf-8")
    assert (world.vault / "80-memory/new.md").read_text("utf-8") == "Of today.\n"


def test_vectors_of_a_server_follow_a_memory_in_the_background(world: World) -> None:
    arrived = threading.Event()

    def hold(request: Request, reply: Reply) -> Reply:
        if any("likes mud" in text for text in request.texts):
            arrived.wait(PATIENCE)
        return reply

    with EmbeddingServer(dimensions=64) as server:
        chosen = f'"openai"\nbase_url = "{server.base_url}"\nmodel = "toy"\ndimensions = 64'
        settings = world.home.config_file.read_text("utf-8").replace('"none"', chosen)
        world.home.config_file.write_text(settings, "utf-8")
        world.daemon(NO_PROXY="127.0.0.1", OPENAI_API_KEY="sk-test")
        until(lambda: server.texts != [] and world.ask("status")["index"]["pending"] == 0)
        server.fail_always(hold)
        stored = world.ask("add", text="The buffalo likes mud.")  # nobody waits for a server
        assert stored["degraded"] == ["vector: pending for 1 of its passages"]
        assert world.ask("status")["index"]["pending"] == 1
        found = world.ask("search", query="buffalo")
        assert (found["results"][0]["path"], found["degraded"]) == (
            stored["path"],
            ["vector: pending for 1 of 2 passages"],
        )
        arrived.set()
        until(lambda: world.ask("status")["index"]["pending"] == 0)
        path = world.vault / stored["path"]
        path.write_text(path.read_text("utf-8").replace("type: note", "type: note\ntags: [animals]"), "utf-8")
        until(lambda: any("[animals]" in text for text in server.texts))
        until(lambda: world.ask("file_status", ref=stored["path"])["pending"] == 0)
        assert world.ask("search", query="buffalo")["degraded"] == []


@pytest.fixture
def index(tmp_path: Path) -> FakeIndex:
    for number in range(20):
        (tmp_path / f"{number:02}.md").write_text(str(number), "utf-8")
    return FakeIndex(tmp_path)


@pytest.fixture
def writer(index: FakeIndex) -> Iterator[Writer]:
    def call(method: str, params: dict[str, Any], progress: Progress, cancel: CancelToken) -> Any:
        return {"rows": len(index.rows)} if method == "add" else index.call(method, params, progress, cancel)

    made = Writer(index, call, Settings(Debounce(0, 0), Stepper(lambda: index), 0))
    yield made
    if made.is_alive():
        assert made.stop(PATIENCE)


def result_of(job: Job) -> dict[str, Any]:
    answer: dict[str, Any] = to_json(job.answer.result(PATIENCE))
    return answer


def test_a_memory_waits_for_one_document_of_the_reconcile(index: FakeIndex, writer: Writer) -> None:
    index.gate = threading.Event()
    writer.start()
    until(lambda: bool(index.syncs))
    job = writer.submit("add", {})
    index.gate.set()
    assert result_of(job)["rows"] == 1
    until(lambda: len(index.rows) == 20)


def test_a_memory_waits_for_one_document_of_a_sync(index: FakeIndex, writer: Writer) -> None:
    index.gate = threading.Event()
    sync = writer.submit("sync", {"embed": False})
    writer.start()
    until(lambda: bool(index.syncs))
    index.gate.set()
    until(lambda: len(index.rows) == 20)
    result_of(sync)
    until(lambda: writer.state().watch.last_reconcile is not None)
    before = len(index.syncs)
    index.rows.clear()
    index.gate = threading.Event()
    again = writer.submit("sync", {"embed": False})
    until(lambda: len(index.syncs) > before)
    job = writer.submit("add", {})
    index.gate.set()
    assert result_of(job)["rows"] == 1
    assert result_of(again)["scanned"] == 20
    assert len(index.rows) == 20


def test_an_interrupted_sync_says_what_it_did_and_goes_on_from_there(tmp_path: Path) -> None:
    write(tmp_path / "vault", {f"{number}.md": f"Note {number}." for number in range(5)})

    token = CancelToken()

    def leave(stage: str, done: int, total: int) -> None:
        if done == 2:
            token.cancel()

    with opened(tmp_path) as index:
        report = index.sync(progress=leave, cancel=token)
        assert (report.added, report.finished) == (2, False)
        rest = index.sync()
        assert (rest.added, rest.unchanged, rest.finished) == (3, 2, True)


def test_the_answer_of_an_interrupted_rebuild_counts_everything(index: FakeIndex) -> None:
    asked: list[str] = []

    def call(method: str, *_rest: object) -> SyncReport:
        asked.append(method)
        if method == "rebuild":
            return SyncReport(scanned=20, changed=4, chunks=9, finished=False)
        return SyncReport(scanned=20, changed=16, unchanged=4, chunks=30)

    writer = Writer(index, call, Settings(Debounce(0, 0), Stepper(lambda: index), 0))
    job = writer.submit("rebuild", {"embed": False})
    writer.start()
    answer = result_of(job)
    assert asked == ["rebuild", "sync"]
    assert (answer["changed"], answer["unchanged"], answer["chunks"]) == (20, 0, 39)
    assert writer.stop(PATIENCE)
