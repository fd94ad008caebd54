from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import indexed, opened, paths_found as found, write
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.errors import UsageError

CASES = tables(__file__)

MEMORY = "---\ntype: {}\ntags: [db]\nentered_by: {}\n{}\n---\n{}\n"
NOTES = {
    "cooking/bread.md": "---\ntags: food/bread\ncreated: 2026-03-01\n---\n# Bread\n\nFeeding the sourdough starter.\n",
    "cooking/soup.md": "---\ntags: food\ncreated: 2026-05-01\n---\n# Soup\n\nLentils, and a sourdough slice with it.\n",
    "2026-06-07 log.md": "The starter of the car is broken. Cafés were closed.\n",
    "80-memory/a.md": MEMORY.format("decision", "alice", "project: api", "Use a write-ahead log."),
    "80-memory/b.md": MEMORY.format("note", "bob", "expires: 2020-01-01", "Old log advice."),
    "80-memory/c.md": MEMORY.format(
        "note", "bob", "superseded_by: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f", "Former log."
    ),
}


PROVIDER = "local"


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_search_answers_in_every_mode(index: VaultIndex, mode: str) -> None:
    assert found(index, "how do I feed a sourdough starter", mode=mode)[0] == "cooking/bread.md"
    assert found(index, "vehicle repair", mode=mode)[:1] == ([] if mode == "text" else ["2026-06-07 log.md"])


@pytest.mark.parametrize(("query", "options", "hints"), CASES["search_hints_explain_missing_hits"])
def test_search_hints_explain_missing_hits(
    index: VaultIndex, query: str, options: dict[str, Any], hints: list[str]
) -> None:
    assert [*index.search(query, **options).hints] == hints


def test_search_of_a_rare_misspelling_also_finds_the_common_word(tmp_path: Path) -> None:
    notes = {f"{number}.md": f"The docker host {number} is in a rack.\n" for number in range(40)}
    with indexed(tmp_path, {**notes, "slip.md": "Install dokcer first.\n"}) as index:
        answer = index.search("dokcer")
        assert answer.results[0].path == "slip.md"
        assert len(answer.results) == 10
        assert answer.hints == ("few texts contain dokcer: also searched for docker",)


def test_search_match_all_requires_every_word(index: VaultIndex) -> None:
    assert set(found(index, "sourdough starter", match="any", mode="text")) == {
        "cooking/bread.md", "cooking/soup.md", "2026-06-07 log.md",
    }  # fmt: skip
    assert found(index, "sourdough starter", match="all", mode="text") == ["cooking/bread.md"]


def test_search_finds_a_note_by_the_text_of_links_to_it(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    with opened(tmp_path) as index:
        write(vault, {"wal.md": "It keeps readers going.\n", "other.md": "See [[wal|the journal trick]] and more.\n"})
        index.sync()
        assert found(index, "journal trick", per_document=1)[:2] == ["other.md", "wal.md"]
        (vault / "wal.md").rename(vault / "renamed.md")
        index.sync()
        assert found(index, "journal trick") == ["other.md"]
        (vault / "renamed.md").rename(vault / "wal.md")
        index.sync([vault / "wal.md", vault / "renamed.md"])
        assert "wal.md" in found(index, "journal trick")
        (vault / "other.md").unlink()
        index.sync()
        assert found(index, "journal trick") == []


def test_search_hit_can_be_opened(index: VaultIndex) -> None:
    hit = index.search("sourdough starter").results[0]
    assert hit.lines[0] <= hit.focus[0] == hit.focus[1] <= hit.lines[1]
    assert hit.focus == (7, 7)
    assert hit.snippet == "Feeding the sourdough starter."
    assert hit.headings == ("Bread",)
    assert hit.tags == ("food/bread",)
    assert hit.created.startswith("2026-03-01T00:00:00")
    assert hit.link == "obsidian://open?vault=vault&file=cooking%2Fbread"
    assert 0 < hit.score <= 1
    assert index.get(f"{hit.path}:{hit.focus[0]}").results[0].content == "Feeding the sourdough starter."


def test_search_checks_the_disk_and_works_without_it(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    notes = {"gone.md": "A heron.\n", "changed.md": "A heron.\n" * 2, "salt, pepper.md": "The heron.\n"}
    with indexed(tmp_path, notes) as index:
        (vault / "gone.md").unlink()
        write(vault, {"changed.md": "A heron, and more.\n"})
        answer = {hit.path: hit.changed_since_index for hit in index.search("heron").results}
        assert answer == {"changed.md": True, "salt, pepper.md": False}
        assert found(index, "heron", path="salt, pepper.md") == ["salt, pepper.md"]
        vault.rename(tmp_path / "unmounted")
        unmounted = index.search("heron", mode="text")
        assert len(unmounted.results) == 3
        assert "does not exist" in unmounted.degraded[0]


@pytest.mark.parametrize("query", ["", " ", "?!", "-log -starter -sourdough"])
def test_search_refuses_an_empty_query_with_a_hint(index: VaultIndex, query: str) -> None:
    with pytest.raises(UsageError) as caught:
        index.search(query)
    assert "add a word to search for" in caught.value.hint


def test_search_of_an_empty_index_names_the_cause(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        index.sync()
        empty, told = index.search("wal").degraded
        assert "empty" in empty
        assert "vault-index sync" in told
        write(tmp_path / "vault", {"a.md": "Apple.\n"})
        assert index.search("wal").degraded == (told,)
        index.sync()
        assert index.search("wal").degraded == ("vector: there are no vectors",)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VaultIndex]:
    """More notes than a channel returns at first; three have a tag and match the query less."""
    others = {f"{number:03}.md": f"The river, the river and birds {number}.\n" for number in range(150)}
    rare = {f"rare {n}.md": f"---\ntags: rare\n---\nOn a {n} day we saw a river.\n" for n in ("cold", "wet", "late")}
    with indexed(tmp_path_factory.mktemp("crowd"), {**others, **rare}, provider="local") as opened_index:
        yield opened_index


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
@pytest.mark.parametrize("query", ["birds of the river tag:rare", "river tag:rare", 'river "we saw"', "river -birds"])
def test_search_finds_few_filtered_notes_among_many(crowd: VaultIndex, query: str, mode: str) -> None:
    assert set(found(crowd, query, mode=mode)) == {"rare cold.md", "rare wet.md", "rare late.md"}


def test_search_by_filters_alone_lists_the_newest_first(index: VaultIndex) -> None:
    assert found(index, "path:cooking") == ["cooking/soup.md", "cooking/bread.md"]
    assert found(index, "path:cooking", limit=1, offset=1) == ["cooking/bread.md"]
    assert found(index, "", tags="food/bread") == ["cooking/bread.md"]
    assert found(index, "-sourdough kind:note") == ["2026-06-07 log.md"]
    assert set(found(index, "-sourdough")) == {"2026-06-07 log.md", "80-memory/a.md"}


@pytest.mark.parametrize("query", ["heron", "-tea"])
def test_search_replaces_hits_of_deleted_files_by_the_next_ones(tmp_path: Path, query: str) -> None:
    notes = {f"{number:02}.md": f"The heron number {number}.\n" for number in range(60)}
    with indexed(tmp_path, notes) as index:
        first = set(found(index, query, limit=50))
        for path in first:
            (tmp_path / "vault" / path).unlink()
        left = found(index, query, limit=4)
        assert len(left) == 4
        assert not first & set(left)
