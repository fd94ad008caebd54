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
from vault_index.store.text_blocks import add_functions
from vault_index.vectors import SCALE

NOTES = {
    "a.md": "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, see [[b|the soft one]].\n",
    "b.md": "# Banana\n\nYellow and soft.\n",
    "80-memory/note/c.md": "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntitle: Cellar\n---\nIt floods in March.\n",
}
ODD = {
    "80-memory/note/fields.md": "---\nid: 1f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\nsubtitle: Never a dry day\n---\nWet.\n",
    "camelCase.md": "---\ntags: [useEffect, b/c, aB, 東京都]\naliases: [hookRule, two words]\nstatus: fineState\n---\n"
    "# 東京 useMemo\n\nX.\n",
    "untitled.md": "No title, but text.\n",
}
"""What is indexed of a text otherwise than it stands there."""
BODY = "(SELECT body FROM new.text_block WHERE id = block_id)"
WHOLE_TEXTS = {
    f"chunk.{column}": f"in_block({BODY}, place, {part})" for part, column in enumerate(("context", "headings", "text"))
}
"""What stood in columns before texts were packed."""
IN_INT8 = 9
LATEST = len(list((Path(opening.__file__).parent / "sql" / "index").glob("*.sql")))


def downgrade(index_db: Path, version: int) -> None:
    """The same rows in the tables of an earlier version: made by its own numbered files, filled with what it knew."""
    steps = sorted((Path(opening.__file__).parent / "sql" / "index").glob("*.sql"))[:version]
    new = index_db.with_name("new.db")
    index_db.rename(new)
    old = apsw.Connection(str(index_db))
    load_vec0(old)
    add_functions(old)
    old.pragma("journal_mode", "wal")
    for step in steps:
        old.execute(step.read_text("utf-8"))
    old.pragma("user_version", version)
    old.execute("ATTACH ? AS new", (str(new),))
    tables = [name for (name,) in old.execute("SELECT name FROM main.sqlite_master WHERE type = 'table'")]
    plain = [name for name in tables if not name.startswith(("chunk_fts", "name_fts", "sqlite_"))]
    for table in plain:
        columns = [row[1] for row in old.execute(f"PRAGMA main.table_info({table})")]
        told = ", ".join(WHOLE_TEXTS.get(f"{table}.{column}", column) for column in columns)
        old.execute(f"DELETE FROM main.{table}")
        old.execute(f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {told} FROM new.{table}")
    for table in ("chunk_fts", "name_fts"):  # their own tables, row for row: the index itself cannot be read back
        for part in ("data", "idx", "docsize", "config"):
            old.execute(f"DELETE FROM main.{table}_{part}")
            old.execute(f"INSERT INTO main.{table}_{part} SELECT * FROM new.{table}_{part}")
    for (space,) in old.execute("SELECT id FROM vector_space").fetchall():
        if version >= IN_INT8:
            old.execute(f"CREATE VIRTUAL TABLE vector_{space} USING vec0 (embedding int8[384])")
            same = f"SELECT rowid, vec_int8(embedding) FROM new.vector_{space}"
            old.execute(f"INSERT INTO vector_{space} (rowid, embedding) {same}")
            continue
        old.execute(f"CREATE VIRTUAL TABLE vector_{space} USING vec0 (embedding float[384])")
        kept: Any = old.execute(f"SELECT rowid, embedding FROM new.vector_{space}").fetchall()
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


def test_texts_of_an_earlier_index_are_packed_as_those_of_a_new_one(tmp_path: Path) -> None:
    steps = sorted((Path(opening.__file__).parent / "sql" / "index").glob("*.sql"))
    before = next(number for number, step in enumerate(steps) if step.stem.endswith("_text"))
    notes = {"long.md": "".join(f"## Part {n}\n\n{'Ärger, 🍎 and so on. ' * n}\n\n" for n in range(60))}
    with opened(tmp_path) as index:
        write(tmp_path / "vault", {**NOTES, **notes, **ODD, "odd.md": '# "Odd\\n"\n\nA \0 and \u2028 in <b>it</b>.\n'})
        index.sync()
        index_db = index.home.index_db
    fresh = rows(index_db)
    assert len({place for *_, place, _, _, _, _ in fresh["chunk"]}) > 2
    downgrade(index_db, before)
    with opened(tmp_path) as index:
        assert index.sync().changed == 1  # the words of a memory's fields cannot be told from its rows
        assert rows(index_db) == fresh
        assert [problem.code for problem in index.doctor(deep=True).problems] == []
        assert paths_found(index, "odd", mode="text") == ["odd.md"]


def test_an_earlier_index_may_be_deleted_and_costs_no_embedding(tmp_path: Path) -> None:
    with opened(tmp_path, provider="local") as index:
        write(tmp_path / "vault", NOTES)
        index.sync()
    for path in (tmp_path / "home").glob("index.db*"):
        path.unlink()
    with opened(tmp_path, provider="local") as index:
        report = index.sync()
        assert (report.embedded, report.cached) == (0, report.chunks)
