"""Sessions as files in a vault: readable, indexed once, and editable by their reader."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import write
from tests.indexer.test_sessions import open_index
from tests.sources.opencode.stores import FIXTURES, Client
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import set_value
from vault_index.errors import ConfigError
from vault_index.store.state import State

A = "sessions/2026-11-18 A session.md"


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """File names use the day in the local time zone."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def heron(client: Client, tmp_path: Path) -> Iterator[VaultIndex]:
    """An index that mirrors one session of one prompt."""
    client.begin("A heron at the lake")
    with opened(tmp_path) as index:
        index.sync()
        yield index


def opened(folder: Path, **settings: str) -> VaultIndex:
    return open_index(folder, **{"mirror": "sessions", **settings})


def files(folder: Path) -> dict[str, str]:
    vault = folder / "vault"
    return {str(file.relative_to(vault)): file.read_text("utf-8") for file in sorted(vault.glob("sessions/**/*.md"))}


def sessions(index: VaultIndex) -> list[str]:
    return sorted(found.path for found in index.list(kind="session").results)


def test_mirror_writes_sessions_as_notes_by_day_and_title(tmp_path: Path) -> None:
    (tmp_path / "opencode").mkdir()
    shutil.copy(FIXTURES / "opencode.db", tmp_path / "opencode")
    with opened(tmp_path) as index:
        index.sync()
        found = files(tmp_path)
        assert list(found) == sessions(index)
        assert list(found) == [
            "sessions/2026-11-21 Find usages (@general subagent).md",
            "sessions/2026-11-21 Recall décision.md",
            "sessions/2026-11-21 Scripted session title — Übersicht.md",
            "sessions/2026-11-21 Usages of check().md",
        ]
        parent, child = found["sessions/2026-11-21 Usages of check().md"], "2026-11-21 Find usages (@general subagent)"
        assert f"- task: `Find usages` → [[{child}]] (ok)" in parent
        assert 'parent: "[[2026-11-21 Usages of check()]]"' in found[f"sessions/{child}.md"]
        hit = index.search("修正しました").results[0]
        assert (hit.kind, hit.project, hit.headings[0][:10]) == ("session", "project", "Assistant ")
        assert hit.link.startswith("obsidian://open?vault=vault&file=sessions%2F2026-11-21")
        (whole,) = index.get("ses_e02fa71d5ffeihEmyQeshcxlu5", full=True).results
        assert whole.metadata is not None
        assert whole.metadata["resume"] == "opencode -s ses_e02fa71d5ffeihEmyQeshcxlu5"
        assert f"sessions/{child}.md" in [
            one.path for one in index.related("sessions/2026-11-21 Usages of check().md").results
        ]
        assert (index.sync().changed, files(tmp_path)) == (0, found)


def test_mirror_switched_on_keeps_ids_and_vectors(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    with open_index(tmp_path, provider="local") as index:
        index.sync()
        (before,) = index.list(kind="session").results
    with opened(tmp_path, provider="local") as index:
        report = index.sync()
        (after,) = index.list(kind="session").results
    assert (after.id, after.path, report.embedded) == (before.id, A, 0)


def test_mirror_adds_a_new_turn_and_keeps_a_deleted_session(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    client.assistant("It is an egret")
    report = heron.sync([client.path])
    assert (report.changed, report.added) == (1, 0)
    assert [hit.path for hit in heron.search("egret").results] == [A]
    assert files(tmp_path)[A].endswith("\n\nIt is an egret\n")
    client.run("DELETE FROM session")
    heron.sync()
    assert sessions(heron) == list(files(tmp_path)) == [A]


def test_mirror_keeps_a_deleted_file_deleted_until_restored(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    client.session("ses_b", "Another")
    client.user("Hello", session="ses_b")
    heron.sync()
    (tmp_path / "vault" / A).rename(tmp_path / "trash.md")
    client.assistant("It is an egret")
    heron.sync()
    heron.rebuild()
    assert sessions(heron) == list(files(tmp_path)) == ["sessions/2026-11-18 Another.md"]
    (tmp_path / "trash.md").rename(tmp_path / "vault" / A)
    heron.sync()
    assert sessions(heron) == [A, "sessions/2026-11-18 Another.md"]
    assert "It is an egret" in files(tmp_path)[A]
    shutil.rmtree(tmp_path / "vault/sessions")  # a folder deleted as a whole is written again
    heron.sync()
    assert sessions(heron) == list(files(tmp_path)) == [A, "sessions/2026-11-18 Another.md"]


def test_mirror_forgets_nothing_of_an_unmounted_vault(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    (tmp_path / "vault").rename(tmp_path / "unmounted")
    assert [problem.code for problem in heron.sync().problems] == ["source_vanished"]
    assert sessions(heron) == [A]
    (tmp_path / "unmounted").rename(tmp_path / "vault")
    client.assistant("It is an egret")
    heron.sync()
    assert "It is an egret" in files(tmp_path)[A]


def test_mirror_continues_a_moved_file(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    (tmp_path / "vault/sessions/birds").mkdir()
    (tmp_path / "vault" / A).rename(tmp_path / "vault/sessions/birds/Herons.md")
    client.assistant("It is an egret")
    heron.sync()
    assert sessions(heron) == ["sessions/birds/Herons.md"]
    assert "egret" in files(tmp_path)["sessions/birds/Herons.md"]


def test_mirror_names_a_file_by_its_first_title(client: Client, tmp_path: Path) -> None:
    client.session(title="New session - 2026-11-18T11:06:41.000Z")
    client.user("A heron at the lake")
    client.session("ses_c", "Look it up (@general subagent)", parent_id="ses_a")
    client.user("Herons?", session="ses_c")
    with opened(tmp_path) as index:
        index.sync()
        assert "sessions/2026-11-18 New session.md" in files(tmp_path)
        client.run("UPDATE session SET title = 'Herons: a question?' WHERE id = 'ses_a'")
        index.sync()
        child = "sessions/2026-11-18 Look it up (@general subagent).md"
        named = ["sessions/2026-11-18 Herons a question.md", child]
        assert sessions(index) == list(files(tmp_path)) == named
        assert 'parent: "[[2026-11-18 Herons a question]]"' in files(tmp_path)[child]
        client.run("UPDATE session SET title = 'Egrets' WHERE id = 'ses_a'")
        index.sync()
        assert sessions(index) == named
        assert [found.title for found in index.list(path=named[0]).results] == ["Egrets"]


def test_mirror_numbers_files_of_equal_titles(client: Client, tmp_path: Path) -> None:
    write(tmp_path / "vault", {A: "A note of mine.\n"})
    for name in ("ses_a", "ses_b"):
        client.session(name)
        client.user(f"Hello from {name}", session=name)
    with opened(tmp_path) as index:
        index.sync()
        assert sessions(index) == ["sessions/2026-11-18 A session 2.md", "sessions/2026-11-18 A session 3.md"]
        assert files(tmp_path)[A] == "A note of mine.\n"
        assert [found.kind for found in index.list(path=A).results] == ["note"]


def test_mirror_keeps_the_edits_of_a_file(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    file = tmp_path / "vault" / A
    mine = file.read_text("utf-8").replace("\nturns: 1\n", "\nturns: 1\ntags: [birds]\n") + "\nI saw it, too.\n"
    file.write_text(mine, "utf-8")
    for said in ("It is an egret", "Are you sure?"):
        client.user(said)
        heron.sync()
    text = file.read_text("utf-8")
    assert text.startswith(mine)
    assert text.count("It is an egret") == text.count("Are you sure?") == 1
    assert heron.status().problems == ()
    assert [hit.path for hit in heron.search("sure kind:session tag:birds").results] == [A]
    file.write_text(text.partition("\n## User · ")[0], "utf-8")  # removed text does not return
    client.user("It flew away")
    heron.sync()
    text = file.read_text("utf-8")
    assert [said in text for said in ("It is an egret", "Are you sure?", "It flew away")] == [False, False, True]


def test_mirror_names_an_edited_file_of_a_rewound_session(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    last = client.user("Or an egret")
    with opened(tmp_path) as index:
        index.sync()
        file = tmp_path / "vault" / A
        file.write_text(file.read_text("utf-8") + "\nI saw it, too.\n", "utf-8")
        mine = file.read_text("utf-8")
        client.run("DELETE FROM message WHERE id = ?", last)
        client.user("A stork then")
        for _ in range(2):
            index.sync()
            assert file.read_text("utf-8") == mine
            (problem,) = index.status().problems
            assert problem.message.startswith(f"{A}: both file and session changed")
            assert "`session:`" in problem.hint
        file.write_text(mine.replace('session: "ses_a"\n', ""), "utf-8")  # from now on it is an independent note
        client.user("Or a crane")
        index.sync()
        assert file.read_text("utf-8") == mine.replace('session: "ses_a"\n', "")
        assert sessions(index) == ["sessions/2026-11-18 A session 2.md"]
        assert "Or a crane" in files(tmp_path)["sessions/2026-11-18 A session 2.md"]
        assert index.status().problems == ()


def test_mirror_adds_no_turn_twice_after_a_kill(heron: VaultIndex, client: Client, tmp_path: Path) -> None:
    state = State(heron.home.state_db)
    before = state.mirrored()["ses_a"]
    client.assistant("It is an egret")
    heron.sync()
    state.put_mirrored("ses_a", before)
    state.close()
    client.user("Are you sure?")
    heron.sync()
    text = files(tmp_path)[A]
    assert [text.count(said) for said in ("It is an egret", "Are you sure?", "turns: 3")] == [1, 1, 1]


def test_settings_refuse_folders_that_cannot_hold_sessions(client: Client, tmp_path: Path) -> None:
    with open_index(tmp_path):
        for folder in ("80-memory", "80-memory/sessions", "../elsewhere", "/abs", ".hidden", "."):
            with pytest.raises(ConfigError, match="mirror"):
                set_value(find_home(tmp_path / "home"), "sessions.mirror", folder)


def test_mirror_names_a_folder_that_leads_out_of_the_vault(client: Client, tmp_path: Path) -> None:
    client.begin("A heron at the lake")
    (tmp_path / "outside").mkdir()
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/sessions").symlink_to(tmp_path / "outside")
    with opened(tmp_path) as index:
        index.sync()
        (problem,) = index.status().problems
        assert "'sessions' leads out of the vault" in problem.message
        assert [hit.path for hit in index.search("passwords").results] == ["login.md"]
    assert list((tmp_path / "outside").iterdir()) == []


def test_mirror_ignores_links_and_pipes_in_its_folder(client: Client, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("---\nsession: ses_a\n---\n", "utf-8")
    client.begin("A heron at the lake")
    folder = tmp_path / "vault" / "sessions"
    folder.mkdir(parents=True)
    (folder / "link.md").symlink_to(outside)
    (folder / "loop.md").symlink_to("loop.md")
    os.mkfifo(folder / "pipe.md")
    with opened(tmp_path) as index:
        index.sync()
        assert sessions(index) == [A]
        (tmp_path / "vault" / A).unlink()
        os.mkfifo(tmp_path / "vault" / A)
        client.assistant("It is an egret")
        index.sync()
        (problem,) = index.status().problems
        assert "is not a file" in problem.message
    assert outside.read_text("utf-8") == "---\nsession: ses_a\n---\n"
