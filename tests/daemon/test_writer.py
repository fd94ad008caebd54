"""The writer: saves before requests, requests before vectors; no failure ends it or loses work."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.fake_index import FakeIndex
from tests.waiting import PATIENCE, until
from vault_index.api import to_json
from vault_index.daemon.debounce import Debounce
from vault_index.daemon.embedding_queue import Stepper
from vault_index.daemon.work_queue import Job, Priority
from vault_index.daemon.writer import Settings, Writer
from vault_index.errors import (
    BusyError,
    EmbedderError,
    NotInSourceError,
    UsageError,
    VaultIndexError,
)
from vault_index.results.base import Problem
from vault_index.results.changes import EmbedReport, SyncReport


@pytest.fixture
def index(tmp_path: Path) -> Iterator[FakeIndex]:
    (tmp_path / "a.md").write_text("alpha", "utf-8")
    index = FakeIndex(tmp_path)
    yield index
    index.let_go()


Make = Callable[..., Writer]


@pytest.fixture
def make(index: FakeIndex) -> Iterator[Make]:
    made: list[Writer] = []

    def build(
        *,
        quiet: float = 0.01,
        reconcile: float = 0.0,
        apart: bool = False,
        stepper: Stepper | None = None,
        on_missed: Callable[[], object] = lambda: None,
        call: Callable[..., Any] = index.call,
    ) -> Writer:
        writer = Writer(
            index,
            call,
            Settings(Debounce(quiet, 0.1), stepper or Stepper(lambda: index, apart), reconcile),
            on_missed=on_missed,
        )
        made.append(writer)
        return writer

    yield build
    index.let_go()
    for writer in made:
        if writer.is_alive():
            assert writer.stop(PATIENCE)


@pytest.fixture
def writer(index: FakeIndex, make: Make) -> Writer:
    """A writer that has read and embedded everything."""
    writer = make()
    writer.start()
    until(lambda: settled(index))
    return writer


def settled(index: FakeIndex) -> bool:
    return bool(index.rows) and index.vectors == index.rows.keys()


def write_many(folder: Path, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number}.md").write_text(str(number), "utf-8")


def save(index: FakeIndex, writer: Writer, name: str = "b.md", text: str = "beta") -> None:
    """Write a file, and mark it as a watcher does."""
    (index.root / name).write_text(text, "utf-8")
    writer.mark(str(index.root / name))


def result_of(job: Job) -> dict[str, Any]:
    answer: dict[str, Any] = to_json(job.answer.result(PATIENCE))
    return answer


def test_writer_reconciles_at_start_and_reads_marked_paths(index: FakeIndex, writer: Writer) -> None:
    until(lambda: writer.state().pending == 0)
    assert index.syncs == [None]
    assert index.threads == {"writer"}
    state = writer.state()
    assert state.watch.last_reconcile is not None
    assert (state.watch.last_event, state.watch.missed) == (None, 0)
    save(index, writer)
    until(lambda: "b.md" in index.vectors)
    assert index.syncs == [None, (str(index.root / "b.md"),)]
    assert writer.state().watch.last_event is not None


def test_writer_runs_saves_between_embedding_steps(index: FakeIndex, make: Make) -> None:
    write_many(index.root, 20)
    order: list[str] = []
    writer = make()
    embed_step, sync = index.embed_step, index.sync

    def step(renew: bool) -> EmbedReport:
        order.append("vectors")
        if len(order) == 2:
            writer.mark(str(index.root / "a.md"))
            until(lambda: writer._queue.is_due(Priority.SAVED_FILES))
        return embed_step(renew)

    def save(*args: object, **options: object) -> SyncReport:
        order.append("text")
        return sync(*args, **options)  # type: ignore[arg-type]

    index.embed_step, index.sync = step, save  # type: ignore[method-assign]
    writer.start()
    until(lambda: settled(index))
    assert order[0] == "text"
    second = order.index("text", 1)
    assert order[1] == "vectors"
    assert "vectors" in order[second:]


def test_writer_answers_a_sync_when_the_vectors_are_complete(index: FakeIndex, make: Make) -> None:
    write_many(index.root, 9)
    writer = make()
    job = writer.submit("sync", {})
    assert job.step == ("waiting", 0, 0)
    writer.start()
    answer = result_of(job)
    assert (answer["scanned"], answer["embedded"], answer["pending"]) == (10, 10, 0)
    assert settled(index)


def test_writer_answers_a_sync_without_vectors_at_once(index: FakeIndex, make: Make) -> None:
    index.embed_reports = [EmbedReport(0, 0, 1, 0.0, (Problem("embedder", "down", ""),))] * 3
    writer = make()
    writer.start()
    assert result_of(writer.submit("sync", {"embed": False}))["problems"] == []


def test_writer_reports_a_failing_embedder_and_keeps_indexing_text(
    index: FakeIndex, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vault_index.daemon.embedding_queue._FIRST_RETRY", 3600.0)
    down = Problem("embedder", "the server is down", "start it")
    index.embed_reports = [EmbedReport(0, 0, 1, 0.0, (down,)), EmbedderError("no route", "wait")]
    writer = make()
    job = writer.submit("sync", {})
    writer.start()
    answer = result_of(job)
    assert answer["pending"] == 1
    assert answer["problems"] == [{"code": "embedder", "message": "the server is down", "hint": "start it"}]
    again = result_of(writer.submit("embed", {}))
    assert again["problems"] == [{"code": "embedder", "message": "no route", "hint": "wait"}]
    steps = index.steps
    save(index, writer)
    until(lambda: "b.md" in index.rows)
    assert index.steps == steps  # it waits before it retries the embedder
    assert [problem.message for problem in writer.state().problems] == ["no route"]


def test_writer_stops_retrying_vectors_that_cannot_be_filled(index: FakeIndex, make: Make) -> None:
    index.embed_reports = [EmbedReport(0, 0, 7, 0.0)] * 50
    writer = make()
    writer.start()
    until(lambda: writer.state().pending == 7)
    answer = result_of(writer.submit("embed", {}))
    assert answer["pending"] == 7
    assert index.steps < 10


@pytest.mark.parametrize("apart", [False, True])
def test_writer_rebuilds_all_vectors_in_steps(index: FakeIndex, make: Make, apart: bool) -> None:
    write_many(index.root, 9)
    writer = make(apart=apart)
    writer.start()
    until(lambda: settled(index) and writer.state().pending == 0)
    steps = index.steps
    answer = result_of(writer.submit("embed", {"rebuild": True, "plan": False}))
    assert (answer["embedded"], answer["pending"]) == (10, 0)
    assert index.steps >= steps + 5
    assert settled(index)
    assert index.threads == ({"writer", "embedding"} if apart else {"writer"})


def test_writer_indexes_a_saved_file_while_the_server_hangs(index: FakeIndex, make: Make) -> None:
    hang, step = threading.Event(), index.embed_step

    def hanging(renew: bool) -> EmbedReport:
        hang.wait()
        return step(renew)

    index.embed_step = hanging  # type: ignore[method-assign]
    writer = make(apart=True)
    job = writer.submit("sync", {})
    writer.start()
    until(lambda: writer.busy_apart)
    for number in range(3):
        (index.root / "b.md").write_text(str(number), "utf-8")
        writer.mark(str(index.root / "b.md"))
        until(lambda number=number: index.rows.get("b.md") == str(number))  # type: ignore[misc]
    assert writer.busy_apart
    assert not job.answer.done()
    hang.set()
    assert result_of(job)["pending"] == 0
    assert settled(index)


def test_writer_reopens_a_replaced_index(index: FakeIndex, make: Make) -> None:
    rebuilt = Problem("index_rebuilt", "it was damaged", "")
    opened: list[int] = []
    sync = index.sync

    def replaced(paths: Sequence[str] | None = None, **options: Any) -> SyncReport:
        if paths is not None:
            index.rows.clear()
        report = sync(paths, **options)
        return report if paths is None else replace(report, problems=(rebuilt,))

    def reopen() -> FakeIndex:
        opened.append(1)
        return index

    index.sync = replaced  # type: ignore[method-assign]
    writer = make(stepper=Stepper(reopen, apart=True))
    writer.start()
    until(lambda: settled(index) and writer.state().pending == 0)
    assert len(opened) == 1
    save(index, writer)
    until(lambda: "b.md" in index.vectors)
    assert len(opened) == 2
    until(lambda: "a.md" in index.vectors)  # everything else must be read again, too
    assert index.syncs[-1] is None
    assert writer.state().problems == (rebuilt,)
    assert writer.state().watch.missed == 0


@pytest.mark.parametrize("folder", ["big", ""])
def test_writer_interleaves_saves(index: FakeIndex, make: Make, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    """For a marked folder, and for the reconcile at the start."""
    monkeypatch.setattr("vault_index.daemon.writer._SLICE_SECONDS", -10.0)
    writer = make(quiet=0.0)
    if folder:
        writer.start()
        until(lambda: settled(index))
    write_many(index.root / folder, 30)
    before, index.gate = len(index.syncs), threading.Event()
    if folder:
        writer.mark(str(index.root / folder), folder=True)
    else:
        writer.start()
    until(lambda: len(index.syncs) > before)
    save(index, writer, "a.md", "changed")
    index.gate.set()
    until(lambda: settled(index) and len(index.rows) == 31)
    assert index.rows["a.md"] == "changed"
    assert str(index.root / "a.md") in (index.syncs[before + 1] or ())


def test_writer_reads_other_paths_despite_a_bad_one(index: FakeIndex, make: Make) -> None:
    writer = make(quiet=0.1)
    writer.start()
    until(lambda: settled(index))
    (index.root / "b.md").write_text("beta", "utf-8")
    index.fail = [VaultIndexError("cannot be read"), NotInSourceError("in no source")]
    writer.mark(str(index.root / "bad.md"))
    writer.mark(str(index.root / "b.md"))
    until(lambda: "b.md" in index.rows)
    assert (str(index.root / "b.md"),) in index.syncs


@pytest.mark.parametrize("error", [BusyError("locked"), UsageError("leads out"), RuntimeError("the text of a note")])
def test_writer_names_and_retries_a_failed_save(index: FakeIndex, writer: Writer, error: Exception) -> None:
    index.fail = [error]
    save(index, writer)
    if not isinstance(error, BusyError):  # that one passes by itself
        (problem,) = until(lambda: writer.state().problems)
        assert problem.code == "not_saved"
    until(lambda: "b.md" in index.rows)
    until(lambda: writer.state().problems == ())


def test_writer_continues_after_a_defect_in_one_job(
    index: FakeIndex, writer: Writer, caplog: pytest.LogCaptureFixture
) -> None:
    job = writer.submit("broken", {})
    with pytest.raises(VaultIndexError, match="broken failed: RuntimeError"):
        job.answer.result(PATIENCE)
    index.fail = [RuntimeError("the text of a note")]
    writer.mark(str(index.root / "a.md"))
    until(lambda: not index.fail)
    until(lambda: any(record.message == "job failed" for record in caplog.records))
    assert result_of(writer.submit("sync", {}))["scanned"] == 1
    assert "the text of a note" not in caplog.text + str([vars(record) for record in caplog.records])


def test_writer_counts_changes_that_only_the_timer_found(index: FakeIndex, make: Make) -> None:
    missed = threading.Event()
    writer = make(reconcile=0.05, on_missed=missed.set)
    writer.start()
    until(lambda: settled(index))
    (index.root / "b.md").write_text("beta", "utf-8")
    assert missed.wait(PATIENCE)
    until(lambda: writer.state().watch.missed == 1)


def test_writer_stops_between_two_documents(index: FakeIndex, make: Make) -> None:
    write_many(index.root, 50)
    index.gate = threading.Event()
    writer = make()
    job = writer.submit("sync", {})
    later = writer.submit("sync", {})
    writer.start()
    until(lambda: index.syncs)
    assert not writer.stop(0.05)  # stop has a timeout
    index.gate.set()
    until(lambda: not writer.is_alive())
    assert len(index.rows) < 51
    for asked in (job, later, writer.submit("sync", {})):
        with pytest.raises(BusyError, match="stopping"):
            asked.answer.result(PATIENCE)


def test_writer_stores_a_memory_after_one_document_of_a_reconcile(index: FakeIndex, make: Make) -> None:
    write_many(index.root, 20)
    index.gate = threading.Event()
    writer = make()
    writer.start()
    until(lambda: index.syncs)
    job = writer.submit("add", {})
    index.gate.set()
    assert result_of(job)["rows"] == 1
    until(lambda: len(index.rows) == 21)
