"""The one writer of `index.db`: documents, their chunks and terms, each document in one transaction."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import apsw

from vault_index.models import Fault, FileStamp, Vector
from vault_index.store import document_names, spaces, vocabulary
from vault_index.store.connection import begin_anew, connect, fetch_all, load_vec0, transaction, translated
from vault_index.store.records import ChunkRow, DocumentRow, DocumentState, KnownDocument, PendingChunk, SpaceRow

_FTS_COLUMNS = "title, aliases, headings, tags, fields, path, body"

# `stays_home` is asked no more: what may leave is judged when it leaves. By 1 a program that still asks sends nothing.
_PUT_DOCUMENT = """
INSERT INTO document (
    id, uid, source, path, name, kind, title, content_hash, size, mtime_ns, ctime_ns, made_with, line_count, tokens,
    created, updated, type, digest, project, entered_by, expires, valid_until, confidence, superseded_by, stays_home,
    frontmatter, identity)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    uid = excluded.uid, source = excluded.source, path = excluded.path, name = excluded.name, kind = excluded.kind,
    title = excluded.title, content_hash = excluded.content_hash, size = excluded.size, mtime_ns = excluded.mtime_ns,
    ctime_ns = excluded.ctime_ns, made_with = excluded.made_with, line_count = excluded.line_count,
    tokens = excluded.tokens, created = excluded.created, updated = excluded.updated, type = excluded.type,
    digest = excluded.digest, project = excluded.project, entered_by = excluded.entered_by,
    expires = excluded.expires, valid_until = excluded.valid_until, confidence = excluded.confidence,
    superseded_by = excluded.superseded_by, stays_home = excluded.stays_home, frontmatter = excluded.frontmatter,
    identity = excluded.identity
RETURNING id
"""


class IndexWriter:
    """Writes `index.db`. Use it from one thread, while holding the write lock."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, "index", writable=True)
        self.vectors_work = load_vec0(self._connection)
        if not self.vectors_work:
            with transaction(self._connection, self._path) as connection:
                spaces.forget_spaces(connection)

    def close(self) -> None:
        self._connection.close()

    # --- documents ---------------------------------------------------------------------------------------------

    def known(self, source: str, places: Sequence[str] = ("",)) -> dict[str, KnownDocument]:
        """Every document of `source` at or below these places, by path, in the order of the paths."""
        with translated(self._path):
            rows = [row for place in places for row in fetch_all(self._connection, *_known_at(source, place))]
        known = (KnownDocument(id_, path, FileStamp(*stamp), hash_, made) for id_, path, *stamp, hash_, made in rows)
        return {document.path: document for document in sorted(known, key=lambda document: document.path)}

    def source_names(self) -> list[str]:
        with translated(self._path):
            return [name for (name,) in fetch_all(self._connection, "SELECT DISTINCT source FROM document")]

    def put_document(
        self,
        row: DocumentRow,
        faults: Sequence[Fault],
        replaces: int | None,
        cached: Mapping[int, Mapping[bytes, Vector]],
    ) -> None:
        """Write one document whole, or not at all.

        `replaces` is the row it had before, also under another path: chunks whose embedded text is the same keep
        their row and vectors. `cached` holds the known vectors by space id and embed key; other new chunks become
        pending.
        """
        with transaction(self._connection, self._path) as connection:
            document_id = fetch_all(connection, _PUT_DOCUMENT, _document_values(row, replaces))[0][0]
            _put_names(connection, document_id, row)
            vocabulary.put_called(connection, document_id, _called(row))
            _put_chunks(connection, document_id, row.chunks, cached)
            _put_faults(connection, row.source, row.path, faults)

    def remove_document(self, document_id: int) -> None:
        with transaction(self._connection, self._path) as connection:
            source, path = fetch_all(connection, "SELECT source, path FROM document WHERE id = ?", (document_id,))[0]
            chunk_ids = [
                id_ for (id_,) in fetch_all(connection, "SELECT id FROM chunk WHERE document_id = ?", (document_id,))
            ]
            _remove_chunks(connection, chunk_ids)
            vocabulary.put_called(connection, document_id, "")
            document_names.mark(connection, document_id, "", ())
            document_names.remove(connection, document_id)
            for table in ("tag", "alias", "link"):
                connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))
            connection.execute("DELETE FROM document WHERE id = ?", (document_id,))
            _put_faults(connection, source, path, ())

    def refresh_names(self) -> None:
        """Let documents be found by what others call them now. At the end of a sync."""
        with transaction(self._connection, self._path) as connection:
            document_names.refresh(connection)

    def count_words(self) -> None:
        """Bring the vocabulary up to date with the texts. At the end of a sync."""
        with transaction(self._connection, self._path) as connection:
            vocabulary.count(connection)

    def put_faults(self, source: str, path: str, faults: Sequence[Fault]) -> None:
        """Replace what is known to be wrong with one file that has no document."""
        with transaction(self._connection, self._path) as connection:
            _put_faults(connection, source, path, faults)

    def lone_faults(self, source: str) -> dict[str, list[Fault]]:
        """The faults of files of `source` that have no document, by path."""
        with translated(self._path):
            rows = fetch_all(
                self._connection,
                "SELECT code, message, path, line FROM fault WHERE source = ?1"
                " AND path NOT IN (SELECT path FROM document WHERE source = ?1) ORDER BY path, line",
                (source,),
            )
        faults: dict[str, list[Fault]] = {}
        for code, message, path, line in rows:
            faults.setdefault(path, []).append(Fault(code, message, path, line))
        return faults

    def mark_stale(self) -> None:
        """Have every document read again by the next sync, while its rows stay searchable."""
        with transaction(self._connection, self._path) as connection:
            connection.execute("UPDATE document SET made_with = ''")
            connection.execute("UPDATE chunk SET terms_hash = x''")
            vocabulary.count_anew(connection)

    def begin_anew(self) -> None:
        """Let every row go, in one transaction: readers see the old ones until it ends."""
        with transaction(self._connection, self._path) as connection:
            begin_anew(connection, "index")

    def forget_vectors(self) -> None:
        """Have every vector taken from the cache again, or computed."""
        with transaction(self._connection, self._path) as connection:
            for row in spaces.read_spaces(connection):
                spaces.drop_space(connection, row.id)

    def checkpoint(self) -> None:
        """Shrink the WAL, as far as readers let it."""
        with translated(self._path):
            fetch_all(self._connection, "PRAGMA wal_checkpoint(TRUNCATE)")

    def shrink(self) -> None:
        """The same, and give back the memory of the page cache."""
        self.checkpoint()
        with translated(self._path):
            fetch_all(self._connection, "PRAGMA shrink_memory")

    def count_chunks(self) -> int:
        with translated(self._path):
            return int(fetch_all(self._connection, "SELECT count(*) FROM chunk")[0][0])

    def meta(self, key: str) -> str | None:
        with translated(self._path):
            rows = fetch_all(self._connection, "SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_meta(self, key: str, value: str) -> None:
        with transaction(self._connection, self._path) as connection:
            connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                (key, value),
            )

    # --- vectors -----------------------------------------------------------------------------------------------

    def spaces(self) -> list[SpaceRow]:
        with translated(self._path):
            return spaces.read_spaces(self._connection)

    def add_space(self, row: SpaceRow) -> SpaceRow:
        """Begin a space (its id is given here): every chunk is pending in it. Replaces one of the same state."""
        with transaction(self._connection, self._path) as connection:
            return spaces.add_space(connection, row)

    def drop_space(self, space_id: int) -> None:
        with transaction(self._connection, self._path) as connection:
            spaces.drop_space(connection, space_id)

    def serve_space(self, space_id: int) -> None:
        """Swap: the built space serves from now on, the one that served is dropped."""
        with transaction(self._connection, self._path) as connection:
            spaces.serve_space(connection, space_id)

    def pending(self, space_id: int, after: int, limit: int, without: Collection[int] = ()) -> list[PendingChunk]:
        """The next chunks with an id over `after` that lack a vector, but for those of the documents `without`."""
        with translated(self._path):
            return spaces.pending(self._connection, space_id, after, limit, without)

    def lacking(self, space_id: int | None) -> dict[DocumentState, int]:
        """The documents with chunks that lack a vector, and how many."""
        with translated(self._path):
            return spaces.lacking(self._connection, space_id)

    def pending_in(self, space_id: int, source: str, path: str) -> list[PendingChunk]:
        """The chunks of one document that lack a vector."""
        with translated(self._path):
            return spaces.pending_in(self._connection, space_id, source, path)

    def count_pending(self, space_id: int) -> int:
        with translated(self._path):
            return spaces.count_pending(self._connection, space_id)

    def put_vectors(self, space_id: int, vectors: Mapping[bytes, Vector], chunks: Iterable[PendingChunk]) -> int:
        """Give the chunks their vectors, as far as they still are what was embedded. Returns how many got one."""
        with transaction(self._connection, self._path) as connection:
            return spaces.put_vectors(connection, space_id, vectors, chunks)


def _document_values(row: DocumentRow, replaces: int | None) -> tuple[object, ...]:
    return (
        replaces, row.uid, row.source, row.path, row.name, row.kind, row.title, row.content_hash, row.stamp.size,
        row.stamp.mtime_ns, row.stamp.ctime_ns, row.made_with, row.line_count, sum(c.tokens for c in row.chunks),
        row.created, row.updated, row.type, row.digest, row.project, row.entered_by, row.expires, row.valid_until,
        row.confidence, row.superseded_by, json.dumps(dict(row.frontmatter), ensure_ascii=False),
        row.identity,
    )  # fmt: skip


def _known_at(source: str, place: str) -> tuple[str, tuple[str, ...]]:
    sql = "SELECT id, path, size, mtime_ns, ctime_ns, content_hash, made_with FROM document WHERE source = ?"
    if not place:
        return sql, (source,)
    # `0` is the character after `/`: the paths below the place are a range of the index over them.
    return f"{sql} AND (path = ? OR (path > ? AND path < ?))", (source, place, f"{place}/", f"{place}0")


def _put_names(connection: apsw.Connection, document_id: int, row: DocumentRow) -> None:
    document_names.mark(connection, document_id, row.name, row.links)
    for table in ("tag", "alias", "link"):
        connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))
    connection.executemany(
        "INSERT INTO tag (tag, document_id) VALUES (?, ?)",
        [(tag, document_id) for tag in dict.fromkeys(row.tags)],
    )
    connection.executemany(
        "INSERT INTO alias (alias, folded, document_id) VALUES (?, ?, ?)",
        [(alias, alias.casefold(), document_id) for alias in row.aliases],
    )
    connection.executemany(
        "INSERT INTO link (document_id, line, target, target_name, heading, text, embed) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (document_id, link.line, link.target, document_names.target_name(link), link.heading, link.text,
             link.embed)
            for link in row.links
        ],
    )  # fmt: skip


def _called(row: DocumentRow) -> str:
    """What is indexed of a document beside the texts of its chunks: the same columns in all of them."""
    if not row.chunks:
        return ""
    title, aliases, _, tags, fields, path, _ = row.chunks[0].terms
    return "\n".join((title, aliases, tags, fields, path))


def _put_chunks(
    connection: apsw.Connection,
    document_id: int,
    chunks: Sequence[ChunkRow],
    cached: Mapping[int, Mapping[bytes, Vector]],
) -> None:
    old: dict[bytes, list[tuple[int, bytes]]] = {}
    for chunk_id, key, terms_hash in fetch_all(
        connection,
        "SELECT id, embed_key, terms_hash FROM chunk WHERE document_id = ? ORDER BY ordinal DESC",
        (document_id,),
    ):
        old.setdefault(key, []).append((chunk_id, terms_hash))
    for ordinal, chunk in enumerate(chunks):
        same = old.get(chunk.embed_key)
        if same:
            _keep_chunk(connection, *same.pop(), ordinal, chunk)
        else:
            _insert_chunk(connection, document_id, ordinal, chunk, cached)
    _remove_chunks(connection, [chunk_id for rows in old.values() for chunk_id, _ in rows])


def _keep_chunk(connection: apsw.Connection, chunk_id: int, old_hash: bytes, ordinal: int, chunk: ChunkRow) -> None:
    terms_hash = _terms_hash(chunk)
    connection.execute(
        "UPDATE chunk SET ordinal = ?, start_line = ?, end_line = ?, headings = ?, terms_hash = ? WHERE id = ?",
        (ordinal, chunk.start_line, chunk.end_line, _json(chunk.headings), terms_hash, chunk_id),
    )
    if terms_hash != old_hash:
        assignments = ", ".join(f"{column} = ?" for column in _FTS_COLUMNS.split(", "))
        connection.execute(f"UPDATE chunk_fts SET {assignments} WHERE rowid = ?", (*chunk.terms, chunk_id))


def _insert_chunk(
    connection: apsw.Connection,
    document_id: int,
    ordinal: int,
    chunk: ChunkRow,
    cached: Mapping[int, Mapping[bytes, Vector]],
) -> None:
    connection.execute(
        "INSERT INTO chunk (document_id, ordinal, start_line, end_line, headings, context, text, tokens, embed_key,"
        " terms_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (document_id, ordinal, chunk.start_line, chunk.end_line, _json(chunk.headings), chunk.context, chunk.text,
         chunk.tokens, chunk.embed_key, _terms_hash(chunk)),
    )  # fmt: skip
    chunk_id = connection.last_insert_rowid()
    connection.execute(
        f"INSERT INTO chunk_fts (rowid, {_FTS_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (chunk_id, *chunk.terms),
    )
    vocabulary.add_chunk(connection, chunk_id)
    for space_id, vectors in cached.items():
        spaces.add_chunk(connection, space_id, chunk_id, vectors.get(chunk.embed_key))


def _remove_chunks(connection: apsw.Connection, chunk_ids: Sequence[int]) -> None:
    for chunk_id in chunk_ids:
        vocabulary.remove_chunk(connection, chunk_id)
        connection.execute("DELETE FROM chunk_fts WHERE rowid = ?", (chunk_id,))
        connection.execute("DELETE FROM chunk WHERE id = ?", (chunk_id,))
    if chunk_ids:
        spaces.remove_chunks(connection, chunk_ids)


def _put_faults(connection: apsw.Connection, source: str, path: str, faults: Sequence[Fault]) -> None:
    connection.execute("DELETE FROM fault WHERE source = ? AND path = ?", (source, path))
    connection.executemany(
        "INSERT INTO fault (source, path, code, line, message) VALUES (?, ?, ?, ?, ?)",
        [(source, path, fault.code, fault.line, fault.message) for fault in faults],
    )


def _terms_hash(chunk: ChunkRow) -> bytes:
    return hashlib.blake2b("\0".join(chunk.terms).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _json(headings: Sequence[str]) -> str:
    return json.dumps(headings, ensure_ascii=False)
