"""Reading `index.db`: candidates for a query, documents and chunks, counts. Readers never wait for the writer."""

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vault_index.models import Fault, FileStamp, Filters, Link, Vector
from vault_index.store import names, neighbours, projects, spaces, vocabulary
from vault_index.store.connection import connect, fetch_all, load_vec0, translated
from vault_index.store.filters import document_condition
from vault_index.store.known_items import DocumentNames, document_names
from vault_index.store.neighbours import Backlink, Called, Others
from vault_index.store.projects import Project
from vault_index.store.rows import ChunkRecord, PendingChunk, SpaceRow, StoredDocument
from vault_index.store.vocabulary import Vocabulary

# Weights of title, aliases, headings, tags, fields, path, body.
_BM25 = "bm25(chunk_fts, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0)"

_DOCUMENT = (
    "document.id, document.uid, document.kind, document.source, document.path, document.title, document.size,"
    " document.mtime_ns, document.ctime_ns, document.line_count, document.tokens, document.type, document.digest,"
    " document.created, document.updated, document.entered_by, document.project, document.expires,"
    " document.valid_until, document.confidence, document.frontmatter"
)
_CHUNK = (
    "chunk.id, document.id, document.uid, document.kind, document.source, document.path, document.title,"
    " chunk.headings, chunk.start_line, chunk.end_line, chunk.text, chunk.tokens, document.size, document.mtime_ns,"
    " document.ctime_ns, document.type, document.digest, document.created, document.updated, document.entered_by,"
    " document.project, document.expires, document.valid_until, document.confidence"
)


_MOST_STEMS = 50_000


@dataclass(frozen=True, slots=True)
class Order:
    """How `list` is sorted; ties are broken by path, so that pages never overlap."""

    column: str = "created"
    descending: bool = True


class IndexReader:
    """One reading connection; use it from one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = connect(path, "index", writable=False)
        self._vec0: bool | None = None
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._stems: dict[str, str] = {}

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """One state of the index over several calls."""
        with translated(self._path):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("ROLLBACK")

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        with translated(self._path):
            return fetch_all(self._connection, sql, tuple(values))

    # --- candidates --------------------------------------------------------------------------------------------

    def text_candidates(
        self, match: str, limit: int, filters: Filters, *, required: str = "", excluded: str = ""
    ) -> list[tuple[int, float]]:
        """Chunk ids and BM25 (higher is better), best first. `match` is an FTS5 expression, and so are those every
        chunk must match, and must not match."""
        # The plus keeps SQLite from running the whole match once for every rowid of the filter.
        where, values = _chunk_condition(filters, "+chunk_fts.rowid", required, excluded)
        rows = self._all(
            f"SELECT chunk_fts.rowid, -{_BM25} FROM chunk_fts WHERE chunk_fts MATCH ?{where} ORDER BY {_BM25} LIMIT ?",
            (match, *values, limit),
        )
        return [(chunk_id, score) for chunk_id, score in rows]

    def bm25(self, match: str, chunk_ids: Collection[int]) -> list[tuple[int, float]]:
        """BM25 of the given chunks, as far as they match."""
        marks = ", ".join("?" * len(chunk_ids))
        # Rows that are not asked for are passed over before they are scored, which is most of the work.
        rows = self._all(
            f"SELECT rowid, -{_BM25} FROM chunk_fts WHERE chunk_fts MATCH ? AND +rowid IN ({marks})",
            (match, *chunk_ids),
        )
        return [(chunk_id, score) for chunk_id, score in rows]

    def name_candidates(self, match: str, limit: int, filters: Filters) -> list[tuple[int, float]]:
        """Document ids and BM25 over what the documents are called, best first."""
        condition, values = document_condition(filters)
        where = f" AND +rowid IN (SELECT document.id FROM document WHERE {condition})" if condition else ""
        with translated(self._path):
            return names.candidates(self._connection, match, limit, where, values)

    def documents_of(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        """The document of each chunk."""
        marks = ", ".join("?" * len(chunk_ids))
        return dict(self._all(f"SELECT id, document_id FROM chunk WHERE id IN ({marks})", chunk_ids))

    def first_chunks(self, document_ids: Sequence[int]) -> dict[int, int]:
        """The first chunk of each document that has one."""
        marks = ", ".join("?" * len(document_ids))
        return dict(
            self._all(f"SELECT document_id, id FROM chunk WHERE document_id IN ({marks}) AND ordinal = 0", document_ids)
        )

    def vectors_work(self) -> bool:
        """Whether vec0 loads here; it is loaded only by those who ask for vectors."""
        if self._vec0 is None:
            self._vec0 = load_vec0(self._connection)
        return self._vec0

    def serving_space(self) -> SpaceRow | None:
        return next((space for space in self.spaces() if space.serving), None)

    def spaces(self) -> list[SpaceRow]:
        with translated(self._path):
            return spaces.read_spaces(self._connection)

    def vector_candidates(
        self, space_id: int, vector: Vector, limit: int, filters: Filters, *, required: str = "", excluded: str = ""
    ) -> list[tuple[int, float]]:
        """Chunk ids and cosines, best first; `required` and `excluded` as for texts."""
        where, values = _chunk_condition(filters, "rowid", required, excluded)
        with translated(self._path):
            return spaces.nearest(self._connection, space_id, vector, limit, where, values)

    def cosines(self, space_id: int, vector: Vector, chunk_ids: Sequence[int]) -> dict[int, float]:
        with translated(self._path):
            return spaces.cosines(self._connection, space_id, vector, chunk_ids)

    def hidden_chunks(self, now: float, *, expired: bool = True, superseded: bool = True) -> set[int]:
        """Chunks of memories that are over: expired at `now`, or superseded by one that was there by then."""
        # Two look-ups in two small indexes: joined by OR they would be a scan of all documents, at every search.
        over = []
        if expired:
            over.append("SELECT id FROM document WHERE expires <= ?1")
        if superseded:
            over.append(
                "SELECT id FROM document AS old WHERE superseded_by IS NOT NULL AND NOT EXISTS"
                " (SELECT 1 FROM document AS new WHERE new.uid = lower(old.superseded_by) AND new.created > ?1)"
            )
        if not over:
            return set()
        rows = self._all(f"SELECT id FROM chunk WHERE document_id IN ({' UNION ALL '.join(over)})", (now,))
        return {chunk_id for (chunk_id,) in rows}

    def newest_chunks(self, filters: Filters, limit: int, *, excluded: str = "") -> list[int]:
        """The first chunks of the newest documents that the filters let through."""
        where, values = _chunk_condition(filters, "chunk.id", "", excluded)
        rows = self._all(
            "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
            f" WHERE chunk.ordinal = 0{where} ORDER BY document.created DESC, document.source, document.path LIMIT ?",
            (*values, limit),
        )
        return [chunk_id for (chunk_id,) in rows]

    def backlink_counts(self, document_ids: Collection[int]) -> dict[int, int]:
        """How many other documents link to each by its name."""
        marks = ", ".join("?" * len(document_ids))
        rows = self._all(
            "SELECT document.id, count(DISTINCT link.document_id) FROM document JOIN link"
            " ON link.target_name = document.name AND link.document_id <> document.id"
            f" WHERE document.id IN ({marks}) GROUP BY document.id",
            tuple(document_ids),
        )
        return dict(rows)

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        marks = ", ".join("?" * len(chunk_ids))
        rows = self._all(
            f"SELECT {_CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id WHERE chunk.id IN ({marks})",
            chunk_ids,
        )
        return {row[0]: _chunk_record(row) for row in rows}

    def tags_of(self, document_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Tags in the order of the alphabet, for each document that has some."""
        marks = ", ".join("?" * len(document_ids))
        tags: dict[int, tuple[str, ...]] = {}
        for document_id, tag in self._all(
            f"SELECT document_id, tag FROM tag WHERE document_id IN ({marks}) ORDER BY tag", document_ids
        ):
            tags[document_id] = (*tags.get(document_id, ()), tag)
        return tags

    # --- words -------------------------------------------------------------------------------------------------

    def document_frequencies(self, words: Collection[str]) -> dict[str, int]:
        with translated(self._path):
            return vocabulary.document_frequencies(self._connection, words)

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """What the index makes of each word; words in lower case. Words it takes for several are left out."""
        if len(self._stems) > _MOST_STEMS:
            self._stems = {}
        new = [word for word in words if word not in self._stems]
        if new:
            with translated(self._path):
                self._stems |= dict.fromkeys(new, "") | vocabulary.stems(self._connection, new)
        return {word: stem for word in words if (stem := self._stems[word])}

    def count_matches(self, match: str) -> int:
        """How many chunks an FTS5 expression matches."""
        return int(self._all("SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ?", (match,))[0][0])

    def vocabulary(self) -> Vocabulary:
        """The words of the index. It remembers what was asked of it, as long as the index stays as it is."""
        with translated(self._path):
            version = int(self._connection.pragma("data_version"))
        if self._vocabulary is None or self._vocabulary[0] != version:
            self._vocabulary = version, Vocabulary(self._connection, self._path)
        return self._vocabulary[1]

    # --- documents ---------------------------------------------------------------------------------------------

    def documents(self, filters: Filters, order: Order, limit: int, offset: int) -> tuple[list[StoredDocument], int]:
        """One page of documents, and how many there are in all."""
        condition, values = document_condition(filters)
        where = f" WHERE {condition}" if condition else ""
        direction = "DESC" if order.descending else "ASC"
        by = f"ORDER BY {order.column} {direction} NULLS LAST, source, path"
        # The page first: sorting whole rows takes several times as long.
        rows = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE id IN (SELECT id FROM document{where} {by} LIMIT ? OFFSET ?) {by}",
            (*values, limit, offset),
        )
        total = self._all(f"SELECT count(*) FROM document{where}", values)[0][0]
        return [_stored_document(row) for row in rows], int(total)

    def allows(self, filters: Filters, document_id: int) -> bool:
        """Whether the filters let a document through."""
        condition, values = document_condition(filters)
        where = f" AND {condition}" if condition else ""
        return bool(self._all(f"SELECT id FROM document WHERE id = ?{where}", (document_id, *values)))

    def documents_by_id(self, prefix: str, limit: int = 10) -> list[StoredDocument]:
        """Documents whose id begins with `prefix` (lower case)."""
        # An id holds no character after `g`: the range is a prefix search that the index can answer.
        rows = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE uid >= ? AND uid < ? ORDER BY uid, source, path LIMIT ?",
            (prefix, f"{prefix}g", limit),
        )
        return [_stored_document(row) for row in rows]

    def documents_by_path(self, path: str, sources: Sequence[str] = ()) -> list[StoredDocument]:
        rows = self._all(f"SELECT {_DOCUMENT} FROM document WHERE path = ? ORDER BY source", (path,))
        return [document for row in rows if (document := _stored_document(row)).source in sources or not sources]

    def documents_by_name(self, name: str) -> list[StoredDocument]:
        """Documents a wikilink's last part may mean: by file name first, then by alias; shortest path first."""
        folded = name.casefold()
        by_name = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE name = ? ORDER BY length(path), source, path", (folded,)
        )
        by_alias = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE id IN (SELECT document_id FROM alias WHERE folded = ?)"
            " ORDER BY length(path), source, path",
            (folded,),
        )
        return [_stored_document(row) for row in (*by_name, *by_alias)]

    def memories_by_identity(self, identity: bytes, source: str) -> list[StoredDocument]:
        """Memories of one source that said the same when they were indexed, oldest first."""
        rows = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE identity = ? AND source = ? ORDER BY created, path",
            (identity, source),
        )
        return [_stored_document(row) for row in rows]

    def memories_by_old_id(self, old_id: str, sources: Sequence[str] = ()) -> list[StoredDocument]:
        """Memories that were called so where they were imported from, by path."""
        rows = self._all(
            f"SELECT {_DOCUMENT} FROM document WHERE kind = 'memory' AND EXISTS"
            " (SELECT 1 FROM json_each(document.frontmatter, '$.imported_id') WHERE CAST(value AS TEXT) = ?)"
            " ORDER BY source, path",
            (old_id,),
        )
        return [document for row in rows if (document := _stored_document(row)).source in sources or not sources]

    def shared_ids(self) -> dict[str, list[str]]:
        """The paths of memories that have one id, by that id."""
        rows = self._all(
            "SELECT uid, path FROM document WHERE uid IN (SELECT uid FROM document GROUP BY uid HAVING count(*) > 1)"
            " ORDER BY uid, source, path"
        )
        paths: dict[str, list[str]] = {}
        for uid, path in rows:
            paths.setdefault(uid, []).append(path)
        return paths

    def chunks_of(self, document_id: int) -> list[ChunkRecord]:
        rows = self._all(
            f"SELECT {_CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
            " WHERE document.id = ? ORDER BY chunk.ordinal",
            (document_id,),
        )
        return [_chunk_record(row) for row in rows]

    def aliases_of(self, document_id: int) -> list[str]:
        return [alias for (alias,) in self._all("SELECT alias FROM alias WHERE document_id = ?", (document_id,))]

    def document_names(self, now: float, *, may_leave: bool) -> list[DocumentNames]:
        """What every document that can be found is called; with `may_leave` only what may leave the machine."""
        with self.snapshot():
            return document_names(self._connection, now, may_leave=may_leave)

    def links_of(self, document_id: int) -> list[Link]:
        rows = self._all(
            "SELECT target, heading, text, line, embed FROM link WHERE document_id = ? ORDER BY line",
            (document_id,),
        )
        return [Link(target, heading, text, line, bool(embed)) for target, heading, text, line, embed in rows]

    # --- around a document -------------------------------------------------------------------------------------

    def documents_by_key(self, document_ids: Collection[int]) -> dict[int, StoredDocument]:
        marks = ", ".join("?" * len(document_ids))
        rows = self._all(f"SELECT {_DOCUMENT} FROM document WHERE id IN ({marks})", tuple(document_ids))
        return {row[0]: _stored_document(row) for row in rows}

    def links_to(self, folded_names: Collection[str]) -> list[Backlink]:
        with translated(self._path):
            return neighbours.links_to(self._connection, folded_names)

    def documents_called(self, folded_names: Collection[str]) -> list[Called]:
        with translated(self._path):
            return neighbours.documents_called(self._connection, folded_names)

    def among(self, others: Others, document_ids: Collection[int]) -> set[int]:
        with translated(self._path):
            return neighbours.among(self._connection, others, document_ids)

    def vectors(self, space_id: int, chunk_ids: Sequence[int]) -> list[Vector]:
        with translated(self._path):
            return spaces.vectors(self._connection, space_id, chunk_ids)

    def nearest_documents(
        self, space_id: int, vector: Vector, others: Others, document_ids: Collection[int] | None = None
    ) -> dict[int, float]:
        with translated(self._path):
            return neighbours.nearest_documents(self._connection, space_id, vector, others, document_ids)

    def in_time(
        self, others: Others, position: tuple[float, str, str], *, before: int, after: int
    ) -> tuple[list[int], list[int]]:
        with translated(self._path):
            return neighbours.in_time(self._connection, others, position, before=before, after=after)

    # --- projects ----------------------------------------------------------------------------------------------

    def memories_of(self, project: Project, sources: Sequence[str], now: float, limit: int) -> list[tuple[int, bool]]:
        with translated(self._path):
            return projects.memories_of(self._connection, project, sources, now, limit)

    def memories_of_all(self, sources: Sequence[str], now: float, limit: int) -> list[int]:
        with translated(self._path):
            return projects.memories_of_all(self._connection, sources, now, limit)

    def sessions_of(self, project: Project, sources: Sequence[str], limit: int) -> list[int]:
        with translated(self._path):
            return projects.sessions_of(self._connection, project, sources, limit)

    # --- counts ------------------------------------------------------------------------------------------------

    def tag_counts(self, filters: Filters) -> list[tuple[str, int]]:
        """Tags with the number of documents that carry them, most frequent first."""
        condition, values = document_condition(filters)
        where = f" WHERE document_id IN (SELECT document.id FROM document WHERE {condition})" if condition else ""
        return self._all(f"SELECT tag, count(*) AS n FROM tag{where} GROUP BY tag ORDER BY n DESC, tag", values)

    def author_counts(self) -> list[tuple[str, int]]:
        return self._all(
            "SELECT entered_by, count(*) AS n FROM document WHERE entered_by IS NOT NULL"
            " GROUP BY entered_by ORDER BY n DESC, entered_by"
        )

    def kind_counts(self) -> dict[str, int]:
        return dict(self._all("SELECT kind, count(*) FROM document GROUP BY kind"))

    def count(self, what: str) -> int:
        """`chunk`, `tag` (different ones), `author`, `document`."""
        sql = {
            "document": "SELECT count(*) FROM document",
            "chunk": "SELECT count(*) FROM chunk",
            "tag": "SELECT count(DISTINCT tag) FROM tag",
            "author": "SELECT count(DISTINCT entered_by) FROM document",
        }[what]
        return int(self._all(sql)[0][0])

    def count_pending(self, space_id: int, *, may_leave: bool) -> int:
        with translated(self._path):
            return spaces.count_pending(self._connection, space_id, may_leave=may_leave)

    def pending(self, space_id: int | None, *, may_leave: bool) -> list[PendingChunk]:
        """Every chunk that lacks a vector in a space; all chunks for a space that does not exist yet."""
        with translated(self._path):
            if space_id is None:
                return spaces.pending_in_new_space(self._connection, may_leave=may_leave)
            return spaces.pending(self._connection, space_id, 0, -1, may_leave=may_leave)

    def source_counts(self) -> dict[str, tuple[int, int]]:
        """Documents and chunks by source."""
        rows = self._all(
            "SELECT document.source, count(DISTINCT document.id), count(chunk.id) FROM document"
            " LEFT JOIN chunk ON chunk.document_id = document.id GROUP BY document.source"
        )
        return {source: (documents, chunks) for source, documents, chunks in rows}

    def stamps(self, source: str) -> dict[str, FileStamp]:
        """The state in which each document of a source was read, by path; without those that will be read again."""
        rows = self._all(
            "SELECT path, size, mtime_ns, ctime_ns FROM document WHERE source = ? AND made_with <> ''", (source,)
        )
        return {path: FileStamp(*stamp) for path, *stamp in rows}

    def faults_of(self, source: str, path: str) -> list[Fault]:
        """What is wrong with one file."""
        return [fault for name, fault in self.faults() if (name, fault.path) == (source, path)]

    def count_lacking(self, space_id: int, document_id: int) -> int:
        """How many chunks of a document lack a vector."""
        sql = (
            "SELECT count(*) FROM pending JOIN chunk ON chunk.id = pending.chunk_id"
            " WHERE pending.space_id = ? AND chunk.document_id = ?"
        )
        return int(self._all(sql, (space_id, document_id))[0][0])

    def faults(self) -> list[tuple[str, Fault]]:
        """Source and fault of every file that has something wrong, by place."""
        rows = self._all("SELECT source, code, message, path, line FROM fault ORDER BY source, path, line")
        return [(source, Fault(code, message, path, line)) for source, code, message, path, line in rows]

    def meta(self, key: str) -> str | None:
        rows = self._all("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else None


def _chunk_condition(filters: Filters, column: str, required: str, excluded: str) -> tuple[str, list[object]]:
    """What `column`, a chunk id, is restricted to; it begins with AND where it is anything."""
    # One set of ids: vec0 takes a single IN, and looks at NOT IN only when it has its nearest.
    matching = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?"
    condition, values = document_condition(filters)
    allowed: list[str] = []
    if condition:
        allowed.append(f"SELECT chunk.id FROM document JOIN chunk ON chunk.document_id = document.id WHERE {condition}")
    if required:
        allowed.append(matching)
        values.append(required)
    if not allowed and not excluded:
        return "", []
    ids = " INTERSECT ".join(allowed) or "SELECT id FROM chunk"
    if excluded:
        ids += f" EXCEPT {matching}"
        values.append(excluded)
    return f" AND {column} IN ({ids})", values


def _chunk_record(row: Sequence[Any]) -> ChunkRecord:
    (chunk_id, document_id, uid, kind, source, path, title, headings, start, end, text, tokens, size, mtime, ctime,
     type_, digest, created, updated, by, project, expires, valid_until, confidence) = row  # fmt: skip
    return ChunkRecord(
        chunk_id, document_id, uid, kind, source, path, title, tuple(json.loads(headings)), start, end, text, tokens,
        FileStamp(size, mtime, ctime), type_, digest, created, updated, by, project, expires, valid_until, confidence,
    )  # fmt: skip


def _stored_document(row: Sequence[Any]) -> StoredDocument:
    (id_, uid, kind, source, path, title, size, mtime, ctime, line_count, tokens, type_, digest, created, updated, by,
     project, expires, valid_until, confidence, frontmatter) = row  # fmt: skip
    return StoredDocument(
        id_, uid, kind, source, path, title, FileStamp(size, mtime, ctime), line_count, tokens, type_, digest, created,
        updated, by, project, expires, valid_until, confidence, json.loads(frontmatter),
    )  # fmt: skip
