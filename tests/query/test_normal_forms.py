"""Texts and names with several Unicode spellings: a query may use any of them, and no file is mixed up."""

import unicodedata
from pathlib import Path

import pytest

from tests.api.vaults import indexed, paths_found
from vault_index import VaultIndex

COMPOSED = unicodedata.normalize("NFC", "Ordnér/Größe.md")
DECOMPOSED = unicodedata.normalize("NFD", COMPOSED)


def path_of(index: VaultIndex, reference: str) -> str:
    return index.get(reference).results[0].path


@pytest.mark.parametrize(("there", "asked"), [(COMPOSED, DECOMPOSED), (DECOMPOSED, COMPOSED)])
def test_get_finds_a_name_in_either_normal_form(tmp_path: Path, there: str, asked: str) -> None:
    with indexed(tmp_path, {there: "Über Bäume.\n", "other.md": "About trees.\n"}) as index:
        folder, _, name = asked.partition("/")
        for reference in (asked, asked.removesuffix(".md"), f"[[{name.removesuffix('.md')}]]", f"{asked}:1"):
            assert path_of(index, reference) == there
        assert paths_found(index, f"path:{folder} bäume") == [there]
        assert paths_found(index, f"path:{folder}/* bäume") == [there]
        (tmp_path / "vault" / there).write_text("Über Wälder.\n", encoding="utf-8")
        assert index.sync([tmp_path / "vault" / asked]).changed == 1
        link = name.removesuffix(".md")
        (tmp_path / "vault/other.md").write_text(f"As [[{link}]] says.\n", encoding="utf-8")
        index.sync()
        assert [hit.path for hit in index.related(there).results] == ["other.md"]
        assert [hit.path for hit in index.related("other.md").results] == [there]
        assert paths_found(index, "wälder") == [there]


FIELD, CITY = "a/ﬁeld notes.md", "İstanbul/b.md"
NOTES = {
    FIELD: "---\naliases: [R＆D]\ncity: İzmir\ntags: [Ｗork]\n---\n# Big&nbsp;Plan ½\n\nThe in\u00adfor\u00admation\n",
    CITY: "See [[Field Notes]] and [[r&d]]. It is 20&nbsp;&deg;C. Done ✅ 🇩🇪 👩\u200d💻\n",
    "c.md": "Not done ❌ 🇩🇰 👩 STRASSE\n",
}
FOUND = {
    "information": [FIELD], '"the information"': [FIELD], '"big plan"': [FIELD], "[city:izmir]": [FIELD],
    "tag:work": [FIELD], "file:field": [FIELD], "path:istanbul": [CITY], "path:ISTANBUL/b": [CITY],
    "title:b path:İ*": [CITY], "✅": [CITY], "🇩🇪": [CITY], "👩\u200d💻": [CITY], "done -✅": ["c.md"],
    "straße": ["c.md"],
}  # fmt: skip


def test_search_finds_text_in_any_spelling_and_shows_it_as_written(tmp_path: Path) -> None:
    with indexed(tmp_path, NOTES) as index:
        assert {query: paths_found(index, query, mode="text") for query in FOUND} == FOUND
        assert [hit.path for hit in index.related(FIELD).results] == [CITY]
        assert [path_of(index, one) for one in ("[[ﬁeld notes#big plan 1⁄2]]", "[[R&D]]")] == [FIELD] * 2
        (hit,) = index.search("information", mode="text").results
        assert "in\u00adfor\u00admation" in hit.snippet
        assert index.search("dnoe", mode="text").corrections == {"dnoe": "done"}
