"""Scanning and looking: order, links, unreadable folders, vaults that vanish."""

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.sources.trees import build, paths, vault_at
from vault_index.errors import UsageError, VaultIndexError
from vault_index.models import DocumentRef
from vault_index.sources.source import EMPTY, Scan

TREE = ("a.md", "b/c.md", "b/d/e.md", "f/g.md")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "vault", *TREE)


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path, reason: int) -> None:
    """Make one folder unreadable in the code: permissions do not stop root."""
    real = os.scandir

    def scandir(path: str | int) -> Any:
        if os.path.samestat(os.stat(path), folder.stat()):
            raise OSError(reason, os.strerror(reason), folder)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_scan_of_a_missing_place_finds_nothing(root: Path) -> None:
    source = vault_at(root)
    assert [place for place in ("nothing", "a.md/x", ".git") if paths(source.scan(place))] == []
    assert paths(source.scan_places(["f/g.md", "b/d", "b", "gone.md"])) == ["b/c.md", "b/d/e.md", "f/g.md"]


@pytest.mark.parametrize("path", ["../x", "/etc", "a/../../x", "a\0b"])
def test_vault_refuses_places_outside(root: Path, path: str) -> None:
    source = vault_at(root)
    assert source.look(path) is None
    with pytest.raises(UsageError):
        source.absolute(path)
    if path != "/etc":  # as a place it is `etc`
        with pytest.raises(UsageError):
            source.scan(path)


def test_scan_names_large_files(root: Path) -> None:
    (root / "big.md").write_bytes(b"x" * 11)
    source = vault_at(root, max_file_bytes=10)
    scan = source.scan()
    assert "big.md" not in paths(scan)
    assert [(fault.code, fault.path) for fault in scan.faults] == [("too_large", "big.md")]

    assert source.look("big.md") is None
    assert source.examine("big.md") == scan.faults[0]
    assert source.scan("big.md").faults == scan.faults


def test_scan_names_paths_that_are_not_utf8(root: Path) -> None:
    for name in (b"caf\xe9.md", b"caf\xe9.txt"):
        (root / os.fsdecode(name)).touch()
    (root / os.fsdecode(b"f\xe9")).mkdir()
    (root / os.fsdecode(b"f\xe9") / "x.md").touch()
    scan = vault_at(root).scan()
    assert paths(scan) == list(TREE)
    assert sorted((fault.code, fault.path) for fault in scan.faults) == [("name", "caf\\xe9.md"), ("name", "f\\xe9")]
    assert vault_at(root).look(os.fsdecode(b"caf\xe9.md")) is None


def test_scan_ignores_pipes_and_sockets(root: Path) -> None:
    os.mkfifo(root / "pipe.md")
    os.mknod(root / "socket.md", stat.S_IFSOCK | 0o600)
    source = vault_at(root)
    assert paths(source.scan()) == list(TREE)
    assert source.look("pipe.md") is None


class TestLinks:
    def test_scan_follows_a_linked_root(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(root)
        source = vault_at(tmp_path / "link")
        assert paths(source.scan()) == list(TREE)
        assert source.look("b/c.md") is not None
        assert source.relative(str(tmp_path / "link" / "b" / "c.md")) == "b/c.md"
        assert source.relative(str(root / "b" / "c.md")) == "b/c.md"
        assert source.relative(str(root)) == ""
        assert source.relative(str(tmp_path)) is None
        assert source.relative(f"{root}2/x.md") is None

    def test_scan_finds_hidden_files_through_a_link_once(self, root: Path) -> None:
        build(root, ".store/x.md", ".store/y/z.md")
        (root / "shown").symlink_to(".store")
        (root / "twice").symlink_to(".store")
        (root / "x.md").symlink_to(".store/x.md")
        source = vault_at(root)
        assert paths(source.scan()) == [*TREE, "shown/x.md", "shown/y/z.md"]
        assert source.look("shown/y/z.md") is not None
        assert source.look("twice/x.md") is None
        assert paths(source.scan("shown/y")) == ["shown/y/z.md"]
        assert source.read(source.scan().refs[-1]).text == "x\n"

    def test_scan_applies_rules_behind_a_link(self, root: Path) -> None:
        (root / "old").symlink_to("b")
        assert paths(vault_at(root, exclude=("/b/",)).scan()) == ["a.md", "f/g.md"]

    def test_scan_follows_outside_links_only_when_allowed(self, root: Path, tmp_path: Path) -> None:
        build(tmp_path / "out", "o.md", "p/q.md")
        (root / "linked").symlink_to("../out")
        (root / "o.md").symlink_to("../out/o.md")
        closed, opened = vault_at(root), vault_at(root, follow_outside_links=True)
        assert paths(closed.scan()) == list(TREE)
        assert closed.look("linked/o.md") is None
        with pytest.raises(UsageError, match="leads out of"):
            closed.absolute("linked/o.md")
        stolen = DocumentRef("vault", "linked/o.md", opened.scan().refs[0].stamp)
        with pytest.raises(UsageError, match="leads out of"):
            closed.read(stolen)
        assert paths(opened.scan()) == [*TREE, "linked/o.md", "linked/p/q.md"]
        assert opened.look("linked/p/q.md") is not None
        assert opened.absolute("linked/o.md") == root / "linked" / "o.md"

    def test_scan_reports_broken_outside_links_as_unreadable(self, root: Path, tmp_path: Path) -> None:
        (root / "inner.md").symlink_to("nothing.md")
        (root / "disk").symlink_to(tmp_path / "unmounted")
        assert vault_at(root).scan() == Scan(vault_at(root).scan().refs)
        scan = vault_at(root, follow_outside_links=True).scan()
        assert scan.unreadable == ("disk",)
        assert not scan.knows("disk/note.md")
        assert scan.knows("inner.md")


class TestNoAnswer:
    def test_scan_never_takes_an_unreadable_folder_for_empty(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with monkeypatch.context() as patch:
            refuse(patch, root / "b", errno.EACCES)
            source = vault_at(root)
            scan = source.scan()
            assert paths(scan) == ["a.md", "f/g.md"]
            assert scan.unreadable == ("b",)
            assert [(fault.code, fault.path) for fault in scan.faults] == [("unreadable", "b")]
            assert [scan.knows(path) for path in ("b/d/e.md", "f/x.md", "bb.md")] == [False, True, True]
            assert source.scan("b").unreadable == ("b",)
        refuse(monkeypatch, root / "b", errno.ENOENT)  # deleted during the walk
        scan = vault_at(root).scan()
        assert (paths(scan), scan.faults, scan.knows("b/c.md")) == (["a.md", "f/g.md"], (), True)

    def test_scan_keeps_a_folder_of_an_unreadable_rule_file(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        build(root, "b/.vaultignore", text="c.md")

        def refuse_reading(path: str, limit: int) -> tuple[bytes, os.stat_result]:
            raise PermissionError(errno.EACCES, "Permission denied", path)

        monkeypatch.setattr("vault_index.sources.ignore_files.read_regular", refuse_reading)
        source = vault_at(root)
        assert source.scan().unreadable == ("b",)
        with pytest.raises(VaultIndexError, match="Permission denied"):
            source.look("b/c.md")

    def test_look_reports_a_file_that_cannot_be_examined(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def lstat(path: str) -> os.stat_result:
            raise OSError(errno.EIO, "Input/output error", path)

        monkeypatch.setattr(os, "lstat", lstat)
        source = vault_at(root)
        with pytest.raises(VaultIndexError, match="Input/output error") as caught:
            source.look("a.md")
        assert caught.value.hint
        scan = source.scan("a.md")
        assert scan.unreadable == ("a.md",)
        assert not scan.vanished


class TestVanished:
    def test_scan_reports_a_missing_empty_or_file_root_as_vanished(self, root: Path, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for place, reason in (("gone", "does not exist"), ("empty", "is empty"), ("vault/a.md", "not a folder")):
            source = vault_at(tmp_path / place)
            for scan in (source.scan(), source.scan("a.md"), source.scan_places(["a.md", "b"])):
                assert scan.vanished
                assert reason in scan.reason
                assert not scan.knows("a.md")
            assert reason in source.missing()
        assert vault_at(root).missing() == ""

    def test_scan_reports_an_unreadable_root_as_vanished(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        refuse(monkeypatch, root, errno.EACCES)
        assert vault_at(root).scan().vanished

    def test_scan_reports_a_root_with_only_hidden_files_as_empty(self, tmp_path: Path) -> None:
        root = build(tmp_path / "vault", ".obsidian/app.json", text="{}")
        assert vault_at(root).scan().reason.endswith(EMPTY)
        build(root, ".note.md.icloud")
        assert not vault_at(root).scan().vanished
        (root / ".note.md.icloud").unlink()
        build(root, "picture.png")  # a vault without notes exists
        assert vault_at(root).scan() == Scan()

    def test_scan_reports_a_root_unmounted_during_the_walk(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        real = os.scandir
        calls: list[str | int] = []

        def scandir(path: str | int) -> Any:
            calls.append(path)
            if len(calls) == 3:  # the first call checks whether the vault exists, the second reads the root
                root.rename(root.with_name("elsewhere"))
            return real(path)

        monkeypatch.setattr(os, "scandir", scandir)
        assert vault_at(root).scan().vanished

    def test_look_does_not_take_an_unmounted_note_for_deleted(self, root: Path) -> None:
        source = vault_at(root)
        root.rename(root.with_name("elsewhere"))
        with pytest.raises(VaultIndexError, match="does not exist"):
            source.look("a.md")


def test_scan_agrees_with_look_on_unusual_names(tmp_path: Path) -> None:
    names = ["a\nb.md", "a\\b.md", "q\"uo'te.md", " lead.md", "trail .md", "é.md", "笔记/日记.md", "[x]#^.md", "-n.md"]
    root = build(tmp_path / "vault", *names)
    source = vault_at(root)
    assert paths(source.scan()) == sorted(names)
    for name in names:
        ref = source.look(name)
        assert ref is not None
        assert source.read(ref).text == "x\n"
        assert source.relative(str(root / name)) == name
    assert source.look(f"{'x' * 300}.md") is None
