"""Whatever happens to the files, the next sync equals a fresh build."""

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

import pytest

from tests.api.vaults import fresh_rows, indexed, paths_found, rows, write
from tests.sources.trees import vault_at
from tests.tables import tables
from vault_index.errors import VaultIndexError
from vault_index.indexer.reading import Read, RowSettings, read_document
from vault_index.models import DocumentRef, FileStamp, RawDocument
from vault_index.sources import vault as vault_source, walk
from vault_index.sources.files import spellings, stamp_of
from vault_index.sources.vault import VaultSource

CASES = tables(__file__)

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


def test_sync_detects_swapped_folders_by_inode(tmp_path: Path, vault: Path, monkeypatch: Patch) -> None:
    give_one_moment(monkeypatch)
    with indexed(tmp_path, {"a/n.md": "Apple.\n", "b/n.md": "Bread.\n"}) as index:
        swap(vault / "a", vault / "b")
        assert index.sync().changed == 2
        assert paths_found(index, "apple", mode="text") == ["b/n.md"]
        assert rows(index.home.index_db) == fresh_rows(tmp_path)


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


Steps = Sequence[tuple[str, ...]]
SAME_FILE: dict[str, tuple[Steps, Steps, str]] = CASES["same_file"]
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


# --- file systems that renumber their files ----------------------------------------------------------------------
