"""`history`, `diff` and `revert`: every indexed version is restored byte for byte."""

import os
from contextlib import closing
from pathlib import Path

import pytest

from tests.api.vaults import opened, write
from tests.memories.versions import Repository
from vault_index import VaultIndex
from vault_index.errors import ConflictError, NotFoundError, UsageError
from vault_index.store.state import State

UID = "22222222-2222-4222-8222-222222222222"
HEAD = f"---\nid: {UID}\nentered_by: ann\n---\n"
COOT = "80-memory/coot.md"


def put(index: VaultIndex, *texts: bytes | str, path: str = COOT) -> None:
    """Write a file by hand, and index each text."""
    for text in texts:
        file = next(iter(index._runtime.vaults.values())).config.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        index.sync()


def history_of(index: VaultIndex, ref: str = UID) -> list[tuple[int | None, str, str, str]]:
    return [(one.number, one.action, one.by, one.path) for one in index.history(ref, limit=100).results]


def test_history_names_the_author_of_each_version(index: VaultIndex, vault: Path) -> None:
    stored = index.add("The coot dives.", title="Coots", by="ann")
    index.update(stored.id, content="It swims.", by="build-agent")
    index.update(stored.id, add_tags="birds")
    file = vault / stored.path
    file.write_text(file.read_text("utf-8").replace("swims", "flies"), "utf-8")
    index.sync()
    index.delete(stored.id)
    assert history_of(index, stored.id) == [
        (5, "delete", "vault-index", stored.path),
        (4, "edited", "by hand", stored.path),
        (3, "update", "vault-index", stored.path),
        (2, "update", "build-agent", stored.path),
        (1, "add", "ann", stored.path),
    ]
    for limit, offset in ((0, 0), (20, -1)):
        with pytest.raises(UsageError):
            index.history(stored.id, limit=limit, offset=offset)
    history = index.history(stored.id[:8], limit=2, offset=1)
    assert (history.id, history.title, history.total, history.forgotten) == (stored.id, "Coots", 5, 0)
    assert [one.number for one in history.results] == [4, 3]
    assert index.diff(stored.path, before=1, after=2).text.splitlines()[-3:] == ["-The coot dives.", "+It swims.", " "]


SHAPES = {
    "CRLF": "One.\r\n\r\nTwo.\r\n",
    "byte order mark": "",
    "no final newline": "No newline",
    "mixed line ends": "One.\r\nTwo.\rThree.\n\n\n   ",
    "not UTF-8": "caf\udce9 \udcff\udcfe\n",
    "control characters": "A \x00 NUL, \x0c a form feed, \x1b[31m, \u2028 and \ufeff.\n",
    "decomposed letter": "cafe\u0301 and caf\u00e9\n",
    "long": "".join(f"Line {n} of a long memory, {n * 7919 % 104729}.\n" for n in range(5_000)),
}


def test_revert_restores_every_byte(index: VaultIndex, vault: Path) -> None:
    texts, uids = {}, {}
    for number, (shape, body) in enumerate(SHAPES.items(), 10):
        uids[shape] = f"000000{number}{UID[8:]}"
        texts[shape] = f"---\nid: {uids[shape]}\n---\n{body}".encode("utf-8", "surrogateescape")
    texts["CRLF"] = texts["CRLF"].replace(b"\r", b"").replace(b"\n", b"\r\n")
    texts["byte order mark"] = b"\xef\xbb\xbf" + texts["byte order mark"]
    (vault / "80-memory").mkdir()
    files = {shape: vault / f"80-memory/{number}.md" for number, shape in enumerate(SHAPES)}
    for shape, file in files.items():
        file.write_bytes(texts[shape])
    index.sync()
    for shape, file in files.items():
        file.write_text(f"---\nid: {uids[shape]}\n---\nSomething else.\n", "utf-8")
    index.sync()
    for shape in SHAPES:
        index.revert(uids[shape], to=1)
    assert [shape for shape, file in files.items() if file.read_bytes() != texts[shape]] == []


def test_revert_restores_a_file_that_was_emptied(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n", HEAD)
    index.revert(UID)
    assert (vault / COOT).read_bytes() == (HEAD + "First.\n").encode()
    index.undo()
    assert (vault / COOT).read_bytes() == HEAD.encode()
    put(index, b"")  # without an id, for now
    assert index.revert(COOT).path == COOT
    assert (vault / COOT).read_bytes() == HEAD.encode()
    empty = next(one.number for one in index.history(UID).results if not one.bytes)
    index.revert(UID, to=empty)
    assert (vault / COOT).read_bytes() == b""


def test_update_keeps_the_text_before_the_first_version(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    with closing(State(index.home.state_db)) as state, state.transaction() as database:
        database.execute("DELETE FROM revision")
    index.update(UID, content="Second.")
    assert history_of(index) == [(2, "update", "vault-index", COOT), (1, "added", "ann", COOT)]
    index.revert(UID, to=1)
    assert (vault / COOT).read_bytes() == (HEAD + "First.\n").encode()


def test_history_keeps_bytes_that_a_command_found_unindexed(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / COOT).write_text(HEAD + "Saved a moment ago.\n", "utf-8")
    index.update(UID, content="And more.", append=True)
    (vault / COOT).write_bytes(HEAD.encode() + b"Never \xff seen.\n")
    index.delete(UID)
    assert [one[:3] for one in history_of(index)] == [
        (5, "delete", "vault-index"), (4, "edited", "by hand"), (3, "update", "vault-index"), (2, "edited", "by hand"),
        (1, "added", "ann"),
    ]  # fmt: skip
    index.revert(UID)
    assert (vault / COOT).read_bytes() == HEAD.encode() + b"Never \xff seen.\n"
    index.revert(UID, to=2)
    assert (vault / COOT).read_text("utf-8") == HEAD + "Saved a moment ago.\n"


def test_history_follows_a_moved_file(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / "80-memory" / "pond").mkdir()
    (vault / COOT).rename(vault / "80-memory/pond/coot.md")
    index.sync()
    (vault / "80-memory/pond").rename(vault / "80-memory/lake")
    index.sync()
    (vault / "80-memory/lake/coot.md").rename(vault / COOT)
    index.sync()
    (vault / COOT).rename(vault / "80-memory/moor.md")
    put(index, HEAD + "Moved and edited.\n", path="80-memory/moor.md")
    assert [(action, path) for _, action, _, path in history_of(index)] == [
        ("edited", "80-memory/moor.md"),
        ("moved", COOT),
        ("moved", "80-memory/lake/coot.md"),
        ("moved", "80-memory/pond/coot.md"),
        ("added", COOT),
    ]


def test_history_follows_a_memory_without_an_id(index: VaultIndex, vault: Path) -> None:
    put(index, "First.\n", "Second.\n")
    (vault / COOT).rename(vault / "80-memory/moor.md")
    index.sync()
    assert [one[0] for one in history_of(index, "moor")] == [3, 2, 1]
    put(index, HEAD + "Third.\n", path="80-memory/moor.md")
    assert [one[0] for one in history_of(index)] == [4, 3, 2, 1]
    put(index, "---\nid: [broken\n---\nFourth.\n", path="80-memory/moor.md")
    assert [one[0] for one in history_of(index, "moor")] == [5, 4, 3, 2, 1]
    index.revert("moor")
    assert [one[1] for one in history_of(index)] == ["revert", "edited", "edited", "moved", "edited", "added"]


def test_history_starts_again_for_a_changed_id(index: VaultIndex) -> None:
    other = UID.replace("2", "3")
    put(index, HEAD + "First.\n", HEAD.replace(UID, other) + "Second.\n")
    assert [one[:2] for one in history_of(index)] == [(1, "added")]
    assert [one[:2] for one in history_of(index, other)] == [(1, "added")]


def test_history_is_separate_for_two_files_with_one_id(index: VaultIndex) -> None:
    put(index, HEAD + "First.\n")
    copy = "80-memory/copy.md"
    put(index, HEAD + "First.\n", HEAD + "Of the copy.\n", path=copy)
    put(index, HEAD + "Of the first.\n")
    assert [one[0] for one in history_of(index, COOT)] == [4, 1]
    assert [(one[0], one[1]) for one in history_of(index, copy)] == [(3, "edited"), (2, "copied")]
    assert "+Of the copy." in index.diff(copy).text
    index.revert(copy)
    assert index.get(copy).results[0].content == index.get(COOT).results[0].content.replace("Of the first", "First")
    index.delete(copy, permanent=True)
    assert [one[0] for one in history_of(index)] == [4, 1]


def test_revert_restores_a_deleted_memory_by_id_or_path(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / COOT).unlink()
    write(vault, {"80-memory/other.md": "Another.\n"})
    index.sync()
    assert history_of(index, "coot") == [(2, "removed", "by hand", COOT), (1, "added", "ann", COOT)]
    assert index.history(UID[:6]).path == COOT
    write(vault, {COOT: "In its place.\n"})
    assert index.revert(UID).path == "80-memory/coot-2.md"
    assert (vault / "80-memory/coot-2.md").read_bytes() == (HEAD + "First.\n").encode()
    index.undo()
    assert not (vault / "80-memory/coot-2.md").exists()


def test_history_keeps_the_last_fifty_versions(index: VaultIndex) -> None:
    put(index, HEAD)
    for number in range(54):
        index.update(UID, content=f"The text of {number}.")
    history = index.history(UID, limit=100)
    assert (history.total, history.forgotten, len(index._runtime.write.revisions.of(UID))) == (50, 5, 50)
    assert [history.results[0].number, history.results[-1].number] == [55, 6]
    with pytest.raises(NotFoundError, match="has no version 3"):
        index.revert(UID, to=3)
    for _ in range(53):
        index.undo()
    assert "The text of 0." in index.get(UID).results[0].content
    with pytest.raises(ConflictError, match="has changed too often"):
        index.undo()


def test_history_has_no_new_version_of_an_unchanged_file(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    put(index, HEAD + "First.\n", HEAD + "First.\n")
    os.utime(vault / COOT)
    index.sync()
    index.rebuild()
    index.close()
    for file in index.home.data_dir.glob("index.db*"):
        file.unlink()
    with opened(tmp_path) as again:
        again.sync()
        assert history_of(again) == [(1, "added", "ann", COOT)]


def test_history_includes_commits_of_a_repository_around_the_vault(tmp_path: Path) -> None:
    """For a vault that is a repository, see tests/memories/test_history_attacks.py."""
    repository, vault = Repository(tmp_path), tmp_path / "vault"
    old = HEAD + "First, before there was an index.\n"
    repository.commit("one\x01two", {"vault/80-memory/öld.md": old})
    (vault / "80-memory/öld.md").unlink()
    for subject, text in (("Second", old + "More.\n"), ("Third", HEAD + "Third.\n"), ("Last", HEAD + "Fourth.\n")):
        repository.commit(subject, {f"vault/{COOT}": text})
    _, second, third, last = repository.commits
    with opened(tmp_path) as index:
        index.sync()
        found = [one for one in index.history(UID).results if one.commit]
        # The subject of the first commit imitates a second one, so this commit is skipped.
        assert [(one.commit, one.by) for one in found] == [(one, "Ann") for one in (last, third, second)]
        assert index.diff(UID, before=third, after=last[:7]).text.splitlines()[-3:] == ["-Third.", "+Fourth.", " "]
        index.revert(UID, to=third[:8])
        assert (vault / COOT).read_text("utf-8") == HEAD + "Third.\n"
        index.undo()
        assert (vault / COOT).read_text("utf-8") == HEAD + "Fourth.\n"
        with pytest.raises(NotFoundError, match="has no version"):
            index.diff(UID, before="0000000")
