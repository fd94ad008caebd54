"""Read `index.db`: the queries of a search."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from vault_index.models import Filters, Vector
from vault_index.store import spaces
from vault_index.store.connection import ANY_OF, Database, any_of, count_rows, load_vec0
from vault_index.store.documents import ALL, chunks_of
from vault_index.store.filters import (
    Candidates,
    best,
    chunks_in_order,
    document_condition,
    documents_in_order,
    marks,
)
from vault_index.store.records import CHUNK, TEXT, ChunkRecord, chunk_records

if TYPE_CHECKING:  # so that queries without corrections skip the import
    from vault_index.store.codes import Allowed
    from vault_index.store.vocabulary import Vocabulary

# Weights of body, title, aliases, headings, tags, fields, path.
_BM25 = "bm25(chunk_fts, 1.0, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0)"
_FEW_ALLOWED = 20_000
_MOST_SCORED = 100_000
"""Maximum number of chunks scored for very common words: the newest ones."""
_MOST_STEMS = 50_000
Bounded = Sequence[tuple[str, float]]
"""FTS5 expressions, each with an upper estimate of the score of chunks that only it finds."""


class IndexReader(Database):
    """One reading connection, for one thread at a time. Readers never wait for the writer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "index")
        self.sources: tuple[str, ...] = ()
        """The sources with visible documents, if the reader is restricted."""
        self._vec0: bool | None = None
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._stems: dict[str, str] = {}
        self._partial = False

    def leave_out_all_but(self, sources: Collection[str]) -> None:
        """Answer from these sources only: rows of a removed source stay until the next sync."""
        if set(self._sources()) <= set(sources):
            return
        names = ", ".join(apsw.format_sql_value(name) for name in sources)
        inside = "document_id IN (SELECT id FROM document)"
        self._hide(
            {
                "document": f"source IN ({names})",
                **dict.fromkeys(("chunk", "tag", "alias", "link"), inside),
                "fault": f"source IN ({names})",
            }
        )

    def _hide(self, kept: Mapping[str, str]) -> None:
        """Hide the rows of these tables that do not meet their condition."""
        self._partial = True
        with self.changing():
            # A temporary view hides the table of its name from every statement.
            for table, condition in kept.items():
                self.execute(
                    f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {condition}"
                )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Allow writes to temporary tables and views, which `query_only` forbids, too."""
        self.connection.pragma("query_only", False)
        try:
            yield
        finally:
            self.connection.pragma("query_only", True)

    def begin(self, *, snapshot: bool) -> None:
        """Begin a loan of the connection; with `snapshot`, the borrower only reads."""

    def end(self) -> None:
        """End a loan of the connection."""

    def _sources(self) -> Iterator[str]:
        # One index look-up per source, because DISTINCT would read all of the index.
        name = self.value("SELECT min(source) FROM document")
        while name is not None:
            yield name
            name = self.value("SELECT min(source) FROM document WHERE source > ?", (name,))

    # --- candidates -------------------------------------------------------------------------------

    def text_candidates(
        self,
        match: str,
        limit: int,
        filters: Filters,
        *,
        required: str = "",
        excluded: str = "",
        bounded: Bounded | None = None,
    ) -> Candidates:
        """Return chunks by BM25, best first.

        `match`, `required` and `excluded` are FTS5 expressions. If `match` finds too many chunks to
        score, the `bounded` expressions are tried in order while one may give a better chunk. If
        they find too few, the newest chunks are scored.
        """
        if bounded is not None and self._few_allowed(filters, required, excluded):
            bounded = None
        # The plus keeps SQLite from running the match once for every rowid of the filter.
        where, values = self._chunk_condition(filters, "+chunk_fts.rowid", required, excluded)
        scored = (
            f"SELECT chunk_fts.rowid, -{_BM25} AS score FROM chunk_fts"
            f" WHERE chunk_fts MATCH ?{where}"
        )
        sql = f"{scored} ORDER BY score DESC LIMIT ?"
        most_scored = _MOST_SCORED // (match.count(" OR ") + 1)
        newest = (
            f"SELECT * FROM ({scored} ORDER BY chunk_fts.rowid DESC LIMIT {most_scored})"
            " ORDER BY 2 DESC LIMIT ?"
        )

        def find(most: int) -> Candidates:
            if bounded is None:
                return self.execute(sql, (match, *values, most))
            found: dict[int, float] = {}
            for expression, ceiling in bounded:
                if len(found) < most or sorted(found.values())[-most] < ceiling:
                    for chunk_id, score in self.execute(sql, (expression, *values, most)):
                        # An expression with fewer of the words gives a lower score.
                        found[chunk_id] = max(score, found.get(chunk_id, 0.0))
            if len(found) < limit:
                found |= dict(self.execute(newest, (match, *values, most)))
            return sorted(found.items(), key=lambda one: -one[1])[:most]

        return best(find, limit, partial(chunks_in_order, self))

    def _few_allowed(self, filters: Filters, required: str, excluded: str) -> bool:
        """Return whether few enough chunks pass the conditions to score all of them."""
        ids, values = self._allowed(filters, required, excluded)
        few = f"SELECT count(*) < {_FEW_ALLOWED} FROM (SELECT 1 FROM ({ids}) LIMIT {_FEW_ALLOWED})"
        return bool(ids) and bool(self.value(few, values))

    def bm25(self, match: str, chunk_ids: Collection[int]) -> Candidates:
        """Return the BM25 scores of the given chunks that match, unordered."""
        # Filter the rows before they are scored, which is most of the work.
        return self.execute(
            f"SELECT rowid, -{_BM25} FROM chunk_fts WHERE chunk_fts MATCH ?"
            f" AND +rowid IN ({marks(chunk_ids)})",
            (match, *chunk_ids),
        )

    def name_candidates(self, match: str, limit: int, filters: Filters) -> Candidates:
        """Return documents by BM25 of their names."""
        condition, values = document_condition(filters)
        ids = (
            f"SELECT document.id FROM document WHERE {condition}"
            if condition
            else self._every("document")
        )
        where = f" AND +rowid IN ({ids})" if condition or self._partial else ""
        sql = (
            f"SELECT rowid, -bm25(name_fts) FROM name_fts WHERE name_fts MATCH ?{where} "
            "ORDER BY bm25(name_fts) LIMIT ?"
        )
        return best(
            lambda most: self.execute(sql, (match, *values, most)),
            limit,
            partial(documents_in_order, self),
        )

    def vector_candidates(
        self,
        space_id: int,
        vector: Vector,
        limit: int,
        filters: Filters,
        *,
        required: str = "",
        excluded: str = "",
    ) -> Candidates:
        """Return chunks by cosine; `required` and `excluded` as in `text_candidates`."""
        where, values = self._chunk_condition(filters, "rowid", required, excluded)
        allowed = partial(self._allowed_ids, filters, required, excluded) if where else None
        quick = self._coded(space_id, vector, allowed)
        return spaces.nearest(self, space_id, vector, limit, where, values, quick)

    def _coded(
        self, space_id: int, vector: Vector, allowed: Allowed | None
    ) -> Callable[[int], Candidates] | None:
        """Return the search by codes; None if the space has no codes."""
        file = spaces.coded(self, space_id)
        if file is None:
            return None
        from vault_index.store import codes  # imported here because it imports numpy

        known = codes.read_codes(self, *file)
        return (
            partial(codes.nearest, self, space_id, *known, vector, allowed=allowed)
            if known
            else None
        )

    def _allowed_ids(
        self,
        filters: Filters,
        required: str,
        excluded: str,
        among: Sequence[int] | None,
        limit: int,
    ) -> list[int]:
        sql, values = self._allowed(filters, required, excluded, among)
        return [
            chunk_id
            for (chunk_id,) in self.execute(f"SELECT * FROM ({sql}) LIMIT ?", (*values, limit))
        ]

    def newest_chunks(self, filters: Filters, limit: int, *, excluded: str = "") -> list[int]:
        """Return the first chunks of the newest documents that pass the filters."""
        where, values = self._chunk_condition(filters, "chunk.id", "", excluded)
        rows = self.execute(
            "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
            f" WHERE chunk.ordinal = 0{where} ORDER BY document.created DESC, document.source,"
            " document.path LIMIT ?",
            (*values, limit),
        )
        return [chunk_id for (chunk_id,) in rows]

    def _every(self, table: str) -> str:
        """Return the statement that lists all visible ids."""
        return f"SELECT id FROM {self.tables[table]}"

    def _chunk_condition(
        self, filters: Filters, column: str, required: str, excluded: str
    ) -> tuple[str, list[object]]:
        """Return the condition on `column`, a chunk id, with its values.

        It begins with AND, or is empty.
        """
        ids, values = self._allowed(filters, required, excluded)
        return f" AND {column} IN ({ids})" if ids else "", values

    def _allowed(
        self, filters: Filters, required: str, excluded: str, among: Sequence[int] | None = None
    ) -> tuple[str, list[object]]:
        """Return the statement that lists the chunks that meet all conditions, with its values.

        `among` restricts it to these chunks. Empty without conditions.
        """
        # One set of ids: vec0 takes a single IN, and applies NOT IN only to its nearest rows.
        matching = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?"
        every = self._every("chunk")
        condition, values = document_condition(filters)
        allowed: list[str] = []
        # Test each of these chunks rather than each document.
        if among is not None and condition:
            allowed.append(
                "SELECT chunk.id FROM json_each(?) AS one CROSS JOIN chunk ON chunk.id = one.value"
                " CROSS JOIN document ON document.id = chunk.document_id"
                f" WHERE {condition}"
            )
        elif among is not None:
            allowed.append(f"SELECT value FROM json_each(?) WHERE value IN ({every})")
        elif condition:
            allowed.append(
                "SELECT chunk.id FROM document JOIN chunk ON chunk.document_id = document.id"
                f" WHERE {condition}"
            )
        elif self._partial and not required:
            allowed.append(every)
        if among is not None:
            values.insert(0, any_of(among))
        if required:
            allowed.append(matching + (f" AND +rowid IN ({every})" if self._partial else ""))
            values.append(required)
        if not allowed and not excluded:
            return "", []
        ids = " INTERSECT ".join(allowed) or every
        if excluded:
            ids += f" EXCEPT {matching}"
            values.append(excluded)
        return ids, values

    def nearest(
        self, space_id: int, vector: Vector, limit: int, where: str, values: Sequence[object]
    ) -> Candidates:
        """Return the nearest chunks of the documents that meet a condition, by cosine."""
        chunks = (
            " AND rowid IN (SELECT chunk.id FROM document"
            f" JOIN chunk ON chunk.document_id = document.id WHERE {where})"
        )
        return spaces.nearest(self, space_id, vector, limit, chunks, values)

    def cosines(
        self, space_id: int, vector: Vector, chunk_ids: Collection[int]
    ) -> dict[int, float]:
        """Return the cosine of each given chunk that has a vector."""
        return spaces.cosines(self, space_id, vector, chunk_ids)

    def pair_cosines(self, space_id: int, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the cosine of each pair of chunks; None if either has no vector."""
        return spaces.pair_cosines(self, space_id, pairs)

    def vectors_of(self, space_id: int, chunk_ids: Collection[int]) -> list[Vector]:
        """Return the vectors of the given chunks, in any order, without missing ones."""
        return spaces.vectors_of(self, space_id, chunk_ids)

    # --- data of candidates -----------------------------------------------------------------------

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        """Return chunks by id."""
        rows = self.execute(
            f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
            f" WHERE chunk.id {ANY_OF}",
            [any_of(chunk_ids)],
        )
        return {chunk.chunk_id: chunk for chunk in chunk_records(rows)}

    def chunks_of(
        self, document_id: int, *, fields: bool = True, first: int = ALL, limit: int = -1
    ) -> list[ChunkRecord]:
        """Return the chunks of a document in order: see `store.documents.chunks_of`."""
        return chunks_of(self, document_id, fields=fields, first=first, limit=limit)

    def same_texts(self, chunk_ids: Collection[int], texts: Collection[str]) -> list[ChunkRecord]:
        """Return the given chunks that have one of these texts."""
        return chunk_records(
            self.execute(
                f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
                f" WHERE chunk.id {ANY_OF} AND chunk.bytes {ANY_OF} AND {TEXT} {ANY_OF}",
                (any_of(chunk_ids), any_of({len(text.encode()) for text in texts}), any_of(texts)),
            )
        )

    def count(self, what: str) -> int:
        """Return the number of visible rows of `document` or `chunk`."""
        return count_rows(self, what)

    def count_matches(self, match: str, share: int = 1) -> int:
        """Count the matches of an FTS5 expression in the newest `1/share` of the chunks."""
        last = self.value(f"SELECT max(id) FROM {self.tables['chunk']}") or 0
        sql = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ?"
        return int(self.value(sql, (match, last - last // share)))

    @property
    def vectors_work(self) -> bool:
        """Whether vec0 works; loaded on first use."""
        if self._vec0 is None:
            self._vec0 = load_vec0(self.connection)
        return self._vec0

    # --- words, cached ----------------------------------------------------------------------------

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word (in lower case), except words that the tokenizer splits."""
        from vault_index.store import vocabulary

        if len(self._stems) > _MOST_STEMS:
            self._stems = {}
        new = [word for word in words if word not in self._stems]
        if new:
            self._stems |= dict.fromkeys(new, "") | vocabulary.stems(self, new)
        return {word: stem for word in words if (stem := self._stems[word])}

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, which caches look-ups until the index changes."""
        version = int(self.connection.pragma("data_version"))
        if self._vocabulary is None or self._vocabulary[0] != version:
            self._vocabulary = version, self.new_vocabulary()
        return self._vocabulary[1]

    def new_vocabulary(self) -> Vocabulary:
        """Return a vocabulary with an empty cache."""
        from vault_index.store.vocabulary import Vocabulary

        return Vocabulary(self)

    def own_names(self, match: str, document_ids: Collection[int]) -> set[int]:
        """Return the given documents that match by names that the caller may know.

        Here these are all of them, because each was found by its names.
        """
        return set(document_ids)
