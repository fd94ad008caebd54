"""Find damage that queries do not show, and differences from a rebuilt index."""

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import apsw

from vault_index.errors import IndexCorruptError, VaultIndexError
from vault_index.models import INT8_SCALE, Vector, VectorSpace
from vault_index.store.cache import Cache
from vault_index.store.connection import REBUILD, Database, create_index, load_vec0, translated
from vault_index.store.records import TEXT, UNREADABLE
from vault_index.store.spaces import MAX_K, is_int8, mark, read_spaces, serving_space, size

_BATCH = 2000
_ROWS = {
    "document": "SELECT source, path, name, uid, kind, title, made_with, line_count, tokens, type,"
    " digest, project, entered_by, expires, valid_until, confidence, superseded_by, frontmatter,"
    " called, identity, title_given, name_given, archived, unreviewed"
    " FROM {db}.document",
    "chunk": "SELECT source, path, ordinal, start_line, end_line, in_block(body, place, 0),"
    " in_block(body, place, 1), in_block(body, place, 2), place,"
    " bytes, c.tokens, embed_key, terms_hash"
    " FROM {db}.chunk AS c JOIN {db}.text_block AS b ON b.id = block_id"
    " JOIN {db}.document AS d ON d.id = document_id",
    "tag": "SELECT source, path, tag FROM {db}.tag JOIN {db}.document AS d ON d.id = document_id",
    "alias": "SELECT source, path, alias, folded FROM {db}.alias JOIN {db}.document AS d"
    " ON d.id = document_id",
    "link": "SELECT source, path, line, target, target_name, heading, text, embed"
    " FROM {db}.link JOIN {db}.document AS d ON d.id = document_id",
    "fault": "SELECT source, path, code, line, message FROM {db}.fault",
}
_WORDS = {
    "chunk_fts": "SELECT term, col, doc, cnt FROM temp.{db}_chunk_fts",
    "name_fts": "SELECT term, col, doc, cnt FROM temp.{db}_name_fts",
    "term": "SELECT stem, word, chunks FROM {db}.term",
}
# Tables that FTS5 and vec0 create and check themselves are left out.
_SCHEMA = (
    "SELECT name, sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB 'vector_[0-9]*'"
    " AND name NOT GLOB '*_fts_*' AND name NOT GLOB 'sqlite_*' ORDER BY name"
)
_TYPES: dict[str, tuple[type, ...]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (float, int),
    "BLOB": (bytes,),
}
_UNREADABLE = (apsw.Error, IndexCorruptError, UnicodeDecodeError, *UNREADABLE)


class Checkup(Database):
    """Checks of an index on disk. Hold the write lock: a check makes several queries."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "index")
        self._vec0 = load_vec0(self.connection)

    def damage(self) -> str:
        """Return the first problem of the file, its schema or its values, or ""."""
        try:
            found = _first_damage(self.value("PRAGMA quick_check(1)")) or self._strange_schema()
            return found or self._strange_value() or self._strange_text()
        except _UNREADABLE as error:
            return str(error)

    def terms(self) -> str:
        """Return the first problem of the full-text index that FTS5 does not find itself, or ""."""
        for table, rows in (("chunk_fts", "chunk"), ("name_fts", "document")):
            try:
                # Names are written at the end of a sync, so an interrupted one leaves them pending.
                pending = table == "name_fts" and self.execute("SELECT 1 FROM stale_name LIMIT 1")
                lone = (
                    0
                    if pending
                    else self._count_lone(f"SELECT rowid FROM {table}", f"SELECT id FROM {rows}")
                )
            except _UNREADABLE as error:
                return f"{table} cannot be read ({error})"
            if lone:
                return f"{lone} rows of {table} and {rows} do not match"
        return ""

    def vectors(self) -> str:
        """Return the first problem of the vectors, or ""; pending vectors count as present."""
        if not self._vec0:
            return ""
        for row in read_spaces(self):
            pending = f"SELECT chunk_id FROM pending WHERE space_id = {row.id:d}"
            there = f"SELECT rowid FROM vector_{row.id:d} UNION {pending}"
            try:
                lone = self._count_lone(there, "SELECT id FROM chunk")
                zero, given = bytes(size(row.space)), mark(row.space)
                table = f"FROM vector_{row.id:d}"
                # The length of int8 vectors varies, and is smaller if a component was clipped.
                unit, least = (INT8_SCALE, 0.9) if is_int8(row.space) else (1, 0.99)
                length = (
                    f"vec_distance_l2(embedding, {given}) BETWEEN {least * unit} AND {1.01 * unit}"
                )
                strange = self.value(f"SELECT count(*) {table} WHERE {length} IS NOT TRUE", [zero])
                there = f"(SELECT count(*) {table})"
                near = f"(SELECT count(*) {table} WHERE embedding MATCH {given} AND k = {MAX_K})"
                unseen = self.value(f"SELECT min({there}, {MAX_K}) - {near}", [zero])
            except _UNREADABLE as error:
                return f"the vectors of {row.space.model} cannot be read ({error})"
            if strange or unseen:
                return (
                    f"{max(strange, abs(unseen))} vectors of {row.space.model} are invalid or"
                    " cannot be found"
                )
            if lone:
                return f"{lone} chunks and vectors of {row.space.model} do not match"
        return ""

    def _strange_schema(self) -> str:
        with closing(apsw.Connection(":memory:")) as new:
            create_index(new)
            want = {name: _bare(str(sql)) for name, sql in new.execute(_SCHEMA)}
        have = {name: _bare(sql) for name, sql in self.execute(_SCHEMA)}
        strange = [name for name in {**want, **have} if want.get(name) != have.get(name)]
        return f"unexpected schema: {', '.join(strange)}" if strange else ""

    def _strange_value(self) -> str:
        """Return the first value of a wrong type, or "". Raises UnicodeDecodeError for bad UTF-8.

        SQLite accepts both, but readers fail on them.
        """
        for (table,) in self.execute(
            f"SELECT name FROM ({_SCHEMA}) WHERE sql LIKE 'CREATE TABLE%'"
        ):
            columns = [
                (row[1], _TYPES[row[2]]) for row in self.execute(f"PRAGMA table_info({table})")
            ]
            for values in self.connection.execute(f"SELECT * FROM {table}"):
                for value, (column, types) in zip(values, columns, strict=True):
                    if value is not None and not isinstance(value, types):
                        return f"{table}.{column} has a value of the wrong type"
        return ""

    def _strange_text(self) -> str:
        lone = "SELECT count(*) FROM text_block WHERE id NOT IN (SELECT block_id FROM chunk)"
        strange = self.value(
            f"SELECT count(*) FROM chunk WHERE octet_length({TEXT}) IS NOT bytes"
        ) + self.value(lone)
        return f"{strange} texts and chunks do not match" if strange else ""

    def serving(self) -> VectorSpace | None:
        """Return the serving space."""
        row = serving_space(self)
        return row.space if row is not None else None

    def vectors_by_key(self) -> Iterator[list[tuple[bytes, Vector]]]:
        """Yield the serving vectors with their cache keys, in batches."""
        serving = serving_space(self)
        last: int | None = -1
        while self._vec0 and serving is not None and last is not None:
            table = f"vector_{serving.id:d}"
            rows = self.execute(
                f"SELECT chunk.id, embed_key, embedding FROM chunk CROSS JOIN {table}"
                f" ON {table}.rowid = chunk.id"
                " WHERE chunk.id > ? ORDER BY chunk.id LIMIT ?",
                (last, _BATCH),
            )
            last = rows[-1][0] if rows else None
            yield [(key, vector) for _, key, vector in rows]

    def _count_lone(self, one: str, other: str) -> int:
        """Count the rows that only one of two queries has."""
        return int(self.value(f"SELECT count(*) FROM ({_in_one_alone(one, other)})"))


class Comparison(Database):
    """A comparison of an index with a fresh one of the same sources, except ids and times."""

    def __init__(self, path: Path, fresh: Path, sources: Sequence[str]) -> None:
        super().__init__(path, "index")
        self.connection.pragma("query_only", False)  # it would also forbid temporary tables
        with translated(fresh):
            self.connection.execute("ATTACH ? AS fresh", (str(fresh),))
            for db in ("main", "fresh"):
                for table in ("chunk_fts", "name_fts"):
                    self.connection.execute(
                        f"CREATE VIRTUAL TABLE temp.{db}_{table}"
                        f" USING fts5vocab ({db}, {table}, 'col')"
                    )
        self._known = f"source IN ({', '.join('?' * len(sources))})"
        self._sources = tuple(sources)

    def behind(self) -> list[tuple[str, str]]:
        """Return source and path of documents that only one index has, or with other content."""
        return self._lone("SELECT source, path, content_hash FROM {db}.document")

    def differing(self) -> list[tuple[str, str]]:
        """Return source and path of documents with different rows."""
        return sorted({place for sql in _ROWS.values() for place in self._lone(sql)})

    def words(self) -> list[str]:
        """Return the tables with different words. Both must have the same documents."""
        found = {
            name: _in_one_alone(*(sql.format(db=db) for db in ("main", "fresh")))
            for name, sql in _WORDS.items()
        }
        return [
            name for name, lone in found.items() if self.execute(f"SELECT 1 FROM ({lone}) LIMIT 1")
        ]

    def _lone(self, sql: str) -> list[tuple[str, str]]:
        one, other = (
            f"SELECT * FROM ({sql.format(db=db)}) WHERE {self._known}" for db in ("main", "fresh")
        )
        return self.execute(
            f"SELECT DISTINCT source, path FROM ({_in_one_alone(one, other)}) ORDER BY 1, 2",
            self._sources * 4,
        )


def _in_one_alone(one: str, other: str) -> str:
    """Return the SQL for the rows that only one of two queries has."""
    one, other = f"SELECT * FROM ({one})", f"SELECT * FROM ({other})"
    return f"SELECT * FROM ({one} EXCEPT {other}) UNION ALL SELECT * FROM ({other} EXCEPT {one})"


def _bare(sql: str) -> str:
    """Remove comments and whitespace, which SQLite keeps, from a CREATE statement."""
    return re.sub(r"--.*|\s", "", sql)


def _first_damage(found: object) -> str:
    return "" if found == "ok" else " ".join(str(found).split())


def index_damage(path: Path) -> str:
    """Return the damage of an index; empty if it is sound or cannot be checked."""
    try:
        with closing(Checkup(path)) as checkup:
            return checkup.damage() or checkup.vectors()
    except VaultIndexError as error:
        return error.message if isinstance(error, IndexCorruptError) else ""


def raise_damage(path: Path, error: BaseException) -> None:
    """If the index is damaged, raise IndexCorruptError: SQLite does not notice some damage."""
    if damage := index_damage(path):
        raise IndexCorruptError(f"{path} is damaged ({damage})", REBUILD) from error


def cache_damage(path: Path) -> str:
    """Return the damage that SQLite finds in `cache.db`, or ""."""
    with translated(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        with closing(connection):
            found = connection.execute("PRAGMA quick_check(1)").get
    return _first_damage(found)


def refill(cache: Cache, index: Path) -> None:
    """Fill a new cache with the readable vectors of an index; others are embedded again."""
    with suppress(VaultIndexError, apsw.SQLError), closing(Checkup(index)) as checkup:
        space = checkup.serving()
        for batch in checkup.vectors_by_key():
            if space is not None:
                cache.put_embeddings(space, dict(batch))


def vec0_fault() -> str:
    """Return why vectors do not work here: load the extension, write two vectors and search one."""
    with closing(apsw.Connection(":memory:")) as connection:
        if not load_vec0(connection):
            return "sqlite-vec cannot be loaded"
        try:
            found = connection.execute(_PROBE).fetchall()
        except apsw.Error as error:
            return f"sqlite-vec does not work ({error})"
    return "" if found == [(2,)] else "sqlite-vec finds the wrong vectors"


_PROBE = """
CREATE VIRTUAL TABLE probe USING vec0 (embedding float[2]);
INSERT INTO probe (rowid, embedding) VALUES (1, '[1, 0]'), (2, '[0, 1]');
SELECT rowid FROM probe WHERE embedding MATCH '[0.1, 1]' AND k = 1
"""


def versions() -> dict[str, str]:
    """Return the loaded versions of SQLite and sqlite-vec."""
    with closing(apsw.Connection(":memory:")) as connection:
        loaded = load_vec0(connection)
        vec0 = connection.execute("SELECT vec_version()").get if loaded else "missing"
    return {"SQLite": apsw.sqlite_lib_version(), "sqlite-vec": str(vec0)}
