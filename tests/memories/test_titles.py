"""The title of a memory: the given one, else derived from its text on every read."""

from pathlib import Path

from tests.api.vaults import head, paths_found
from vault_index import VaultIndex


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
