"""`status`: coverage, spending, problems of the environment, and the state of one file."""

import fcntl
import os
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.config.edit import add_source, set_value
from vault_index.daemon.system import DaemonLock
from vault_index.errors import NotFoundError
from vault_index.health import index_status
from vault_index.results.status import DaemonStatus, SentRecord, Status
from vault_index.store.state import State

NOTES = {"a.md": "# Apple\n\nRed.\n", "b/c.md": "# Cherry\n", "broken.md": "---\ntitle: @home\n---\nText.\n"}


def codes(status: Status) -> list[str]:
    return [problem.code for problem in status.problems]


def coverage(index: VaultIndex) -> tuple[int | None, int]:
    source = index.status().sources[0]
    return source.found, source.current


def test_status_coverage_counts_up_to_date_files(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES)
        index.sync()
        assert coverage(index) == (3, 3)
        write(vault, {"a.md": "# Apple\n\nGreen now.\n", "new.md": "New.\n"})
        assert coverage(index) == (4, 2)
        index.sync()
        assert coverage(index) == (4, 4)
        vault.rename(tmp_path / "away")
        assert coverage(index) == (None, 0)
        assert index.status().sources[0].documents == 4


def test_status_reports_spending_by_day_in_tokens_and_money(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
        assert index.status().spent == ()
        state = State(index.home.state_db)
        sent = [
            SentRecord(day, "https://x", model, "vault", "a.md", texts, tokens)
            for day, model, texts, tokens in (
                ("2026-11-19", "text-embedding-3-small", 2, 1_000_000),
                ("2026-11-20", "text-embedding-3-small", 1, 500_000),
                ("2026-11-20", "text-embedding-3-large", 1, 1_000_000),
                ("2026-11-21", "homemade", 1, 7),
            )
        ]
        state.record_sent(sent)
        state.close()
        told = [(day.day, day.texts, day.tokens, day.price) for day in index.status().spent]
    assert told == [("2026-11-21", 1, 7, None), ("2026-11-20", 2, 1_500_000, 0.14), ("2026-11-19", 2, 1_000_000, 0.02)]


def test_status_reports_a_daemon_with_outdated_settings(tmp_path: Path) -> None:
    daemon = DaemonStatus(True, 4711, None)
    with opened(tmp_path) as index:
        index.sync()
        assert codes(index_status(index._runtime, daemon)) == []
        write(tmp_path / "vault", NOTES)
        good = index.home.config_file.read_text("utf-8")
        index.home.config_file.write_text("[wach]\n", "utf-8")
        problem = index_status(index._runtime, daemon).problems[0]
        assert problem.code == "config"
        assert "[wach]" in problem.message
        assert "kill -HUP 4711" in problem.hint
        index.home.config_file.write_text(good, "utf-8")
        assert "config" not in codes(index_status(index._runtime, daemon))
        set_value(index.home, "search.limit", "7")
        assert codes(index_status(index._runtime, daemon))[0] == "config_changed"
        index._runtime.reload()
        assert "config_changed" not in codes(index_status(index._runtime, daemon))


def test_status_names_traces_of_a_dead_daemon(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"a.md": "Text.\n"})
        index.sync()
        index.home.daemon_lock.write_text(f"{2**22 + 7}\n", "utf-8")  # more than any pid
        assert codes(index.status()) == ["daemon_died"]
        index.home.daemon_lock.write_text(f"{os.getppid()}\n", "utf-8")  # now belongs to another program
        assert codes(index.status()) == ["daemon_died"]
        with index.home.daemon_lock.open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (problem,) = index.status().problems
        assert problem.code == "daemon_silent"
        assert f"kill {os.getppid()}" in problem.hint
        own = DaemonLock(index.home.daemon_lock)  # as the daemon calls it
        assert codes(index.status()) == []
        own.release()
        assert codes(index.status()) == []


def test_file_status_reports_state_and_problems(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, NOTES | {".hidden.md": "x", "picture.png": "x"})
        index.sync()
        fine = index.file_status(str(vault / "a.md"))
        assert (fine.state, fine.path, fine.title, fine.chunks, fine.problems) == ("indexed", "a.md", "Apple", 1, ())
        assert index.file_status("b/c.md").id == index.file_status("[[c]]").id
        broken = index.file_status("broken.md")
        assert [problem.code for problem in broken.problems] == ["frontmatter"]
        assert "broken.md:2" in broken.problems[0].message
        hidden = index.file_status(str(vault / ".hidden.md"))
        assert (hidden.state, hidden.id, hidden.problems[0].code) == ("not_indexed", None, "ignored")
        write(vault, {"new.md": "New.\n", "a.md": "# Apple\n\nChanged since.\n"})
        assert index.file_status("new.md").problems[0].code == "not_yet"
        assert index.file_status("a.md").state == "behind"
        (vault / "a.md").unlink()
        assert index.file_status("a.md").state == "gone"
        with pytest.raises(NotFoundError, match="is not in a source"):
            index.file_status("/etc/hostname" if Path("/etc/hostname").exists() else __file__)
        with pytest.raises(NotFoundError):
            index.file_status("nowhere.md")


def test_stats_counts_one_source(tmp_path: Path) -> None:
    """The other numbers of `stats` cover the whole index."""
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"a.md": "Apple. #fruit\n", "80-memory/b.md": "---\nentered_by: bob\n---\nBeech.\n"})
        write(tmp_path / "work", {"c.md": "# Cherry\n\nRed. #red #fruit\n"})
        add_source(index.home, "work", tmp_path / "work")
    with opened(tmp_path) as index:
        index.sync()
        whole, work = index.stats(), index.stats(source="work")
        assert (whole.documents, whole.notes, whole.memories, whole.tags, whole.agents) == (3, 2, 1, 2, 1)
        assert (work.documents, work.notes, work.memories, work.tags, work.agents) == (1, 1, 0, 2, 0)
        assert whole.chunks == work.chunks + index.stats(source="vault").chunks
        assert (work.indexed, work.bytes > 0) == (whole.indexed, True)
        assert index.agents(source="work").results == ()
