"""`undo`: whatever a command did to files is taken back, all of it or nothing, wherever it was killed."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.api.vaults import fresh_rows, opened, rows, write
from vault_index import VaultIndex
from vault_index.errors import ConflictError, NotFoundError
from vault_index.memories.store import MemoryStore, writing

HAND = "---\r\nid: 22222222-2222-4222-8222-222222222222\r\ntags: [a, b]   # mine\r\n---\r\nThe coot dives.\r\n"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        (tmp_path / "vault" / "80-memory").mkdir()
        (tmp_path / "vault" / "80-memory" / "coot.md").write_bytes(HAND.encode())
        write(tmp_path / "vault", {"note.md": "A note of mine.\n"})
        opened_index.sync()
        yield opened_index


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def said(vault: Path) -> dict[str, bytes]:
    found = {file.relative_to(vault).as_posix(): file.read_bytes() for file in vault.rglob("*") if file.is_file()}
    return {path: data for path, data in found.items() if not path.startswith(".trash/")}


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
    "prune": lambda index: index.prune(before="2200-01-01"),
    "capture": capture,
    "import": import_one,
}


@pytest.mark.parametrize("command", COMMANDS)
def test_the_files_are_as_they_were(index: VaultIndex, vault: Path, command: str, tmp_path: Path) -> None:
    before = said(vault)
    COMMANDS[command](index)
    assert said(vault) != before
    undone = index.undo()
    assert {one.outcome for one in undone.results} == {"undone"}
    assert said(vault) == before
    assert rows(index.home.index_db) == fresh_rows(tmp_path)
    with pytest.raises(NotFoundError, match="nothing to undo"):
        index.undo()


def test_each_undo_takes_the_command_before(index: VaultIndex, vault: Path) -> None:
    states = [said(vault)]
    for command in ("add", "update", "delete", "capture"):
        COMMANDS[command](index)
        states.append(said(vault))
    while states:
        assert said(vault) == states.pop()
        if states:
            index.undo()


def test_nothing_is_undone_where_one_file_changed_since(index: VaultIndex, vault: Path) -> None:
    stored = index.add("The coot swims.", supersedes="coot")
    coot = vault / "80-memory" / "coot.md"
    coot.write_bytes(coot.read_bytes() + b"More.\n")
    before = said(vault)
    with pytest.raises(ConflictError, match=r"80-memory/coot\.md changed since `add`"):
        index.undo()
    assert said(vault) == before
    assert stored.path in before


def test_a_new_file_that_was_renamed_is_not_left_behind_unsaid(index: VaultIndex, vault: Path) -> None:
    stored = index.add("The coot swims.")
    (vault / stored.path).rename(vault / "80-memory" / "mine.md")
    with pytest.raises(ConflictError, match=stored.path):
        index.undo()
    (vault / "80-memory" / "mine.md").rename(vault / stored.path)
    assert [one.path for one in index.undo().results] == [stored.path]
    assert not (vault / stored.path).exists()


def test_a_trashed_file_comes_back_though_the_trash_was_emptied(index: VaultIndex, vault: Path) -> None:
    index.delete("coot")
    (trashed,) = (vault / ".trash").rglob("*.md")
    trashed.unlink()
    index.undo()
    assert (vault / "80-memory" / "coot.md").read_bytes() == HAND.encode()


def test_a_file_that_moved_comes_back_and_is_not_put_over_another(index: VaultIndex, vault: Path) -> None:
    write(vault, {"80-memory/pond/coot.md": "Another one.\n"})
    with writing(index._runtime, "archive", ()) as memories:
        assert memories.move(memories.find("80-memory/coot.md"), "pond/coot") == "80-memory/pond/coot-2.md"
    moved = said(vault)
    assert moved["80-memory/pond/coot-2.md"] == HAND.encode()
    assert index.get("22222222").results[0].path == "80-memory/pond/coot-2.md"
    write(vault, {"80-memory/coot.md": "In its place.\n"})
    with pytest.raises(ConflictError, match="coot"):
        index.undo()
    (vault / "80-memory" / "coot.md").unlink()
    index.undo()
    assert said(vault)["80-memory/coot.md"] == HAND.encode()


def test_what_failed_is_not_undone(index: VaultIndex, vault: Path) -> None:
    index.update("coot", content="It does not.")
    before = said(vault)
    with pytest.raises(Exception, match="is there already"):
        index.add("Something else.", path="coot")
    assert said(vault) == before
    assert [one.details["work"] for one in index.undo().results] == ["update"]


def test_a_damaged_state_stops_no_command(index: VaultIndex, vault: Path) -> None:
    for file in index.home.data_dir.glob("state.db*"):
        file.unlink()
    index.home.state_db.write_bytes(b"no database" * 1000)
    stored = index.add("Herons nest in the reeds.")
    index.update(stored.id, content="They do.")
    index.delete("coot")
    assert (vault / stored.path).exists()
    assert not (vault / "80-memory" / "coot.md").exists()


class _Killed(BaseException):
    """Nothing catches it, as nothing catches the end of a process."""


@pytest.mark.parametrize("after", range(3))
@pytest.mark.parametrize("command", COMMANDS)
def test_an_undo_that_was_killed_is_finished_by_the_next(
    index: VaultIndex, vault: Path, command: str, after: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    index.add("A memory of before, which stays.")
    before = said(vault)
    COMMANDS[command](index)
    left = [None] * after

    def dies(memories: MemoryStore, source: str, *paths: str) -> None:
        if not left:
            raise _Killed
        left.pop()

    with monkeypatch.context() as patch:
        patch.setattr(MemoryStore, "note", dies)
        with suppress(_Killed):
            index.undo()
    index.sync()
    if after == 0 or said(vault) != before:
        index.undo()
    assert said(vault) == before
    assert rows(index.home.index_db) == fresh_rows(tmp_path)


def test_what_is_left_in_the_trash_of_a_memory_that_is_deleted_for_good_is_named(index: VaultIndex) -> None:
    index.delete("coot")
    index.revert("80-memory/coot.md")
    index.undo()  # to the trash
    index.revert("80-memory/coot.md")
    [outcome] = index.delete("coot", permanent=True).results
    assert outcome.details["left_in_trash"] == [".trash/80-memory/coot 2.md", ".trash/80-memory/coot.md"]
