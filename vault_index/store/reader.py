"""Reading `index.db`: what a search asks of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from vault_index.models import Filters, Vector
from vault_index.store import spaces
from vault_index.store.connection import ANY_OF, Database, any_of, load_vec0
from vault_index.store.filters import document_condition, marks
from vault_index.store.records import CHUNK, ChunkRecord, chunk_records
from vault_index.store.text_blocks import TEXT
from vault_index.store.ties import Candidates, best, chunks_in_order, documents_in_order

if TYPE_CHECKING:  # spares the questions that correct no word its import
    from vault_index.store.codes import Allowed
    from vault_index.store.vocabulary import Vocabulary

# Weights of body, title, aliases, headings, tags, fields, path.
_BM25 = "bm25(chunk_fts, 1.0, 3.0, 3.0, 2.0, 1.0, 1.0, 1.0)"
HIDDEN = {
    "expired": "SELECT id FROM document WHERE expires <= ?1",
    "superseded": "SELECT id FROM document AS old WHERE superseded_by IS NOT NULL AND NOT EXISTS"  # by one of that time
    " (SELECT 1 FROM document AS new WHERE new.uid = lower(old.superseded_by) AND new.created > ?1)",
    "archived": "SELECT id FROM document WHERE archived <= ?1",
    "unreviewed": "SELECT id FROM document WHERE unreviewed > 0 AND unreviewed = 2",
}
"""The memories that are not found unless their state is asked for. Few are: each has a small index of its own, and
joined by OR the look-ups would be a scan of all documents, at every search."""
_FEW_ALLOWED = 20_000
_MOST_SCORED = 100_000
"""So many chunks are scored at most of those that hold a word which tells next to nothing: the newest."""
_MOST_STEMS = 50_000
Bounded = Sequence[tuple[str, float]]
"""FTS5 expressions, each with about the most that what it alone finds scores."""


class IndexReader(Database):
    """One reading connection; use it from one thread at a time. Readers never wait for the writer."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "index")
        self.sources: tuple[str, ...] = ()
        """Those of which something is seen, where not everything is."""
        self._vec0: bool | None = None
        self._vocabulary: tuple[int, Vocabulary] | None = None
        self._stems: dict[str, str] = {}
        self._partial = False

    def leave_out_all_but(self, sources: Collection[str]) -> None:
        """Answer from these sources alone: rows of one that is no longer set up stay until the next sync."""
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
        """Leave nothing of these tables but the rows that meet the condition of each."""
        self._partial = True
        with self.changing():
            for table, condition in kept.items():  # a temporary view hides the table of its name, from every statement
                self.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {condition}")

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Have temporary tables and views be written, which `query_only` forbids, too."""
        self.connection.pragma("query_only", False)
        try:
            yield
        finally:
            self.connection.pragma("query_only", True)

    def begin(self, *, snapshot: bool) -> None:
        """Somebody borrows this connection; with `snapshot` only to read, until `end`."""

    def end(self) -> None:
        """It is given back."""

    def _sources(self) -> Iterator[str]:
        # One look into the index for each: DISTINCT would read all of it.
        name = self.value("SELECT min(source) FROM document")
        while name is not None:
            yield name
            name = self.value("SELECT min(source) FROM document WHERE source > ?", (name,))

    # --- candidates --------------------------------------------------------------------------------------------

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
        """Chunks by BM25. `match` is an FTS5 expression, and so are those every chunk must match (`required`), and must
        not match (`excluded`). Where `match` finds too many to score them all, `bounded` are those that find the best
        of them, asked one after the other until nothing better is left; where they find too few, the newest are
        scored."""
        if bounded is not None and self._few_allowed(filters, required, excluded):
            bounded = None
        # The plus keeps SQLite from running the whole match once for every rowid of the filter.
        where, values = self._chunk_condition(filters, "+chunk_fts.rowid", required, excluded)
        scored = f"SELECT chunk_fts.rowid, -{_BM25} AS score FROM chunk_fts WHERE chunk_fts MATCH ?{where}"
        sql = f"{scored} ORDER BY score DESC LIMIT ?"
        most_scored = _MOST_SCORED // (match.count(" OR ") + 1)
        newest = f"SELECT * FROM ({scored} ORDER BY chunk_fts.rowid DESC LIMIT {most_scored}) ORDER BY 2 DESC LIMIT ?"

        def find(most: int) -> Candidates:
            if bounded is None:
                return self.execute(sql, (match, *values, most))
            found: dict[int, float] = {}
            for expression, ceiling in bounded:
                if len(found) < most or sorted(found.values())[-most] < ceiling:
                    for chunk_id, score in self.execute(sql, (expression, *values, most)):
                        found[chunk_id] = max(score, found.get(chunk_id, 0.0))  # a part of its words gives a lower one
            if len(found) < limit:
                found |= dict(self.execute(newest, (match, *values, most)))
            return sorted(found.items(), key=lambda one: -one[1])[:most]

        return best(find, limit, partial(chunks_in_order, self))

    def _few_allowed(self, filters: Filters, required: str, excluded: str) -> bool:
        """Whether conditions let so few chunks through that all of them can be scored."""
        ids, values = self._allowed(filters, required, excluded)
        few = f"SELECT count(*) < {_FEW_ALLOWED} FROM (SELECT 1 FROM ({ids}) LIMIT {_FEW_ALLOWED})"
        return bool(ids) and bool(self.value(few, values))

    def any_matches(self, match: str, filters: Filters, *, excluded: str = "") -> bool:
        """Whether there is a chunk that an FTS5 expression matches."""
        where, values = self._chunk_condition(filters, "+chunk_fts.rowid", "", excluded)
        sql = f"SELECT 1 FROM chunk_fts WHERE chunk_fts MATCH ?{where} LIMIT 1"
        return bool(self.execute(sql, (match, *values)))

    def bm25(self, match: str, chunk_ids: Collection[int]) -> Candidates:
        """BM25 of the given chunks, as far as they match; in no order."""
        # Rows that are not asked for are passed over before they are scored, which is most of the work.
        return self.execute(
            f"SELECT rowid, -{_BM25} FROM chunk_fts WHERE chunk_fts MATCH ? AND +rowid IN ({marks(chunk_ids)})",
            (match, *chunk_ids),
        )

    def name_candidates(self, match: str, limit: int, filters: Filters) -> Candidates:
        """Documents by BM25 of their names."""
        condition, values = document_condition(filters)
        ids = f"SELECT document.id FROM document WHERE {condition}" if condition else self._every("document")
        where = f" AND +rowid IN ({ids})" if condition or self._partial else ""
        sql = (
            f"SELECT rowid, -bm25(name_fts) FROM name_fts WHERE name_fts MATCH ?{where} ORDER BY bm25(name_fts) LIMIT ?"
        )
        return best(lambda most: self.execute(sql, (match, *values, most)), limit, partial(documents_in_order, self))

    def vector_candidates(
        self, space_id: int, vector: Vector, limit: int, filters: Filters, *, required: str = "", excluded: str = ""
    ) -> Candidates:
        """Chunks by cosine; `required` and `excluded` as for `text_candidates`."""
        where, values = self._chunk_condition(filters, "rowid", required, excluded)
        allowed = partial(self._allowed_ids, filters, required, excluded) if where else None
        quick = self._coded(space_id, vector, allowed)
        return spaces.nearest(self, space_id, vector, limit, where, values, quick)

    def _coded(self, space_id: int, vector: Vector, allowed: Allowed | None) -> Callable[[int], Candidates] | None:
        """How the nearest are found by their codes; None where the space has none."""
        file = spaces.coded(self, space_id)
        if file is None:
            return None
        from vault_index.store import codes  # late: it takes numpy along

        known = codes.read_codes(self, *file)
        return partial(codes.nearest, self, space_id, *known, vector, allowed=allowed) if known else None

    def _allowed_ids(
        self, filters: Filters, required: str, excluded: str, among: Sequence[int] | None, limit: int
    ) -> list[int]:
        sql, values = self._allowed(filters, required, excluded, among)
        return [chunk_id for (chunk_id,) in self.execute(f"SELECT * FROM ({sql}) LIMIT ?", (*values, limit))]

    def newest_chunks(self, filters: Filters, limit: int, *, excluded: str = "") -> list[int]:
        """The first chunks of the newest documents that the filters let through."""
        where, values = self._chunk_condition(filters, "chunk.id", "", excluded)
        rows = self.execute(
            "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
            f" WHERE chunk.ordinal = 0{where} ORDER BY document.created DESC, document.source, document.path LIMIT ?",
            (*values, limit),
        )
        return [chunk_id for (chunk_id,) in rows]

    def _every(self, table: str) -> str:
        """The statement of the ids of all documents, or of all chunks."""
        return f"SELECT id FROM {self.tables[table]}"

    def _chunk_condition(self, filters: Filters, column: str, required: str, excluded: str) -> tuple[str, list[object]]:
        """The condition that restricts `column`, a chunk id, with its values: it begins with AND, or is empty."""
        ids, values = self._allowed(filters, required, excluded)
        return f" AND {column} IN ({ids})" if ids else "", values

    def _allowed(
        self, filters: Filters, required: str, excluded: str, among: Sequence[int] | None = None
    ) -> tuple[str, list[object]]:
        """The statement of the chunks that meet all conditions, of all or of those given, with its values; empty
        without conditions."""
        # One set of ids: vec0 takes a single IN, and looks at NOT IN only when it has its nearest.
        matching = "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?"
        every = self._every("chunk")
        condition, values = document_condition(filters)
        allowed: list[str] = []
        if among is not None and (condition or not self._partial):  # each of these is looked at; else each document
            allowed.append(
                "SELECT chunk.id FROM json_each(?) AS one CROSS JOIN chunk ON chunk.id = one.value CROSS JOIN document"
                f" ON document.id = chunk.document_id WHERE {condition or 'true'}"
            )
        elif among is not None:
            allowed.append(f"SELECT value FROM json_each(?) WHERE value IN ({every})")
        elif condition:
            allowed.append(
                f"SELECT chunk.id FROM document JOIN chunk ON chunk.document_id = document.id WHERE {condition}"
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

    # --- what is known of candidates ---------------------------------------------------------------------------

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        """Chunks by id."""
        rows = self.execute(
            f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id WHERE chunk.id {ANY_OF}",
            [any_of(chunk_ids)],
        )
        return {chunk.chunk_id: chunk for chunk in chunk_records(rows)}

    def same_texts(self, chunk_ids: Collection[int], texts: Collection[str]) -> list[ChunkRecord]:
        """Those of the chunks that say one of these texts."""
        return chunk_records(
            self.execute(
                f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
                f" WHERE chunk.id {ANY_OF} AND chunk.bytes {ANY_OF} AND {TEXT} {ANY_OF}",
                (any_of(chunk_ids), any_of({len(text.encode()) for text in texts}), any_of(texts)),
            )
        )

    def hidden_chunks(self, now: float, *, shown: Collection[str] = ()) -> set[int]:
        """Chunks of memories that are in one of the states in which they are hidden, other than those that are asked
        for: they are over at `now`, or wait for somebody to accept them."""
        hidden = [sql for state, sql in HIDDEN.items() if state not in shown]
        if not hidden:
            return set()
        sql = f"SELECT id FROM chunk WHERE ?1 NOT NULL AND document_id IN ({' UNION ALL '.join(hidden)})"
        return {chunk_id for (chunk_id,) in self.execute(sql, (now,))}

    def backlink_counts(self, document_ids: Collection[int]) -> dict[int, int]:
        """The number of other documents that link to each by its name."""
        rows = self.execute(
            "SELECT document.id, count(DISTINCT link.document_id) FROM document JOIN link"
            " ON link.target_name = document.name AND link.document_id <> document.id"
            f" WHERE document.id {ANY_OF} GROUP BY document.id",
            [any_of(document_ids)],
        )
        return dict(rows)

    def count_matches(self, match: str, share: int = 1) -> int:
        """The number of chunks an FTS5 expression matches, of all or of the newest ones, one in `share`."""
        last = self.value(f"SELECT max(id) FROM {self.tables['chunk']}") or 0
        sql = "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ?"
        return int(self.value(sql, (match, last - last // share)))

    def vectors_work(self) -> bool:
        """Whether vec0 loads here; it is loaded only by those who ask for vectors."""
        if self._vec0 is None:
            self._vec0 = load_vec0(self.connection)
        return self._vec0

    # --- words, remembered -------------------------------------------------------------------------------------

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """What the index makes of each word; words in lower case. Words it takes for several are left out."""
        from vault_index.store import vocabulary

        if len(self._stems) > _MOST_STEMS:
            self._stems = {}
        new = [word for word in words if word not in self._stems]
        if new:
            self._stems |= dict.fromkeys(new, "") | vocabulary.stems(self, new)
        return {word: stem for word in words if (stem := self._stems[word])}

    def vocabulary(self) -> Vocabulary:
        """The words of the index. It remembers what was asked of it, as long as the index stays as it is."""
        version = int(self.connection.pragma("data_version"))
        if self._vocabulary is None or self._vocabulary[0] != version:
            self._vocabulary = version, self.new_vocabulary()
        return self._vocabulary[1]

    def new_vocabulary(self) -> Vocabulary:
        from vault_index.store.vocabulary import Vocabulary

        return Vocabulary(self)

    def own_names(self, match: str, document_ids: Collection[int]) -> set[int]:
        """Those of these documents, all of which were found by their names, that are found by names anybody may know
        of who asks."""
        return set(document_ids)
