"""The columns of `chunk_fts`, and its rows made again where an earlier version had other columns."""

import hashlib
from collections.abc import Sequence
from functools import lru_cache

import apsw

from vault_index.store.spaces import carry_spaces
from vault_index.store.text_blocks import HEADINGS, TEXT
from vault_index.terms import index_text

COLUMNS = "title, aliases, headings, tags, fields, path, body"
_CHUNKS = (
    f"SELECT chunk.id, document_id, terms_hash, (SELECT group_concat(value, char(10)) FROM"
    f" json_each({HEADINGS})), {TEXT}, called, iif(title_given, title, ''), path,"
    " (SELECT group_concat(alias, char(10) ORDER BY rowid) FROM alias WHERE alias.document_id = document.id),"
    " (SELECT group_concat(tag, ' ') FROM tag WHERE tag.document_id = document.id)"
    " FROM chunk JOIN document ON document.id = document_id ORDER BY chunk.id"
)


def terms_hash(terms: Sequence[str]) -> bytes:
    return hashlib.blake2b("\0".join(terms).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def carry_rows(connection: apsw.Connection, before: int) -> None:
    """What of a migration of the index is no SQL."""
    carry_spaces(connection, before)
    _put_terms(connection)


def _put_terms(connection: apsw.Connection) -> None:
    """After a migration that left `chunk_fts` empty: its rows can be told from the others, and by their hash whether
    they are those that were there. Documents of which they are not are read again."""
    if connection.execute("SELECT EXISTS (SELECT 1 FROM chunk_fts) OR NOT EXISTS (SELECT 1 FROM chunk)").get:
        return
    indexed = lru_cache(maxsize=64)(index_text)  # a title and so on come with every chunk
    strange = []
    for id_, document_id, known, headings, text, called, *beside in connection.execute(_CHUNKS):
        title, path, aliases, tags = (indexed(one or "") for one in beside)
        # What a document is called holds these one after the other; `tags` has them in another order.
        end = len(called) - len(path) - 1
        start = len(title) + len(aliases) + 2
        middle = start + len(tags)
        terms = (
            title, aliases, index_text(headings or ""), called[start:middle], called[middle + 1 : end], path,
            index_text(text),
        )  # fmt: skip
        if terms_hash(terms) != known:
            strange.append((document_id, id_))
        connection.execute(f"INSERT INTO chunk_fts (rowid, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (id_, *terms))
    connection.executemany("UPDATE document SET made_with = '' WHERE id = ?1 AND ?2", strange)
    connection.executemany("UPDATE chunk SET terms_hash = x'' WHERE document_id = ?1 AND id = ?2", strange)
