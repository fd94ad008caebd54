"""Vector spaces in `index.db`: one vec0 table per space, and its pending chunks.

Vectors have unit length, in int8 or float32 (`is_int8`). They are compared by L2
distance (vec0's default), from which the cosine follows.
"""

import contextlib
import json
import math
import re
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial

from vault_index.fields import OF_MEMORIES, Filters
from vault_index.models import INT8_LARGEST, INT8_SCALE, Fault, Vector, VectorSpace
from vault_index.store.connection import ANY_OF, Database, Statements, any_of
from vault_index.store.filters import Candidates, best, chunks_in_order, document_condition
from vault_index.store.records import CONTEXT, TEXT, DocumentState, PendingChunk, SpaceRow

MAX_K = 4096  # limit of vec0
_SAMPLE = 500
"""Sample size for mean token counts, which are then accurate within 5 %."""
LEAST_CODED = 20_000
"""Number of vectors above which a space has codes; below it, vec0 is faster."""
CODED_BITS = 64
"""A space has codes only if its dimensions are a multiple of this number."""
CODES_SUFFIX = ".codes-"
_MOST_UNCODED = 1_000
_KEY = re.compile(rf"\A- (?:{'|'.join(OF_MEMORIES)}): ")
_SPACE = ", ".join(VectorSpace._fields)
ALL_SPACES = f"SELECT id, {_SPACE}, state, renewed FROM vector_space ORDER BY id"
STATE = (
    "document.id, document.uid, document.source, document.path, document.size, document.mtime_ns,"
    " document.ctime_ns, document.inode, CASE WHEN instr(lower(document.frontmatter), 'directory')"
    " OR instr(lower(document.frontmatter), 'session') OR instr(document.frontmatter, '\"id\"')"
    " OR instr(lower(document.frontmatter), 'project') THEN document.frontmatter ELSE '' END,"
    " coalesce((SELECT group_concat(tag.tag, ' ') FROM tag WHERE tag.document_id = document.id"
    " AND tag.tag >= 'project/' AND tag.tag < 'project0'), '')"
)


def read_spaces(db: Statements) -> list[SpaceRow]:
    """Return all spaces, oldest first."""
    return [
        SpaceRow(id_, VectorSpace(*space), state == "serving", bool(renewed))
        for id_, *space, state, renewed in db.execute(ALL_SPACES)
    ]


def serving_space(db: Statements) -> SpaceRow | None:
    """Return the space that answers queries; None without vectors."""
    return next((row for row in read_spaces(db) if row.serving), None)


def coded(db: Database, space_id: int) -> tuple[str, int, int] | None:
    """Return the file of codes of a space (`store.codes`), its row count and the dimensions.

    None without codes.
    """
    rows = db.execute(
        "SELECT codes, coded, dimensions FROM vector_space WHERE id = ? AND codes <> ''",
        (space_id,),
    )
    return rows[0] if rows else None


def codes_due(db: Database, *, growing: bool = False, least: int = _MOST_UNCODED) -> bool:
    """Return whether the codes of the serving space should be written.

    They should if the space is large and has no codes, or if `least` of its vectors have changed;
    while the space is `growing`, more must have changed. Deletes outdated code files, so hold the
    write lock.
    """
    space = db.execute(
        "SELECT id, dimensions, codes, coded FROM vector_space WHERE state = 'serving'"
    )
    id_, dimensions, name, count = space[0] if space else (0, 1, None, 0)
    there = False
    for path in db.path.parent.glob(f"{db.path.name}{CODES_SUFFIX}*"):
        there |= path.name == name
        if path.name != name:
            with contextlib.suppress(OSError):  # an undeletable file only wastes space
                path.unlink()
    if dimensions % CODED_BITS:
        return False
    if not there:
        return bool(db.execute(f"SELECT 1 FROM {_table(id_)} LIMIT 1 OFFSET ?", (LEAST_CODED - 1,)))
    due = most_uncoded(count) if growing else least
    return bool(db.execute("SELECT 1 FROM uncoded LIMIT 1 OFFSET ?", (due - 1,)))


def most_uncoded(count: int) -> int:
    """Return how many vectors may wait for codes while a space of `count` vectors grows.

    The file is then written about thirty times in all.
    """
    return max(_MOST_UNCODED, count // 32)


def add_space(db: Database, row: SpaceRow) -> SpaceRow:
    """Create a space and return it with its id; all chunks are pending.

    It replaces the space in the same state.
    """
    with db.transaction():
        for other in read_spaces(db):
            if other.serving == row.serving:
                drop_space(db, other.id)
        state = "serving" if row.serving else "building"
        space_id = db.value(
            f"INSERT INTO vector_space ({_SPACE}, state, renewed) VALUES (?, ?, ?, ?, ?, ?)"
            " RETURNING id",
            (*row.space, state, row.renewed),
        )
        db.execute(
            f"DROP TABLE IF EXISTS {_table(space_id)}"
        )  # may be left from a start without vec0
        kind = "int8" if is_int8(row.space) else "float"
        columns = f"embedding {kind}[{row.space.dimensions:d}]"
        db.execute(f"CREATE VIRTUAL TABLE {_table(space_id)} USING vec0 ({columns})")
        db.execute("INSERT INTO pending (space_id, chunk_id) SELECT ?, id FROM chunk", (space_id,))
    return row._replace(id=space_id)


def drop_space(db: Database, space_id: int) -> None:
    """Delete a space with its vectors."""
    with db.transaction():
        db.execute(f"DROP TABLE IF EXISTS {_table(space_id)}")
        db.execute("DELETE FROM pending WHERE space_id = ?", (space_id,))
        db.execute("DELETE FROM vector_space WHERE id = ?", (space_id,))


def drop_all_spaces(db: Database) -> None:
    """Drop every space; its vectors are then taken from the cache or computed again."""
    with db.transaction():
        for row in read_spaces(db):
            drop_space(db, row.id)


def serve_space(db: Database, space_id: int) -> None:
    """Make a built space the serving one, and drop the one that served before."""
    with db.transaction():
        for other in read_spaces(db):
            if other.serving and other.id != space_id:
                drop_space(db, other.id)
        db.execute(
            "UPDATE vector_space SET state = 'serving', renewed = 0 WHERE id = ?", (space_id,)
        )


def add_chunk(db: Database, space_id: int, chunk_id: int, vector: Vector | None) -> None:
    """Store the vector of a new chunk; without one, the chunk becomes pending."""
    if vector is None:
        db.execute("INSERT INTO pending (space_id, chunk_id) VALUES (?, ?)", (space_id, chunk_id))
    else:
        given = mark(_space(db, space_id))
        db.execute(
            f"INSERT INTO {_table(space_id)} (rowid, embedding) VALUES (?, {given})",
            (chunk_id, vector),
        )
        _note_changed(db, space_id, chunk_id)


def renew_chunk(db: Database, space_id: int, chunk_id: int, vector: Vector | None) -> None:
    """Store the new vector of a changed chunk.

    Without one, keep the old vector until it is embedded.
    """
    if vector is None:
        db.execute(
            "INSERT OR IGNORE INTO pending (space_id, chunk_id) VALUES (?, ?)", (space_id, chunk_id)
        )
        return
    db.execute("DELETE FROM pending WHERE space_id = ? AND chunk_id = ?", (space_id, chunk_id))
    db.execute(f"DELETE FROM {_table(space_id)} WHERE rowid = ?", (chunk_id,))
    add_chunk(db, space_id, chunk_id, vector)


def remove_chunks(db: Database, chunk_ids: Sequence[int]) -> None:
    """Delete the vectors of these chunks in every space."""
    space_ids = [row.id for row in read_spaces(db)]
    for chunk_id in chunk_ids:
        db.execute("DELETE FROM pending WHERE chunk_id = ?", (chunk_id,))
        for space_id in space_ids:
            db.execute(f"DELETE FROM {_table(space_id)} WHERE rowid = ?", (chunk_id,))
            _note_changed(db, space_id, chunk_id)


def _note_changed(db: Database, space_id: int, chunk_id: int) -> None:
    """Mark the code of a chunk as outdated (`store.codes`) after its vector changed."""
    sql = "INSERT OR IGNORE INTO uncoded SELECT ? FROM vector_space WHERE id = ? AND codes NOT NULL"
    db.execute(sql, (chunk_id, space_id))


def forget_spaces(db: Database) -> None:
    """Forget all spaces: without vec0, vectors cannot be updated with their chunks.

    The cache refills them later.
    """
    with db.transaction():
        db.execute("DELETE FROM vector_space")
        db.execute("DELETE FROM pending")


def nearest(
    db: Database,
    space_id: int,
    vector: Vector,
    limit: int,
    where: str,
    values: Sequence[object],
    quick: Callable[[int], Candidates] | None = None,
) -> Candidates:
    """Return the `limit` nearest chunks by cosine, best first.

    `where` restricts the chunk ids before the search. `quick` finds candidates without reading
    every vector.
    """
    space = _space(db, space_id)
    sql = (
        f"SELECT rowid, distance FROM {_table(space_id)} WHERE embedding MATCH {mark(space)}"
        f" AND k = ?{where}"
    )

    def find(most: int) -> Candidates:
        rows = db.execute(sql, (vector, min(most, MAX_K), *values))
        return [(chunk_id, cosine(space, distance)) for chunk_id, distance in rows]

    return best(quick or find, limit, partial(chunks_in_order, db))


def cosines(
    db: Database, space_id: int, vector: Vector, chunk_ids: Collection[int]
) -> dict[int, float]:
    """Return the cosine of each given chunk that has a vector."""
    # A join looks up each chunk; with `rowid IN (...)` vec0 reads the whole table.
    table, space = _table(space_id), _space(db, space_id)
    rows = db.execute(
        f"SELECT value, vec_distance_l2(embedding, {mark(space)}) FROM json_each(?)"
        f" CROSS JOIN {table} ON {table}.rowid = value",
        (vector, any_of(chunk_ids)),
    )
    return {chunk_id: cosine(space, distance) for chunk_id, distance in rows}


def pair_cosines(
    db: Database, space_id: int, pairs: Sequence[tuple[int, int]]
) -> list[float | None]:
    """Return the cosine of each pair of chunks; None if either has no vector."""
    table, space = _table(space_id), _space(db, space_id)
    rows = db.execute(
        "SELECT pair.key, vec_distance_l2(one.embedding, other.embedding) FROM json_each(?) AS pair"
        f" CROSS JOIN {table} AS one ON one.rowid = pair.value ->> 0"
        f" CROSS JOIN {table} AS other ON other.rowid = pair.value ->> 1",
        (json.dumps(pairs),),
    )
    found = {place: cosine(space, distance) for place, distance in rows}
    return [found.get(place) for place in range(len(pairs))]


def vectors_of(db: Database, space_id: int, chunk_ids: Collection[int]) -> list[Vector]:
    """Return the vectors of the given chunks, in any order, without missing ones."""
    table = _table(space_id)
    rows = db.execute(
        f"SELECT embedding FROM json_each(?) CROSS JOIN {table} ON {table}.rowid = value",
        (any_of(chunk_ids),),
    )
    return [vector for (vector,) in rows]


def vectors_by_document(
    db: Database, space_id: int, document_ids: Collection[int]
) -> list[tuple[int, Vector]]:
    """Return document id and vector of the chunks below the frontmatter, grouped by document."""
    table = _table(space_id)
    return db.execute(
        "SELECT chunk.document_id, embedding FROM json_each(?)"
        " CROSS JOIN chunk ON chunk.document_id = value"
        f" CROSS JOIN {table} ON {table}.rowid = chunk.id WHERE chunk.ordinal >= 0",
        (any_of(document_ids),),
    )


def _space(db: Database, space_id: int) -> VectorSpace:
    return VectorSpace(
        *db.execute(f"SELECT {_SPACE} FROM vector_space WHERE id = ?", (space_id,))[0]
    )


def mark(space: VectorSpace) -> str:
    """Return the SQL placeholder for a vector: by default vec0 reads bytes as float32."""
    return "vec_int8(?)" if is_int8(space) else "?"


def pending_chunks(
    db: Database,
    space_id: int | None,
    after: int = 0,
    limit: int = -1,
    without: Collection[int] = (),
) -> list[PendingChunk]:
    """Return the next pending chunks of a space after an id, except of the documents `without`.

    `space_id` None means a future space, for which every chunk is pending; `limit` -1 means all.
    """
    table, where, values = _lacked_by(space_id)
    # Use the column of the table that gives the order.
    id_ = "chunk.id" if space_id is None else "pending.chunk_id"
    return _pending(
        db,
        table,
        f"{where} AND {id_} > ? AND NOT chunk.document_id {ANY_OF} ORDER BY {id_} LIMIT ?",
        (*values, after, any_of(without), limit),
    )


def pending_of_documents(
    db: Database, space_id: int, places: Mapping[str, Iterable[str]]
) -> list[PendingChunk]:
    """Return the pending chunks of a few documents, given as paths by source."""
    table, where, values = _lacked_by(space_id)
    where += " AND document.source = ? AND document.path = ? ORDER BY chunk.id"
    named = [(source, path) for source, paths in places.items() for path in dict.fromkeys(paths)]
    return [chunk for one in named for chunk in _pending(db, table, where, (*values, *one))]


def _pending(db: Database, table: str, where: str, values: Sequence[object]) -> list[PendingChunk]:
    rows = db.execute(
        f"SELECT chunk.id, chunk.embed_key, {CONTEXT}, {TEXT}, chunk.tokens, chunk.ordinal,"
        f" {STATE}"
        f" FROM {table} JOIN document ON document.id = chunk.document_id WHERE {where}",
        values,
    )
    documents: dict[int, DocumentState] = {}
    return [
        PendingChunk(
            chunk_id,
            documents.get(state[0]) or documents.setdefault(state[0], DocumentState(*state)),
            key,
            embed_text(context, without_key(text) if ordinal < 0 else text),
            tokens,
        )
        for chunk_id, key, context, text, tokens, ordinal, *state in rows
    ]


def lacking_documents(db: Database, space_id: int | None) -> dict[DocumentState, int]:
    """Return the documents with their number of pending chunks; None means a future space."""
    table, where, values = _lacked_by(space_id)
    rows = db.execute(
        f"SELECT lacking.chunks, {STATE} FROM (SELECT chunk.document_id, count(*) AS chunks"
        f" FROM {table} WHERE {where} GROUP BY chunk.document_id) AS lacking"
        " JOIN document ON document.id = lacking.document_id",
        values,
    )
    return {DocumentState._make(row[1:]): row[0] for row in rows}


def refused_chunks(
    db: Database, space_id: int, refused: Mapping[bytes, str]
) -> list[tuple[int, str, Fault]]:
    """Return the pending chunks with texts that the server rejected (`refused`: key to reason).

    Each is the id of the document, its source and the fault.
    """
    if not refused:
        return []
    rows = db.execute(
        "SELECT document.id, document.source, document.path, chunk.start_line, chunk.embed_key"
        " FROM pending JOIN chunk ON chunk.id = pending.chunk_id"
        " JOIN document ON document.id = chunk.document_id"
        f" WHERE pending.space_id = ? AND hex(chunk.embed_key) {ANY_OF}"
        " ORDER BY document.path, chunk.start_line",
        (space_id, any_of(key.hex().upper() for key in refused)),
    )
    return [
        (document_id, source, Fault("not_embedded", refused[key], path, line))
        for document_id, source, path, line, key in rows
    ]


def document_states(
    db: Database, filters: Filters | None = None, most: int = -1
) -> list[DocumentState]:
    """Return the states of documents that pass the filters, at most `most` (-1: all)."""
    condition, values = document_condition(filters or Filters())
    sql = f"SELECT {STATE} FROM document WHERE {condition or 'true'} LIMIT ?"
    return [DocumentState._make(row) for row in db.execute(sql, (*values, most))]


def _lacked_by(space_id: int | None) -> tuple[str, str, tuple[int, ...]]:
    """Return table, condition and values that select the pending chunks of a space."""
    if space_id is None:
        return "chunk", "true", ()
    return "pending JOIN chunk ON chunk.id = pending.chunk_id", "pending.space_id = ?", (space_id,)


def count_pending(db: Statements, space_id: int | None, document_id: int | None = None) -> int:
    """Count the pending chunks of a space, in total or for one document; None: a future space."""
    of_one = (
        ""
        if document_id is None
        else " AND chunk_id IN (SELECT id FROM chunk WHERE document_id = ?2)"
    )
    lacking = "(SELECT ?1, id AS chunk_id FROM chunk)" if space_id is None else "pending"
    where = "true" if space_id is None else "space_id = ?1"
    values = (space_id,) if document_id is None else (space_id, document_id)
    return int(db.value(f"SELECT count(*) FROM {lacking} WHERE {where}{of_one}", values))


def tokens_ahead(db: Database, space_id: int, done: int) -> float:
    """Return the mean token count of pending chunks relative to the last `done` embedded ones.

    The notes of one folder are similar, and the next folder may differ. Computed from a sample,
    because a million chunks may be pending. Returns 1.0 if unknown.
    """
    first, last = db.execute(
        "SELECT min(chunk_id), max(chunk_id) FROM pending WHERE space_id = ?", (space_id,)
    )[0]
    if first is None:
        return 1.0
    mean = "SELECT avg(tokens) FROM chunk WHERE id"
    ahead = db.value(
        f"{mean} {ANY_OF} AND id IN (SELECT chunk_id FROM pending WHERE space_id = ?)",
        (any_of(range(first, last + 1, (last - first) // _SAMPLE + 1)), space_id),
    )
    behind = db.value(
        f"{mean} {ANY_OF}", [any_of(range(max(first - done, 0), first, done // _SAMPLE + 1))]
    )
    return float(ahead / behind) if ahead and behind else 1.0


def put_vectors(
    db: Database, space_id: int, vectors: Mapping[bytes, Vector], chunks: Iterable[PendingChunk]
) -> int:
    """Store vectors for the chunks with unchanged text; return their number."""
    stored = 0
    with db.transaction():
        for chunk in chunks:
            vector = vectors.get(chunk.embed_key)
            # The chunk may have changed or been deleted while its text was embedded.
            if vector is not None and db.execute(
                "SELECT 1 FROM pending JOIN chunk ON chunk.id = pending.chunk_id"
                " WHERE pending.space_id = ? AND pending.chunk_id = ? AND chunk.embed_key = ?",
                (space_id, chunk.chunk_id, chunk.embed_key),
            ):
                renew_chunk(db, space_id, chunk.chunk_id, vector)
                stored += 1
    return stored


def without_key(text: str) -> str:
    """Remove the key of a memory field from the text to embed.

    In a short field, the key would dominate the vector. Other keys stay, because they carry
    meaning, and `password: ` identifies a credential.
    """
    return _KEY.sub("", text)


def embed_text(context: str, text: str) -> str:
    """Return the text to embed of a chunk: its context and its text."""
    return f"{context}\n{text}" if context else text


def _table(space_id: int) -> str:
    return f"vector_{space_id:d}"


def is_int8(space: VectorSpace) -> bool:
    """Return whether the vectors of a space are stored as int8."""
    return space.provider == "local" and space.model == "all-MiniLM-L6-v2-int8"


def size(space: VectorSpace) -> int:
    """Return the size of one vector in bytes."""
    return space.dimensions if is_int8(space) else 4 * space.dimensions


def mean(space: VectorSpace, vectors: Sequence[Vector]) -> Vector | None:
    """Return the normalized mean of some vectors; None if there are none or they cancel out."""
    # Without numpy, because importing it takes longer than this loop.
    kind = f"<{space.dimensions}{'b' if is_int8(space) else 'f'}"
    sums = [
        sum(column)
        for column in zip(*(struct.unpack(kind, vector) for vector in vectors), strict=True)
    ]
    length = math.hypot(*sums)
    if not length:
        return None
    if is_int8(space):
        return struct.pack(
            kind,
            *(
                max(-INT8_LARGEST, min(INT8_LARGEST, round(value * INT8_SCALE / length)))
                for value in sums
            ),
        )
    return struct.pack(kind, *(value / length for value in sums))


def cosine(space: VectorSpace, distance: float) -> float:
    """Return the cosine of two unit vectors from their L2 distance in stored units."""
    unit = INT8_SCALE if is_int8(space) else 1
    return 1.0 - distance * distance / (2 * unit * unit)
