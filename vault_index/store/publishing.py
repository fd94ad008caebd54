"""Read whole documents of `index.db`, to publish them to a pool."""

import hashlib
import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from vault_index.models import Link
from vault_index.store.connection import ANY_OF, Database, any_of
from vault_index.store.documents import texts_by_document
from vault_index.store.records import CONTEXT, HEADINGS, TEXT, DocumentState, column_names
from vault_index.store.spaces import STATE
from vault_index.store.writer import ChunkRow, DocumentRow

_FORM = "1"
"""Change it when the same rows are to be published in another form."""
_MADE_OF = (
    "content_hash", "made_with", "uid", "path", "created", "updated", "unreviewed", "omitted"
)  # fmt: skip
"""The rows of a document depend on these columns alone."""
_LISTS = ("tags", "aliases", "links", "chunks")
_COLUMNS = column_names(DocumentRow, *_LISTS)
_FLAGS = ("title_given", "name_given")
NO_TERMS = ("", "", "", "", "", "", "")


class Indexed(NamedTuple):
    """A document of a source that could be published."""

    state: DocumentState
    kind: str
    unreviewed: int
    version: bytes


def indexed_rows(db: Database, source: str) -> list[tuple[Any, ...]]:
    """Return the rows of all documents of a source, for `indexed`; id and path come first."""
    return db.execute(
        f"SELECT id, path, kind, unreviewed, {', '.join(_MADE_OF)}, {STATE}"
        " FROM document WHERE source = ? ORDER BY path",
        (source,),
    )


def has_origin(row: Sequence[Any]) -> bool:
    """Return whether a document names projects, folders or a session."""
    return bool(row[-2] or row[-1])


def indexed(row: Sequence[Any], salt: bytes) -> Indexed:
    """Return a document with the version of its rows."""
    end = 4 + len(_MADE_OF)
    return Indexed(DocumentState._make(row[end:]), row[2], row[3], _version(row[4:end], salt))


def _version(made_of: Sequence[object], salt: bytes) -> bytes:
    """Return a hash of the rows; salted, because it depends on texts that are not published."""
    text = json.dumps([_FORM, *map(str, made_of)])
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=salt).digest()


class Whole(NamedTuple):
    """The rows of a document, except the terms of its chunks, which the index cannot return."""

    state: DocumentState
    row: DocumentRow
    version: bytes


def whole_documents(db: Database, ids: Collection[int], salt: bytes) -> list[Whole]:
    """Return documents by row id, sorted by path, from one state of the index."""
    these, among = [any_of(ids)], f"WHERE document_id {ANY_OF} ORDER BY document_id"
    with db.snapshot():
        tags = texts_by_document(
            db.execute(f"SELECT document_id, tag FROM tag {among}, tag", these)
        )
        aliases = texts_by_document(
            db.execute(f"SELECT document_id, alias FROM alias {among}, rowid", these)
        )
        links: dict[int, list[Link]] = {}
        columns = "document_id, target, heading, text, line, embed"
        for id_, *link in db.execute(f"SELECT {columns} FROM link {among}, rowid", these):
            links.setdefault(id_, []).append(Link._make([*link[:-1], bool(link[-1])]))
        chunks: dict[int, list[ChunkRow]] = {}
        columns = f"start_line, end_line, {HEADINGS}, {CONTEXT}, {TEXT}, tokens, embed_key, ordinal"
        for id_, first, last, headings, *texts, ordinal in db.execute(
            f"SELECT document_id, {columns} FROM chunk {among}, ordinal", these
        ):
            chunk = (first, last, tuple(json.loads(headings)), *texts, NO_TERMS, ordinal < 0)
            chunks.setdefault(id_, []).append(ChunkRow._make(chunk))
        rows = db.execute(
            f"SELECT {', '.join(f'document.{name}' for name in _COLUMNS)}, {STATE}"
            f" FROM document WHERE id {ANY_OF} ORDER BY path",
            these,
        )
    found = []
    for values in rows:
        columns_of = dict(zip(_COLUMNS, values, strict=False))
        state = DocumentState._make(values[len(_COLUMNS) :])
        whole = columns_of | {name: bool(columns_of[name]) for name in _FLAGS}
        row = DocumentRow(
            **whole | {"frontmatter": json.loads(whole["frontmatter"])},
            tags=tuple(tags.get(state.id, ())),
            aliases=tuple(aliases.get(state.id, ())),
            links=tuple(links.get(state.id, ())),
            chunks=tuple(chunks.get(state.id, ())),
        )
        found.append(Whole(state, row, _version([columns_of[name] for name in _MADE_OF], salt)))
    return found
