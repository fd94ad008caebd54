"""An index of an earlier version becomes one of this version at the next sync, without a text embedded anew."""

import struct
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.api.vaults import fresh_rows, opened, paths_found, rows, write
from vault_index.errors import NotSetUpError
from vault_index.store import connection as opening
from vault_index.store.connection import load_vec0
from vault_index.vectors import SCALE

NOTES = {
    "a.md": "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, see [[b|the soft one]].\n",
    "b.md": "# Banana\n\nYellow and soft.\n",
    "80-memory/note/c.md": "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntitle: Cellar\n---\nIt floods in March.\n",
}
LATEST = len(list((Path(opening.__file__).parent / "sql" / "index").glob("*.sql")))
FIRST_IN_INT8 = 9


def downgrade(index_db: Path, version: int) -> None:
    """The same rows in the tables of an earlier version: made by its own numbered files, filled with what it knew."""
    steps = sorted((Path(opening.__file__).parent / "sql" / "index").glob("*.sql"))[:version]
    new = index_db.with_name("new.db")
    index_db.rename(new)
    old = apsw.Connection(str(index_db))
    load_vec0(old)
    old.pragma("journal_mode", "wal")
    for step in steps:
        old.execute(step.read_text("utf-8"))
    old.pragma("user_version", version)
    old.execute("ATTACH ? AS new", (str(new),))
    tables = [name for (name,) in old.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
    plain = [name for name in tables if not name.startswith(("chunk_fts", "name_fts", "sqlite_"))]
    for table in plain:
        columns = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
        old.execute(f"DELETE FROM main.{table}")
        old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    for table in ("chunk_fts", "name_fts"):  # their own tables, row for row: the index itself cannot be read back
        for part in ("data", "idx", "docsize", "config"):
            old.execute(f"DELETE FROM main.{table}_{part}")
            old.execute(f"INSERT INTO main.{table}_{part} SELECT * FROM new.{table}_{part}")
    for (space,) in old.execute("SELECT id FROM vector_space").fetchall():
        kept: Any = old.execute(f"SELECT rowid, embedding FROM new.vector_{space}").fetchall()
        if version >= FIRST_IN_INT8:
            old.execute(f"CREATE VIRTUAL TABLE vector_{space} USING vec0 (embedding int8[384])")
            old.executemany(f"INSERT INTO vector_{space} (rowid, embedding) VALUES (?, vec_int8(?))", kept)
            continue
        old.execute(f"CREATE VIRTUAL TABLE vector_{space} USING vec0 (embedding float[384])")
        floats = ((id_, struct.pack("<384f", *(n / SCALE for n in struct.unpack("<384b", v)))) for id_, v in kept)
        old.executemany(f"INSERT INTO vector_{space} (rowid, embedding) VALUES (?, ?)", floats)
    old.execute("DETACH new")
    old.close()
    new.unlink()
    index_db.chmod(0o600)


@pytest.mark.parametrize("version", range(1, LATEST))
def test_an_index_of_every_earlier_version_is_carried_over(tmp_path: Path, version: int) -> None:
    with opened(tmp_path, provider="local") as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
        index_db = index.home.index_db
    downgrade(index_db, version)
    with opened(tmp_path, provider="local") as index:
        with pytest.raises(NotSetUpError, match="older vault-index") as caught:
            index.search("crunchy")
        assert "vault-index sync" in caught.value.hint
        assert [problem.code for problem in index.status().problems] == ["not_set_up"]
        report = index.sync()
        assert (report.embedded, report.pending, report.removed) == (0, 0, 0)
        assert paths_found(index, "crunchy", mode="text") == ["a.md"]
        assert index.doctor().healthy
        assert rows(index_db) == fresh_rows(tmp_path, provider="local")


def test_an_earlier_index_may_be_deleted_and_costs_no_embedding(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
    for path in (tmp_path / "home").glob("index.db*"):
        path.unlink()
    with opened(tmp_path, provider="local") as index:
        report = index.sync()
        assert (report.embedded, report.cached) == (0, report.chunks)
