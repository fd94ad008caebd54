"""What documents are called, one by one: their titles, aliases and headings, and the words others link to them with."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import apsw

from vault_index.models import Link
from vault_index.store.connection import ANY_OF, any_of, fetch_all
from vault_index.terms import index_text


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


_COLUMNS = "name, title, aliases, links"


def target_name(link: Link) -> str:
    """The last part of a link's target, as names are compared."""
    return link.target.rpartition("/")[2].casefold()


def mark(connection: apsw.Connection, document_id: int, name: str, links: Iterable[Link]) -> None:
    """Note that a document is called `name` now and links so. Before its links are written."""
    before = set(
        fetch_all(connection, "SELECT target_name, text FROM link WHERE document_id = ? AND text <> ''", (document_id,))
    )
    after = {(target_name(link), link.text) for link in links if link.text}
    connection.executemany(
        "INSERT INTO stale_name (name) VALUES (?) ON CONFLICT DO NOTHING",
        [(stale,) for stale in sorted({name, *(target for target, _ in before ^ after)})],
    )


def refresh(connection: apsw.Connection) -> None:
    """Write the rows of all documents that are called otherwise."""
    stale = fetch_all(
        connection,
        "SELECT id FROM document WHERE name IN (SELECT name FROM stale_name)"
        " UNION SELECT document_id FROM alias WHERE folded IN (SELECT name FROM stale_name)",
    )
    for (document_id,) in stale:
        _put(connection, document_id)
    connection.execute("DELETE FROM stale_name")


def _put(connection: apsw.Connection, document_id: int) -> None:
    """Write the row of one document from what the other tables say now."""
    path, folded, title = fetch_all(connection, "SELECT path, name, title FROM document WHERE id = ?", (document_id,))[
        0
    ]
    aliases = fetch_all(connection, "SELECT alias, folded FROM alias WHERE document_id = ?", (document_id,))
    names = sorted({folded, *(alias for _, alias in aliases)})
    links = fetch_all(
        connection,
        "SELECT DISTINCT text FROM link WHERE text <> ''"
        f" AND target_name IN ({', '.join('?' * len(names))}) ORDER BY text",
        names,
    )
    called = (
        path.rpartition("/")[2].rpartition(".")[0],
        title,
        "\n".join(alias for alias, _ in aliases),
        "\n".join(text for (text,) in links),
    )
    remove(connection, document_id)
    connection.execute(
        f"INSERT INTO name_fts (rowid, {_COLUMNS}) VALUES (?, ?, ?, ?, ?)", (document_id, *map(index_text, called))
    )


def remove(connection: apsw.Connection, document_id: int) -> None:
    connection.execute("DELETE FROM name_fts WHERE rowid = ?", (document_id,))


def candidates(
    connection: apsw.Connection, match: str, limit: int, where: str, values: Sequence[object]
) -> list[tuple[int, float]]:
    """Document ids and BM25 (higher is better), best first."""
    rows = fetch_all(
        connection,
        f"SELECT rowid, -bm25(name_fts) FROM name_fts WHERE name_fts MATCH ?{where} ORDER BY bm25(name_fts) LIMIT ?",
        (match, *values, limit),
    )
    return [(document_id, score) for document_id, score in rows]
