"""Vector spaces inside `index.db`: one vec0 table each, and what each of them still lacks.

Vectors are unit float32, compared by L2 (vec0's default), so that cosine = 1 - distance² / 2.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

import apsw

from vault_index.models import Vector, VectorSpace
from vault_index.store.connection import ANY_OF, any_of, fetch_all
from vault_index.store.records import DocumentState, PendingChunk, SpaceRow

MAX_K = 4096  # vec0 refuses more
_STATE = (
    "document.id, document.source, document.path, document.size, document.mtime_ns, document.ctime_ns,"
    " CASE WHEN instr(document.frontmatter, '\"directory\"') THEN document.frontmatter ELSE '' END"
)


def read_spaces(connection: apsw.Connection) -> list[SpaceRow]:
    rows = fetch_all(
        connection, "SELECT id, provider, model, dimensions, endpoint, state, renewed FROM vector_space ORDER BY id"
    )
    return [
        SpaceRow(id_, VectorSpace(provider, model, dimensions, endpoint), state == "serving", bool(renewed))
        for id_, provider, model, dimensions, endpoint, state, renewed in rows
    ]


def add_space(connection: apsw.Connection, row: SpaceRow) -> SpaceRow:
    for other in read_spaces(connection):
        if other.serving == row.serving:
            drop_space(connection, other.id)
    connection.execute(
        "INSERT INTO vector_space (provider, model, dimensions, endpoint, state, renewed) VALUES (?, ?, ?, ?, ?, ?)",
        (row.space.provider, row.space.model, row.space.dimensions, row.space.endpoint,
         "serving" if row.serving else "building", row.renewed),
    )  # fmt: skip
    space_id = connection.last_insert_rowid()
    connection.execute(f"DROP TABLE IF EXISTS {_table(space_id)}")  # left behind by a time without vec0
    connection.execute(
        f"CREATE VIRTUAL TABLE {_table(space_id)} USING vec0 (embedding float[{row.space.dimensions:d}])"
    )
    connection.execute("INSERT INTO pending (space_id, chunk_id) SELECT ?, id FROM chunk", (space_id,))
    return SpaceRow(space_id, row.space, row.serving, row.renewed)


def drop_space(connection: apsw.Connection, space_id: int) -> None:
    connection.execute(f"DROP TABLE IF EXISTS {_table(space_id)}")
    connection.execute("DELETE FROM pending WHERE space_id = ?", (space_id,))
    connection.execute("DELETE FROM vector_space WHERE id = ?", (space_id,))


def serve_space(connection: apsw.Connection, space_id: int) -> None:
    for other in read_spaces(connection):
        if other.serving and other.id != space_id:
            drop_space(connection, other.id)
    connection.execute("UPDATE vector_space SET state = 'serving', renewed = 0 WHERE id = ?", (space_id,))


def add_chunk(connection: apsw.Connection, space_id: int, chunk_id: int, vector: Vector | None) -> None:
    if vector is None:
        connection.execute("INSERT INTO pending (space_id, chunk_id) VALUES (?, ?)", (space_id, chunk_id))
    else:
        connection.execute(f"INSERT INTO {_table(space_id)} (rowid, embedding) VALUES (?, ?)", (chunk_id, vector))


def remove_chunks(connection: apsw.Connection, chunk_ids: Sequence[int]) -> None:
    space_ids = [row.id for row in read_spaces(connection)]
    for chunk_id in chunk_ids:
        connection.execute("DELETE FROM pending WHERE chunk_id = ?", (chunk_id,))
        for space_id in space_ids:
            connection.execute(f"DELETE FROM {_table(space_id)} WHERE rowid = ?", (chunk_id,))


def forget_spaces(connection: apsw.Connection) -> None:
    """Without vec0 the vectors cannot follow the chunks: forget them, and refill from the cache when it works again."""
    connection.execute("DELETE FROM vector_space")
    connection.execute("DELETE FROM pending")


def nearest(
    connection: apsw.Connection,
    space_id: int,
    vector: Vector,
    limit: int,
    where: str,
    values: Sequence[object],
) -> list[tuple[int, float]]:
    """The `limit` nearest chunks by cosine, best first; `where` restricts the chunk ids before the search."""
    rows = fetch_all(
        connection,
        f"SELECT rowid, distance FROM {_table(space_id)} WHERE embedding MATCH ? AND k = ?{where}",
        (vector, min(limit, MAX_K), *values),
    )
    return [(chunk_id, _cosine(distance)) for chunk_id, distance in rows]


def cosines(connection: apsw.Connection, space_id: int, vector: Vector, chunk_ids: Sequence[int]) -> dict[int, float]:
    """The cosine of each of the given chunks that has a vector."""
    # A join looks each of them up; with `rowid IN (...)` vec0 reads the whole table.
    table = _table(space_id)
    rows = fetch_all(
        connection,
        f"SELECT value, vec_distance_l2(embedding, ?) FROM json_each(?) CROSS JOIN {table} ON {table}.rowid = value",
        (vector, json.dumps(list(chunk_ids))),
    )
    return {chunk_id: _cosine(distance) for chunk_id, distance in rows}


def vectors(connection: apsw.Connection, space_id: int, chunk_ids: Sequence[int]) -> list[Vector]:
    """The vectors of those of the given chunks that have one."""
    table = _table(space_id)
    rows = fetch_all(
        connection,
        f"SELECT embedding FROM json_each(?) CROSS JOIN {table} ON {table}.rowid = value",
        (json.dumps(list(chunk_ids)),),
    )
    return [vector for (vector,) in rows]


def _cosine(distance: float) -> float:
    return 1.0 - distance * distance / 2.0


def pending(
    connection: apsw.Connection, space_id: int, after: int, limit: int, without: Collection[int]
) -> list[PendingChunk]:
    """The next chunks over id `after` that the space lacks, but for those of the documents `without`."""
    return _pending_chunks(
        connection,
        "pending JOIN chunk ON chunk.id = pending.chunk_id",
        f"pending.space_id = ? AND pending.chunk_id > ? AND NOT chunk.document_id {ANY_OF}"
        " ORDER BY pending.chunk_id LIMIT ?",
        (space_id, after, any_of(without), limit),
    )


def pending_in(connection: apsw.Connection, space_id: int, source: str, path: str) -> list[PendingChunk]:
    """What the space lacks of one document."""
    return _pending_chunks(
        connection,
        "pending JOIN chunk ON chunk.id = pending.chunk_id",
        "pending.space_id = ? AND document.source = ? AND document.path = ? ORDER BY pending.chunk_id",
        (space_id, source, path),
    )


def pending_in_new_space(connection: apsw.Connection) -> list[PendingChunk]:
    """What a space that does not exist yet would lack: everything."""
    return _pending_chunks(connection, "chunk", "true ORDER BY chunk.id", ())


def _pending_chunks(
    connection: apsw.Connection, table: str, where: str, values: Sequence[object]
) -> list[PendingChunk]:
    rows = fetch_all(
        connection,
        f"SELECT chunk.id, chunk.embed_key, chunk.context, chunk.text, chunk.tokens, {_STATE}"
        f" FROM {table} JOIN document ON document.id = chunk.document_id WHERE {where}",
        values,
    )
    documents: dict[int, DocumentState] = {}
    return [
        PendingChunk(
            chunk_id,
            documents.get(state[0]) or documents.setdefault(state[0], DocumentState(*state)),
            key,
            embed_text(context, text),
            tokens,
        )
        for chunk_id, key, context, text, tokens, *state in rows
    ]


def lacking(connection: apsw.Connection, space_id: int | None) -> dict[DocumentState, int]:
    """The documents of which a space lacks something, and how many chunks; of a space that does not exist yet, all."""
    table, where, values = ("chunk", "true", ()) if space_id is None else (
        "pending JOIN chunk ON chunk.id = pending.chunk_id", "pending.space_id = ?", (space_id,)
    )  # fmt: skip
    rows = fetch_all(
        connection,
        f"SELECT lacking.chunks, {_STATE} FROM (SELECT chunk.document_id, count(*) AS chunks FROM {table}"
        f" WHERE {where} GROUP BY chunk.document_id) AS lacking JOIN document ON document.id = lacking.document_id",
        values,
    )
    return {DocumentState._make(row[1:]): row[0] for row in rows}


def count_pending(connection: apsw.Connection, space_id: int) -> int:
    return int(fetch_all(connection, "SELECT count(*) FROM pending WHERE space_id = ?", (space_id,))[0][0])


def put_vectors(
    connection: apsw.Connection,
    space_id: int,
    vectors: Mapping[bytes, Vector],
    chunks: Iterable[PendingChunk],
) -> int:
    stored = 0
    for chunk in chunks:
        vector = vectors.get(chunk.embed_key)
        # The chunk may have changed or gone while its text was being embedded; then it is no longer pending as it was.
        current = connection.execute(
            "SELECT 1 FROM pending JOIN chunk ON chunk.id = pending.chunk_id"
            " WHERE pending.space_id = ? AND pending.chunk_id = ? AND chunk.embed_key = ?",
            (space_id, chunk.chunk_id, chunk.embed_key),
        ).fetchone()
        if vector is None or current is None:
            continue
        connection.execute("DELETE FROM pending WHERE space_id = ? AND chunk_id = ?", (space_id, chunk.chunk_id))
        add_chunk(connection, space_id, chunk.chunk_id, vector)
        stored += 1
    return stored


def embed_text(context: str, text: str) -> str:
    """What is embedded of a chunk; what is stored and shown is the text alone."""
    return f"{context}\n{text}" if context else text


def _table(space_id: int) -> str:
    return f"vector_{space_id:d}"
