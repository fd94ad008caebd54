"""Whatever happens to the files, the next sync ends in the index that a fresh build would make."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unicodedata import normalize

import apsw
import pytest

from tests.api.vaults import fresh_rows, indexed, opened, paths_found, rows, write
from tests.sources.trees import vault_at
from vault_index import VaultIndex
from vault_index.errors import VaultIndexError
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.markdown import chunk as chunking, parse as parsing
from vault_index.models import DocumentRef, RawDocument
from vault_index.sources import mounts
from vault_index.sources.mounts import numbering
from vault_index.sources.names import spellings
from vault_index.sources.vault import VaultSource

SETTINGS = RowSettings(400, 80, "memories")


def settle(*files: Path) -> None:
    """Wait until none of the files is so fresh that its stamp is not believed."""
    newest = max(file.stat().st_ctime_ns for file in files)
    while time.time_ns() - newest < 50_000_000:
        time.sleep(0.01)


def made_alike(*files: Path) -> None:
    """Give files of one size one moment."""
    for _ in range(200):
        for file in files:
            os.utime(file, ns=(10**18, 10**18))
        if len({file.stat().st_ctime_ns for file in files}) == 1:
            return settle(*files)
    pytest.skip("no two files have one moment here")


def swap(one: Path, other: Path) -> None:
    one.rename(one.with_name("between"))
    other.rename(one)
    one.with_name("between").rename(other)


def inodes(index_db: Path) -> dict[str, int]:
    connection = apsw.Connection(str(index_db))
    found = connection.execute("SELECT path, inode FROM document").fetchall()
    connection.close()
    return {str(path): int(str(inode)) for path, inode in found}


def test_folders_that_changed_places_are_told_apart_though_their_files_have_one_size_and_one_moment(
    tmp_path: Path,
) -> None:
    vault = tmp_path / "vault"
    write(vault, {"a/n.md": "Apple.\n", "b/n.md": "Bread.\n"})
    made_alike(vault / "a/n.md", vault / "b/n.md")
    with indexed(tmp_path, {}) as index:
        swap(vault / "a", vault / "b")
        assert index.sync().changed == 2
        assert paths_found(index, "apple", mode="text") == ["b/n.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_rows_that_know_no_inode_get_it_without_being_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    write(vault, {"a.md": "Apple.\n", "b.md": "---\nx: [\n---\nBread.\n"})
    settle(vault / "b.md")
    with indexed(tmp_path, {}) as index:
        before = rows(index.home.index_db)
        connection = apsw.Connection(str(index.home.index_db))
        connection.execute("UPDATE document SET inode = 0")
        connection.close()
        with monkeypatch.context() as patch:
            patch.setattr(parsing, "parse", lambda *_: pytest.fail("it was parsed"))
            report = index.sync()
        assert (report.unchanged, report.changed, report.failed) == (2, 0, ())
        assert inodes(index.home.index_db) == {name: (vault / name).stat().st_ino for name in ("a.md", "b.md")}
        assert rows(index.home.index_db) == before
        assert index.status().sources[0].current == 2


def test_a_text_that_is_another_is_read_though_only_its_inode_says_so(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    write(vault, {"a.md": "Apple.\n", "b.md": "Bread.\n"})
    made_alike(vault / "a.md", vault / "b.md")
    with indexed(tmp_path, {}) as index:
        known = index.home.index_db
        connection = apsw.Connection(str(known))  # an index of a version that had no inodes, wrong since then
        connection.execute("UPDATE document SET inode = 0, content_hash = x'00' WHERE path = 'a.md'")
        connection.close()
        assert index.sync().changed == 1
        assert rows(known) == fresh_rows(tmp_path)


def test_a_file_that_was_read_in_its_first_moment_is_read_again_however_long_its_rows_took(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
def test_where_times_are_whole_seconds_a_moment_is_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: int, believed: bool
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


def test_what_was_wrong_inside_a_file_is_known_again_once_it_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "vault" / "n.md"
    with indexed(tmp_path, {"n.md": "---\nx: [\n---\nApple.\n"}) as index:
        with monkeypatch.context() as patch:
            patch.setattr(VaultSource, "read", refuse)
            note.chmod(0o600)
            assert [failure.path for failure in index.sync().failed] == ["n.md"]
        settle(note)
        index.sync()
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def refuse(*_: object) -> None:
    raise VaultIndexError("it cannot be read")


# --- names of one file -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", ["NFC", "NFD"])
@pytest.mark.parametrize("named", ["before", "after"])
@pytest.mark.parametrize("path", ["Caf\xe9.md", "Caf\xe9/\xc9t\xe9.md", "Caf\xe9/n.md"])
def test_a_name_that_is_spelled_in_another_way_now(tmp_path: Path, before: str, named: str, path: str) -> None:
    after = "NFD" if before == "NFC" else "NFC"
    old, new = (tmp_path / "vault" / spelled(form, path) for form in (before, after))
    with indexed(tmp_path, {spelled(before, path): "Apple.\n", "other.md": "Bread.\n"}) as index:
        new.parent.mkdir(exist_ok=True)
        old.rename(new)
        report = index.sync([old if named == "before" else new])
        if len(list((tmp_path / "vault").rglob("*.md"))) > 2:
            pytest.skip("this file system takes both spellings for one name")
        assert (report.moved, report.added, report.removed) == (1, 0, 0)
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_a_folder_that_is_spelled_in_another_way_now(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    composed, decomposed = spelled("NFC", "Caf\xe9"), spelled("NFD", "Caf\xe9")
    with indexed(tmp_path, {f"{composed}/{name}.md": f"Text of {name}.\n" for name in "ab"}) as index:
        (vault / composed).rename(vault / decomposed)
        assert index.sync([vault / decomposed]).moved == 2
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_two_names_that_differ_in_their_spelling_alone_are_two_documents(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    names = [spelled(form, "Caf\xe9.md") for form in ("NFC", "NFD")]
    write(vault, {name: f"{len(name)}\n" for name in names})
    if len(list(vault.iterdir())) == 1:
        pytest.skip("this file system takes both spellings for one name")
    with indexed(tmp_path, {}) as index:
        (vault / names[0]).write_text("Apple.\n", "utf-8")
        report = index.sync([vault / names[0]])
        assert (report.changed, report.removed) == (1, 0)
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def spelled(form: str, path: str) -> str:
    return normalize("NFC" if form == "NFC" else "NFD", path)


def test_a_path_of_many_folders_with_accents_has_few_spellings() -> None:
    path = "/".join(["\xe9"] * 60)
    assert path in spellings(path)
    assert len(spellings(path)) < 100
    assert set(spellings("a/\xe9.md")) == {"a/\xe9.md", "a/e\u0301.md"}


@pytest.mark.parametrize("places", [["a.md"], ["new"], ["a.md", "sub/b.md"]])
def test_a_file_that_was_edited_by_one_of_its_names_is_read_by_all(tmp_path: Path, places: list[str]) -> None:
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"a.md": "Apple.\n", "sub/c.md": "Cheese.\n"}) as index:
        (vault / "sub/b.md").hardlink_to(vault / "a.md")
        index.sync()
        (vault / "new").mkdir()
        (vault / "new/d.md").hardlink_to(vault / "a.md")
        (vault / "a.md").write_text("Bread.\n", "utf-8")
        index.sync([vault / place for place in places])
        [hit] = index.search("bread", mode="text").results
        assert {hit.path, *hit.also} >= {"a.md", "sub/b.md"}
        index.sync([vault / "new"])
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_edited_by_a_name_it_lost_is_read_by_the_other(tmp_path: Path, replaced: bool) -> None:
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"a.md": "Apple.\n"}) as index:
        (vault / "b.md").hardlink_to(vault / "a.md")
        index.sync()
        (vault / "b.md").write_text("Bread.\n", "utf-8")
        (vault / "b.md").unlink()
        if replaced:
            (vault / "b.md").write_text("Cheese.\n", "utf-8")
        index.sync([vault / "b.md"])
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@contextmanager
def two_vaults(tmp_path: Path) -> Iterator[tuple[VaultIndex, Path]]:
    """An index of `vault` with `a.md`, and of another folder with `x.md`, which comes with it."""
    other = tmp_path / "other"
    write(other, {"x.md": "Other.\n"})
    with indexed(tmp_path, {"a.md": "Apple.\n"}) as index:
        config = index.home.config_file
    config.write_text(f"{config.read_text('utf-8')}\n[sources.other]\npath = {str(other)!r}\n", "utf-8")
    with opened(tmp_path) as index:
        yield index, other


def test_a_file_of_two_vaults_is_read_in_both(tmp_path: Path) -> None:
    with two_vaults(tmp_path) as (index, other):
        (other / "b.md").hardlink_to(tmp_path / "vault/a.md")
        index.sync()
        (other / "b.md").write_text("Bread.\n", "utf-8")
        report = index.sync([other / "b.md"])
        assert (report.changed, report.unchanged) == (2, 0)


@pytest.mark.parametrize("name", ["left out.md", "a.txt", ".hidden.md"])
def test_a_file_that_was_edited_by_a_name_that_is_no_document(tmp_path: Path, name: str) -> None:
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"a.md": "Apple.\n", ".vaultignore": "left out.md\n"}) as index:
        (vault / name).hardlink_to(vault / "a.md")
        index.sync()
        (vault / name).write_text("Bread.\n", "utf-8")
        assert index.sync([vault / name]).changed == 1
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@pytest.mark.parametrize("place", ["link.md", "linked", "linked/new.md", "sub/again.md"])
def test_what_was_changed_through_a_link_is_read_where_it_lies(tmp_path: Path, place: str) -> None:
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"notes/a.md": "Apple.\n", "sub/c.md": "Cheese.\n"}) as index:
        (vault / "link.md").symlink_to("notes/a.md")
        (vault / "sub/again.md").symlink_to("../link.md")
        (vault / "linked").symlink_to("notes")
        index.sync()
        (vault / "linked/new.md" if place.startswith("linked") else vault / place).write_text("Bread.\n", "utf-8")
        index.sync([vault / place])
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_a_link_leads_from_one_vault_into_another(tmp_path: Path) -> None:
    with two_vaults(tmp_path) as (index, other):
        (tmp_path / "vault/link.md").symlink_to(other / "x.md")
        index.sync()
        (tmp_path / "vault/link.md").write_text("Bread.\n", "utf-8")
        assert index.sync([tmp_path / "vault/link.md"]).changed == 1


def test_a_file_whose_name_cannot_be_stored_is_read_by_the_link_to_it(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    file = vault / os.fsdecode(b"x\xfe") / "a.md"
    try:
        write(vault, {os.path.relpath(file, vault): "Apple.\n"})
    except OSError:
        pytest.skip("names are UTF-8 here")
    with indexed(tmp_path, {"b.md": "Cheese.\n"}) as index:
        (vault / "link.md").symlink_to(os.path.relpath(file, vault))
        index.sync()
        file.write_text("Bread.\n", "utf-8")
        assert index.sync([file]).changed == 1
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


@pytest.mark.parametrize("target", ["closed", "closed/in", "closed/a.md"])
def test_links_into_a_folder_that_was_closed_are_no_fault_once_it_is_open(tmp_path: Path, target: str) -> None:
    vault = tmp_path / "vault"
    with indexed(tmp_path, {"closed/a.md": "Apple.\n", "closed/in/b.md": "Bread.\n"}) as index:
        (vault / "link.md").symlink_to(target)
        (vault / "closed").chmod(0)
        try:
            if os.access(vault / "closed", os.R_OK):
                pytest.skip("permissions mean nothing to root")
            index.sync()
        finally:
            (vault / "closed").chmod(0o700)
        index.sync([vault / "closed"])
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


# --- file systems that number their files anew -------------------------------------------------------------------


def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, number: int) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n{number} 1 0:50 / {tmp_path} rw - {kind} host: rw\n")
    monkeypatch.setattr(mounts, "_TABLE", str(table))


def test_after_a_mount_that_numbers_files_anew_each_text_is_looked_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = tmp_path / "vault"
    write(vault, {"a/n.md": "Apple.\n", "b/n.md": "Bread.\n", "c.md": "Cheese.\n"})
    made_alike(vault / "a/n.md", vault / "b/n.md")
    settle(vault / "c.md")
    mounted(tmp_path, monkeypatch, "fuse.sshfs", 2)
    with indexed(tmp_path, {}) as index:
        numbers = inodes(index.home.index_db)
        swap(vault / "a", vault / "b")
        connection = apsw.Connection(str(index.home.index_db))  # as they would be met again, in the order of the names
        for path, number in {"a/n.md": numbers["b/n.md"], "b/n.md": numbers["a/n.md"]}.items():
            connection.execute("UPDATE document SET inode = ? WHERE path = ?", (number, path))
        connection.close()
        mounted(tmp_path, monkeypatch, "fuse.sshfs", 3)
        assert index.sync().changed == 2
        assert rows(index.home.index_db) == fresh_rows(tmp_path)
        monkeypatch.setattr(VaultSource, "read", lambda *_: pytest.fail("it was read again"))
        assert index.sync().unchanged == 3


@pytest.mark.parametrize(
    ("kind", "passing"), [("fuse", True), ("fuseblk", True), ("vfat", True), ("9p", True), ("ext4", False)]
)
def test_what_numbers_its_files_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, passing: bool) -> None:
    found = set()
    for number in (2, 3):
        mounted(tmp_path, monkeypatch, kind, number)
        found |= {numbering(str(tmp_path / "vault")), numbering(str(tmp_path))}
    assert len(found) == (2 if passing else 1)
    assert ("" in found) != passing
