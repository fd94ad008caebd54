"""Write the rows of documents into a pool, as `indexer.reading` makes them for an index."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vault_index.store.document_names import target_name
from vault_index.store.writer import DocumentRow, called
from vault_index.team.words import (
    AVERAGE_NAMES,
    CHUNK_COLUMNS,
    NAME_COLUMNS,
    indexed,
    stem_words,
)
from vault_index.terms import index_text
from vault_index.unicode import mended, same_form

if TYPE_CHECKING:
    import psycopg

    Pool = psycopg.Connection[Any]

_USUAL_LENGTH = 150.0
"""Mean number of words of a chunk, if it is unknown."""
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
"""NUL in JSON; after a backslash, it would be a text."""
_LISTS = ("tags", "aliases", "links", "chunks", "made_with", "identity", "omitted")
"""Fields of a row that are tables of their own here, or mean something to its machine alone."""


def replace_documents(
    pool: Pool, source: str, paths: Sequence[str], rows: Sequence[tuple[DocumentRow, bytes]]
) -> None:
    """Replace the documents at these paths of a source by these rows, in one transaction.

    Vectors of texts that are no longer in a zone are deleted.
    """
    with pool.transaction():
        before = pool.execute(
            "SELECT chunk.zone_id, embed_key FROM chunk JOIN document ON document.id = document_id"
            " WHERE source = %s AND path = ANY (%s)",
            (source, list(paths)),
        ).fetchall()
        # With their chunks, names and links.
        pool.execute(
            "DELETE FROM document WHERE source = %s AND path = ANY (%s)", (source, list(paths))
        )
        if rows:
            put_documents(pool, rows, _average_length(pool, rows))
        pool.execute(
            "DELETE FROM embedding USING unnest(%s::integer[], %s::bytea[]) AS old (zone, key)"
            " WHERE embedding.key = old.key AND zone_id = old.zone AND NOT EXISTS"
            " (SELECT FROM chunk WHERE embed_key = old.key AND chunk.zone_id = old.zone)",
            ([zone for zone, _ in before], [key for _, key in before]),
        )


def _average_length(pool: Pool, rows: Sequence[tuple[DocumentRow, bytes]]) -> float:
    """Return the mean number of words of a chunk, which the first rows of the pool determine."""
    sql = "SELECT value::float8 FROM meta WHERE key = 'average_length'"
    known = pool.execute(sql).fetchone()
    if known is None:
        lengths = [len(" ".join(one.terms).split()) for row, _ in rows for one in row.chunks]
        pool.execute(
            "INSERT INTO meta (key, value) VALUES ('average_length', %s) ON CONFLICT DO NOTHING",
            (str(sum(lengths) / len(lengths) if lengths else _USUAL_LENGTH),),
        )
        known = pool.execute(sql).fetchone()
    return float(known[0]) if known else _USUAL_LENGTH


def put_documents(pool: Pool, rows: Sequence[tuple[DocumentRow, bytes]], average: float) -> None:
    """Add documents by these rows, each with its `version`. Call it in a transaction.

    `average` is the mean number of words of a chunk, the same for the whole pool. Vectors are not
    written: those of texts that did not change stay.
    """
    zones = {
        place: zone
        for place in {_place(row) for row, _ in rows}
        for (zone,) in pool.execute("SELECT zone_of(%s, %s, %s)", place)
    }
    ids = {
        (source, path): id_
        for id_, source, path in _insert(
            pool,
            "document",
            [_document(row, version) | {"zone_id": zones[_place(row)]} for row, version in rows],
            " RETURNING id, source, path",
        )
    }
    tables: dict[str, list[dict[str, Any]]] = {"tag": [], "alias": [], "link": [], "chunk": []}
    for row, _ in rows:
        key = {"document_id": ids[row.source, row.path], "zone_id": zones[_place(row)]}
        for table, own in _parts(row, average):
            tables[table].append(own | key)
    for table, contents in tables.items():
        _insert(pool, table, contents)


def put_vectors(
    pool: Pool, space_id: int, source: str, vectors: Mapping[bytes, Sequence[float]]
) -> None:
    """Store vectors of chunks of a source by `embed_key`, in each zone with such a chunk."""
    pool.execute(
        "INSERT INTO embedding (space_id, zone_id, key, data)"
        " SELECT DISTINCT %s, chunk.zone_id, given.key, given.data::halfvec"
        " FROM unnest(%s::bytea[], %s::text[]) AS given (key, data)"
        " JOIN chunk ON chunk.embed_key = given.key"
        " JOIN zone ON zone.id = chunk.zone_id AND zone.source = %s"
        " ON CONFLICT (key, space_id, zone_id) DO UPDATE SET data = excluded.data",
        (space_id, [*vectors], [as_halfvec(one) for one in vectors.values()], source),
    )


def as_halfvec(vector: Iterable[float]) -> str:
    """Return a vector as text for a `halfvec`."""
    return f"[{','.join(f'{part:.5g}' for part in vector)}]"


def _place(row: DocumentRow) -> tuple[str, str, str]:
    return row.source, row.path.rpartition("/")[0], row.project or ""


def _document(row: DocumentRow, version: bytes) -> dict[str, Any]:
    """Return the columns of a document."""
    stem = row.path.rpartition("/")[2].rpartition(".")[0] if row.name_given else ""
    title = row.title if row.title_given else ""
    names = [index_text(one) for one in (stem, title, "\n".join(row.aliases))]
    terms, weights = indexed(names, NAME_COLUMNS, AVERAGE_NAMES)
    columns = {name: value for name, value in _fields(row).items() if name not in _LISTS}
    return columns | {
        "version": version,
        "inode": 0,  # means nothing elsewhere
        "tokens": sum(chunk.tokens for chunk in row.chunks),
        "frontmatter": json.dumps(dict(row.frontmatter), ensure_ascii=False),
        "words": stem_words(
            [called(row), *(f"{chunk.context}\n{chunk.text}" for chunk in row.chunks)]
        ),
        "name_terms": terms,
        "name_weights": weights,
    }


def _fields(row: DocumentRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__dataclass_fields__}


def _parts(row: DocumentRow, average: float) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the rows of a document in other tables."""
    for tag in dict.fromkeys(row.tags):
        yield "tag", {"tag": tag}
    for alias in row.aliases:
        yield "alias", {"alias": alias, "folded": same_form(alias)}
    for link in row.links:
        terms, _ = indexed([index_text(link.text)], (1.0,), AVERAGE_NAMES)
        yield "link", link._asdict() | {"target_name": target_name(link), "terms": terms}
    first = -sum(chunk.of_fields for chunk in row.chunks)
    for ordinal, chunk in enumerate(row.chunks, first):
        terms, weights = indexed(chunk.terms, CHUNK_COLUMNS, average)
        yield (
            "chunk",
            {
                "ordinal": ordinal,
                "start_line": chunk.start_line,
                "end_line": chunk.end_line,
                "tokens": chunk.tokens,
                "headings": json.dumps(chunk.headings, ensure_ascii=False),
                "text": chunk.text,
                "embed_key": chunk.embed_key,
                "terms": terms,
                "weights": weights,
            },
        )


def _insert(
    pool: Pool, table: str, rows: Sequence[Mapping[str, Any]], returning: str = ""
) -> list[Any]:
    """Insert rows with equal keys by one statement."""
    if not rows:
        return []
    columns = ", ".join(rows[0])
    sql = (
        f"INSERT INTO {table} ({columns}) SELECT {columns}"
        f" FROM json_populate_recordset(NULL::{table}, %s::json){returning}"
    )
    found = pool.execute(sql, (_as_json(rows),))
    return found.fetchall() if returning else []


def _as_json(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as JSON; PostgreSQL takes neither NUL nor a lone surrogate."""
    text = json.dumps(rows, ensure_ascii=False, default=lambda data: f"\\x{data.hex()}")
    if "\\u0000" in text:
        text = _NUL.sub("\\1\ufffd", text)
    return str(mended(text))
