"""Rows of a source that was removed from the configuration: they stay until the next sync, hidden."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.vaults import opened, paths_found, write
from vault_index import VaultIndex
from vault_index.config.edit import add_source, remove_source
from vault_index.errors import NotFoundError


@pytest.fixture
def removed(tmp_path: Path) -> Iterator[VaultIndex]:
    """An index of two vaults, one removed from the configuration since the last sync."""
    write(tmp_path / "vault", {"a.md": "# Herons\n\nHerons wade. [[storks]]\n\n#bird\n"})
    gone = {f"storks{n}.md": f"# Storks {n}\n\nHerons wade as storks do. [[a]] #gone\n" for n in range(60)}
    write(tmp_path / "other", gone | {"storks.md": "---\naliases: [adebar]\n---\nHerons wade, herons wade.\n"})
    with opened(tmp_path, provider="local") as index:
        add_source(index.home, "other", tmp_path / "other")
    with opened(tmp_path, provider="local") as index:
        index.sync()
        assert "storks.md" in paths_found(index, "herons wade", limit=100)
        remove_source(index.home, "other")
        with opened(tmp_path, provider="local") as again:
            yield again


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
def test_search_ignores_a_removed_source(removed: VaultIndex, mode: str) -> None:
    assert set(paths_found(removed, "herons wade", mode=mode, limit=5)) == {"a.md"}
    assert set(paths_found(removed, "storks", mode=mode)) <= {"a.md"}


def test_api_methods_hide_a_removed_source(removed: VaultIndex) -> None:
    assert [document.path for document in removed.list().results] == ["a.md"]
    assert [tag.tag for tag in removed.tags().results] == ["bird"]
    assert removed.stats().documents == 1
    assert [document.path for document in removed.related("a.md").results] == []
    for reference in ("storks.md", "[[storks]]", "adebar"):
        with pytest.raises(NotFoundError):
            removed.get(reference)


def test_shrink_removes_words_of_deleted_notes_from_the_files(tmp_path: Path) -> None:
    words = [b"xylotitle", b"qytagword", b"wyfieldword", b"vybodyword"]

    def left() -> list[bytes]:
        said = b"".join(file.read_bytes().lower() for file in (tmp_path / "home").rglob("*.db*"))
        return [word for word in words if word in said]

    note = "---\ntags: [qytagword]\nkey: wyfieldword\n---\nThe vybodyword.\n"
    write(tmp_path / "vault", {"gone/Xylotitle.md": note, "a.md": "Herons.\n"})
    with opened(tmp_path) as index:
        index.sync()
        assert left() == words
        (tmp_path / "vault/gone/Xylotitle.md").unlink()
        index.sync([tmp_path / "vault/gone"])
        assert left() == words  # deleted rows of the full-text tables
        index._runtime.shrink()  # the daemon calls it when idle
        assert left() == []
        assert paths_found(index, "herons") == ["a.md"]
        write(tmp_path / "vault", {"gone/Xylotitle.md": note})
        index.sync()
        (tmp_path / "vault/gone/Xylotitle.md").unlink()
        for last, expected in ((float("inf"), words), (0.0, [])):  # a moment ago, and long ago
            index._runtime.write._open_writer()._clean_after = last
            index.sync()
            assert left() == expected


def test_shrink_removes_words_of_a_renamed_folder_from_the_files(tmp_path: Path) -> None:
    notes = {f"{'xyloname' if n < 600 else 'others'}/{n}.md": f"Herons {n}.\n" for n in range(1500)}
    write(tmp_path / "vault", notes)
    with opened(tmp_path) as index:
        index.sync()
        (tmp_path / "vault/xyloname").rename(tmp_path / "vault/birds")
        index.sync([tmp_path / "vault"])
        index._runtime.shrink()
        assert b"xyloname" not in b"".join(file.read_bytes() for file in (tmp_path / "home").rglob("*.db*"))
