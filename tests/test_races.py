"""Another process puts a link in the place of a folder or a file while it is read or written: nothing outside the vault
is read, and nothing there changes."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.api.vaults import indexed
from tests.attacks import needs_exchange, swapping
from tests.sources.trees import build, vault_at
from vault_index.errors import VaultIndexError
from vault_index.memories.file.files import MemoryFiles
from vault_index.mirroring.files import Files

pytestmark = needs_exchange

READS, SCANS, WRITES, SYNCS = 3000, 1000, 400, 12
NOTE = "80-memory/note/n.md"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Files that are nobody's business, with the names that those in the vault have, and others."""
    return build(tmp_path / "outside", "n.md", "private.md", "note/n.md", text="outside\n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path / "vault", "a.md", "f/n.md", "80-memory/note/n.md", text="inside\n")


@pytest.mark.parametrize("swapped", ["f", "f/n.md"])
def test_what_is_read_lies_in_the_vault(root: Path, outside: Path, swapped: str) -> None:
    vault = vault_at(root)
    (ref,) = (ref for ref in vault.scan().refs if ref.path == "f/n.md")
    (root / ".link").symlink_to(outside / swapped.removeprefix("f").strip("/"))
    texts = set()
    with swapping(root / swapped, root / ".link"):
        for _ in range(READS):
            with suppress(VaultIndexError):
                texts.add(vault.read(ref).text)
    assert texts == {"inside\n"}


def test_what_is_listed_lies_in_the_vault(root: Path, outside: Path) -> None:
    vault = vault_at(root)
    (root / ".link").symlink_to(outside)
    found = set()
    with swapping(root / "f", root / ".link"):
        for _ in range(SCANS):
            found |= {ref.path for ref in vault.scan().refs}
    assert found == {"a.md", "f/n.md", "80-memory/note/n.md"}


def test_what_is_indexed_lies_in_the_vault(tmp_path: Path, outside: Path) -> None:
    with indexed(tmp_path, {"a.md": "inside", "f/n.md": "inside"}) as index:
        (tmp_path / "vault/.link").symlink_to(outside)
        with swapping(tmp_path / "vault/f", tmp_path / "vault/.link"):
            for number in range(SYNCS):
                (tmp_path / "vault/a.md").write_text(f"inside {number}")
                index.sync([tmp_path / "vault" / name for name in ("f/n.md", "f", "a.md")] if number % 2 else None)
                assert index.search("outside", mode="text").results == ()
                assert {hit.path for hit in index.search("inside", mode="text").results} <= {"a.md", "f/n.md"}


def remaining(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in folder.rglob("*") if file.is_file()}


def create(files: MemoryFiles, number: int) -> None:
    files.create(f"80-memory/note/new-{number}.md", "inside\n")


def change(files: MemoryFiles, number: int) -> None:
    files.replace(NOTE, f"inside {number}\n", files.read(NOTE))


def trash(files: MemoryFiles, number: int) -> None:
    files.trash(NOTE)
    files.create(NOTE, "inside\n")


def remove(files: MemoryFiles, number: int) -> None:
    files.remove(NOTE)
    files.create(NOTE, "inside\n")


@pytest.mark.parametrize("act", [create, change, trash, remove])
@pytest.mark.parametrize("swapped", ["80-memory", "80-memory/note", ".trash"])
def test_memories_are_written_in_the_vault(
    root: Path, outside: Path, act: Callable[[MemoryFiles, int], None], swapped: str
) -> None:
    build(root, ".trash/80-memory/note/")
    build(outside, "80-memory/note/")
    before = remaining(outside)
    (root / ".link").symlink_to(outside / "note" if swapped.endswith("note") else outside)
    files = MemoryFiles(root, "80-memory")
    with swapping(root / swapped, root / ".link"):
        for number in range(WRITES):
            with suppress(VaultIndexError, FileExistsError):
                act(files, number)
    assert remaining(outside) == before


def test_sessions_are_mirrored_in_the_vault(root: Path, outside: Path) -> None:
    before = remaining(outside)
    (root / ".link").symlink_to(outside)
    files = Files(vault_at(root), "f")
    with swapping(root / "f", root / ".link"):
        for number in range(WRITES):
            with suppress(VaultIndexError):
                path = files.create("f/new.md", "inside\n")
                files.replace(path, b"inside\n", b"changed\n")
                files.move(path, f"f/moved-{number}.md")
            with suppress(VaultIndexError):
                assert b"outside" not in files.read("f/private.md")
    assert remaining(outside) == before
