"""Write `index.db`: each document, with its chunks and terms, in one transaction."""

import hashlib
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, cast

from vault_index.errors import VaultIndexError
from vault_index.models import DocumentRef, Fault, FileStamp, Link, Vector
from vault_index.store import document_names, spaces, vocabulary
from vault_index.store.connection import (
    ANY_OF,
    NUMBERING,
    UNCLEAN,
    Database,
    any_of,
    load_vec0,
    read_meta,
    recreate_index,
    translated,
    write_meta,
)
from vault_index.store.records import TEXT, DocumentColumns, column_names, in_blocks
from vault_index.unicode import same_form

_STALE = "SELECT sum(length(block)) > 4096 FROM chunk_fts_data WHERE id >= 1 << 53"
"""Whether FTS5 lists some 500 replaced rows. It looks up there every row that it finds, which makes
searches up to four times slower after a large folder was renamed.
"""
_CLEANING_SHARE = 0.01
"""Maximum share of time for cleaning, which takes many seconds for an index of a gigabyte."""
_PHRASES = 100
"""Phrases per query."""
_BLOCKS = "SELECT DISTINCT block_id FROM chunk WHERE document_id = ?"
# Run it last, because the vocabulary still reads the texts.
_REMOVE_BLOCK = "DELETE FROM text_block WHERE id = ?"


class ChunkRow(NamedTuple):
    """A chunk to be written."""

    start_line: int
    end_line: int
    headings: tuple[str, ...]
    context: str
    """The text embedded before the chunk: `[tags] title > heading path`."""
    text: str
    tokens: int
    embed_key: bytes
    terms: tuple[str, str, str, str, str, str, str]
    """The columns of `chunk_fts`: title, aliases, headings, tags, fields, path, body."""
    of_fields: bool = False
    """Whether it comes from the frontmatter. Such chunks come before the others."""


@dataclass(frozen=True, slots=True)
class DocumentRow(DocumentColumns):
    """A document to be written, with its chunks."""

    name: str
    """The file name without suffix, case-folded."""
    content_hash: bytes
    made_with: str
    frontmatter: Mapping[str, Any]
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    links: tuple[Link, ...]
    chunks: tuple[ChunkRow, ...]
    identity: bytes | None = None
    """For memories: a hash that is equal for equal contents."""
    title_given: bool = True
    name_given: bool = True
    """Whether title and file name were given; generated ones are not searched as names."""
    omitted: str | None = None
    """For sessions: hashes of the omitted contents, as JSON."""


class _OldChunk(NamedTuple):
    id: int
    embed_key: bytes
    text: str
    terms_hash: bytes


class KnownDocument(NamedTuple):
    """The indexed state of a file, enough to detect changes."""

    id: int
    path: str
    stamp: FileStamp
    content_hash: bytes
    made_with: str


_COLUMNS = column_names(DocumentRow, "frontmatter", "tags", "aliases", "links", "chunks")
"""The columns of `document` that are written from one field each."""
_ALL_COLUMNS = [*_COLUMNS, "tokens", "frontmatter", "called", "id"]
_ADD_DOCUMENT = (
    f"INSERT INTO document ({', '.join(_ALL_COLUMNS)})"
    f" VALUES ({', '.join('?' for _ in _ALL_COLUMNS)})"
)
_REPLACE_DOCUMENT = (
    f"UPDATE document SET {', '.join(f'{name} = ?' for name in _ALL_COLUMNS[:-1])} WHERE id = ?"
)
# No UPSERT or RETURNING: before these, SQLite opens a savepoint (`Database.transaction`).


_TERMS = "title, aliases, headings, tags, fields, path, body"
"""The columns of `chunk_fts`, in the order of `ChunkRow.terms`."""


class IndexWriter(Database):
    """The writer of `index.db`. Use it from one thread, while holding the write lock."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "index", writable=True)
        self._clean_after = 0.0
        self.vectors_work = load_vec0(self.connection)
        if not self.vectors_work:
            spaces.forget_spaces(self)

    def known(self, source: str, places: Sequence[str] = ("",)) -> dict[str, KnownDocument]:
        """Return every document of `source` at or below these places, by path, sorted by path."""
        known: dict[str, KnownDocument] = {}
        with translated(self.path):
            for place in places:
                # A cursor, because there may be a million.
                for row in self.connection.execute(*_known_at(source, place)):
                    id_, path, *stamp, hash_, made = cast("tuple[Any, ...]", row)
                    known[path] = KnownDocument(
                        id_, path, FileStamp(*stamp), hash_, sys.intern(made)
                    )
        return known if len(places) == 1 else dict(sorted(known.items()))

    def other_names(self, refs: Sequence[DocumentRef]) -> dict[str, list[str]]:
        """Return the paths of outdated documents that are hard links of these files, by source."""
        stamps = {ref.stamp.inode: ref.stamp for ref in refs if ref.stamp.inode}
        places = {(ref.source, ref.path) for ref in refs}
        found: dict[str, list[str]] = {}
        for source, path, *stamp in self.execute(
            "SELECT source, path, size, mtime_ns, ctime_ns, inode FROM document"
            f" WHERE inode {ANY_OF}",
            [any_of(stamps)],
        ):
            if (source, path) not in places and FileStamp(*stamp) != stamps[stamp[-1]]:
                found.setdefault(source, []).append(path)
        return found

    def forget_inodes(self, source: str, numbering: str) -> None:
        """Forget the inodes of a source, because its mounts changed.

        Files are then recognised by content.
        """
        with self.transaction():
            self.execute("UPDATE document SET inode = 0 WHERE source = ?", (source,))
            write_meta(self, f"{NUMBERING} {source}", numbering)

    def source_names(self) -> list[str]:
        """Return the names of the sources with documents."""
        return [name for (name,) in self.execute("SELECT DISTINCT source FROM document")]

    def put_document(
        self,
        row: DocumentRow,
        faults: Sequence[Fault],
        replaces: int | None,
        cached: Mapping[int, Mapping[bytes, Vector]],
    ) -> None:
        """Write one document in one transaction.

        `replaces` is its previous row, also under another path: chunks with the same embedded text
        keep their row and vectors. `cached` holds the known vectors by space id and embed key;
        other new chunks become pending.
        """
        values = (
            *(getattr(row, name) for name in _COLUMNS),
            sum(chunk.tokens for chunk in row.chunks),
            json.dumps(dict(row.frontmatter), ensure_ascii=False),
            called(row),
            replaces,
        )
        with self.transaction():
            vocabulary.put_called(self, replaces, called(row))
            self.execute(_REPLACE_DOCUMENT if replaces else _ADD_DOCUMENT, values)
            document_id = replaces or self.connection.last_insert_rowid()
            _put_names(self, document_id, row)
            _put_chunks(self, document_id, row.chunks, cached)
            _put_faults(self, row.source, row.path, faults)

    def remove_document(self, document_id: int) -> None:
        """Delete a document with its chunks, names and faults, in one transaction."""
        with self.transaction():
            source, path = self.execute(
                "SELECT source, path FROM document WHERE id = ?", (document_id,)
            )[0]
            chunk_ids = self.execute("SELECT id FROM chunk WHERE document_id = ?", (document_id,))
            blocks = self.execute(_BLOCKS, (document_id,))
            _remove_chunks(self, [chunk_id for (chunk_id,) in chunk_ids])
            self.execute_many(_REMOVE_BLOCK, blocks)
            vocabulary.put_called(self, document_id, "")
            document_names.mark(self, document_id, "", ())
            document_names.remove(self, document_id)
            _remove_lists(self, document_id)
            self.execute("DELETE FROM document WHERE id = ?", (document_id,))
            _put_faults(self, source, path, ())
            write_meta(self, UNCLEAN, "")

    def put_faults(self, source: str, path: str, faults: Sequence[Fault]) -> None:
        """Replace the faults of one file without a document, or with one that cannot be read again.

        The document's own faults are lost, so the next sync reads it in full.
        """
        with self.transaction():
            _put_faults(self, source, path, faults)
            self.execute(
                "UPDATE document SET made_with = '' WHERE source = ? AND path = ?", (source, path)
            )

    def memories_alone(self, document_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return id and path of the given documents that are memories with a unique id."""
        rows = self.execute(
            "WITH these AS (SELECT id, uid, path FROM document WHERE kind = 'memory'"
            f" AND id {ANY_OF})"
            " SELECT * FROM these WHERE NOT EXISTS"
            " (SELECT 1 FROM document WHERE uid = these.uid AND id NOT IN (SELECT id FROM these))",
            [any_of(document_ids)],
        )
        return {id_: (uid, path) for id_, uid, path in rows}

    def texts_of_memories(self, document_ids: Iterable[int]) -> list[tuple[str, str]]:
        """Return uid and text of the given documents that are memories without another file."""
        return self.execute(
            f"WITH gone AS (SELECT * FROM document WHERE kind = 'memory' AND id {ANY_OF}),"
            " lost AS (SELECT * FROM gone WHERE NOT EXISTS (SELECT 1 FROM document"
            " WHERE uid = gone.uid AND id NOT IN (SELECT id FROM gone)))"
            " SELECT uid, title FROM lost UNION ALL"
            f" SELECT uid, {TEXT} FROM lost JOIN chunk ON document_id = lost.id",
            [any_of(document_ids)],
        )

    def with_phrases(self, phrases: Sequence[str]) -> list[tuple[int, str, str]]:
        """Return the chunks that hold any of these phrases: document, kind, title with text."""
        sql = (
            f"SELECT document.id, kind, document.title || char(10) || {TEXT} FROM chunk_fts"
            " JOIN chunk ON chunk.id = chunk_fts.rowid JOIN document ON document.id = document_id"
            " WHERE chunk_fts MATCH ?"
        )
        some = (phrases[start : start + _PHRASES] for start in range(0, len(phrases), _PHRASES))
        return [
            row
            for those in some
            for row in self.execute(sql, [" OR ".join(f'"{one}"' for one in those)])
        ]

    def read_again(
        self, document_ids: Iterable[int], omitting: Iterable[int] = ()
    ) -> list[tuple[str, str]]:
        """Mark documents to be read again by the next sync; return their sources and paths.

        Also marks sessions with an omitted content that has one of these fingerprints.
        """
        any_of_it = f"EXISTS (SELECT 1 FROM json_each(omitted) WHERE value {ANY_OF})"
        sql = (
            f"UPDATE document SET made_with = '' WHERE id {ANY_OF}"
            f" OR (omitted IS NOT NULL AND {any_of_it})"
        )
        return self.execute(
            f"{sql} RETURNING source, path", (any_of(document_ids), any_of(omitting))
        )

    def put_stamp(self, document_id: int, stamp: FileStamp) -> None:
        """Update the stamp of a document with unchanged text."""
        with self.transaction():
            sql = "UPDATE document SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?"
            self.execute(sql, (*stamp, document_id))

    def lone_faults(self, source: str) -> dict[str, list[Fault]]:
        """Return the faults of files of `source` that have no document, by path."""
        faults: dict[str, list[Fault]] = {}
        for code, message, path, line in self.execute(
            "SELECT code, message, path, line FROM fault WHERE source = ?1"
            " AND path NOT IN (SELECT path FROM document WHERE source = ?1) ORDER BY path, line",
            (source,),
        ):
            faults.setdefault(path, []).append(Fault(code, message, path, line))
        return faults

    def mark_stale(self) -> None:
        """Mark every document to be read again by the next sync; its rows stay searchable."""
        with self.transaction():
            self.execute("UPDATE document SET made_with = ''")
            self.execute("UPDATE chunk SET terms_hash = x''")
            vocabulary.count_anew(self)

    def code_vectors(self, **due: Any) -> bool:
        """Write codes for one batch of vectors, if due (`spaces.codes_due`).

        False if nothing was written.
        """
        if not spaces.codes_due(self, **due):
            return False
        from vault_index.store.codes import write_codes  # imported here because it imports numpy

        return write_codes(self)

    def clean(self, lock: AbstractContextManager[object]) -> None:
        """Purge the file under this lock, if documents were deleted or many rows replaced.

        Does nothing soon after the last purge, or if the disk has too little space.
        """
        started = time.monotonic()
        if started >= self._clean_after and (
            read_meta(self, UNCLEAN) is not None or self.value(_STALE)
        ):
            with suppress(VaultIndexError), lock:
                self.purge()
            now = time.monotonic()
            self._clean_after = now + (now - started) / _CLEANING_SHARE

    def purge(self) -> None:
        """Remove deleted data from the file, which takes as long as rewriting it.

        FTS5 keeps deleted words until a table is fully merged, and SQLite keeps free pages.
        """
        for table in ("chunk_fts", "name_fts"):
            self.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
        while self.code_vectors(least=1):
            pass
        self.execute("VACUUM")
        self.execute("DELETE FROM meta WHERE key = ?", (UNCLEAN,))
        self.checkpoint()

    def remove_everything(self) -> None:
        """Remove every row, in one transaction: readers see the old rows until it ends."""
        with self.transaction():
            recreate_index(self.connection)


def _known_at(source: str, place: str) -> tuple[str, tuple[str, ...]]:
    sql = (
        "SELECT id, path, size, mtime_ns, ctime_ns, inode, content_hash, made_with FROM document"
        " WHERE source = ?"
    )
    if not place:
        return f"{sql} ORDER BY path", (source,)
    # `0` follows `/` in ASCII: the paths below the place are one range of the path index.
    return f"{sql} AND (path = ? OR (path > ? AND path < ?)) ORDER BY path", (
        source,
        place,
        f"{place}/",
        f"{place}0",
    )


def _put_names(db: Database, document_id: int, row: DocumentRow) -> None:
    document_names.mark(db, document_id, row.name, row.links)
    _remove_lists(db, document_id)
    tags = [(tag, document_id) for tag in dict.fromkeys(row.tags)]
    db.execute_many("INSERT INTO tag (tag, document_id) VALUES (?, ?)", tags)
    aliases = [(alias, same_form(alias), document_id) for alias in row.aliases]
    db.execute_many("INSERT INTO alias (alias, folded, document_id) VALUES (?, ?, ?)", aliases)
    links = [
        (
            document_id,
            link.line,
            link.target,
            document_names.target_name(link),
            link.heading,
            link.text,
            link.embed,
        )
        for link in row.links
    ]
    db.execute_many(
        "INSERT INTO link (document_id, line, target, target_name, heading, text, embed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        links,
    )


def _remove_lists(db: Database, document_id: int) -> None:
    for table in ("tag", "alias", "link"):
        db.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))


def called(row: DocumentRow) -> str:
    """Return the indexed text of a document besides its chunks: the columns they share."""
    if not row.chunks:
        return ""
    title, aliases, _, tags, fields, path, _ = row.chunks[0].terms
    return "\n".join((title, aliases, tags, fields, path))


def _put_chunks(
    db: Database,
    document_id: int,
    chunks: Sequence[ChunkRow],
    cached: Mapping[int, Mapping[bytes, Vector]],
) -> None:
    by_key: dict[bytes, list[_OldChunk]] = {}
    by_text: dict[str, list[_OldChunk]] = {}
    before = db.execute(_BLOCKS, (document_id,))
    for row in db.execute(
        f"SELECT id, embed_key, {TEXT}, terms_hash FROM chunk WHERE document_id = ?"
        " ORDER BY ordinal DESC",
        (document_id,),
    ):
        by_key.setdefault(row[1], []).append(_OldChunk(*row))
    kept = [rows.pop() if (rows := by_key.get(chunk.embed_key)) else None for chunk in chunks]
    for left in [old for rows in by_key.values() for old in rows]:
        by_text.setdefault(left.text, []).append(left)
    texts = zip(
        count(-sum(chunk.of_fields for chunk in chunks)), _put_texts(db, chunks), strict=False
    )
    for (ordinal, text), chunk, same in zip(texts, chunks, kept, strict=True):
        # If tags or title of a text changed, it keeps its vector until it has a new one.
        if same or (same := rows.pop() if (rows := by_text.get(chunk.text)) else None):
            _keep_chunk(db, same, (ordinal, *text), chunk, cached)
        else:
            _insert_chunk(db, document_id, (ordinal, *text), chunk, cached)
    _remove_chunks(db, [old.id for rows in by_text.values() for old in rows])
    db.execute_many(_REMOVE_BLOCK, before)


def _put_texts(db: Database, chunks: Sequence[ChunkRow]) -> list[tuple[int, int, int]]:
    """Store the texts and return block, place and byte length of each chunk's text."""
    places: list[tuple[int, int, int]] = []
    texts = [
        (chunk.context, json.dumps(chunk.headings, ensure_ascii=False), chunk.text)
        for chunk in chunks
    ]
    for body, sizes in in_blocks(texts):
        db.execute("INSERT INTO text_block (body) VALUES (?)", (body,))
        block_id = db.connection.last_insert_rowid()
        places += [(block_id, place, size) for place, size in enumerate(sizes)]
    return places


def _terms_hash(terms: Sequence[str]) -> bytes:
    return hashlib.blake2b(
        "\0".join(terms).encode("utf-8", "surrogatepass"), digest_size=16
    ).digest()


def _keep_chunk(
    db: Database,
    old: _OldChunk,
    place: tuple[int, int, int, int],
    chunk: ChunkRow,
    cached: Mapping[int, Mapping[bytes, Vector]],
) -> None:
    hashed = _terms_hash(chunk.terms)
    renewed = chunk.embed_key != old.embed_key
    if renewed:
        vocabulary.remove_chunk(db, old.id)
    db.execute(
        "UPDATE chunk SET ordinal = ?, block_id = ?, place = ?, bytes = ?, start_line = ?,"
        " end_line = ?, tokens = ?, embed_key = ?, terms_hash = ? WHERE id = ?",
        (*place, chunk.start_line, chunk.end_line, chunk.tokens, chunk.embed_key, hashed, old.id),
    )
    if renewed:
        vocabulary.add_chunk(db, old.id)
        for space_id, vectors in cached.items():
            spaces.renew_chunk(db, space_id, old.id, vectors.get(chunk.embed_key))
    if hashed != old.terms_hash:
        assignments = ", ".join(f"{column} = ?" for column in _TERMS.split(", "))
        db.execute(f"UPDATE chunk_fts SET {assignments} WHERE rowid = ?", (*chunk.terms, old.id))


def _insert_chunk(
    db: Database,
    document_id: int,
    place: tuple[int, int, int, int],
    chunk: ChunkRow,
    cached: Mapping[int, Mapping[bytes, Vector]],
) -> None:
    keys = (chunk.embed_key, _terms_hash(chunk.terms))
    db.execute(
        "INSERT INTO chunk (document_id, ordinal, block_id, place, bytes, start_line, end_line,"
        " tokens, embed_key, terms_hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (document_id, *place, chunk.start_line, chunk.end_line, chunk.tokens, *keys),
    )
    chunk_id = db.connection.last_insert_rowid()
    db.execute(
        f"INSERT INTO chunk_fts (rowid, {_TERMS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (chunk_id, *chunk.terms),
    )
    vocabulary.add_chunk(db, chunk_id)
    for space_id, vectors in cached.items():
        spaces.add_chunk(db, space_id, chunk_id, vectors.get(chunk.embed_key))


def _remove_chunks(db: Database, chunk_ids: Sequence[int]) -> None:
    for chunk_id in chunk_ids:
        vocabulary.remove_chunk(db, chunk_id)
        db.execute("DELETE FROM chunk_fts WHERE rowid = ?", (chunk_id,))
        db.execute("DELETE FROM chunk WHERE id = ?", (chunk_id,))
    if chunk_ids:
        spaces.remove_chunks(db, chunk_ids)


def _put_faults(db: Database, source: str, path: str, faults: Sequence[Fault]) -> None:
    db.execute("DELETE FROM fault WHERE source = ? AND path = ?", (source, path))
    db.execute_many(
        "INSERT INTO fault (source, path, code, line, message) VALUES (?, ?, ?, ?, ?)",
        [(source, path, fault.code, fault.line, fault.message) for fault in faults],
    )
