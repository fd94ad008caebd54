"""Captured statements: their folder, their frontmatter, and the text that is skipped."""

from pathlib import Path

import pytest

from tests.api.vaults import opened
from vault_index import VaultIndex
from vault_index.config import find_home
from vault_index.config.edit import set_value
from vault_index.markdown.frontmatter import read_frontmatter

SAID = "We decided to use WAL for the orders. Can you fix the test?"


def memories(tmp_path: Path) -> list[str]:
    folder = tmp_path / "vault" / "80-memory"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.md"))


def front(tmp_path: Path, path: str) -> dict[str, object]:
    return dict(read_frontmatter((tmp_path / "vault" / path).read_text(encoding="utf-8").splitlines()).values)


def test_capture_stores_plain_statements_on_request(index: VaultIndex, tmp_path: Path) -> None:
    assert index.capture(SAID).results == ()
    (outcome,) = index.capture(SAID, statements=True).results
    assert (outcome.title, outcome.details["type"]) == ("We decided to use WAL for the orders", "decision")
    assert "Can you" not in (tmp_path / "vault" / outcome.path).read_text()


def test_capture_stores_a_marked_statement_once(index: VaultIndex) -> None:
    text = "*Remember*: We decided to use WAL.\n\nWe decided to use WAL."
    assert len(index.capture(text, statements=True).results) == 1


def test_capture_records_client_project_and_session(index: VaultIndex, tmp_path: Path) -> None:
    project = tmp_path / "shop" / "backend"
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    project.mkdir()
    text = "*Remember*: Orders are numbered per year."
    (outcome,) = index.capture(text, by="opencode", project=str(project), session="ses_1", inbox=True).results
    assert outcome.path.startswith("80-memory/inbox/")
    said = front(tmp_path, outcome.path)
    assert (said["entered_by"], said["project"], said["session"]) == ("opencode", "shop", "ses_1")
    assert [hit.id for hit in index.search("orders", session="ses_1").results] == [outcome.id]


def test_search_finds_a_captured_statement_after_it_left_the_inbox(index: VaultIndex, tmp_path: Path) -> None:
    marked, guessed = index.capture(f"*Remember*: Orders are numbered.\n\n{SAID}", statements=True, inbox=True).results
    assert guessed.path.startswith("80-memory/inbox/waiting/")
    assert marked.path.rpartition("/")[0] == "80-memory/inbox"
    assert [hit.path for hit in index.search("orders").results] == [marked.path]
    assert {hit.path for hit in index.search("orders is:unreviewed").results} == {marked.path, guessed.path}
    (tmp_path / "vault" / guessed.path).rename(tmp_path / "vault/80-memory/wal.md")
    index.sync()
    assert next(hit.path for hit in index.search("orders WAL").results) == "80-memory/wal.md"
    assert index.capture(SAID, statements=True, inbox=True).results[0].outcome == "duplicate"
    assert len(memories(tmp_path)) == 2


def test_capture_stores_a_marked_text_that_waits_as_a_statement(index: VaultIndex, tmp_path: Path) -> None:
    said = "We decided to use WAL for the orders."
    index.capture(said, statements=True, inbox=True)
    assert index.search("WAL").results == ()
    (outcome,) = index.capture(f"*Remember*: {said}", inbox=True).results
    assert outcome.outcome == "created"
    assert [hit.path for hit in index.search("WAL").results] == [outcome.path]


@pytest.mark.parametrize(("setting", "folder"), [("inbox", "inbox/waiting"), ("direct", "decision"), ("off", None)])
def test_capture_setting_chooses_the_folder(tmp_path: Path, setting: str, folder: str | None) -> None:
    with opened(tmp_path):
        set_value(find_home(tmp_path / "home"), "agents.capture", setting)
    with opened(tmp_path) as index:
        index.capture(SAID, statements=True, auto=True)
    assert [path.rpartition("/")[0] for path in memories(tmp_path)] == ([folder] if folder else [])


def test_capture_skips_recalled_memories(index: VaultIndex, tmp_path: Path) -> None:
    mark = 'vault-index-recall token="0badcafe">'
    recalled = f"<{mark}\n> *Remember*: Orders are numbered.\n</{mark}"
    assert index.capture(f"You know:\n{recalled}\n", statements=True).results == ()
    assert memories(tmp_path) == []
