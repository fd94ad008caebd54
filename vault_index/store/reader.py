"""Reading `index.db`: candidates for a query; documents and counts by the readers it is built on."""

from __future__ import annotations

from vault_index.store import spaces
from vault_index.store.connection import ANY_OF, any_of, load_vec0, translated
from vault_index.store.counts import CountReader
from vault_index.store.documents import DocumentReader
from vault_index.store.filters import document_condition
from vault_index.store.reading import CHUNK, chunk_record

TYPE_CHECKING = False  # spares the import of what only a search needs; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from vault_index.models import Filters, Vector
    from vault_index.store.records import ChunkRecord, SpaceRow
    from vault_index.store.vocabulary import Vocabulary

# Weights of title, aliases, headings, tags, fields, path, body.
_BM25 = "bm25(chunk_fts, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0, 1.0)"
_MOST_STEMS = 50_000


class IndexReader(DocumentReader, CountReader):
    """One reading connection; use it from one thread at a time. Readers never wait for the writer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._vec0: bool | None = None
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._stems: dict[str, str] = {}

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
        from vault_index.store import document_names

        condition, values = document_condition(filters)
        where = f" AND +rowid IN (SELECT document.id FROM document WHERE {condition})" if condition else ""
        with translated(self._path):
            return document_names.candidates(self._connection, match, limit, where, values)

    def documents_of(self, chunk_ids: Sequence[int]) -> dict[int, int]:
        """The document of each chunk."""
        return dict(self._all(f"SELECT id, document_id FROM chunk WHERE id {ANY_OF}", [any_of(chunk_ids)]))

    def first_chunks(self, document_ids: Sequence[int]) -> dict[int, int]:
        """The first chunk of each document that has one."""
        sql = f"SELECT document_id, id FROM chunk WHERE document_id {ANY_OF} AND ordinal = 0"
        return dict(self._all(sql, [any_of(document_ids)]))

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
        rows = self._all(
            "SELECT document.id, count(DISTINCT link.document_id) FROM document JOIN link"
            " ON link.target_name = document.name AND link.document_id <> document.id"
            f" WHERE document.id {ANY_OF} GROUP BY document.id",
            [any_of(document_ids)],
        )
        return dict(rows)

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        rows = self._all(
            f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id WHERE chunk.id {ANY_OF}",
            [any_of(chunk_ids)],
        )
        return {row[0]: chunk_record(row) for row in rows}

    def tags_of(self, document_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Tags in the order of the alphabet, for each document that has some."""
        sql = f"SELECT document_id, tag FROM tag WHERE document_id {ANY_OF} ORDER BY tag"
        tags: dict[int, tuple[str, ...]] = {}
        for document_id, tag in self._all(sql, [any_of(document_ids)]):
            tags[document_id] = (*tags.get(document_id, ()), tag)
        return tags

    # --- words -------------------------------------------------------------------------------------------------

    def document_frequencies(self, words: Collection[str]) -> dict[str, int]:
        from vault_index.store import vocabulary

        with translated(self._path):
            return vocabulary.document_frequencies(self._connection, words)

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """What the index makes of each word; words in lower case. Words it takes for several are left out."""
        from vault_index.store import vocabulary

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
        from vault_index.store.vocabulary import Vocabulary

        with translated(self._path):
            version = int(self._connection.pragma("data_version"))
        if self._vocabulary is None or self._vocabulary[0] != version:
            self._vocabulary = version, Vocabulary(self._connection, self._path)
        return self._vocabulary[1]


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
