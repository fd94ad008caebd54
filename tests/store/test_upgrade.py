"""Databases of earlier schemas are upgraded, without a text that is embedded again."""

import struct
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from tests.api.vaults import fresh_rows, opened, paths_found, rows, write
from vault_index.embeddings.spaces import ENGLISH
from vault_index.errors import NotSetUpError
from vault_index.models import VectorSpace
from vault_index.store import connection as opening
from vault_index.store.cache import Cache
from vault_index.store.connection import load_vec0
from vault_index.store.state import State
from vault_index.store.text_blocks import add_functions
from vault_index.vectors import SCALE, as_int8

NOTES = {
    "a.md": "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, see [[b|the soft one]].\n",
    "b.md": "# Banana\n\nYellow and soft.\n",
    "camelCase.md": "---\ntags: [useEffect, 東京都]\naliases: [two words]\n---\n# 東京 useMemo\n\nA \u2028.\n",
    "80-memory/note/c.md": "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntitle: Cellar\n---\nIt floods in March.\n",
}
BODY = "(SELECT body FROM new.text_block WHERE id = block_id)"
WHOLE_TEXTS = {
    f"chunk.{column}": f"in_block({BODY}, place, {part})" for part, column in enumerate(("context", "headings", "text"))
}
"""What stood in columns before texts were packed."""
IN_INT8 = 9
SQL = Path(opening.__file__).parent / "sql"
LATEST = len(list((SQL / "index").glob("*.sql")))


def downgrade(index_db: Path, version: int) -> None:
    """The same rows in the tables of an earlier version: made by its own numbered files, filled with what it knew."""
    steps = sorted((SQL / "index").glob("*.sql"))[:version]
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
def test_sync_upgrades_an_index_of_every_schema(tmp_path: Path, version: int) -> None:
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


def test_cache_with_float_vectors_is_upgraded_and_shrinks(tmp_path: Path) -> None:
    path, before_int8 = tmp_path / "cache.db", 3
    server = VectorSpace("openai", "toy", 384, "https://x")
    numbers = np.random.default_rng(1).standard_normal((300, 384))
    vectors = (numbers / np.linalg.norm(numbers, axis=1, keepdims=True)).astype("<f4")
    keys = [number.to_bytes(32, "little") for number in range(len(vectors))]
    with closing(apsw.Connection(str(path))) as old:
        for step in sorted((SQL / "cache").glob("*.sql"))[:before_int8]:
            old.execute(step.read_text("utf-8"))
        old.pragma("user_version", before_int8)
        old.executemany("INSERT INTO space VALUES (?, ?, ?, ?, ?)", [(1, *ENGLISH), (2, *server)])
        old.executemany(
            "INSERT INTO embedding (space_id, key, vector) VALUES (?, ?, ?)",
            [(space, key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True) for space in (1, 2)],
        )
        old.execute("INSERT INTO embedding (space_id, key, vector) VALUES (1, x'aa', x'00')")
    before = path.stat().st_size
    with closing(Cache(path)) as cache:
        assert cache.embeddings(ENGLISH, keys) == dict(zip(keys, map(as_int8, vectors), strict=True))
        assert cache.embeddings(server, keys) == {
            key: vector.tobytes() for key, vector in zip(keys, vectors, strict=True)
        }
        assert cache.embeddings(ENGLISH, [b"\xaa"]) == {}
    assert path.stat().st_size < before * 0.8


@pytest.mark.parametrize("schema", [1, 2])
@pytest.mark.parametrize("first", [Cache, State])
def test_cache_of_the_first_schemas_gives_its_other_tables_to_the_state(
    tmp_path: Path, first: type[Cache | State], schema: int
) -> None:
    with closing(apsw.Connection(str(tmp_path / "cache.db"))) as old:
        for step in sorted((SQL / "cache").glob("*.sql"))[:schema]:
            old.execute(step.read_text("utf-8"))
        old.pragma("user_version", schema)
        old.execute("INSERT INTO usage VALUES ('uid', 3, 5.5)")
        old.execute("INSERT INTO sent VALUES ('2026-11-20', 'https://x', 'toy', 'vault', 'a.md', 2, 100)")
        if schema == 2:
            old.execute("INSERT INTO mirrored VALUES ('ses', '', 'made of', x'77', 7, x'74', '[]')")
    with closing(first(tmp_path / f"{first.__name__.lower()}.db")) as opened:
        assert isinstance(opened, Cache) or opened.accesses(["uid"]) == {"uid": 3}
    with closing(State(tmp_path / "state.db")) as state:
        assert (state.tokens_sent("2026-11-20"), state.usage()) == (100, {"uid": (3, 5.5)})
        assert list(state.mirrored()) == (["ses"] if schema == 2 else [])
    with closing(Cache(tmp_path / "cache.db")) as cache:
        tables = cache.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    assert tables == [("embedding",), ("space",)]
