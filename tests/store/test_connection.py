import os
import stat
from pathlib import Path

import apsw
import pytest

from vault_index.errors import IndexCorruptError, IndexTooNewError, NotSetUpError, VaultIndexError
from vault_index.store.connection import connect
from vault_index.store.counts import read_meta, write_meta
from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


def test_a_reader_does_not_create_an_index(tmp_path: Path) -> None:
    with pytest.raises(NotSetUpError) as caught:
        connect(tmp_path / "index.db", "index", writable=False)
    assert "sync" in caught.value.hint
    assert not (tmp_path / "index.db").exists()


def test_databases_belong_to_their_owner_alone(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "deep" / "index.db")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep").iterdir()}
    writer.close()
    assert set(modes.values()) == {0o600}
    assert "index.db-wal" in modes
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


def test_an_index_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    IndexWriter(path).close()
    connection = apsw.Connection(str(path))
    connection.pragma("user_version", 99)
    connection.close()
    before = path.read_bytes()
    for opener in (IndexWriter, IndexReader):
        with pytest.raises(IndexTooNewError, match="schema 99") as caught:
            opener(path)
        assert "upgrade" in caught.value.hint
    assert path.read_bytes() == before


def test_a_file_that_is_no_database_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "index.db"
    path.write_bytes(b"this is not a database, " * 500)
    for opener in (IndexWriter, IndexReader):
        with pytest.raises(IndexCorruptError, match="damaged") as caught:
            opener(path)
        assert "vault-index rebuild" in caught.value.hint


def test_opening_twice_migrates_once(tmp_path: Path) -> None:
    first, second = IndexWriter(tmp_path / "index.db"), IndexWriter(tmp_path / "index.db")
    write_meta(second, "key", "value")
    assert read_meta(first, "key") == "value"
    first.close()
    second.close()


def test_a_reader_cannot_write(tmp_path: Path) -> None:
    IndexWriter(tmp_path / "index.db").close()
    connection = connect(tmp_path / "index.db", "index", writable=False)
    with pytest.raises(apsw.ReadOnlyError):
        connection.execute("DELETE FROM document")
    connection.close()


def test_what_cannot_be_opened_on_a_full_disk_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "index.db").mkdir()
    with pytest.raises(VaultIndexError, match="cannot open or write"):
        IndexReader(tmp_path / "index.db")
    now = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*now[:4], 0, *now[5:])))
    with pytest.raises(VaultIndexError, match="no space left"):
        IndexReader(tmp_path / "index.db")
