"""Where an index lies, by flag, environment and XDG folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks import NOBODY, needs_root
from vault_index.config import find_home, private_folder
from vault_index.config.edit import write_text
from vault_index.config.home import check_folder
from vault_index.errors import UsageError, VaultIndexError
from vault_index.runtime import Runtime

XDG = {
    "HOME": "/h",
    "XDG_CONFIG_HOME": "/c",
    "XDG_DATA_HOME": "/d",
    "XDG_RUNTIME_DIR": "/r",
}


def test_xdg_folders() -> None:
    home = find_home(environ=XDG)
    assert home.config_file == Path("/c/vault-index/config.toml")
    assert home.index_db == Path("/d/vault-index/index.db")
    assert home.cache_db == Path("/d/vault-index/cache.db")
    assert home.state_db == Path("/d/vault-index/state.db")
    assert home.write_lock == Path("/d/vault-index/write.lock")
    assert home.daemon_lock == Path("/d/vault-index/daemon.lock")
    assert home.socket_path.parent == Path("/r/vault-index")


def test_defaults_without_xdg_variables() -> None:
    home = find_home(environ={"HOME": "/h"})
    assert home.config_file == Path("/h/.config/vault-index/config.toml")
    assert home.data_dir == Path("/h/.local/share/vault-index")
    assert home.socket_path == Path("/h/.local/share/vault-index/run/daemon.sock")
    assert find_home(environ={"HOME": "/h", "XDG_DATA_HOME": "relative"}).data_dir == home.data_dir


def test_the_usual_data_folder_has_the_plain_socket_and_another_one_its_own() -> None:
    usual = find_home(environ={"HOME": "/h", "XDG_RUNTIME_DIR": "/r"})
    assert usual.socket_path == Path("/r/vault-index/daemon.sock")
    others = {find_home(environ={**XDG, "XDG_DATA_HOME": place}).socket_path for place in ("/d", "/e")}
    assert len(others | {usual.socket_path}) == 3


@pytest.mark.parametrize(
    ("flag", "config", "environ", "config_file", "data_dir"),
    [
        ("/x", None, XDG, "/x/config.toml", "/x"),
        (None, None, {**XDG, "VAULT_INDEX_HOME": "/v"}, "/v/config.toml", "/v"),
        ("/x", None, {**XDG, "VAULT_INDEX_HOME": "/v"}, "/x/config.toml", "/x"),
        (None, None, {**XDG, "VAULT_INDEX_HOME": "~/v"}, "/h/v/config.toml", "/h/v"),
        (None, None, {**XDG, "VAULT_INDEX_CONFIG": "/my.toml"}, "/my.toml", "/d/vault-index"),
        (None, None, {**XDG, "VAULT_INDEX_CONFIG": "/my.toml", "VAULT_INDEX_HOME": "/v"}, "/my.toml", "/v"),
        ("/x", None, {**XDG, "VAULT_INDEX_CONFIG": "/my.toml"}, "/x/config.toml", "/x"),
        ("/x", "/f.toml", {**XDG, "VAULT_INDEX_CONFIG": "/my.toml"}, "/f.toml", "/x"),
        (None, None, {**XDG, "VAULT_INDEX_HOME": "", "VAULT_INDEX_CONFIG": ""}, "/c/vault-index/config.toml", None),
    ],
)
def test_flag_beats_environment_beats_xdg(
    flag: str | None, config: str | None, environ: dict[str, str], config_file: str, data_dir: str | None
) -> None:
    home = find_home(flag, config, environ)
    assert home.config_file == Path(config_file)
    assert home.data_dir == Path(data_dir or "/d/vault-index")


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_home("here", environ=XDG).data_dir == tmp_path / "here"


@pytest.mark.parametrize("runtime", ["/run/user/1000", ""])
def test_a_deep_home_gets_a_short_socket_of_its_own(runtime: str) -> None:
    deep = "/" + "deep-folder/" * 20
    environ = {"HOME": "/h", "XDG_RUNTIME_DIR": runtime, "VAULT_INDEX_HOME": deep}
    home = find_home(environ=environ)
    assert len(os.fsencode(home.socket_path)) <= 100
    assert home.socket_path.parent.name == f"vault-index-{os.getuid()}"
    assert home == find_home(environ=environ)
    other = find_home(environ={**environ, "VAULT_INDEX_HOME": f"{deep}x"})
    assert other.socket_path != home.socket_path
    assert home.index_db == Path(deep) / "index.db"


def test_private_folder(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert private_folder(folder) == folder
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="is a file"):
        private_folder(tmp_path / "file")
    with pytest.raises(VaultIndexError, match="cannot create"):
        private_folder(tmp_path / "file" / "inner")


def test_private_folder_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(VaultIndexError, match="another user"):
        private_folder(tmp_path)


def test_finding_the_home_loads_nothing_heavy() -> None:
    program = "import sys; from vault_index.config.home import find_home; find_home('/x'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"dataclasses", "inspect", "tomllib", "tomlkit", "hashlib", "difflib", "json"} & set(loaded)


@pytest.mark.parametrize(("mode", "mended"), [(0o777, 0o755), (0o770, 0o750), (0o755, 0o755)])
def test_a_home_that_others_may_write_in_is_closed_and_named(
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


def test_where_modes_cannot_be_changed_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Path, "chmod", lambda path, mode: None)  # as on a FAT disk
    (tmp_path / "home").mkdir()
    os.chmod(tmp_path / "home", 0o777)
    private_folder(tmp_path / "home")
    assert "use another folder" in caplog.text


@needs_root
@pytest.mark.parametrize("name", ["config.toml", "index.db", "cache.db", "state.db"])
def test_a_file_that_another_user_put_into_a_home_is_not_used(tmp_path: Path, name: str) -> None:
    home = private_folder(tmp_path / "home")
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


@needs_root
def test_a_link_of_another_user_in_the_place_of_the_configuration_is_not_written_through(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("precious")
    (tmp_path / "config.toml").symlink_to(mine)
    os.chown(tmp_path / "config.toml", NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(VaultIndexError, match="belongs to another user"):
        write_text(tmp_path / "config.toml", "")
    assert mine.read_text() == "precious"


def test_a_folder_for_all_users_is_no_home_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    with pytest.raises(VaultIndexError, match="for all users"):
        private_folder(tmp_path / "tmp")
    assert (tmp_path / "tmp").stat().st_mode & 0o7777 == 0o1777


def test_a_folder_that_holds_a_configuration_may_be_shared(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "dotfiles").chmod(0o775)
    write_text(tmp_path / "dotfiles/config.toml", "")
    assert (tmp_path / "dotfiles").stat().st_mode & 0o777 == 0o775


def test_a_file_is_no_folder_and_keeps_its_mode(tmp_path: Path) -> None:
    """As /dev/null, which everybody writes to."""
    (tmp_path / "file").touch()
    (tmp_path / "file").chmod(0o666)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        check_folder(tmp_path / "file")
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666
