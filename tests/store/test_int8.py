"""Vectors that an earlier version kept as float32 become int8 if they are of the shipped model, and take less space."""

import hashlib
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import apsw
import numpy as np
import pytest

from tests.api.vaults import fresh_rows, opened, rows, write
from tests.store.test_upgrade import NOTES, downgrade
from vault_index.embeddings.spaces import ENGLISH
from vault_index.models import VectorSpace
from vault_index.store import connection as opening, spaces, writer
from vault_index.store.cache import Cache
from vault_index.store.connection import load_vec0
from vault_index.vectors import as_int8

FLOAT32 = {"index": 8, "cache": 3}
"""The last schemas with vectors in float32 alone."""
LOCAL, SERVER = ENGLISH, VectorSpace("openai", "toy", 384, "https://x")
FLOATS = np.random.default_rng(1).standard_normal((300, 384))
VECTORS = (FLOATS / np.linalg.norm(FLOATS, axis=1, keepdims=True)).astype("<f4")
KEYS = [hashlib.sha256(bytes([number % 256, number // 256])).digest() for number in range(len(VECTORS))]


KILLED = """
import os, sys, pathlib
from vault_index.store import connection, writer
calls = []
def killed_at_the_second(vector):
    calls.append(vector)
    return bytes(384) if len(calls) < 2 else os._exit(9)
connection._as_int8 = killed_at_the_second
writer.IndexWriter(pathlib.Path(sys.argv[1]))
"""


def test_a_cache_is_carried_over_and_gives_back_its_space(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with closing(apsw.Connection(str(path))) as old:
        for step in sorted((Path(opening.__file__).parent / "sql" / "cache").glob("*.sql"))[: FLOAT32["cache"]]:
            old.execute(step.read_text("utf-8"))
        old.pragma("user_version", FLOAT32["cache"])
        old.executemany("INSERT INTO space VALUES (?, ?, ?, ?, ?)", [(1, *LOCAL), (2, *SERVER)])
        for space_id, count in ((1, len(KEYS)), (2, 9)):
            old.executemany(
                "INSERT INTO embedding (space_id, key, vector) VALUES (?, ?, ?)",
                [(space_id, key, vector.tobytes()) for key, vector in zip(KEYS[:count], VECTORS, strict=False)],
            )
        old.execute("INSERT INTO embedding (space_id, key, vector) VALUES (1, x'aa', x'00')")
    before = path.stat().st_size
    with closing(Cache(path)) as cache:
        local = cache.embeddings(LOCAL, KEYS)
        assert local == {key: as_int8(vector) for key, vector in zip(KEYS, VECTORS, strict=True)}
        assert cache.embeddings(SERVER, KEYS) == {
            key: vector.tobytes() for key, vector in zip(KEYS[:9], VECTORS, strict=False)
        }
        assert cache.embeddings(LOCAL, [b"\xaa"]) == {}
        cache.put_embeddings(LOCAL, local)
        assert cache.value("SELECT count(*) FROM embedding") == len(KEYS) + 9
    assert path.stat().st_size < before / 3


def float_index(folder: Path) -> Path:
    """An index of the version that kept float32, with a vector of every chunk."""
    with opened(folder, provider="local") as index:
        write(folder / "vault", NOTES)
        index.sync()
        index_db = index.home.index_db
    downgrade(index_db, FLOAT32["index"])
    return index_db


def assert_carried_over(folder: Path, index_db: Path) -> None:
    with opened(folder, provider="local") as index:
        report = index.sync()
        assert (report.embedded, report.pending) == (0, 0)
        assert index.doctor(deep=True).healthy
    assert rows(index_db) == fresh_rows(folder, provider="local")


def test_a_table_that_was_left_is_in_nobodys_way(tmp_path: Path) -> None:
    index_db = float_index(tmp_path)
    with closing(apsw.Connection(str(index_db))) as old:
        load_vec0(old)
        old.execute("CREATE VIRTUAL TABLE vector_2 USING vec0 (embedding float[384])")
    assert_carried_over(tmp_path, index_db)


def test_a_migration_that_is_killed_begins_again(tmp_path: Path) -> None:
    index_db = float_index(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(index_db)], check=False)
    assert killed.returncode == 9
    with closing(apsw.Connection(str(index_db))) as old:
        assert old.pragma("user_version") == FLOAT32["index"]
    assert_carried_over(tmp_path, index_db)


def test_without_vec0_they_come_from_the_cache_when_it_works_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index_db = float_index(tmp_path)
    with monkeypatch.context() as patch:
        for module in (spaces, writer):
            patch.setattr(module, "load_vec0", lambda _: False)
        writer.IndexWriter(index_db).close()
    assert_carried_over(tmp_path, index_db)
