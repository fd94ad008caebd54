"""Collect the names of documents: titles, aliases, headings, and the texts of links to them."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from vault_index.models import Link
from vault_index.store.connection import ANY_OF, Database, any_of
from vault_index.store.documents import texts_by_document
from vault_index.store.records import HEADINGS
from vault_index.terms import index_text
from vault_index.unicode import same_form


class DocumentNames(NamedTuple):
    """The names by which a search can find a document."""

    path: str
    title: str
    aliases: tuple[str, ...]
    links: tuple[str, ...]
    """The texts of links to the document."""
    headings: tuple[str, ...]


def document_names(
    db: Database, now: float, only: Collection[int] | None = None
) -> list[DocumentNames]:
    """Return the names of every document that a search at `now` can find.

    With `only`, use the aliases, headings and links of these documents alone.
    """
    among, values = ("", ()) if only is None else (f" AND document.id {ANY_OF}", (any_of(only),))
    with db.snapshot():
        documents = db.execute(
            "SELECT id, path, name, title FROM document WHERE id IN (SELECT document_id FROM chunk)"
            f" AND unreviewed < 2 AND superseded_by IS NULL AND (expires IS NULL OR expires > ?1)"
            f" AND (archived IS NULL OR archived > ?1){among} ORDER BY source, path",
            (now, *values),
        )
        aliases = texts_by_document(
            db.execute("SELECT document_id, alias FROM alias ORDER BY rowid")
        )
        links = db.execute(
            "SELECT DISTINCT target_name, target, text FROM link JOIN document"
            " ON document.id = link.document_id"
            f" WHERE text <> '' AND NOT embed{among} ORDER BY target_name, target, text",
            values,
        )
        headings = texts_by_document(
            (document_id, heading)
            for document_id, path in db.execute(
                f"SELECT document_id, {HEADINGS} FROM chunk ORDER BY document_id, ordinal"
            )
            for heading in json.loads(path)
        )
    texts = _link_texts(documents, aliases, links)
    return [
        DocumentNames(
            path,
            title,
            tuple(aliases.get(id_, ())),
            tuple(texts.get(id_, ())),
            tuple(headings.get(id_, ())),
        )
        for id_, path, _, title in documents
    ]


def _link_texts(
    documents: Iterable[tuple[int, str, str, str]],
    aliases: Mapping[int, Iterable[str]],
    links: Iterable[tuple[str, str, str]],
) -> dict[int, list[str]]:
    """Return the link texts by document, matched by file name or alias, and by folder if given."""
    texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, target, text in links:
        texts[name.removesuffix(".md")].append((same_form(target).removesuffix(".md"), text))
    return texts_by_document(
        (document_id, text)
        for document_id, path, own_name, _ in documents
        for name in (own_name, *map(same_form, aliases.get(document_id, ())))
        for target, text in texts.get(name, ())
        if "/" not in target
        or f"/{same_form(path)}".removesuffix(".md").endswith(f"/{target.lstrip('./')}")
    )


def target_name(link: Link) -> str:
    """Return the last part of a link's target, in the form in which names are compared."""
    return same_form(link.target.rpartition("/")[2])


def mark(db: Database, document_id: int, name: str, links: Iterable[Link]) -> None:
    """Mark the names that this document affects as stale. Call it before writing its links."""
    before = set(
        db.execute(
            "SELECT target_name, text FROM link WHERE document_id = ? AND text <> ''",
            (document_id,),
        )
    )
    after = {(target_name(link), link.text) for link in links if link.text}
    db.execute_many(
        "INSERT INTO stale_name (name) VALUES (?) ON CONFLICT DO NOTHING",
        [(stale,) for stale in sorted({name, *(target for target, _ in before ^ after)})],
    )


def refresh_names(db: Database) -> None:
    """Update the searchable names of the marked documents, at the end of a sync."""
    with db.transaction():
        # A cursor, because after a first sync these are all documents.
        stale = db.connection.execute(
            "SELECT id, iif(name_given, path, ''), name, iif(title_given, title, '') FROM document"
            " WHERE id IN (SELECT id FROM document"
            " WHERE name IN (SELECT name FROM stale_name)"
            " UNION SELECT document_id FROM alias WHERE folded IN (SELECT name FROM stale_name))"
        )
        for document_id, path, name, title in cast("Iterator[tuple[int, str, str, str]]", stale):
            _put(db, document_id, path, name, title)
        db.execute("DELETE FROM stale_name")


def _put(db: Database, document_id: int, path: str, name: str, title: str) -> None:
    """Write the searchable names of one document."""
    aliases = db.execute("SELECT alias, folded FROM alias WHERE document_id = ?", (document_id,))
    names = any_of({name, *(folded for _, folded in aliases)})
    links = db.execute(
        f"SELECT DISTINCT text FROM link WHERE text <> '' AND target_name {ANY_OF} ORDER BY text",
        (names,),
    )
    called = (
        path.rpartition("/")[2].rpartition(".")[0],
        title,
        "\n".join(alias for alias, _ in aliases),
        "\n".join(text for (text,) in links),
    )
    remove(db, document_id)
    db.execute(
        "INSERT INTO name_fts (rowid, name, title, aliases, links) VALUES (?, ?, ?, ?, ?)",
        (document_id, *map(index_text, called)),
    )


def remove(db: Database, document_id: int) -> None:
    """Delete the searchable names of a document."""
    db.execute("DELETE FROM name_fts WHERE rowid = ?", (document_id,))
