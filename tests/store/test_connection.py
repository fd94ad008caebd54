import os
import stat
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.api.vaults import fresh_rows, opened, rows, write
from tests.waiting import PATIENCE
from vault_index.errors import IndexTooNewError, NotSetUpError, VaultIndexError
from vault_index.store.connection import connect
from vault_index.store.reader import IndexReader
from vault_index.store.writer import IndexWriter


def test_reader_does_not_create_an_index(tmp_path: Path) -> None:
    with pytest.raises(NotSetUpError) as caught:
        connect(tmp_path / "index.db", "index", writable=False)
    assert "sync" in caught.value.hint
    assert not (tmp_path / "index.db").exists()


def test_databases_are_private_to_their_owner(tmp_path: Path) -> None:
    writer = IndexWriter(tmp_path / "deep" / "index.db")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "deep").iterdir()}
    writer.close()
    assert set(modes.values()) == {0o600}
    assert "index.db-wal" in modes
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700


def test_index_of_a_newer_schema_is_left_unchanged(tmp_path: Path) -> None:
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


def test_open_names_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(VaultIndexError, match="cannot open or write"):
        IndexWriter(tmp_path / "file" / "index.db")
    now = os.statvfs(tmp_path)
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result((*now[:4], 0, *now[5:])))
    with pytest.raises(VaultIndexError, match="no space left"):
        IndexWriter(tmp_path / "file" / "index.db")


_FIRST_START = """
import resource, sys
from vault_index import VaultIndex
from vault_index.errors import VaultIndexError

with VaultIndex.open(sys.argv[1]) as index:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        index.sync()
    except VaultIndexError as error:
        print(error.message)
"""


@pytest.mark.parametrize("limit", [1, 100_000])
def test_first_start_on_a_full_disk_is_named_and_can_be_repeated(tmp_path: Path, limit: int) -> None:
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {"a.md": "Apples.\n"})
        run = subprocess.run(
            [sys.executable, "-c", _FIRST_START, str(tmp_path / "home"), str(limit)],
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert (run.stderr, "cannot open or write" in run.stdout) == ("", True)
        assert index.sync().added == 1
        assert rows(index.home.index_db) == fresh_rows(tmp_path)
