"""Looks into the databases for what no query would show: damage, and rows that do not go together."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from vault_index.models import Vector, VectorSpace
from vault_index.store.connection import connect, fetch_all, load_vec0, translated
from vault_index.store.records import SpaceRow
from vault_index.store.spaces import read_spaces

_BATCH = 2000


class Checkup:
    """An index as it is on the disk. Use it while holding the write lock, for FTS5 checks itself by writing nothing
    into its table."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, "index", writable=False)
        self._connection.pragma("query_only", False)
        self._vec0 = load_vec0(self._connection)

    def close(self) -> None:
        self._connection.close()

    def damage(self) -> str:
        """What SQLite itself says is wrong with the file; empty where nothing is."""
        with translated(self._path):
            (said,) = fetch_all(self._connection, "PRAGMA quick_check(1)")[0]
        return "" if said == "ok" else " ".join(str(said).split())

    def terms(self) -> str:
        """What is wrong with what is searched by words."""
        for table, rows in (("chunk_fts", "chunk"), ("name_fts", "document")):
            try:
                self._connection.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
            except (apsw.CorruptError, apsw.SQLError) as error:
                return f"{table} does not pass its integrity check ({error})"
            # Names are written at the end of a sync: until then one that was interrupted is not finished, and no more.
            pending = table == "name_fts" and fetch_all(self._connection, "SELECT 1 FROM stale_name LIMIT 1")
            lone = 0 if pending else self._differing(f"SELECT rowid FROM {table}", f"SELECT id FROM {rows}")
            if lone:
                return f"{lone} rows of {table} and {rows} lack each other"
        return ""

    def vectors(self) -> str:
        """What is wrong with the vectors; those that are pending count as there."""
        if not self._vec0:
            return ""
        for row in read_spaces(self._connection):
            pending = f"SELECT chunk_id FROM pending WHERE space_id = {row.id:d}"
            there = f"SELECT rowid FROM vector_{row.id:d} UNION ALL {pending}"
            try:
                lone = self._differing(there, "SELECT id FROM chunk")
                ((many,),) = fetch_all(
                    self._connection, f"SELECT count(*) - (SELECT count(*) FROM chunk) FROM ({there})"
                )
            except apsw.SQLError as error:
                return f"the vectors of {row.space.model} cannot be read ({error})"
            if lone or many:
                return f"{max(lone, abs(int(many)))} chunks and vectors of {row.space.model} do not go together"
        return ""

    def serving(self) -> VectorSpace | None:
        """The space whose vectors answer."""
        row = self._serving()
        return row.space if row is not None else None

    def vectors_by_key(self) -> Iterator[list[tuple[bytes, Vector]]]:
        """The serving vectors with the keys of what was embedded, in batches."""
        serving = self._serving()
        last: int | None = -1
        while self._vec0 and serving is not None and last is not None:
            table = f"vector_{serving.id:d}"
            rows = fetch_all(
                self._connection,
                f"SELECT chunk.id, embed_key, embedding FROM chunk CROSS JOIN {table} ON {table}.rowid = chunk.id"
                " WHERE chunk.id > ? ORDER BY chunk.id LIMIT ?",
                (last, _BATCH),
            )
            last = rows[-1][0] if rows else None
            yield [(key, vector) for _, key, vector in rows]

    def _serving(self) -> SpaceRow | None:
        return next((row for row in read_spaces(self._connection) if row.serving), None)

    def _differing(self, one: str, other: str) -> int:
        """How many rows are in one of two queries alone."""
        both = f"SELECT * FROM ({one}) EXCEPT SELECT * FROM ({other})"
        back = f"SELECT * FROM ({other}) EXCEPT SELECT * FROM ({one})"
        with translated(self._path):
            counts = fetch_all(
                self._connection, f"SELECT (SELECT count(*) FROM ({both})), (SELECT count(*) FROM ({back}))"
            )
        return int(sum(counts[0]))


def cache_damage(path: Path) -> str:
    """What SQLite says is wrong with `cache.db`; empty where nothing is."""
    with _opened(path) as connection, translated(path):
        (said,) = fetch_all(connection, "PRAGMA quick_check(1)")[0]
    return "" if said == "ok" else " ".join(str(said).split())


def vec0_fault() -> str:
    """Why vectors do not work here: the extension is loaded, one vector is written and found again."""
    connection = apsw.Connection(":memory:")
    try:
        if not load_vec0(connection):
            return "sqlite-vec cannot be loaded"
        connection.execute("CREATE VIRTUAL TABLE probe USING vec0 (embedding float[2])")
        connection.execute("INSERT INTO probe (rowid, embedding) VALUES (1, '[1, 0]'), (2, '[0, 1]')")
        found = connection.execute("SELECT rowid FROM probe WHERE embedding MATCH '[0.1, 1]' AND k = 1").fetchall()
    except apsw.Error as error:
        return f"sqlite-vec does not work ({error})"
    finally:
        connection.close()
    return "" if found == [(2,)] else "sqlite-vec finds the wrong vectors"


def versions() -> dict[str, str]:
    """Of SQLite and of sqlite-vec, as they are loaded."""
    connection = apsw.Connection(":memory:")
    try:
        vec0 = fetch_all(connection, "SELECT vec_version()")[0][0] if load_vec0(connection) else "missing"
    finally:
        connection.close()
    return {"SQLite": apsw.sqlite_lib_version(), "sqlite-vec": str(vec0)}


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    with translated(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        yield connection
    finally:
        connection.close()
