"""Installing, updating and removing the plugin leaves other files alone."""

import json
import os
import re
from pathlib import Path

import pytest

from vault_index.config import find_home
from vault_index.errors import ConflictError, UsageError, VaultIndexError
from vault_index.opencode_plugin.install import (
    FILES,
    Link,
    Target,
    install,
    project_target,
    state_of,
    uninstall,
    user_target,
)  # fmt: skip

SHIPPED = Path(install.__code__.co_filename).parent / "plugin"


@pytest.fixture
def link(tmp_path: Path) -> Link:
    return Link(("/opt/my tools/vault-index", "--home", str(tmp_path / "home")), find_home(tmp_path / "home"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "plugin"


def target(folder: Path) -> Target:
    """The target, read again as by another run of the command."""
    return Target("global", folder)


def contents(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_plugin_install_copies_every_file_and_the_command(folder: Path, link: Link) -> None:
    install(target(folder), link)
    assert set(contents(folder)) == set(FILES) == {str(path.relative_to(SHIPPED)) for path in SHIPPED.rglob("*.ts")}
    line = contents(folder)["vault-index/place.ts"].splitlines()[-1]
    place = json.loads(line.removeprefix("export const PLACE: Place = "))
    assert place["command"] == list(link.command)
    assert place["socket"] == str(link.home.socket_path)


def test_plugin_has_one_export_and_imports_only_own_modules() -> None:
    """OpenCode calls every export of the first file."""
    texts = [path.read_text() for path in SHIPPED.rglob("*.ts")]
    imported = {name for text in texts for name in re.findall(r'^import .* from "(.+)"$', text, re.M)}
    assert imported
    assert [name for name in imported if not name.startswith(("./", "node:"))] == []
    exported = re.findall(r"^export .*", (SHIPPED / "vault-index.ts").read_text(), re.M)
    assert [line.split()[2] for line in exported] == ["VaultIndexPlugin"]


def test_plugin_second_install_writes_nothing(folder: Path, link: Link) -> None:
    assert len(install(target(folder), link)) == len(FILES)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*.ts")}
    assert install(target(folder), link) == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*.ts")} == before


def test_plugin_install_updates_an_older_or_incomplete_plugin(folder: Path, link: Link) -> None:
    install(target(folder), Link(("/old/vault-index",), link.home))
    assert state_of(target(folder), link)["state"] == "outdated"
    assert [path.name for path in install(target(folder), link)] == ["place.ts"]
    assert state_of(target(folder), link)["state"] == "installed"
    (folder / "vault-index" / "api.ts").unlink()
    assert state_of(target(folder), link)["state"] == "incomplete"
    assert [path.name for path in install(target(folder), link)] == ["api.ts"]


@pytest.mark.parametrize("act", ["install", "uninstall"])
def test_plugin_keeps_a_changed_file_and_names_it_unless_forced(folder: Path, link: Link, act: str) -> None:
    install(target(folder), link)
    changed = folder / "vault-index" / "tools.ts"
    changed.write_text(changed.read_text() + "// mine\n")
    (folder / "vault-index" / "api.ts").unlink()
    before = contents(folder)
    with pytest.raises(ConflictError, match=r"tools\.ts was changed"):
        install(target(folder), link) if act == "install" else uninstall(target(folder))
    assert contents(folder) == before
    state = state_of(target(folder), link)
    assert (state["state"], state["changed"]) == ("changed", [str(changed)])
    if act == "install":
        install(target(folder), link, force=True)
        assert state_of(target(folder), link)["state"] == "installed"
    else:
        uninstall(target(folder), force=True)
        assert contents(folder) == {}


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_plugin_keeps_foreign_files_even_when_forced(folder: Path, link: Link, tmp_path: Path, kind: str) -> None:
    folder.mkdir()
    theirs = folder / "vault-index.ts"
    if kind == "file":
        theirs.write_text("export const Mine = async () => ({})\n")
    elif kind == "link":
        (tmp_path / "dotfiles.ts").write_text("// theirs\n")
        theirs.symlink_to(tmp_path / "dotfiles.ts")
    else:
        theirs.mkdir()
    before = contents(folder)
    for force in (False, True):
        with pytest.raises(ConflictError, match="is not ours"):
            install(target(folder), link, force=force)
        assert uninstall(target(folder), force=force) == []
    assert contents(folder) == before
    assert state_of(target(folder), link)["state"] == "foreign"


def test_plugin_uninstall_keeps_files_of_others(folder: Path, link: Link) -> None:
    folder.mkdir()
    (folder / "other.ts").write_text("export const Other = async () => ({})\n")
    install(target(folder), link)
    (folder / "vault-index" / "notes.txt").write_text("mine\n")
    assert len(uninstall(target(folder))) == len(FILES)
    assert set(contents(folder)) == {"other.ts", "vault-index/notes.txt"}
    assert uninstall(target(folder)) == []


def test_plugin_uninstall_removes_its_folder_and_leftover_drafts(folder: Path, link: Link) -> None:
    install(target(folder), link)
    for place in (folder, folder / "vault-index"):
        (place / ".vault-index-0123456789abcdef.tmp").write_text("half")
    uninstall(target(folder))
    assert list(folder.iterdir()) == []
    assert state_of(target(folder), link)["state"] == "absent"


def test_plugin_target_is_the_folder_that_opencode_reads(tmp_path: Path) -> None:
    usual = user_target({"HOME": str(tmp_path)})
    assert usual.folder == tmp_path / ".config/opencode/plugin"
    moved = user_target({"HOME": str(tmp_path), "XDG_CONFIG_HOME": "/etc/me"})
    assert moved.folder == Path("/etc/me/opencode/plugin")
    assert user_target({"HOME": str(tmp_path), "XDG_CONFIG_HOME": "relative"}).folder == usual.folder
    assert project_target(tmp_path).folder == tmp_path / ".opencode/plugin"
    with pytest.raises(UsageError, match="not a folder"):
        project_target(tmp_path / "none")


def test_plugin_failed_install_leaves_nothing_that_opencode_loads(folder: Path, link: Link) -> None:
    folder.mkdir()
    (folder / "vault-index").write_text("a file where the modules would be")
    with pytest.raises(VaultIndexError, match="Not a directory"):
        install(target(folder), link)
    assert [path.name for path in folder.iterdir()] == ["vault-index"]


def test_plugin_files_are_writable_by_their_owner_only(folder: Path, link: Link) -> None:
    before = os.umask(0)
    try:
        install(target(folder / "new"), link)
    finally:
        os.umask(before)
    assert folder.parent.stat().st_mode & 0o777 == 0o700
    modes = {path.stat().st_mode & 0o777 for path in (folder / "new").rglob("*") if path.is_file()}
    folders = {path.stat().st_mode & 0o777 for path in (folder, folder / "new", folder / "new/vault-index")}
    assert (modes, folders) == ({0o644}, {0o700})
