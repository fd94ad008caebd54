"""What documents are called, one by one: their titles, aliases and headings, and the words others link to them with."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from vault_index.store.connection import ANY_OF, any_of, fetch_all


@dataclass(frozen=True, slots=True)
class DocumentNames:
    path: str
    title: str
    aliases: tuple[str, ...]
    links: tuple[str, ...]
    """The words other notes use to link to it."""
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Document:
    id: int
    path: str
    name: str
    title: str


def document_names(connection: apsw.Connection, now: float, only: Collection[int] | None = None) -> list[DocumentNames]:
    """Of every document a search finds at `now`; with `only` nothing that stands in others than these."""
    among, values = ("", ()) if only is None else (f" AND document.id {ANY_OF}", (any_of(only),))
    rows = fetch_all(
        connection,
        "SELECT id, path, name, title FROM document WHERE id IN (SELECT document_id FROM chunk)"
        f" AND superseded_by IS NULL AND (expires IS NULL OR expires > ?){among} ORDER BY source, path",
        (now, *values),
    )
    documents = [_Document(*row) for row in rows]
    aliases = _gathered(fetch_all(connection, "SELECT document_id, alias FROM alias ORDER BY rowid"))
    links = _links(connection, documents, aliases, among, values)
    headings = _gathered(
        (document_id, heading)
        for document_id, path in fetch_all(connection, "SELECT document_id, headings FROM chunk ORDER BY id")
        for heading in json.loads(path)
    )
    return [
        DocumentNames(
            document.path,
            document.title,
            tuple(aliases.get(document.id, ())),
            tuple(links.get(document.id, ())),
            tuple(headings.get(document.id, ())),
        )
        for document in documents
    ]


def _links(
    connection: apsw.Connection,
    documents: Iterable[_Document],
    aliases: Mapping[int, Iterable[str]],
    among: str,
    values: Sequence[object],
) -> dict[int, list[str]]:
    """Link texts by the document they may mean: by its file name or an alias, and by its folder where that is named."""
    texts: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, target, text in fetch_all(
        connection,
        "SELECT DISTINCT target_name, target, text FROM link JOIN document ON document.id = link.document_id"
        f" WHERE text <> '' AND NOT embed{among} ORDER BY target_name, target, text",
        values,
    ):
        texts[name.removesuffix(".md")].append((target.casefold().removesuffix(".md"), text))
    return _gathered(
        (document.id, text)
        for document in documents
        for name in (document.name, *(alias.casefold() for alias in aliases.get(document.id, ())))
        for target, text in texts.get(name, ())
        if "/" not in target or f"/{document.path}".casefold().removesuffix(".md").endswith(f"/{target.lstrip('./')}")
    )


def _gathered(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """The different texts of each document, in order."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for document_id, text in pairs:
        found[document_id][text] = None
    return {document_id: list(texts) for document_id, texts in found.items()}
