"""A representative sample of the damages in `benchmarks/damages.py`; each is repaired."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from benchmarks.damages import INDEX, NOTES, clear, schema, wrong
from tests.api.vaults import indexed, opened, paths_found, rows, write
from vault_index import VaultIndex
from vault_index.errors import IndexCorruptError

BY_SYNC = ["cut to one page", "user_version 0", "bytes in document.path"]
BY_DOCTOR = [
    "wrong free list", "zeroed chunk", "noise for vectors", "no shadow table of vectors", "no index", "a trigger",
    "a column too many", "noise for text", "bytes in term", "no table chunk_fts",
]  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, list[Any]]]:
    folder = tmp_path_factory.mktemp("damages")
    with indexed(folder, NOTES, provider="local"):
        pass
    index_db = folder / "home" / "index.db"
    return folder / "home", rows(index_db) | {"schema": schema(index_db)}


@pytest.mark.parametrize("name", BY_SYNC + BY_DOCTOR)
def test_repair_fixes_a_damaged_index(tmp_path: Path, built: tuple[Path, dict[str, list[Any]]], name: str) -> None:
    healthy, fresh = built
    home = tmp_path / "home"
    shutil.copytree(healthy, home)
    assert not wrong(home, fresh)
    INDEX[name](home)
    assert wrong(home, fresh)
    with VaultIndex.open(home) as index:
        if name in BY_SYNC:
            index.sync()
        else:
            assert not index.doctor().healthy
            assert {"frontmatter"} >= {problem.code for problem in index.repair().problems}
    assert not wrong(home, fresh)
    clear(home)


@pytest.mark.parametrize("name", ["no table chunk", "noise for text", "short blob of vectors"])
def test_search_names_the_damage_of_a_damaged_index(
    tmp_path: Path, built: tuple[Path, dict[str, list[Any]]], name: str
) -> None:
    shutil.copytree(built[0], tmp_path / "home")
    INDEX[name](tmp_path / "home")
    with VaultIndex.open(tmp_path / "home") as index, pytest.raises(IndexCorruptError, match="is damaged") as caught:
        index.search("the peel of a banana and of an orchard")
    assert "vault-index rebuild" in caught.value.hint


def test_sync_keeps_a_sound_index_after_a_defect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise TypeError("a defect")

    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"a.md": "Apples.\n"})
        index.sync()
        monkeypatch.setattr("vault_index.indexer.sync.refresh_names", fails)
        with pytest.raises(TypeError, match="a defect"):
            index.sync()
        assert paths_found(index, "apples") == ["a.md"]
    assert not list((tmp_path / "home").glob("*.damaged"))


def test_rebuild_and_repair_replace_an_older_index(tmp_path: Path) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"a.md": "Apples.\n"})
        index.sync()
        for mend in (index.rebuild, index.repair):
            INDEX["user_version 1"](tmp_path / "home")
            index._runtime.close()
            index._runtime.write.close()
            mend()
            assert paths_found(index, "apples") == ["a.md"]
