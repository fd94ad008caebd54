"""Whatever happens to the files, the next sync equals a fresh build."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unicodedata import normalize

import apsw
import pytest

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows, write
from tests.sources.trees import vault_at
from vault_index import VaultIndex
from vault_index.errors import VaultIndexError
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.markdown import chunk as chunking, parse as parsing
from vault_index.models import DocumentRef, FileStamp, RawDocument
from vault_index.sources import mounts, vault as vault_source, walk
from vault_index.sources.names import spellings
from vault_index.sources.reading import stamp_of
from vault_index.sources.vault import VaultSource

SETTINGS = RowSettings(400, 80, "memories")
Patch = pytest.MonkeyPatch
two_spellings = pytest.mark.skipif(sys.platform == "darwin", reason="macOS takes both spellings for one name")


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def give_one_moment(monkeypatch: Patch) -> None:
    """Give all files one timestamp, as on a file system with a coarse clock."""

    def coarse(status: os.stat_result) -> FileStamp:
        return stamp_of(status)._replace(mtime_ns=10**18 + 1, ctime_ns=10**18 + 1)

    for module in (vault_source, walk):
        monkeypatch.setattr(module, "stamp_of", coarse)


def believe_fresh_stamps(monkeypatch: Patch) -> None:
    monkeypatch.setattr("vault_index.indexer.reading._RACY_NS", 0)


def swap(one: Path, other: Path) -> None:
    one.rename(one.with_name("between"))
    other.rename(one)
    one.with_name("between").rename(other)


def run(index: VaultIndex, statement: str, *values: int | str) -> list[Any]:
    with closing(apsw.Connection(str(index.home.index_db))) as connection:
        return connection.execute(statement, values).fetchall()


# --- stamps ------------------------------------------------------------------------------------------------------


def test_sync_detects_swapped_folders_by_inode(tmp_path: Path, vault: Path, monkeypatch: Patch) -> None:
    give_one_moment(monkeypatch)
    with indexed(tmp_path, {"a/n.md": "Apple.\n", "b/n.md": "Bread.\n"}) as index:
        swap(vault / "a", vault / "b")
        assert index.sync().changed == 2
        assert paths_found(index, "apple", mode="text") == ["b/n.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_sync_adds_missing_inodes_without_parsing(tmp_path: Path, vault: Path, monkeypatch: Patch) -> None:
    believe_fresh_stamps(monkeypatch)
    with indexed(tmp_path, {"a.md": "Apple.\n", "b.md": "---\nx: [\n---\nBread.\n"}) as index:
        before = rows(index.home.index_db)
        run(index, "UPDATE document SET inode = 0")
        with monkeypatch.context() as patch:
            patch.setattr(parsing, "parse", lambda *_: pytest.fail("it was parsed"))
            report = index.sync()
        assert (report.unchanged, report.changed, report.failed) == (2, 0, ())
        inodes = dict(run(index, "SELECT path, inode FROM document"))
        assert inodes == {name: (vault / name).stat().st_ino for name in ("a.md", "b.md")}
        assert rows(index.home.index_db) == before
        run(index, "UPDATE document SET inode = 0, content_hash = x'00' WHERE path = 'a.md'")
        assert index.sync().changed == 1  # only the inode shows that the text differs
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_reading_distrusts_a_fresh_stamp_even_after_slow_work(tmp_path: Path, monkeypatch: Patch) -> None:
    write(tmp_path, {"n.md": "Apple.\n"})
    source = vault_at(tmp_path)
    [ref] = source.scan().refs
    now = ref.stamp.ctime_ns + 1_000_000
    monkeypatch.setattr(time, "time_ns", lambda: now)
    chunk = chunking.chunk

    def slowly(*args: object) -> object:
        nonlocal now
        now += 10**9
        return chunk(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(chunking, "chunk", slowly)
    read = read_document(source, ref, SETTINGS)
    assert isinstance(read, Read)
    assert read.row.stamp != ref.stamp


@pytest.mark.parametrize(("age", "believed"), [(1_900_000_000, False), (2_100_000_000, True)])
def test_reading_distrusts_whole_seconds_for_longer(
    tmp_path: Path, monkeypatch: Patch, age: int, believed: bool
) -> None:
    class Coarse(VaultSource):
        def read(self, ref: DocumentRef) -> RawDocument:
            raw = super().read(ref)
            stamp = raw.ref.stamp._replace(mtime_ns=10**18, ctime_ns=10**18)
            return raw._replace(ref=raw.ref._replace(stamp=stamp))

    write(tmp_path, {"n.md": "Apple.\n"})
    source = Coarse(vault_at(tmp_path).config)
    monkeypatch.setattr(time, "time_ns", lambda: 10**18 + age)
    read = read_document(source, source.scan().refs[0], SETTINGS)
    assert isinstance(read, Read)
    assert (read.row.ctime_ns == 10**18) == believed


def test_sync_restores_faults_when_a_file_is_readable_again(tmp_path: Path, vault: Path, monkeypatch: Patch) -> None:
    def refuse(*_: object) -> None:
        raise VaultIndexError("it cannot be read")

    believe_fresh_stamps(monkeypatch)
    with indexed(tmp_path, {"n.md": "---\nx: [\n---\nApple.\n"}) as index:
        with monkeypatch.context() as patch:
            patch.setattr(VaultSource, "read", refuse)
            (vault / "n.md").chmod(0o600)
            assert [failure.path for failure in index.sync().failed] == ["n.md"]
        index.sync()
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


# --- names of one file -------------------------------------------------------------------------------------------


Steps = Sequence[tuple[str, ...]]
SAME_FILE: dict[str, tuple[Steps, Steps, str]] = {
    "hard link": ([("hardlink", "sub/b.md", "a.md")], [("write", "a.md")], "a.md"),
    "new hard link": ([], [("hardlink", "new/d.md", "a.md"), ("write", "a.md")], "new"),
    "removed hard link": ([("hardlink", "b.md", "a.md")], [("write", "b.md"), ("unlink", "b.md")], "b.md"),
    "replaced hard link": (
        [("hardlink", "b.md", "a.md")], [("write", "b.md"), ("unlink", "b.md"), ("create", "b.md")], "b.md",
    ),
    "ignored hard link": ([("hardlink", "left out.md", "a.md")], [("write", "left out.md")], "left out.md"),
    "hard link of another kind": ([("hardlink", "a.txt", "a.md")], [("write", "a.txt")], "a.txt"),
    "link to a file": ([("symlink", "link.md", "a.md")], [("write", "link.md")], "link.md"),
    "link to a link": (
        [("symlink", "link.md", "a.md"), ("symlink", "again.md", "link.md")], [("write", "again.md")], "again.md",
    ),
    "link to a folder": ([("symlink", "linked", "sub")], [("create", "linked/new.md")], "linked"),
    "file in a linked folder": ([("symlink", "linked", "sub")], [("create", "linked/new.md")], "linked/new.md"),
}  # fmt: skip
"""Actions before a sync, actions after it, and the path given to the next sync."""


def do(vault: Path, steps: Steps) -> None:
    for step, name, *target in steps:
        path = vault / name
        path.parent.mkdir(exist_ok=True)
        if step == "hardlink":
            path.hardlink_to(vault / target[0])
        elif step == "symlink":
            path.symlink_to(target[0])
        elif step == "unlink":
            path.unlink()
        else:
            path.write_text("Bread.\n" if step == "write" else "Novelty.\n", "utf-8")


@pytest.mark.parametrize(("before", "after", "place"), SAME_FILE.values(), ids=SAME_FILE)
def test_sync_of_one_path_updates_all_paths_of_the_file(
    tmp_path: Path, vault: Path, before: Steps, after: Steps, place: str
) -> None:
    notes = {"a.md": "Apple.\n", "sub/c.md": "Cheese.\n", ".vaultignore": "left out.md\n"}
    with indexed(tmp_path, notes) as index:
        do(vault, before)
        index.sync()
        do(vault, after)
        index.sync([vault / place])
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@two_spellings
@pytest.mark.parametrize("path", ["Caf\xe9.md", "Caf\xe9/\xc9t\xe9.md"])
@pytest.mark.parametrize("named", [0, 1])
def test_sync_follows_a_rename_to_another_unicode_form(tmp_path: Path, vault: Path, path: str, named: int) -> None:
    before, after = normalize("NFC", path), normalize("NFD", path)
    with indexed(tmp_path, {before: "Apple.\n", "other.md": "Bread.\n"}) as index:
        (vault / after).parent.mkdir(exist_ok=True)
        (vault / before).rename(vault / after)
        report = index.sync([vault / (before, after)[named]])
        assert (report.moved, report.added, report.removed) == (1, 0, 0)
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@two_spellings
def test_sync_keeps_names_in_two_unicode_forms_as_two_documents(tmp_path: Path, vault: Path) -> None:
    names = [normalize(form, "Caf\xe9.md") for form in ("NFC", "NFD")]
    with indexed(tmp_path, {name: f"{len(name)}\n" for name in names}) as index:
        write(vault, {names[0]: "Apple.\n"})
        report = index.sync([vault / names[0]])
        assert (report.changed, report.removed) == (1, 0)
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_spellings_of_a_long_path_are_few() -> None:
    path = "/".join(["\xe9"] * 60)
    assert path in spellings(path)
    assert len(spellings(path)) < 100
    assert set(spellings("a/\xe9.md")) == {"a/\xe9.md", "a/e\u0301.md"}


@contextmanager
def two_vaults(tmp_path: Path) -> Iterator[tuple[VaultIndex, Path]]:
    """An index of `vault` with `a.md` and of another folder with `x.md`, which is yielded too."""
    other = tmp_path / "other"
    write(other, {"x.md": "Other.\n"})
    with indexed(tmp_path, {"a.md": "Apple.\n"}) as index:
        config = index.home.config_file
    config.write_text(f"{config.read_text('utf-8')}\n[sources.other]\npath = {str(other)!r}\n", "utf-8")
    with opened(tmp_path) as index:
        yield index, other


def test_sync_follows_hard_and_symbolic_links_between_vaults(tmp_path: Path, vault: Path) -> None:
    with two_vaults(tmp_path) as (index, other):
        (other / "b.md").hardlink_to(vault / "a.md")
        (vault / "link.md").symlink_to(other / "x.md")
        index.sync()
        (other / "b.md").write_text("Bread.\n", "utf-8")
        report = index.sync([other / "b.md"])
        assert (report.changed, report.unchanged) == (2, 0)
        (vault / "link.md").write_text("Bread.\n", "utf-8")
        assert index.sync([vault / "link.md"]).changed == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names elsewhere are UTF-8")
def test_sync_updates_a_linked_file_with_a_name_that_is_not_utf_8(tmp_path: Path, vault: Path) -> None:
    file = vault / os.fsdecode(b"x\xfe") / "a.md"
    with indexed(tmp_path, {"b.md": "Cheese.\n"}) as index:
        write(file.parent, {"a.md": "Apple.\n"})
        (vault / "link.md").symlink_to(os.path.relpath(file, vault))
        index.sync()
        file.write_text("Bread.\n", "utf-8")
        assert index.sync([file]).changed == 1
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


# --- file systems that renumber their files ----------------------------------------------------------------------


def mount(tmp_path: Path, monkeypatch: Patch, kind: str, number: int) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{number} 1 0:50 / {tmp_path} rw - {kind} host: rw\n")
    monkeypatch.setattr(mounts, "_TABLE", str(table))
