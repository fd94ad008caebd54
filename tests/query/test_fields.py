"""Frontmatter is searched and shown like the text below it."""

from pathlib import Path

import pytest

from tests.api.vaults import indexed, paths_found, write
from tests.tables import tables
from vault_index import VaultIndex
from vault_index.api import to_json
from vault_index.markdown.normalize import split_lines
from vault_index.output import render

CASES = tables(__file__)

NOTES = {
    "80-memory/boat.md": "---\ntitle: Boat\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\nfacts:\n  - The keel is oak\n"
    "  - The mast came from Riga\ndigest: All about the sloop\nentered_by: Ada\n---\nIt lies in the harbour.\n",
    "80-memory/flow.md": '---\nfacts: [Gulls nest on the pier, "Terns: they do not"]\n---\nBirds.\n',
    "80-memory/one.md": "---\nbead_id: vx-9\n---\nThe first half.\n",
    "80-memory/two.md": "---\nbead_id: vx-9\n---\nThe second half.\n",
    "done.md": "---\nstatus: done\nrating: 5\nup: '[[The first of many boats]]'\n---\nVarnish the boom.\n",
    "page.md": "---\nstatus: draft\ndescription: >-\n  How sails are mended,\n  and with which twine.\n---\n"
    "# Sewing\n\nBy hand.\n",
    "80-memory/long.md": "---\nfacts:\n  - Dories are flat\n  - Dinghies are round\n"
    f"digest: {'A word. ' * 40}\n---\nWood.\n",
    "bare.md": "---\ndescription: A page without any text\n---\n",
    "80-memory/rig.md": "---\nfacts: [Stays are of steel]\nowner: Kestrel\nport: 9944\nready: yes\nseen: 2026-03-04\n"
    "imported_id: 77123\n---\nWires.\n",
}


@pytest.mark.parametrize(("query", "path", "focus", "shown"), CASES["search_quotes_a_field_with_its_line"])
def test_search_quotes_a_field_with_its_line(
    index: VaultIndex, query: str, path: str, focus: list[int], shown: str
) -> None:
    hit = index.search(query).results[0]
    assert (hit.path, [*hit.focus]) == (path, focus)
    assert shown in hit.snippet
    assert not [other for other in ("Stays", "keel", "digest", "seen") if other in hit.snippet and other not in shown]
    assert query in "\n".join(split_lines(NOTES[path])[focus[0] - 1 : focus[1]]).casefold()
    assert index.why(query, f"{path}:{focus[0]}").found


def test_search_shows_a_digest_for_the_text_but_not_for_a_field(index: VaultIndex) -> None:
    assert index.search("sloop").results[0].digest == index.search("mast").results[0].digest == ""
    assert ',"facts: The mast came from Riga",' in render("search", to_json(index.search("mast")), "toon")
    assert index.search("harbour").results[0].digest == "All about the sloop"


def test_search_shows_each_matching_fact(index: VaultIndex) -> None:
    both = {hit.snippet for hit in index.search("keel mast").results[:2]}
    assert both == {"- facts: The keel is oak", "- facts: The mast came from Riga"}
    of_one_line = {(hit.snippet, hit.focus) for hit in index.search("gulls terns").results[:2]}
    assert of_one_line == {("- facts: Gulls nest on the pier", (2, 2)), ("- facts: Terns: they do not", (2, 2))}
    first, second = index.search("keel sloop").results[:2]  # with a line between
    assert {first.focus, second.focus} == {(5, 5), (7, 7)}
    assert "mast" not in first.snippet + second.snippet


def test_search_finds_short_fields_without_a_passage(index: VaultIndex) -> None:
    (hit,) = index.search("done").results
    assert (hit.path, hit.snippet) == ("done.md", "Varnish the boom.")
    assert index.file_status("done.md").chunks == index.file_status("bare.md").chunks == 1
    assert index.file_status("page.md").chunks == 2


def test_search_makes_no_passage_of_metadata_fields(index: VaultIndex) -> None:
    text = index.search("keel").results[0].snippet
    assert "Ada" not in text
    assert "5f0c3f0e" not in text
    assert {*paths_found(index, "ada")} == {"80-memory/boat.md"}


def test_search_conditions_apply_to_fields_and_text_together(index: VaultIndex) -> None:
    assert paths_found(index, "harbour AND riga") == ["80-memory/boat.md"]
    assert not {"page.md"} & {*paths_found(index, "twine hand -draft")}
    assert paths_found(index, "hand -done") == ["page.md"]
    assert paths_found(index, "[status:draft]") == ["page.md"]
    assert paths_found(index, "description") == []  # a key
    assert set(paths_found(index, "vx-9")) == {"80-memory/one.md", "80-memory/two.md"}
    assert index.search("path:80-memory/boat.md").results[0].snippet == "It lies in the harbour."


def test_sync_embeds_no_vector_again_for_another_field(tmp_path: Path) -> None:
    lamps = [f"80-memory/lamp-{number}.md" for number in range(9)]
    files = {path: f"---\ntitle: {path}\nfacts: [A lamp of the hall]\n---\nBulbs.\n" for path in lamps}
    wet = 'facts: ["The cellar is under water each spring", "Oak is used for the stairs", "Mice eat the candles"]'
    files |= {"80-memory/house.md": f"---\ntitle: Odds and ends\ntags: [misc, 2026]\n{wet}\n---\nAs said.\n"}
    with indexed(tmp_path, files, provider="local") as index:
        (first, *_) = index.search("floods in the basement", mode="vector").results
        assert (first.path, first.focus) == ("80-memory/house.md", (4, 4))
        alone = first.score
        renamed = files[first.path].replace("Odds and ends", "House").replace("misc", "house")
        write(tmp_path / "vault", {first.path: renamed})
        assert index.sync().embedded == 1  # the text, which is embedded with its title and tags
        write(tmp_path / "vault", {first.path: files[first.path].replace(', "Mice eat the candles"', "")})
        index.sync()
        assert index.search("floods in the basement", mode="vector").results[0].score == alone
