"""Sessions that their client no longer has stay searchable, unless it recorded that the user deleted them."""

import os
import shutil
import sqlite3
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.sources.sessions.fake import T0, Fake, home_at, opened, pretend, write
from vault_index import VaultIndex
from vault_index.config import Home, find_home, load_config
from vault_index.config.edit import set_value
from vault_index.errors import VaultIndexError
from vault_index.models import FileStamp, Origin
from vault_index.sources.opencode.client import OpenCode
from vault_index.sources.sessions.archive import SessionArchive
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.gemini import Gemini
from vault_index.sources.sessions.model import Listed, Session
from vault_index.sources.sessions.privacy import PrivateScope
from vault_index.sources.sessions.source import SessionSource

HERON, EGRET, STORK = "0199-heron", "0199-egret", "0199-stork"
DAY = 86_400


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = pretend(tmp_path, monkeypatch)
    for name, said in ((HERON, "Why is the heron here?"), (EGRET, "The egret is white."), (STORK, "A stork nests.")):
        write(folder, name, said, "So it is.")
    return folder


@pytest.fixture
def home(tmp_path: Path, talks: Path) -> Home:
    return home_at(tmp_path)


def records_deletions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "deleted", lambda *_: True)


def drop(talks: Path, *names: str) -> None:
    for name in names:
        (talks / f"talks/{name}.jsonl").unlink()


def file_of(home: Home, name: str) -> Path:
    return home.sessions_dir / f"codex/api/{name}.md"


def found(index: VaultIndex, *words: str) -> list[int]:
    """The number of sessions that each of these words finds."""
    hits = (index.search(word, kind="session", mode="text", fuzzy=False).results for word in words)
    return [len({hit.path for hit in one}) for one in hits]


def test_kept_session_equals_the_indexed_text_and_is_private(home: Home) -> None:
    with opened(home) as index:
        (text,) = index.get([HERON], full=True).results
    file = file_of(home, HERON)
    assert file.read_text("utf-8").strip() == text.content.strip()
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert file.stat().st_mtime == T0 / 1000  # that of the session
    before = file.stat().st_ino
    with opened(home) as index:
        index.rebuild()
    assert file.stat().st_ino == before, "written again, though it says the same"


def test_kept_session_is_the_same_document_and_is_not_read_again(
    home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(home) as index:
        (before,) = index.list(session=HERON).results
        drop(talks, HERON)
        assert (index.sync().removed, found(index, "heron", "egret")) == (0, [1, 1])
        (after,) = index.list(session=HERON).results
        assert (after.id, after.path, after.turns) == (before.id, before.path, before.turns)
        monkeypatch.setattr(SessionArchive, "read", None)  # it would raise
        assert index.sync().unchanged == 4


def test_kept_session_survives_a_rebuild_and_a_move_without_embedding(home: Home, talks: Path, tmp_path: Path) -> None:
    set_value(home, "embedding.provider", "local")
    with opened(home) as index:
        drop(talks, HERON)
        assert index.sync().embedded == 0
        again = index.rebuild()
        assert (again.embedded, again.pending, found(index, "heron")) == (0, 0, [1])
    shutil.rmtree(talks)  # the client is gone, too
    home.index_db.unlink()
    moved = tmp_path / "moved"
    home.data_dir.rename(moved)
    with opened(find_home(moved)) as index:
        assert found(index, "heron", "egret", "stork") == [1, 1, 1]
        assert index.sync().embedded == 0
        assert index.status().index.pending == 0


def test_kept_session_follows_a_recorded_deletion(home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records_deletions(monkeypatch)
    with opened(home) as index:
        drop(talks, HERON)
        assert (index.sync().removed, found(index, "heron", "egret")) == (1, [0, 1])
        assert not file_of(home, HERON).exists()
        index.rebuild()
        assert found(index, "heron") == [0]
        write(talks, HERON, "Why is the heron here?")  # it is put back
        index.sync()
        assert found(index, "heron") == [1]


def test_kept_sessions_survive_a_deletion_of_most_or_elsewhere(
    home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records_deletions(monkeypatch)
    more = [f"0199-more{number}" for number in range(6)]
    with opened(home) as index:
        drop(talks, HERON, EGRET, STORK)
        index.sync()
        assert found(index, "heron", "egret", "stork") == [1, 1, 1]  # all of them at once
        for name in (HERON, EGRET, STORK):
            write(talks, name, f"Again the {name.removeprefix('0199-')}.")
        for name in more:
            write(talks, name, "A crane.")
        index.sync()
        drop(talks, *more[:5])
        index.sync()
        assert index.list(kind="session").total == 9  # more than half of them
        shutil.copytree(talks, talks.with_name("other"))
        talks.rename(talks.with_name("old"))
        talks.with_name("other").rename(talks)
        drop(talks, HERON)
        index.sync()
        assert found(index, "heron") == [1]
        drop(talks, EGRET)
        home.index_db.unlink()
    with opened(home) as index:
        assert found(index, "heron", "egret", "stork") == [1, 1, 1]


def test_kept_sessions_survive_a_missing_or_unreadable_folder(
    home: Home, talks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records_deletions(monkeypatch)
    with opened(home) as index:
        talks.rename(talks.with_name("away"))
        report = index.sync()
        assert (report.removed, report.changed, found(index, "heron")) == (0, 0, [1])
        talks.with_name("away").rename(talks)
        assert index.sync().unchanged == 4

        def refused(self: Fake, folder: Path, errors: list[OSError]) -> Sequence[os.DirEntry[str]]:
            errors.append(PermissionError(13, "Permission denied", str(talks)))
            return ()

        monkeypatch.setattr(Fake, "files", refused)
        assert (index.sync().removed, found(index, "heron")) == (0, [1])
        assert file_of(home, HERON).exists()


def test_keep_disabled_keeps_no_new_sessions_and_all_old_ones(home: Home, talks: Path) -> None:
    with opened(home):
        pass
    set_value(home, "sessions.keep", "false")
    write(talks, "0199-crane", "A crane.")
    with opened(home) as index:
        drop(talks, HERON, "0199-crane")
        index.sync()
        assert (found(index, "heron", "crane"), file_of(home, "0199-crane").exists()) == ([1, 0], False)
    set_value(home, "sessions.keep", "true")  # sessions read while it was disabled are kept now
    file_of(home, EGRET).unlink()
    file_of(home, STORK).write_bytes(b"")  # as after a loss of power
    with opened(home):
        assert "egret" in file_of(home, EGRET).read_text("utf-8")
        assert "stork" in file_of(home, STORK).read_text("utf-8")


def test_keep_days_limits_sessions_that_the_client_no_longer_has(home: Home, talks: Path) -> None:
    set_value(home, "sessions.keep_days", "30")
    with opened(home) as index:
        for name, days in ((HERON, 31), (EGRET, 29), (STORK, 31)):
            os.utime(file_of(home, name), (time.time() - days * DAY,) * 2)
        drop(talks, HERON, EGRET)
        index.sync()
        assert found(index, "heron", "egret", "stork") == [0, 1, 1]
        assert not file_of(home, HERON).exists()


def test_sync_indexes_no_foreign_broken_or_secret_kept_file(home: Home, talks: Path, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    with opened(home) as index:
        drop(talks, HERON, EGRET)
        (tmp_path / "secret.md").write_text("of somebody else", "utf-8")
        folder = file_of(home, HERON).parent
        (folder / "link.md").symlink_to(tmp_path / "secret.md")
        (folder / "a pipe.md").mkdir()
        os.mkfifo(folder / "pipe.md")
        (folder / "README.txt").write_text("mine", "utf-8")
        (home.sessions_dir / "codex/stray.md").write_text("mine", "utf-8")
        (folder / "foreign.md").write_text("---\nsession: another\n---\n\nHeron.\n", "utf-8")
        file_of(home, EGRET).write_bytes(b"\xff\x00 torn")
        with file_of(home, HERON).open("a", encoding="utf-8") as out:
            out.write(f"\nThe token is {token}.\n")
        report = index.sync()
        assert found(index, "heron", "egret", "stork") == [1, 1, 1]  # for the egret, the text indexed before
        assert (index.list(kind="session").total, report.removed) == (3, 0)
        told = " ".join(one.message for one in index.status().problems)
        assert "api/foreign.md is not a valid session" in told
        assert f"api/{EGRET}.md is not a valid session" in told
        assert token not in index.get([HERON], full=True).results[0].content
    assert token.encode() not in home.index_db.read_bytes()


def test_kept_session_obeys_exclude_and_local_only(home: Home, talks: Path) -> None:
    with opened(home):
        drop(talks, HERON)
    set_value(home, "sessions.codex.local_only", "/home/user")
    source = SessionSource(load_config(home), "codex")
    assert source.stays_home(f"api/{HERON}.md")
    scope = PrivateScope(load_config(home))
    assert scope.keeps(Origin(session=HERON))
    assert scope.keeps(Origin(projects=("api",)))
    set_value(home, "sessions.codex.local_only", "/home/other")
    source = SessionSource(load_config(home), "codex")
    assert not source.stays_home(f"api/{HERON}.md")
    assert source.session(HERON)
    set_value(home, "sessions.codex.exclude", "/home/user/api")
    with opened(home) as index:
        assert index.list(kind="session").total == 0


def test_stays_home_depends_on_the_folder_of_a_kept_session(home: Home) -> None:
    kept = SessionArchive(home.sessions_dir / "codex")
    set_value(home, "sessions.codex.local_only", "/clients")
    for directory, stays in (
        ("/home/user/one", False),
        ("/home/user/one/src", False),
        ("/srv/elsewhere", True),  # its worktree is unknown
        ("/home/user/[redacted: a GitHub token]/one", True),
    ):
        kept.put("one/crane.md", f'---\nsession: crane\nproject: "one"\ndirectory: "{directory}"\n---\n', 1)
        assert SessionSource(load_config(home), "codex").stays_home("one/crane.md") == stays, directory


def test_kept_session_becomes_a_note_of_a_new_mirror(home: Home, talks: Path) -> None:
    with opened(home):
        drop(talks, HERON)
    set_value(home, "sessions.mirror", "sessions")
    set_value(home, "sessions.codex.enabled", "true")
    with opened(home) as index:
        assert found(index, "heron", "egret", "stork") == [1, 1, 1]
        assert {one.source for one in index.list(kind="session").results} == {"vault"}
        assert list(home.sessions_dir.rglob("*.md")) == []
        drop(talks, EGRET)
        index.sync()
        assert found(index, "heron", "egret") == [1, 1]


def listed(directory: Path) -> Listed:
    return Listed(Session(HERON, "", str(directory), "", "", "", T0, T0), FileStamp(1, T0, 1), 1, T0)


@pytest.mark.parametrize(
    ("projects", "history", "deleted"),
    [
        ('{"ROOT/web": {}}', "", True),
        ('{"ROOT/web": {}}', f'{{"sessionId": "{HERON}", "display": "Why?"}}\n', False),  # its retention removed it
        ('{"ROOT/api": {}, "ROOT/web": {}}', "", False),
        ('{"ROOT/api/src": {}}', "", False),
        ("{}", "", False),
        ("torn", "", False),
    ],
)
def test_claude_code_records_a_purge(tmp_path: Path, projects: str, history: str, *, deleted: bool) -> None:
    (tmp_path / "api/.git").mkdir(parents=True)
    (tmp_path / "api/src").mkdir()
    (tmp_path / ".claude.json").write_text(f'{{"projects": {projects.replace("ROOT", str(tmp_path))}}}', "utf-8")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/history.jsonl").write_text(history, "utf-8")
    client = ClaudeCode(tmp_path / "data")
    assert client.deleted(listed(tmp_path / "api/src")) == deleted
    assert not client.deleted(listed(tmp_path / "a worktree that is gone"))


def test_codex_records_a_deletion_in_its_list(tmp_path: Path) -> None:
    client, session = Codex(tmp_path), listed(tmp_path)
    assert not client.deleted(session)  # an old version has no list
    (tmp_path / "state_4.sqlite").write_text("no database", "utf-8")
    with closing(sqlite3.connect(tmp_path / "state_5.sqlite")) as database:
        database.execute("CREATE TABLE threads (id TEXT)")
        database.executemany("INSERT INTO threads VALUES (?)", [(HERON,), ("another",)])
        database.commit()
        assert not client.deleted(session)
        database.execute("DELETE FROM threads WHERE id = ?", (HERON,))
        database.commit()
    assert client.deleted(session)


def test_opencode_records_deletions_and_gemini_does_not(tmp_path: Path) -> None:
    assert not Gemini(tmp_path).deleted(listed(tmp_path))
    assert not OpenCode(tmp_path).deleted(listed(tmp_path))
    (tmp_path / "opencode.db").touch()
    assert OpenCode(tmp_path).deleted(listed(tmp_path))


def test_kept_session_with_a_name_too_long_is_reported_and_found(home: Home, talks: Path) -> None:
    long = "h" * 249
    write(talks, long, "A very long heron.")
    with opened(home) as index:
        assert found(index, "long") == [1]
        assert any(one.code == "not_kept" for one in index.status().problems)
    with pytest.raises(VaultIndexError):
        SessionArchive(home.sessions_dir / "codex").read(f"api/{long}.md")
