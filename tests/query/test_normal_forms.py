"""Names with accents, which systems spell in two ways: whoever asks need not know in which, and no file is mixed up."""

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
def test_a_name_is_found_in_either_form(tmp_path: Path, there: str, asked: str) -> None:
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
