"""Show how `sync`, `doctor --fix` and `doctor --deep --fix` repair every known damage.

    python -m benchmarks.damages

For each damage it copies the home of a small vault, damages the copy, and runs one command after
the other until the index answers and has the rows of a fresh one. It prints which command repaired
it. If none did, it follows the advice of the last one. tests/health/ takes a sample of them.
"""

import os
import random
import re
import shutil
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import apsw

from benchmarks.machine import arguments
from tests.api.vaults import indexed, paths_found, rows
from vault_index import VaultIndex
from vault_index.errors import VaultIndexError
from vault_index.store.connection import load_vec0
from vault_index.store.records import add_functions, pack

Damage = Callable[[Path], None]

NOTES = {
    "a.md": (
        "---\ntags: [red]\naliases: [fruit]\n---\n# Apple\n\nCrunchy, "
        "see [[b]].\n\n## Core\n\nSeeds inside.\n"
    ),
    "b.md": "# Banana\n\nYellow and soft, as [[a|apples]] never are.\n",
    "c/d.md": "# Damson\n\nA plum.\n",
    "broken.md": "---\na: [\n---\nIts frontmatter is broken.\n",
    "long.md": "# Long\n\n"
    + "".join(f"## Part {n}\n\n{'The orchard of number ' * 40}{n}.\n\n" for n in range(40)),
    "80-memory/m.md": "---\nid: 0123abcd\ntype: note\n---\n# Peeling\n\nPeel it first.\n",
}
"""Enough text for several pages of 16 KiB."""


OTHER_TEXT = (
    "UPDATE text_block SET body = pack(json_array(in_block(body, 0, 0), in_block(body, 0, 1), "
    "replace(in_block(body, 0, 2), 'Yellow', 'Orange'))) WHERE id = (SELECT block_id FROM chunk "
    "JOIN document ON document.id = document_id WHERE path = 'b.md')"
)
"""As long as the one of the file."""


def _sql(*statements: str, name: str = "index.db") -> Damage:
    def damage(home: Path) -> None:
        connection = apsw.Connection(str(home / name))
        load_vec0(connection)
        add_functions(connection)
        connection.create_scalar_function("pack", lambda *values: pack(str(values[0])), 1)
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
        connection.create_scalar_function("fold", lambda *values: values[0])
        connection.execute("PRAGMA writable_schema = on")
        for statement in statements:
            connection.execute(statement).fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()

    return damage


def _bytes(change: Callable[[bytearray], object], name: str = "index.db") -> Damage:
    def damage(home: Path) -> None:
        data = bytearray((home / name).read_bytes())
        changed = change(data)
        (home / name).write_bytes(changed if isinstance(changed, bytes | bytearray) else data)

    return damage


def _put(start: int, data: bytes) -> Callable[[bytearray], None]:
    def change(whole: bytearray) -> None:
        whole[start : start + len(data)] = data

    return change


def _cut(part: float) -> Callable[[bytearray], bytearray]:
    return lambda data: data[: int(len(data) * part)]


def _page(
    name: str, owner: str, data: Callable[[int], bytes], *, last: bool = False, at: int = 0
) -> Damage:
    """Overwrite a page of a table or an index: its root, or the last one it has."""

    def damage(home: Path) -> None:
        connection = sqlite3.connect(home / name)
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        (root,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = ?", (owner,)
        ).fetchone()
        connection.close()
        if last:
            reader = apsw.Connection(str(home / name))
            pages = reader.execute(
                "SELECT max(pageno) FROM dbstat WHERE name = ?", (owner,)
            ).fetchall()
            reader.close()
            root = pages[0][0]
        whole = bytearray((home / name).read_bytes())
        _put((root - 1) * size + at, data(size - at))(whole)
        (home / name).write_bytes(whole)

    return damage


def _noise(length: int) -> bytes:
    return random.Random(length).randbytes(length)


def _file(name: str, data: bytes) -> Damage:
    def damage(home: Path) -> None:
        (home / name).write_bytes(data)

    return damage


def _folder(name: str) -> Damage:
    def damage(home: Path) -> None:
        (home / name).unlink()
        (home / name).mkdir()
        (home / name / "inside").write_text("of somebody")

    return damage


def _mode(name: str, mode: int) -> Damage:
    return lambda home: (home / name).chmod(mode)


def _copy(path: Path, place: Path) -> None:
    place.write_bytes(path.read_bytes())


def _gone(name: str) -> Damage:
    return lambda home: (home / name).unlink()


INDEX: dict[str, Damage] = {
    "empty file": _file("index.db", b""),
    "no database": _file("index.db", b"nothing of the kind" * 1000),
    "one byte": _file("index.db", b"S"),
    "gone": _gone("index.db"),
    "a folder": _folder("index.db"),
    "no permission": _mode("index.db", 0),
    "read only": _mode("index.db", 0o400),
    "cut to 100 bytes": _bytes(lambda data: data[:100]),
    "cut to one page": _bytes(lambda data: data[:16384]),
    "cut to a half": _bytes(_cut(0.5)),
    "cut by a page": _bytes(lambda data: data[:-16384]),
    "cut in a page": _bytes(lambda data: data[:-1000]),
    "longer by garbage": _bytes(lambda data: data + _noise(50_000)),
    "wrong magic": _bytes(_put(0, b"SQLite format 9\0")),
    "wrong page size": _bytes(_put(16, b"\x10\x01")),
    "another page size": _bytes(_put(16, b"\x10\x00")),
    "wrong write version": _bytes(_put(18, b"\x09\x09")),
    "wrong page count": _bytes(_put(28, b"\x00\x00\x00\x03")),
    "wrong free list": _bytes(_put(32, b"\x00\x00\x00\x05\x00\x00\x00\x09")),
    "wrong encoding": _bytes(_put(56, b"\x00\x00\x00\x07")),
    "UTF-16": _bytes(_put(56, b"\x00\x00\x00\x02")),
    "user_version 0": _sql("PRAGMA user_version = 0"),
    "user_version 1": _sql("PRAGMA user_version = 1"),
    "user_version 99": _sql("PRAGMA user_version = 99"),
    "user_version -1": _sql("PRAGMA user_version = -1"),
    "wrong application_id": _sql("PRAGMA application_id = 1234567"),
    "noise in the header": _bytes(_put(20, _noise(80))),
    "noise in the schema": _bytes(_put(100, _noise(2000))),
    "zeros on page 2": _bytes(_put(16384, bytes(16384))),
    "zeroed last page of chunk": _page("index.db", "chunk", bytes, last=True),
    "zeroed index of document": _page("index.db", "document_uid", bytes),
    "zeroed index of chunk": _page("index.db", "chunk_document", bytes),
    "zeroed vectors": _page("index.db", "vector_1_vector_chunks00", bytes),
    "zeroed last page of vectors": _page("index.db", "vector_1_vector_chunks00", bytes, last=True),
    "zeros for vectors": _sql(
        "UPDATE vector_1_vector_chunks00 SET vectors = zeroblob(length(vectors))"
    ),
    "noise for vectors": _sql(
        "UPDATE vector_1_vector_chunks00 SET vectors = randomblob(length(vectors))"
    ),
    "zeroed vector rows": _page("index.db", "vector_1_rowids", bytes),
    "zeroed vector chunks": _page("index.db", "vector_1_chunks", bytes),
    "wrong type of page": _page("index.db", "chunk", lambda _: b"\x02"),
    "noise in a page of text": _page("index.db", "text_block", _noise, last=True, at=8),
    "no table of vectors": _sql("DROP TABLE vector_1"),
    "no index": _sql("DROP INDEX chunk_document"),
    "a trigger": _sql("CREATE TRIGGER t BEFORE DELETE ON tag BEGIN SELECT raise(abort, 'no'); END"),
    "a column too many": _sql("ALTER TABLE document ADD COLUMN more TEXT"),
    "a column too few": _sql("ALTER TABLE chunk DROP COLUMN place"),
    "no shadow table of chunk_fts": _sql("DROP TABLE chunk_fts_data"),
    "no row of name_fts": _sql("DELETE FROM name_fts WHERE rowid = 2"),
    "short blob of vectors": _sql("UPDATE vector_1_vector_chunks00 SET vectors = x'00'"),
    "short blob of validity": _sql("UPDATE vector_1_chunks SET validity = x'00'"),
    "no shadow table of vectors": _sql("DROP TABLE vector_1_chunks"),
    "a space without vectors": _sql("UPDATE vector_space SET id = 7"),
    "dimensions of a space": _sql("UPDATE vector_space SET dimensions = 7"),
    "bytes in document.path": _sql("UPDATE document SET path = x'ff00' WHERE path = 'b.md'"),
    "no UTF-8 in document.path": _sql(
        "UPDATE document SET path = cast(x'ff6d64' AS TEXT) WHERE path = 'b.md'"
    ),
    "bytes in document.uid": _sql("UPDATE document SET uid = x'00' WHERE path = 'b.md'"),
    "bytes in document.frontmatter": _sql("UPDATE document SET frontmatter = x'00'"),
    "text in document.mtime_ns": _sql("UPDATE document SET mtime_ns = 'late'"),
    "text in document.content_hash": _sql("UPDATE document SET content_hash = 'text'"),
    "no JSON in document.frontmatter": _sql("UPDATE document SET frontmatter = '{'"),
    "no JSON in headings": _sql('UPDATE text_block SET body = pack(\'["", "[", ""]\')'),
    "no JSON in text": _sql("UPDATE text_block SET body = pack('[')"),
    "noise for text": _sql("UPDATE text_block SET body = randomblob(length(body))"),
    "a text too short": _sql("UPDATE text_block SET body = pack('[]') WHERE id = 2"),
    "a text too many": _sql("INSERT INTO text_block (body) SELECT body FROM text_block"),
    "bytes in tag": _sql("UPDATE tag SET tag = x'ff'"),
    "bytes in term": _sql("UPDATE term SET word = x'ff' WHERE word = 'seeds'"),
    "bytes in fault": _sql("UPDATE fault SET message = x'ff'"),
    "other text": _sql(OTHER_TEXT),
    "one row of document missing": _sql("DELETE FROM document WHERE path = 'b.md'"),
    "garbage as -wal": _file("index.db-wal", _noise(100_000)),
    "garbage as -shm": _file("index.db-shm", _noise(32_768)),
    "a folder as -wal": lambda home: (home / "index.db-wal").mkdir(),
    "a log of another database": lambda home: _copy(home / "other-wal", home / "index.db-wal"),
}

PLAIN = ("document", "chunk", "tag", "link", "term", "meta", "fault", "vector_space", "pending")
SHADOWS = (
    "chunk_fts_data", "chunk_fts_idx", "chunk_fts_docsize", "chunk_fts_config", "name_fts_data",
    "vector_1_rowids", "vector_1_chunks", "vector_1_vector_chunks00",
)  # fmt: skip
INDEX |= {
    f"zeroed {name}": _page("index.db", name, bytes)
    for name in (*PLAIN, "chunk_fts_data", "name_fts_data")
}
INDEX |= {
    f"no table {name}": _sql(f"DROP TABLE {name}")
    for name in ("chunk", "document", "term", "meta", "fault", "chunk_fts")
}
INDEX |= {f"no {name}": _sql(f"DELETE FROM {name}") for name in SHADOWS}
INDEX |= {
    f"no rows of {name}": _sql(f"DELETE FROM {name}")
    for name in ("text_block", "tag", "chunk", "document", "vector_space")
}

CACHE: dict[str, Damage] = {
    "cache: empty file": _file("cache.db", b""),
    "cache: gone": _gone("cache.db"),
    "cache: no database": _file("cache.db", b"nothing of the kind" * 1000),
    "cache: cut to a half": _bytes(_cut(0.5), name="cache.db"),
    "cache: noise in the header": _bytes(_put(20, _noise(80)), name="cache.db"),
    "cache: zeroed embedding": _page("cache.db", "embedding", bytes),
    "cache: zeroed index": _page("cache.db", "embedding_key", bytes),
    "cache: no table embedding": _sql("DROP TABLE embedding", name="cache.db"),
    "cache: short vectors": _sql("UPDATE embedding SET vector = x'00'", name="cache.db"),
    "cache: text as vectors": _sql("UPDATE embedding SET vector = 'text'", name="cache.db"),
    "cache: garbage as -wal": _file("cache.db-wal", _noise(100_000)),
    "cache: user_version 99": _sql("PRAGMA user_version = 99", name="cache.db"),
}


def schema(index_db: Path) -> list[object]:
    """Return version, tables and indexes, except those of vec0, which have changing names."""
    connection = apsw.Connection(str(index_db))
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE tbl_name NOT GLOB 'vector_[0-9]*'"
    )
    return [connection.pragma("user_version"), *sorted(found.fetchall(), key=str)]


def wrong(home: Path, fresh: Mapping[str, Sequence[object]]) -> str:
    """Return the differences of an index from the rows of a fresh one; empty if there are none."""
    index_db = home / "index.db"
    try:
        with VaultIndex.open(home) as index:
            if (found := paths_found(index, "seeds inside")[:1]) != ["a.md"]:
                return f"found {found}"
            if (found := paths_found(index, "banana", mode="vector")[:1]) != ["b.md"]:
                return f"found {found} by meaning"
        connection = apsw.Connection(str(index_db))
        try:
            if (check := connection.execute("PRAGMA integrity_check(1)").get) != "ok":
                return str(check)
        finally:
            connection.close()
        have: Mapping[str, Sequence[object]] = rows(index_db) | {"schema": schema(index_db)}
        return ", ".join(name for name in fresh if have.get(name) != fresh[name])
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not healthy
        return f"{type(error).__name__}: {error}"


def clear(home: Path) -> None:
    """Remove a home, whatever became of its files."""
    for path in home.rglob("*"):
        os.chmod(path, 0o700)
    shutil.rmtree(home)


def mended_by(home: Path, damage: Damage, fresh: Mapping[str, Sequence[object]]) -> tuple[str, str]:
    """The command that mends it and what it says; or nothing, and what is left wrong."""
    damage(home)
    said = ""
    for name in ("sync", "doctor --fix", "doctor --deep --fix"):
        try:
            with VaultIndex.open(home) as index:
                problems = (
                    index.sync().problems
                    if name == "sync"
                    else index.repair(deep="deep" in name).problems
                )
            found = [
                problem for problem in problems if problem.code != "frontmatter"
            ]  # of the note that is broken
            said = " ".join(
                "; ".join(f"{one.code}: {one.message}; {one.hint}" for one in found).split()
            )
        except VaultIndexError as error:
            said = f"{error.code}: {error.message}; {error.hint}"
        except Exception as error:  # noqa: BLE001 - to be seen in the table
            said = f"A DEFECT: {type(error).__name__}: {error}"
        left = wrong(home, fresh)
        if not left:
            return name, said
    named = re.search(r"(\S+\.db(-wal)?)\b.*move (it|\S+) away and run `vault-index sync`", said)
    if named:
        Path(named[1]).rename(home / "away")
        with VaultIndex.open(home) as index:
            index.sync()
        if not (left := wrong(home, fresh)):
            return "what it names", said
    return "", f"{left} | {said}"


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", help="damages whose name contains this")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with indexed(folder, NOTES, provider="local") as _:
            pass
        index_db = folder / "home" / "index.db"
        fresh = rows(index_db) | {"schema": schema(index_db)}
        (folder / "home" / "other-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(28))
        print(f"{'damage':34}  {'mended by':20}  {'s':>5}  said")
        for name, damage in (INDEX | CACHE).items():
            if options.only not in name:
                continue
            home = folder / "damaged"
            shutil.copytree(folder / "home", home)
            started = time.perf_counter()
            command, said = mended_by(home, damage, fresh)
            counts[command or "NOTHING"] += 1
            seconds = time.perf_counter() - started
            print(
                f"{name:34}  {command or 'NOTHING':20}  {seconds:5.1f}  {said[:100]}",
                flush=True,
            )
            clear(home)
    print(
        f"\n{sum(counts.values())} forms: "
        f"{', '.join(f'{count} {name}' for name, count in counts.most_common())}"
    )


if __name__ == "__main__":
    main()
