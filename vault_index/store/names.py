"""What documents are called: their file name, title and aliases, and the words other notes use to link to them.

A note changes what others are called, so these rows follow a little later, and each is written once: `mark` notes whom
a note concerns, in the transaction that writes it, and `refresh` writes what was noted; a crash between loses nothing.
"""

from collections.abc import Iterable, Sequence

import apsw

from vault_index.models import Link
from vault_index.store.connection import fetch_all
from vault_index.terms import index_text

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
