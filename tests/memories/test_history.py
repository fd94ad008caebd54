"""`history`, `diff`, `revert`: every version that was seen, byte for byte, whoever wrote it and wherever it moved."""

import os
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import opened, write
from vault_index import VaultIndex
from vault_index.errors import NotFoundError, StateDamagedError, UsageError
from vault_index.indexer.sync import _WRITTEN_TOGETHER
from vault_index.store.state import State, mend
from vault_index.store.versions import Versions
from vault_index.store.writer import IndexWriter

UID = "22222222-2222-4222-8222-222222222222"
HEAD = f"---\nid: {UID}\nentered_by: ann\n---\n"
COOT = "80-memory/coot.md"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[VaultIndex]:
    with opened(tmp_path) as opened_index:
        (tmp_path / "vault" / "80-memory").mkdir()
        yield opened_index


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def put(index: VaultIndex, *texts: bytes | str, path: str = COOT) -> None:
    """Write a file by hand, and have each text indexed."""
    for text in texts:
        file = next(iter(index._runtime.vaults.values())).config.path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        index.sync()


def told(index: VaultIndex, ref: str = UID) -> list[tuple[int | None, str, str, str]]:
    return [(one.number, one.action, one.by, one.path) for one in index.history(ref, limit=100).results]


def test_versions_say_who_did_what(index: VaultIndex, vault: Path) -> None:
    stored = index.add("The coot dives.", title="Coots", by="ann")
    index.update(stored.id, content="It swims.", by="build-agent")
    index.update(stored.id, add_tags="birds")
    file = vault / stored.path
    file.write_text(file.read_text("utf-8").replace("swims", "flies"), "utf-8")
    index.sync()
    index.delete(stored.id)
    assert told(index, stored.id) == [
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


def test_what_is_put_back_is_not_said_to_be_by_its_author(index: VaultIndex) -> None:
    stored = index.add("The coot dives.", entered_by="ann")
    index.delete(stored.id)
    index.undo()
    index.delete(stored.id)
    index.revert(stored.id)
    said = [(one.action, one.by) for one in index.history(stored.id).results]
    assert said[::2] == [("revert", "vault-index"), ("undo", "vault-index"), ("add", "ann")]


@pytest.mark.parametrize(
    "strange",
    [
        f"---\r\nid: {UID}\r\n---\r\nThe coot dives.\r\n".encode(),
        b"\xef\xbb\xbf" + HEAD.encode() + b"The coot dives.",
        HEAD.encode() + b"The coot \xff\xfe dives.\n",
        HEAD.encode() + b"\x00The\x1b[31m coot\n",
    ],
    ids=["CRLF", "BOM", "no UTF-8", "control characters"],
)
def test_every_byte_comes_back(index: VaultIndex, vault: Path, strange: bytes) -> None:
    put(index, strange, HEAD + "Something else.\n", HEAD)
    index.revert(UID, to=1)
    assert (vault / COOT).read_bytes() == strange
    index.undo()
    assert (vault / COOT).read_bytes() == HEAD.encode()
    index.revert(UID)
    assert (vault / COOT).read_bytes() == strange
    put(index, b"")  # emptied by hand: it has no id for now
    assert index.revert(COOT).path == COOT
    assert (vault / COOT).read_bytes() == strange
    empty = next(one.number for one in index.history(UID).results if not one.bytes)
    index.revert(UID, to=empty)
    assert (vault / COOT).read_bytes() == b""


def test_bytes_that_a_command_overwrites_are_kept_though_never_indexed(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    with closing(State(index.home.state_db)) as state, state.transaction() as database:
        database.execute("DELETE FROM version")
    index.update(UID, content="Second.")
    assert told(index) == [(2, "update", "vault-index", COOT), (1, "added", "ann", COOT)]
    index.revert(UID, to=1)
    assert (vault / COOT).read_bytes() == (HEAD + "First.\n").encode()


def test_bytes_that_a_command_takes_away_are_kept_though_never_indexed(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / COOT).write_bytes(HEAD.encode() + b"Never \xff seen.\n")
    index.delete(UID)
    assert [one[:3] for one in told(index)] == [
        (3, "delete", "vault-index"), (2, "edited", "by hand"), (1, "added", "ann")
    ]  # fmt: skip
    index.revert(UID)
    assert (vault / COOT).read_bytes() == HEAD.encode() + b"Never \xff seen.\n"


def test_a_file_that_moves_keeps_its_history(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / "80-memory" / "pond").mkdir()
    (vault / COOT).rename(vault / "80-memory/pond/coot.md")
    index.sync()
    (vault / "80-memory/pond/coot.md").rename(vault / COOT)
    index.sync()
    (vault / COOT).rename(vault / "80-memory/moor.md")
    put(index, HEAD + "Moved and edited.\n", path="80-memory/moor.md")
    assert [(action, path) for _, action, _, path in told(index)] == [
        ("edited", "80-memory/moor.md"),
        ("moved", COOT),
        ("moved", "80-memory/pond/coot.md"),
        ("added", COOT),
    ]


def test_a_memory_without_an_id_keeps_its_history(index: VaultIndex, vault: Path) -> None:
    put(index, "First.\n", "Second.\n")
    (vault / COOT).rename(vault / "80-memory/moor.md")
    index.sync()
    assert [one[0] for one in told(index, "moor")] == [3, 2, 1]
    put(index, HEAD + "Third.\n", path="80-memory/moor.md")
    assert [one[0] for one in told(index)] == [4, 3, 2, 1]
    put(index, "---\nid: [broken\n---\nFourth.\n", path="80-memory/moor.md")
    assert [one[0] for one in told(index, "moor")] == [5, 4, 3, 2, 1]
    index.revert("moor")
    assert [one[1] for one in told(index)] == ["revert", "edited", "edited", "moved", "edited", "added"]


def test_two_files_with_one_id_have_each_its_own(index: VaultIndex) -> None:
    put(index, HEAD + "First.\n")
    copy = "80-memory/copy.md"
    put(index, HEAD + "First.\n", HEAD + "Of the copy.\n", path=copy)
    put(index, HEAD + "Of the first.\n")
    assert [one[0] for one in told(index, COOT)] == [4, 1]
    assert [(one[0], one[1]) for one in told(index, copy)] == [(3, "edited"), (2, "copied")]
    assert "+Of the copy." in index.diff(copy).text
    index.revert(copy)
    assert index.get(copy).results[0].content == index.get(COOT).results[0].content.replace("Of the first", "First")
    index.delete(copy, permanent=True)
    assert [one[0] for one in told(index)] == [4, 1]


def test_a_deleted_memory_comes_back_by_its_id_or_its_path(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    (vault / COOT).unlink()
    write(vault, {"80-memory/other.md": "Another.\n"})
    index.sync()
    assert told(index, "coot") == [(2, "removed", "by hand", COOT), (1, "added", "ann", COOT)]
    assert index.history(UID[:6]).path == COOT
    write(vault, {COOT: "In its place.\n"})
    assert index.revert(UID).path == "80-memory/coot-2.md"
    assert (vault / "80-memory/coot-2.md").read_bytes() == (HEAD + "First.\n").encode()
    index.undo()
    assert not (vault / "80-memory/coot-2.md").exists()


def test_the_last_fifty_are_kept_and_it_is_said_how_many_are_not(index: VaultIndex) -> None:
    versions = index._runtime.write.versions
    put(index, HEAD)
    for number in range(60):
        index.update(UID, content=f"The text of {number}.")
    history = index.history(UID, limit=100)
    assert (history.total, history.forgotten, len(versions.of(UID))) == (50, 11, 50)
    assert [history.results[0].number, history.results[-1].number] == [61, 12]
    with pytest.raises(NotFoundError, match="has no version 3"):
        index.revert(UID, to=3)


def test_what_is_the_same_is_no_version(index: VaultIndex, vault: Path, tmp_path: Path) -> None:
    put(index, HEAD + "First.\n", HEAD + "First.\n")
    os.utime(vault / COOT)
    index.sync()
    index.rebuild()
    index.close()
    for file in index.home.data_dir.glob("index.db*"):
        file.unlink()
    with opened(tmp_path) as again:
        again.sync()
        assert told(again) == [(1, "added", "ann", COOT)]


def test_memories_of_a_large_sync_all_have_a_version(index: VaultIndex, vault: Path) -> None:
    count = 2 * _WRITTEN_TOGETHER + 3
    write(vault, {f"80-memory/{number:03}.md": f"Memory {number}.\n" for number in range(count)})
    write(vault, {f"notes/{number:03}.md": f"Note {number}.\n" for number in range(3)})
    index.sync()
    assert {index.history(f"{number:03}").total for number in range(count)} == {1}
    with pytest.raises(UsageError, match="is no memory but a note"):
        index.history("notes/001.md")


class _Killed(BaseException):
    """Nothing catches it."""


def test_what_is_indexed_when_we_are_killed_has_its_version(
    index: VaultIndex, vault: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault, {f"80-memory/{number}.md": f"Memory {number}.\n" for number in range(9)})
    left, really = [None] * 4, IndexWriter.put_document

    def dies(*given: object) -> None:
        if not left:
            raise _Killed
        left.pop()
        really(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(IndexWriter, "put_document", dies)
        with pytest.raises(_Killed):
            index.sync()
    index.sync()
    assert {index.history(str(number)).total for number in range(9)} == {1}


def test_an_empty_text_is_refused_unless_it_is_meant(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD.replace("---\n", "---\ntitle: Coots\n", 1) + "## Where\n\nIn the reeds.\n")
    for content in ("", " \n"):
        with pytest.raises(UsageError, match="the text is empty") as refused:
            index.update(UID, content=content)
        assert "--allow-empty" in refused.value.hint
        with pytest.raises(UsageError, match="the text is empty"):
            index.update(UID, content=content, section="Where")
    index.update(UID, content="", allow_empty=True)
    assert "reeds" not in (vault / COOT).read_text("utf-8")
    index.revert(UID)
    assert "reeds" in (vault / COOT).read_text("utf-8")


def bytes_kept(folder: Path) -> bytes:
    """All that the state holds, as it is and unpacked."""
    kept = b"".join(file.read_bytes() for file in folder.glob("state.db*"))
    found = [kept]
    start = kept.find(b"\x78\x9c")
    while start >= 0:
        inflate = zlib.decompressobj()
        with suppress(zlib.error):
            found.append(inflate.decompress(kept[start : start + 100_000], 10_000))
        start = kept.find(b"\x78\x9c", start + 1)
    return b"\n".join(found)


@pytest.mark.parametrize("trashed", [False, True])
def test_delete_permanent_forgets_what_was_said(index: VaultIndex, vault: Path, trashed: bool) -> None:
    write(vault, {"80-memory/other.md": "Another memory, which stays.\n"})
    put(index, *(f"{HEAD}The zyxwvutolk {'dives ' * number} {number}.\n" for number in range(30)))
    index.update(UID, content="The zyxwvutolk swims.")
    index.update("other", content="It stays all the same.")
    folder = index.home.data_dir
    assert b"zyxwvutolk" in bytes_kept(folder)
    if trashed:
        index.delete(UID)
        assert b"zyxwvutolk" in bytes_kept(folder)
    index.delete(UID, permanent=True)
    assert b"zyxwvutolk" not in bytes_kept(folder)
    assert b"which stays" in bytes_kept(folder)
    with pytest.raises(NotFoundError):
        index.history(UID)
    assert [one.details["work"] for one in index.undo().results] == ["update"]
    assert (vault / "80-memory/other.md").read_text("utf-8") == "Another memory, which stays.\n"


def test_a_damaged_state_stops_neither_sync_nor_search(index: VaultIndex, vault: Path) -> None:
    put(index, HEAD + "First.\n")
    for file in index.home.data_dir.glob("state.db*"):
        file.unlink()
    index.home.state_db.write_bytes(b"no database" * 1000)
    put(index, HEAD + "The heron fishes.\n")
    assert index.search("heron", mode="text").results[0].path == COOT
    with pytest.raises(StateDamagedError):
        index.history(UID)


def test_versions_and_the_journal_outlive_a_mending(index: VaultIndex, tmp_path: Path) -> None:
    put(index, HEAD + "First.\n", HEAD + "Second.\n")
    index.update(UID, content="Third.")
    index.close()
    with closing(apsw.Connection(str(index.home.state_db))) as connection:
        connection.execute("DROP TABLE sent")
    assert "3 rows of version" in mend(index.home.state_db)
    with opened(tmp_path) as again:
        assert [one[0] for one in told(again)] == [3, 2, 1]
        assert [one.path for one in again.undo().results] == [COOT]
        assert told(again)[0][:2] == (4, "undo")


def test_doctor_mends_damaged_versions_which_stop_nothing_else(index: VaultIndex, tmp_path: Path) -> None:
    put(index, *(f"{HEAD}{os.urandom(3000).hex()}\n" for _ in range(20)))
    stored = index.add("Herons nest in the reeds.")
    index.close()
    data = bytearray(index.home.state_db.read_bytes())
    with closing(apsw.Connection(str(index.home.state_db))) as connection:
        first = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'version'").get
    data[(first - 1) * 4096 : first * 4096] = b"\xff" * 4096
    index.home.state_db.write_bytes(data)
    with opened(tmp_path) as again:
        again._runtime.write._state.check()
        again.update(stored.id, content="They do.")
        assert again.search("herons", mode="text").results == ()
        assert [one.code for one in again.doctor().problems if one.code == "state_damaged"] == ["state_damaged"]
        assert [one.code for one in again.repair().fixed] == ["state_damaged"]
        again.update(stored.id, content="They did.")
        assert again.history(stored.id).total > 0


def test_no_look_at_the_state_reads_the_versions(tmp_path: Path) -> None:
    """They grow with every change, and every command looks whether the ledger is sound."""
    with closing(State(tmp_path / "state.db")) as state:
        state.check()
        with state.transaction() as database:
            database.execute("PRAGMA ignore_check_constraints = 1")
            database.execute("INSERT INTO change VALUES (1, 1.0, 'add', '', 7)")
    with closing(State(tmp_path / "state.db")) as state:
        state.check()
        assert Versions(state).last_change() is None


# --- git ---------------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> str:
    env = {
        **os.environ, "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org", "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "ann@example.org", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1",
    }  # fmt: skip
    return subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["the vault", "a folder around it"])
def repository(request: pytest.FixtureRequest, vault: Path) -> Path:
    folder = vault if request.param == "the vault" else vault.parent
    vault.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return folder


def committed(repository: Path, vault: Path, text: str, path: str, subject: str) -> str:
    write(vault, {path: text})
    git(repository, "add", "-A", str(vault))
    git(repository, "commit", "-q", "-m", subject)
    return git(repository, "rev-parse", "HEAD").strip()


def test_commits_are_versions_too(repository: Path, vault: Path, index: VaultIndex) -> None:
    first = committed(repository, vault, HEAD + "First, before there was an index.\n", "80-memory/öld.md", "one\x01two")
    (vault / "80-memory/öld.md").rename(vault / COOT)
    second = committed(repository, vault, HEAD + "First, before there was an index.\nMore.\n", COOT, "More of it")
    index.sync()
    results = index.history(UID).results
    commits = [(one.commit, one.by, one.action, one.path, one.number) for one in results if one.commit]
    assert [one[0] for one in commits] == [second]  # what poses as a commit is left out
    third = committed(repository, vault, HEAD + "Third.\n", COOT, "Third")
    fourth = committed(repository, vault, HEAD + "Fourth.\n", COOT, "Fourth")
    assert first
    assert [one.commit for one in index.history(UID).results if one.commit] == [fourth, third, second]
    assert index.diff(UID, after=fourth[:7]).text.splitlines()[-3:] == ["-Third.", "+Fourth.", " "]
    index.revert(UID, to=third[:8])
    assert (vault / COOT).read_text("utf-8") == HEAD + "Third.\n"
    with pytest.raises(NotFoundError, match="has no version"):
        index.diff(UID, before="0000000")


def test_nothing_of_the_repository_is_run(repository: Path, vault: Path, index: VaultIndex, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    hash_ = committed(repository, vault, HEAD + "First.\n", COOT, "First")
    committed(repository, vault, HEAD + "Second.\n", COOT, "Second")
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{ran}'\ncat\n", "utf-8")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.x.textconv",
        "filter.x.smudge",
        "core.sshCommand",
    ):
        git(repository, "config", key, str(program))
    git(repository, "config", "core.hooksPath", str(tmp_path))
    write(repository, {".gitattributes": "*.md diff=x filter=x\n", ".git/info/attributes": "*.md diff=x filter=x\n"})
    ran.unlink(missing_ok=True)
    index.sync()
    assert len([one for one in index.history(UID).results if one.commit]) == 2
    index.revert(UID, to=hash_)
    assert (vault / COOT).read_text("utf-8") == HEAD + "First.\n"
    assert not ran.exists()
