"""`undo` reverts every file change of a command, or none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, rows, write
from tests.memories.waiting import all_files
from vault_index import VaultIndex
from vault_index.errors import ConflictError, NotFoundError, VaultIndexError

HAND = "---\r\nid: 22222222-2222-4222-8222-222222222222\r\ntags: [a, b]   # mine\r\n---\r\nThe coot dives.\r\n"


@pytest.fixture(autouse=True)
def _files(index: VaultIndex, vault: Path) -> None:
    """A memory and a note, both written by hand."""
    (vault / "80-memory").mkdir()
    (vault / "80-memory" / "coot.md").write_bytes(HAND.encode())
    write(vault, {"note.md": "A note of mine.\n"})
    index.sync()


def contents(vault: Path) -> dict[str, bytes]:
    return {path: data for path, data in all_files(vault) if not path.startswith(".trash/")}


def capture(index: VaultIndex) -> object:
    return index.capture("*Remember*: the heron fishes at dawn\n\n*Remember*: the gate is locked at nine\n")


def import_one(index: VaultIndex) -> object:
    file = index.home.data_dir / "one.json"
    file.write_text('[{"content": "Grebes dance."}, {"content": "Swifts sleep in the air."}]', "utf-8")
    return index.import_(file)


COMMANDS: dict[str, Callable[[VaultIndex], object]] = {
    "add": lambda index: index.add("Herons nest in the reeds.", tags="birds"),
    "add that merges": lambda index: index.add("The coot dives.", tags="new"),
    "add that supersedes": lambda index: index.add("The coot swims.", supersedes="coot"),
    "update": lambda index: index.update("coot", content="It does not.", expires="2030-01-01"),
    "archive": lambda index: index.archive("coot"),
    "delete": lambda index: index.delete("coot"),
    "delete twice": lambda index: index.delete(["coot", "coot"]),
    "prune": lambda index: index.prune(before="2200-01-01"),
    "capture": capture,
    "import": import_one,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_undo_restores_the_files_of_each_command(index: VaultIndex, vault: Path, command: str, tmp_path: Path) -> None:
    before = contents(vault)
    COMMANDS[command](index)
    assert contents(vault) != before
    undone = index.undo()
    assert {one.outcome for one in undone.results} == {"undone"}
    assert contents(vault) == before
    assert rows(index.home.index_db) == fresh_rows(tmp_path)
    with pytest.raises(NotFoundError, match="nothing to undo"):
        index.undo()


def test_undo_changes_nothing_after_one_file_was_edited(index: VaultIndex, vault: Path) -> None:
    stored = index.add("The coot swims.", supersedes="coot")
    coot = vault / "80-memory" / "coot.md"
    coot.write_bytes(coot.read_bytes() + b"More.\n")
    before = contents(vault)
    with pytest.raises(ConflictError, match=r"80-memory/coot\.md changed since `add`"):
        index.undo()
    assert contents(vault) == before
    assert stored.path in before


def test_undo_restores_a_deleted_file_after_the_trash_was_emptied(index: VaultIndex, vault: Path) -> None:
    index.delete("coot")
    (trashed,) = (vault / ".trash").rglob("*.md")
    trashed.unlink()
    index.undo()
    assert (vault / "80-memory" / "coot.md").read_bytes() == HAND.encode()


@pytest.mark.parametrize("taken", ["a file", "a folder", "a link out of the vault"])
def test_undo_restores_no_file_over_another(index: VaultIndex, vault: Path, tmp_path: Path, taken: str) -> None:
    coot, outside = vault / "80-memory/coot.md", tmp_path / "outside.md"
    index.delete("coot")
    outside.write_text("Outside of the vault.\n", "utf-8")
    if taken == "a file":
        coot.write_text("Written meanwhile.\n", "utf-8")
    elif taken == "a folder":
        coot.mkdir()
    else:
        coot.symlink_to(outside)
    before = contents(vault)
    with pytest.raises(VaultIndexError):
        index.undo()
    assert contents(vault) == before
    assert outside.read_text("utf-8") == "Outside of the vault.\n"


def test_delete_permanent_names_copies_in_the_trash(index: VaultIndex) -> None:
    index.delete("coot")
    index.revert("80-memory/coot.md")
    index.undo()  # to the trash
    index.revert("80-memory/coot.md")
    [outcome] = index.delete("coot", permanent=True).results
    assert outcome.details["left_in_trash"] == [".trash/80-memory/coot 2.md", ".trash/80-memory/coot.md"]
