"""Complete the rows of a document for a pool: without credentials, and with terms."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vault_index.indexer.reading import chunk_rows, embed_key, searched, still_said
from vault_index.models import Chunk, Link, ParsedDocument
from vault_index.secrets.find import redact
from vault_index.store.publishing import Whole
from vault_index.store.writer import ChunkRow, DocumentRow

_TEXTS = ("title", "digest", "type", "project", "entered_by", "superseded_by", "confidence")


def row_to_publish(whole: Whole) -> DocumentRow:
    """Return the rows of a document as the indexer made them, but with credentials redacted.

    A redacted text gets another embed key, because the vector of the original is not published.
    """
    row = whole.row
    front = {key: _clean(value, key) for key, value in row.frontmatter.items()}
    texts = {name: _clean(getattr(row, name)) for name in _TEXTS}
    links = [Link(*map(_clean, one)) for one in row.links]
    clean = replace(
        row,
        **texts,
        frontmatter=front,
        tags=tuple(map(_clean, row.tags)),
        aliases=tuple(map(_clean, row.aliases)),
        links=tuple(links),
        chunks=tuple(map(_clean_chunk, row.chunks)),
        identity=None,
    )
    if clean != replace(row, identity=None):  # a hash of the file could be searched for the rest
        clean = replace(clean, content_hash=hashlib.sha256(whole.version).digest())
    return replace(clean, chunks=_with_terms(clean))


def _clean(value: Any, key: str = "") -> Any:
    """Redact the texts in a value; a name such as `password` shows what its value is."""
    if isinstance(value, str):
        name = f"{key}: " if key else ""
        return redact(f"{name}{value}")[0].removeprefix(name)
    if isinstance(value, list | tuple):
        return [_clean(one, key) for one in value]
    if isinstance(value, Mapping):
        return {name: _clean(one, name) for name, one in value.items()}
    return value


def _clean_chunk(chunk: ChunkRow) -> ChunkRow:
    context, text = _clean(chunk.context), _clean(chunk.text)
    headings = tuple(map(_clean, chunk.headings))
    same = (context, headings, text) == (chunk.context, chunk.headings, chunk.text)
    return (
        chunk
        if same
        else chunk._replace(
            context=context, headings=headings, text=text, embed_key=embed_key(context, text)
        )
    )


def _with_terms(row: DocumentRow) -> tuple[ChunkRow, ...]:
    """Return the chunks with their terms, made as by `describe` from what the index stores."""
    front = {key: value for key, value in row.frontmatter.items() if not key.endswith("::")}
    parsed = ParsedDocument(
        row.title, row.title_given, row.aliases, row.tags, (), front, row.line_count, ()
    )
    chunks = {
        of_fields: [
            Chunk(one.start_line, one.end_line, one.headings, one.text, one.tokens)
            for one in row.chunks
            if one.of_fields == of_fields
        ]
        for of_fields in (True, False)
    }
    made = chunk_rows(
        row.path if row.name_given else still_said(row.path, row.title),
        searched(parsed, row.kind, given=row.title_given),
        chunks[False],
        chunks[True],
    )
    return tuple(
        one._replace(terms=with_terms.terms)
        for one, with_terms in zip(row.chunks, made, strict=True)
    )
