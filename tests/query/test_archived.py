"""Archived memories and unreviewed ones: which commands find them."""

from pathlib import Path

from tests.api.vaults import indexed, paths_found
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.output import render

NOTES = {
    "see.md": "# Harbour\n\nThe ferry and [[old-pier]].\n",
    "80-memory/old-pier.md": "---\narchived: 2026-02-03\n---\nThe ferry leaves from the old pier.\n",
    "80-memory/later.md": "---\narchived: 2999-01-01\n---\nThe ferry carries bicycles.\n",
    "80-memory/inbox/said.md": "The ferry is late in winter.\n",
    "80-memory/inbox/waiting/guessed.md": "We prefer the ferry.\n",
    "inbox/waiting/note.md": "A ferry that is no memory.\n",
}
EVERY = {path for path in NOTES if path.endswith(".md")}
ARCHIVED, INBOX, WAITS = "80-memory/old-pier.md", "80-memory/inbox/said.md", "80-memory/inbox/waiting/guessed.md"


def test_search_finds_archived_and_unreviewed_memories_on_request(index: VaultIndex) -> None:
    assert set(paths_found(index, "ferry")) == EVERY - {ARCHIVED, WAITS}
    assert paths_found(index, "ferry is:archived") == [ARCHIVED]
    assert set(paths_found(index, "ferry", state="unreviewed")) == {INBOX, WAITS}
    assert set(paths_found(index, "ferry -is:unreviewed")) == EVERY - {ARCHIVED, INBOX, WAITS}
    assert {one.path for one in index.list(state="archived,unreviewed").results} == {ARCHIVED, INBOX, WAITS}


def test_search_as_of_an_earlier_day_finds_memories_archived_later(tmp_path: Path) -> None:
    notes = {"80-memory/a.md": "---\ncreated: 2026-01-01\narchived: 2026-02-03\n---\nThe ferry.\n"}
    with indexed(tmp_path, notes) as index:
        found = [paths_found(index, "ferry", as_of=day) for day in ("2026-02-02", "2026-02-03", "2026-02-04")]
    assert [bool(paths) for paths in found] == [True, False, False]


def test_links_to_an_archived_memory_resolve(index: VaultIndex) -> None:
    assert index.get("[[old-pier]]").results[0].path == ARCHIVED
    assert [one.path for one in index.related("see.md").results] == [ARCHIVED]
    assert ARCHIVED in {one.path for one in index.list().results}


def test_status_counts_memories_that_wait_for_review(index: VaultIndex) -> None:
    status = to_json(index.status())
    assert status["index"]["waiting"] == 2
    assert "2 memories wait for review: vault-index review\n" in f"{render('status', status, 'human')}\n"
    del status["index"]["waiting"]
    assert "review" not in render("status", status, "human")


def test_archived_value_that_is_not_a_date_archives_nothing(tmp_path: Path) -> None:
    odd = enumerate(["true", "soon", "[2026-01-01]", "", "0"])
    notes = {f"80-memory/{n}.md": f"---\narchived: {value}\n---\nThe ferry {n}.\n" for n, value in odd}
    with indexed(tmp_path, notes) as index:
        assert set(paths_found(index, "ferry")) == notes.keys()


def test_search_finds_active_memories_among_many_archived_ones(tmp_path: Path) -> None:
    gone = {f"80-memory/{n}.md": f"---\narchived: 2026-01-01\n---\nFerry, ferry {n}.\n" for n in range(120)}
    notes = {**gone, **{f"{n}.md": f"Of {n} a ferry, said among many other words of harbours.\n" for n in range(70)}}
    with indexed(tmp_path, notes) as index:
        assert len(paths_found(index, "kind:memory OR kind:note", limit=60)) == 60
        assert set(paths_found(index, "ferry", limit=100)) == notes.keys() - gone.keys()
        assert paths_found(index, "ferry 7", limit=1) == ["7.md"]
