"""The location of an index: flag, environment and XDG folders."""

import os
from pathlib import Path

import pytest

from tests.attacks import NOBODY, needs_root
from vault_index.config import find_home, private_folder
from vault_index.config.edit import write_text
from vault_index.config.home import check_folder
from vault_index.errors import UsageError, VaultIndexError
from vault_index.runtime import Runtime

XDG = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_RUNTIME_DIR": "/r"}


def test_find_home_uses_xdg_folders_or_their_defaults() -> None:
    home = find_home(environ=XDG)
    assert home.config_file == Path("/c/vault-index/config.toml")
    for file in (home.index_db, home.cache_db, home.state_db, home.write_lock, home.daemon_lock):
        assert file.parent == Path("/d/vault-index")
    assert home.socket_path.parent == Path("/r/vault-index")
    home = find_home(environ={"HOME": "/h"})
    assert home.config_file == Path("/h/.config/vault-index/config.toml")
    assert home.data_dir == Path("/h/.local/share/vault-index")
    assert home.socket_path == Path("/h/.local/share/vault-index/run/daemon.sock")
    assert find_home(environ={"HOME": "/h", "XDG_DATA_HOME": "relative"}).data_dir == home.data_dir


HOME, CONFIG = {"VAULT_INDEX_HOME": "/v"}, {"VAULT_INDEX_CONFIG": "/my.toml"}


@pytest.mark.parametrize(
    ("flag", "config", "environ", "config_file", "data_dir"),
    [
        ("/x", None, {}, "/x/config.toml", "/x"), ("here", None, {}, "/here/config.toml", "/here"),
        (None, None, HOME, "/v/config.toml", "/v"), ("/x", None, HOME, "/x/config.toml", "/x"),
        (None, None, {"VAULT_INDEX_HOME": "~/v"}, "/h/v/config.toml", "/h/v"), (None, None, CONFIG, "/my.toml", None),
        (None, None, CONFIG | HOME, "/my.toml", "/v"), ("/x", None, CONFIG, "/x/config.toml", "/x"),
        ("/x", "/f.toml", CONFIG, "/f.toml", "/x"),
        (None, None, {"VAULT_INDEX_HOME": "", "VAULT_INDEX_CONFIG": ""}, "/c/vault-index/config.toml", None),
    ],
)  # fmt: skip
def test_find_home_prefers_flag_then_environment_then_xdg(
    monkeypatch: pytest.MonkeyPatch,
    flag: str | None, config: str | None, environ: dict[str, str], config_file: str, data_dir: str | None,
) -> None:  # fmt: skip
    monkeypatch.chdir("/")
    home = find_home(flag, config, XDG | environ)
    assert home.config_file == Path(config_file)
    assert home.data_dir == Path(data_dir or "/d/vault-index")


@pytest.mark.parametrize("runtime", ["/run/user/1000", ""])
def test_find_home_gives_a_deep_home_a_short_socket_of_its_own(runtime: str) -> None:
    deep = "/" + "deep-folder/" * 20
    environ = {"HOME": "/h", "XDG_RUNTIME_DIR": runtime, "VAULT_INDEX_HOME": deep}
    home = find_home(environ=environ)
    assert len(os.fsencode(home.socket_path)) <= 100
    assert home.socket_path.parent.name == f"vault-index-{os.getuid()}"
    assert home == find_home(environ=environ)
    assert find_home(environ={**environ, "VAULT_INDEX_HOME": f"{deep}x"}).socket_path != home.socket_path


def test_find_home_gives_each_data_folder_a_socket_of_its_own() -> None:
    usual = find_home(environ={"HOME": "/h", "XDG_RUNTIME_DIR": "/r"})
    assert usual.socket_path == Path("/r/vault-index/daemon.sock")
    others = {find_home(environ={**XDG, "XDG_DATA_HOME": place}).socket_path for place in ("/d", "/e")}
    assert len(others | {usual.socket_path}) == 3


def test_private_folder_creates_a_folder_for_its_owner_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder(folder) == folder
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        private_folder(tmp_path / "file")
    with pytest.raises(VaultIndexError, match="cannot create"):
        private_folder(tmp_path / "file" / "inner")
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(VaultIndexError, match="another user"):
        private_folder(folder)


@pytest.mark.parametrize(("mode", "mended"), [(0o777, 0o755), (0o770, 0o750), (0o755, 0o755)])
def test_open_closes_and_reports_a_home_writable_by_others(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, mended: int
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "vault").mkdir()
    (home / "config.toml").write_text(f'[sources.v]\npath = "{tmp_path}/vault"\n')
    home.chmod(mode)
    Runtime.open(home).close()
    assert home.stat().st_mode & 0o777 == mended
    assert [str(home) in record.getMessage() for record in caplog.records] == [True] * (mode & 0o777 != mended)
    Runtime.open(home).close()
    assert len(caplog.records) <= 1


def test_open_refuses_a_file_of_another_user_in_a_home(tmp_path: Path) -> None:
    home = private_folder(tmp_path / "home")
    for name in ("config.toml", "index.db", "cache.db", "state.db"):
        (home / "config.toml").write_text(f'[sources.v]\npath = "{tmp_path}"\n')
        (home / name).touch()
        os.chown(home / name, NOBODY, NOBODY)
        with pytest.raises(VaultIndexError, match=rf"{name} belongs to another user"):
            Runtime.open(home)
        (home / name).unlink()
        (home / name).symlink_to(tmp_path / "mine")
        os.chown(home / name, NOBODY, NOBODY, follow_symlinks=False)
        with pytest.raises(VaultIndexError, match=rf"{name} belongs to another user"):
            Runtime.open(home)
        (home / name).unlink()


@needs_root
def test_write_text_refuses_a_symlink_of_another_user(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (tmp_path / "config.toml").symlink_to(mine)
    os.chown(tmp_path / "config.toml", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(VaultIndexError, match="belongs to another user"):
        write_text(tmp_path / "config.toml", "")
    assert mine.read_text() == "precious"


@pytest.mark.parametrize(
    ("mode", "file", "error"), [(0o1777, False, "for all users"), (0o666, True, "is a file, not a folder")]
)
def test_check_folder_refuses_shared_places_and_keeps_their_mode(
    tmp_path: Path, mode: int, file: bool, error: str
) -> None:
    place = tmp_path / "place"
    place.touch() if file else place.mkdir()
    place.chmod(mode)
    with pytest.raises(VaultIndexError, match=error):
        check_folder(place)
    assert place.stat().st_mode & 0o7777 == mode
