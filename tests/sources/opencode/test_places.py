from pathlib import Path

import pytest

from vault_index.sources.opencode.client import Places, find_places
from vault_index.sources.opencode.tree import Tree


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "share/opencode"
    (folder / "storage/session/p1").mkdir(parents=True)
    (folder / "project/home-user-old/storage/session/info").mkdir(parents=True)
    for name in ("opencode.db", "opencode-beta.db", "opencode-alpha.db", "opencode.db-wal", "other.db"):
        (folder / name).touch()
    return folder


def test_find_places_finds_everything_in_the_data_folder(data: Path) -> None:
    expected = Places(
        (data / "opencode.db", data / "opencode-alpha.db", data / "opencode-beta.db"),
        (Tree(data / "storage"), Tree(data / "project/home-user-old/storage/session", True)),
    )
    assert find_places(environ={"XDG_DATA_HOME": str(data.parent)}) == expected
    assert find_places([data], {}) == expected


def test_find_places_without_xdg_looks_at_home(data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".local").mkdir()
    data.parent.rename(tmp_path / ".local/share")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_places(environ={}).databases[0] == tmp_path / ".local/share/opencode/opencode.db"
    assert find_places(environ={"XDG_DATA_HOME": "relative"}) == find_places(environ={})


def test_find_places_uses_only_the_database_of_the_environment(data: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.db"
    mine.touch()
    environ = {"XDG_DATA_HOME": str(data.parent), "OPENCODE_DB": str(mine)}
    assert find_places(environ=environ).databases == (mine,)
    assert find_places(environ=environ | {"OPENCODE_DB": "other.db"}).databases == (data / "other.db",)
    assert find_places(environ=environ | {"OPENCODE_DB": "none.db"}).databases == ()


def test_find_places_prefers_the_setting(data: Path, tmp_path: Path) -> None:
    environ = {"OPENCODE_DB": str(tmp_path / "mine.db"), "XDG_DATA_HOME": str(tmp_path)}
    assert find_places([data], environ).databases[0] == data / "opencode.db"
    assert find_places([data / "other.db"], environ).databases == (data / "other.db",)


def test_find_places_is_empty_without_data(tmp_path: Path) -> None:
    assert not any(find_places(environ={"XDG_DATA_HOME": str(tmp_path)}))
    assert not any(find_places([tmp_path / "gone.db"], {}))
