"""The title of a memory: the given one, else derived from its text on every read."""

from pathlib import Path

from tests.api.vaults import head, indexed, paths_found
from vault_index import VaultIndex

ID = "5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f"
OTHER = "11111111-1111-4111-8111-111111111111"
BEFORE = f"""\
---
id: {ID}
type: note
title: Deploys run on Tuesday mornings  # as it was
created: 2026-11-21T10:00:00+00:00
updated: 2026-11-21T10:00:00+00:00
---
Deploys run on Tuesday mornings.
"""
PLACE = "80-memory/note/2026-11-21-deploys-run-on-tuesday-mornings.md"
"""A memory written by an earlier version, and its path."""


def titles(index: VaultIndex) -> list[str]:
    return [document.title for document in index.list(kind="memory", sort="title").results]


def name_part(index: VaultIndex, query: str, path: str) -> float:
    """The part of a document's score that comes from its name."""
    hit = next(hit for hit in index.search(query, mode="text", explain=True).results if hit.path == path)
    assert hit.explain is not None
    return hit.explain.parts["path"]


def test_title_derived_follows_the_text(index: VaultIndex, vault: Path) -> None:
    stored = index.add("Deploys run on Tuesday mornings")
    assert "title" not in head(vault / stored.path)
    index.update(stored.id, content="Builds use bazel seven")
    assert titles(index) == ["Builds use bazel seven"]
    assert index.search("bazel seven", mode="text").results[0].title == "Builds use bazel seven"
    assert paths_found(index, "tuesday mornings", mode="text") == []
    assert index.add("Builds use bazel seven").duplicate_of == stored.id
    assert index.add("Deploys run on Tuesday mornings").created


def test_title_given_stays_until_it_is_removed(index: VaultIndex, vault: Path) -> None:
    stored = index.add("Deploys run on Tuesday mornings", title="Release calendar")
    index.update(stored.id, content="Builds use bazel seven")
    assert titles(index) == ["Release calendar"]
    assert name_part(index, "release calendar", stored.path) > 0
    index.update(stored.id, title="")
    assert titles(index) == ["Builds use bazel seven"]
    index.update(stored.id, title="Build tools")
    assert head(vault / stored.path)["title"] == "Build tools"


def test_title_equal_to_the_first_sentence_is_not_stored(index: VaultIndex, vault: Path) -> None:
    stored = index.add("Deploys run on Tuesday mornings.", title="Deploys run on Tuesday mornings")
    assert "title" not in head(vault / stored.path)
    assert index.add("Deploys run on Tuesday mornings.").duplicate_of == stored.id
    with_head = index.add("---\ntitle: Herons nest\nsort: 7\n---\nHerons nest. In reeds.")
    assert (head(vault / with_head.path)["sort"], "title" in head(vault / with_head.path)) == (7, False)
    index.update(with_head.id, title="Where herons nest")
    index.update(with_head.id, title="Egrets nest", content="Egrets nest. In trees.")
    assert "title" not in head(vault / with_head.path)


def test_title_and_name_that_are_derived_add_no_score(tmp_path: Path) -> None:
    given = BEFORE.replace("title: D", "title: Our d").replace(ID, OTHER).replace("mornings.", "mornings, at nine.")
    notes = {PLACE: BEFORE, "80-memory/note/by-hand.md": given, "Deploys on Tuesday.md": "They run in the mornings.\n"}
    with indexed(tmp_path, notes) as index:
        for query in (
            "deploys tuesday",
            "deploys run on tuesday mornings",
            PLACE.rpartition("/")[2].removesuffix(".md"),
        ):
            assert name_part(index, query, PLACE) == 0
        assert name_part(index, "our deploys", "80-memory/note/by-hand.md") > 0
        assert name_part(index, "by hand deploys", "80-memory/note/by-hand.md") > 0
        assert name_part(index, "deploys tuesday", "Deploys on Tuesday.md") > 0
