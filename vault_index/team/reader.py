"""Answer a search from a pool: what `query.reader.Reader` asks, in PostgreSQL.

One instance serves one request, on a connection that is a member for the length of a transaction.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vault_index.callers import Scope
from vault_index.models import Filters, Vector
from vault_index.store.documents import ALL
from vault_index.store.filters import Candidates, document_condition
from vault_index.store.records import DOCUMENT, ChunkRecord, SpaceRow, StoredDocument
from vault_index.store.spaces import ALL_SPACES, read_spaces
from vault_index.team.expressions import NOTHING, Phrase, read_expression, weightiest
from vault_index.team.shared_vectors import as_vector
from vault_index.team.statements import Connected
from vault_index.team.vectors import BEST, SIZES, Seen, nearest, to_halfvec
from vault_index.team.vocabulary import MANY_ZONES, PoolVocabulary
from vault_index.team.words import sparse, tokenizer

if TYPE_CHECKING:
    import psycopg

    from vault_index.store.reader import Bounded

_WHOLE = Scope()
_MOST_SCORED = 5_000
"""Maximum number of chunks scored by their words; each takes 3 µs."""
_WEIGHTY = 2_000
"""Number of chunks or names to score, those with the weightiest words."""
_TIMES = 4
"""All that match are scored if fewer than 4 times the wanted ones have the weightiest words."""
_MOST_WORDS = 6
"""Number of words that decide which these are: the rarest ones."""
_MOST_COMPLETED = 100
"""Maximum number of stems that stand for a prefix in a score."""
_MOST_LINKED = 1000
"""Maximum number of texts of links that are scored as names."""
_ZONES = (  # all of them are asked, until a scope leaves some out
    "SELECT id, source, folder, project, documents, chunks, (SELECT set_config('pool.zones',"
    " CASE WHEN whole THEN '*' ELSE (SELECT array_agg(id)::text FROM seen_zone) END, true)"
    " FROM sight) FROM seen_zone"
)
_CHUNK = (
    "chunk.id, chunk.ordinal, chunk.headings, chunk.text, chunk.start_line, chunk.end_line,"
    f" chunk.tokens, {DOCUMENT}"
)
_CHUNKS = f"SELECT {_CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"


class PoolReader(Connected):
    """Reads what one member may see, within one transaction.

    `scope` holds in every statement, in addition to the policies of the member's role.
    """

    def __init__(self, connection: psycopg.Connection[Any], scope: Scope = _WHOLE) -> None:
        super().__init__(connection)
        self.ask((_ZONES, ()), (ALL_SPACES, ()), (SIZES, ()))
        zones = self.execute(_ZONES)
        seen = [
            (id_, source, documents, chunks)
            for id_, source, folder, project, documents, chunks, _ in zones
            if scope.holds(source, f"{folder}/" if folder else "", project)
        ]
        self.sources: tuple[str, ...] = tuple(sorted({source for _, source, *_ in seen}))
        """The sources with visible documents."""
        self._counts: dict[str, int] = {
            "document": sum(documents for *_, documents, _ in seen),
            "chunk": sum(chunks for *_, chunks in seen),
        }
        self._seen = Seen([id_ for id_, *_ in seen], self._counts["chunk"])
        if len(seen) < len(zones):
            self.set(pool__zones=f"{{{','.join(map(str, self._seen.zones))}}}")
        self._vocabulary = PoolVocabulary(self, self._seen.chunks, self._seen.zones)
        self._completed: dict[str, list[str]] = {}

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the pool, as the transaction around the request does."""
        yield

    @property
    def vectors_work(self) -> bool:
        """Vectors are read by PostgreSQL."""
        return True

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

        The chunks with the weightiest words are scored, and all that match if those are few.
        `bounded` is for an engine that reads the positions of words.
        """
        score, weights = self._score(match)
        every, zones = self._tsquery(match), self._zones(match)
        condition, values = self._condition(filters, every, required, excluded)
        if zones is not None:
            condition += " AND chunk.zone_id = ANY (?::integer[])"
            values.append(zones)
        scored = (
            f"SELECT id, ordinal, document_id, {score} AS score FROM (SELECT id, ordinal,"
            f" document_id, weights, terms FROM chunk WHERE {condition}"
        )
        return self.execute(
            f"WITH weighty AS MATERIALIZED ({scored} LIMIT {_MOST_SCORED}) AS chunk)"
            f" SELECT chunk.id, score FROM (SELECT * FROM (SELECT * FROM weighty UNION {scored}"
            f" AND (SELECT count(*) FROM weighty) < ? LIMIT {_MOST_SCORED}) AS chunk) AS found"
            f" ORDER BY score DESC FETCH FIRST {limit:d} ROWS WITH TIES) AS chunk"
            f" JOIN document ON document.id = chunk.document_id {BEST}",
            (
                *(*weights, self._weighty(match, every), *values[1:]),
                *(*weights, *values, _TIMES * limit),
                limit,
            ),
        )

    def _weighty(self, match: str, every: str, *, names: bool = False) -> str:
        """Return a condition on a text or a name: its words of `match` weigh enough together.

        About `_WEIGHTY` meet it if words occur independently. `every` is `_tsquery` of `match`.
        """
        total = self._counts["document" if names else "chunk"]
        counts = {
            one: count
            for one in read_expression(match).phrases
            if (count := self._count(one, names=names))
        }
        weighty = weightiest(
            {
                one: (self._inverse(one, names=names), counts[one] / total)
                for one in sorted(counts, key=counts.__getitem__)[:_MOST_WORDS]
            },
            total,
            _WEIGHTY,
        )
        return f"({weighty}) & ({every})" if "&" in every else weighty

    def name_candidates(self, match: str, limit: int, filters: Filters) -> Candidates:
        """Return documents by BM25 of their names, or of the texts of links to them."""
        wanted, tsquery = read_expression(match), self._tsquery(match)
        score, weights = self._score(match, names=True)
        condition, values = document_condition(filters)
        where = f" AND {condition}" if condition else ""
        own = (
            f"SELECT document.id, {score} AS score FROM document"
            f" WHERE name_terms @@ ?::tsquery{where}"
            " ORDER BY 2 DESC, document.path, document.source LIMIT ?",
            (*weights, self._weighty(match, tsquery, names=True), *values, limit),
        )
        linked = (
            "WITH linked AS MATERIALIZED (SELECT DISTINCT target_name, tsvector_to_array(terms)"
            " FROM link WHERE terms @@ ?::tsquery),"
            " named (id, stems) AS (SELECT document.id, linked.tsvector_to_array FROM linked"
            " JOIN document ON document.name = target_name UNION SELECT alias.document_id,"
            " linked.tsvector_to_array FROM linked JOIN alias ON alias.folded = target_name)"
            " SELECT document.id, stems FROM named JOIN document ON document.id = named.id"
            f" WHERE true{where} LIMIT ?",
            (tsquery, *values, _MOST_LINKED),
        )
        inverse = {one.stems[-1]: self._inverse(one, names=True) for one in wanted.phrases}
        self.ask(own, linked)
        found = dict(self.execute(*own))
        for document_id, stems in self.execute(*linked):
            score_of = sum(inverse.get(stem, 0.0) for stem in stems)
            found[document_id] = max(score_of, found.get(document_id, 0.0))
        return sorted(found.items(), key=lambda one: -one[1])[:limit]

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
        """Return chunks by cosine, best first."""
        condition, values = self._condition(filters, "", required, excluded)
        return nearest(self, self._row(space_id), vector, limit, self._seen, condition, values)

    def nearest(
        self, space_id: int, vector: Vector, limit: int, where: str, values: Sequence[object]
    ) -> Candidates:
        """Return the nearest chunks of the documents that meet a condition, by cosine."""
        inside = f"chunk.document_id IN (SELECT document.id FROM document WHERE {where})"
        return nearest(self, self._row(space_id), vector, limit, self._seen, inside, values)

    def newest_chunks(self, filters: Filters, limit: int, *, excluded: str = "") -> list[int]:
        """Return the first chunks of the newest documents that pass the filters."""
        condition, values = self._condition(filters, "", "", excluded)
        rows = self.execute(
            "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
            f" WHERE chunk.ordinal = 0 AND {condition} ORDER BY document.created DESC,"
            " document.source, document.path LIMIT ?",
            (*values, limit),
        )
        return [chunk_id for (chunk_id,) in rows]

    def _condition(
        self, filters: Filters, tsquery: str, required: str, excluded: str
    ) -> tuple[str, list[object]]:
        """Return the condition on `chunk`, with its values."""
        wanted = (tsquery, *(one and self._tsquery(one) for one in (required, excluded)))
        signs = [sign for one, sign in zip(wanted, ("", "", "NOT "), strict=True) if one]
        conditions = [f"{sign}chunk.terms @@ ?::tsquery" for sign in signs]
        values: list[object] = [one for one in wanted if one]
        of_document, more = document_condition(filters)
        if of_document:
            inside = f"SELECT document.id FROM document WHERE {of_document}"
            conditions.append(f"chunk.document_id IN ({inside})")
        return " AND ".join(conditions) or "true", [*values, *more]

    def _tsquery(self, match: str) -> str:
        """Return an expression without the words that only hidden texts hold, which cost time."""
        wanted = read_expression(match)
        self._vocabulary.count_stems({stem: stem for one in wanted.phrases for stem in one.stems})
        tsquery = wanted.tsquery
        for phrase in wanted.phrases:
            whole = phrase.stems[: len(phrase.stems) - phrase.prefix]
            if not all(self._held(one) or self._vocabulary.named.get(one) for one in whole):
                tsquery = tsquery.replace(f"({phrase})", NOTHING)
        return tsquery

    def _zones(self, match: str) -> list[int] | None:
        """Return the visible zones that may hold a phrase of an expression; None for many."""
        lists = [
            self._seen.zones if one.prefix else self._vocabulary.zones[one.stems[0]]
            for one in read_expression(match).phrases
        ]
        found = {zone for zones in lists for zone in zones}
        return sorted(found) if len(found) <= MANY_ZONES and 0 not in found else None

    # --- scores -----------------------------------------------------------------------------------

    def bm25(self, match: str, chunk_ids: Collection[int]) -> Candidates:
        """Return the BM25 scores of the given chunks that match, unordered."""
        score, weights = self._score(match)
        return self.execute(
            f"SELECT chunk.id, {score} FROM chunk WHERE chunk.id = ANY (?) AND terms @@ ?::tsquery",
            (*weights, [*chunk_ids], self._tsquery(match)),
        )

    def _score(self, match: str, *, names: bool = False) -> tuple[str, list[object]]:
        """Return the SQL for the BM25 score of a chunk or of `names`, with its values."""
        columns = ("document.name_weights", "document.name_terms")
        weights, terms = columns if names else ("chunk.weights", "chunk.terms")
        phrases = read_expression(match).phrases
        self._vocabulary.count_stems({stem: stem for one in phrases for stem in one.stems})
        alone: dict[str, float] = {}
        score, values = [f"-({weights} <#> ?::sparsevec)"], list[object]()
        for phrase in phrases:
            inverse = self._inverse(phrase, names=names)
            if len(phrase.stems) > 1:
                # Of a phrase, the index knows only the weights of its words.
                rarest = min(phrase.stems, key=self._held)
                score.append(
                    f"CASE WHEN {terms} @@ ?::tsquery THEN -({weights} <#> ?::sparsevec) ELSE 0 END"
                )
                values += [str(phrase), sparse([(rarest, inverse)])]
            for stem in self._forms(phrase) if len(phrase.stems) == 1 else ():
                alone[stem] = max(inverse, alone.get(stem, 0.0))
        return " + ".join(score), [sparse(alone.items()), *values]

    def _forms(self, phrase: Phrase) -> list[str]:
        """Return the stems for which a phrase of one word stands."""
        (stem,) = phrase.stems
        if not phrase.prefix:
            return [stem]
        if stem not in self._completed:
            rows = self.execute(
                "SELECT stem FROM term WHERE word = '' AND stem >= ? AND stem < ?"
                " ORDER BY chunks DESC LIMIT ?",
                (stem, f"{stem}\U0010ffff", _MOST_COMPLETED),
            )
            self._completed[stem] = [one for (one,) in rows]
            self._vocabulary.count_stems({one: one for one in self._completed[stem]})
        return self._completed[stem]

    def _held(self, stem: str) -> int:
        """Return the number of chunks with this stem."""
        return self._vocabulary.count_stems({stem: stem}).get(stem, 0)

    def _inverse(self, phrase: Phrase, *, names: bool = False) -> float:
        """Return the inverse document frequency of BM25, as FTS5 computes it."""
        total = self._counts["document" if names else "chunk"]
        count = self._count(phrase, names=names)
        return max(math.log((total - count + 0.5) / (count + 0.5)), 1e-6)

    def _count(self, phrase: Phrase, *, names: bool = False) -> int:
        """Return about how many chunks or names hold a phrase."""
        total = self._counts["document" if names else "chunk"]
        stems = self._forms(phrase) if len(phrase.stems) == 1 else phrase.stems
        held = [self._vocabulary.named.get(one, 0) if names else self._held(one) for one in stems]
        # Any of the stems of a prefix may occur, but all words of a phrase.
        return min(sum(held) if len(phrase.stems) == 1 else min(held), total)

    def cosines(
        self, space_id: int, vector: Vector, chunk_ids: Collection[int]
    ) -> dict[int, float]:
        """Return the cosine of each given chunk that has a vector."""
        return dict(
            self.execute(
                "SELECT chunk.id, 1 - (one.data <-> ?::halfvec) ^ 2 / 2 FROM chunk"
                " JOIN embedding AS one ON one.key = chunk.embed_key"
                " AND one.zone_id = chunk.zone_id AND one.space_id = ? WHERE chunk.id = ANY (?)",
                (to_halfvec(self._row(space_id).space, vector), space_id, [*chunk_ids]),
            )
        )

    def pair_cosines(self, space_id: int, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        """Return the cosine of each pair of chunks; None if either has no vector."""
        rows = self.execute(
            "WITH own AS (SELECT chunk.id, one.data FROM chunk JOIN embedding AS one"
            " ON one.key = chunk.embed_key AND one.zone_id = chunk.zone_id AND one.space_id = ?"
            " WHERE chunk.id = ANY (?))"
            " SELECT one.id, other.id, 1 - (one.data <-> other.data) ^ 2 / 2"
            " FROM unnest(?::bigint[], ?::bigint[]) AS pair (one, other)"
            " JOIN own AS one ON one.id = pair.one JOIN own AS other ON other.id = pair.other",
            (
                space_id,
                [*{id_ for pair in pairs for id_ in pair}],
                *([pair[side] for pair in pairs] for side in (0, 1)),
            ),
        )
        found = {(one, other): cosine for one, other, cosine in rows}
        return [found.get(pair) for pair in pairs]

    def vectors_of(self, space_id: int, chunk_ids: Collection[int]) -> list[Vector]:
        """Return the vectors of the given chunks, in any order, without missing ones."""
        rows = self.execute(
            "SELECT one.data::text FROM chunk JOIN embedding AS one ON one.key = chunk.embed_key"
            " AND one.zone_id = chunk.zone_id AND one.space_id = ? WHERE chunk.id = ANY (?)",
            (space_id, [*chunk_ids]),
        )
        space = self._row(space_id).space
        found = [as_vector(space, json.loads(data)) for (data,) in rows]
        return [vector for vector in found if vector is not None]

    def _row(self, space_id: int) -> SpaceRow:
        return next(row for row in read_spaces(self) if row.id == space_id)

    # --- texts ------------------------------------------------------------------------------------

    def chunks(self, chunk_ids: Sequence[int]) -> dict[int, ChunkRecord]:
        """Return chunks by id."""
        rows = self.execute(f"{_CHUNKS} WHERE chunk.id = ANY (?)", ([*chunk_ids],))
        return {chunk.chunk_id: chunk for chunk in map(_record, rows)}

    def chunks_of(
        self, document_id: int, *, fields: bool = True, first: int = ALL, limit: int = -1
    ) -> list[ChunkRecord]:
        """Return the chunks of a document in order, from the ordinal `first` on."""
        rows = self.execute(
            f"{_CHUNKS} WHERE chunk.document_id = ? AND chunk.ordinal >= ?"
            " ORDER BY chunk.ordinal LIMIT ?",
            (document_id, first if fields else max(first, 0), limit),
        )
        return [*map(_record, rows)]

    def same_texts(self, chunk_ids: Collection[int], texts: Collection[str]) -> list[ChunkRecord]:
        """Return the given chunks that have one of these texts."""
        rows = self.execute(
            f"{_CHUNKS} WHERE chunk.id = ANY (?) AND chunk.text = ANY (?)",
            ([*chunk_ids], [*texts]),
        )
        return [*map(_record, rows)]

    # --- words ------------------------------------------------------------------------------------

    def count(self, what: str) -> int:
        """Return the number of visible rows of `document` or `chunk`."""
        return self._counts[what]

    def count_matches(self, match: str, share: int = 1) -> int:
        """Count the matches of an FTS5 expression, about as many as in `1/share` of the chunks."""
        wanted = read_expression(match)
        if [len(one.stems) for one in wanted.phrases] == [1] and not wanted.phrases[0].prefix:
            return self._held(wanted.phrases[0].stems[0]) // share
        sql = "SELECT count(*) FROM chunk WHERE terms @@ ?::tsquery"
        return int(self.value(sql, (self._tsquery(match),))) // share

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word (in lower case), except words that the tokenizer splits."""
        return tokenizer().of_words(words)

    def vocabulary(self) -> PoolVocabulary:
        """Return the words of the visible texts."""
        return self._vocabulary

    def own_names(self, match: str, document_ids: Collection[int]) -> set[int]:
        """Return the given documents: links of hidden documents find none here."""
        return set(document_ids)


def _record(row: Sequence[Any]) -> ChunkRecord:
    id_, ordinal, headings, text, first, last, tokens, *document = row
    return ChunkRecord(
        id_,
        ordinal,
        tuple(json.loads(headings)),
        text,
        first,
        last,
        tokens,
        StoredDocument(*document),
    )
