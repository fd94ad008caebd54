"""List sessions by time and folder, and read their turns."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from vault_index.models import Filters
from vault_index.store.connection import ANY_OF, Statements, any_of
from vault_index.store.documents import documents_by_key, held_in
from vault_index.store.filters import document_condition, marks
from vault_index.store.records import StoredDocument, headings_and_text

_CLIENT = "coalesce(json_extract(document.frontmatter, '$.client'), document.source)"
"""SQL for the client of a session, as `query.resume.client_of`."""
_NEWEST_FIRST = "ORDER BY document.updated DESC, document.source, document.path"


class Wanted(NamedTuple):
    """The selected sessions."""

    filters: Filters
    """Only project and source of the filters apply."""
    clients: Sequence[str] = ()
    folders: Sequence[str] = ()
    """Folders in which, or below which, the sessions ran."""
    since: float | None = None
    until: float | None = None
    """Sessions that ended at or after `since` and began before `until`."""
    subagents: bool = False
    """Whether sub-agent sessions are included."""


class TurnText(NamedTuple):
    """A part of a session with its headings; the first heading has the speaker and the time."""

    start_line: int
    headings: tuple[str, ...]
    text: str


def sessions_page(
    db: Statements, wanted: Wanted, limit: int = -1, offset: int = 0
) -> tuple[list[StoredDocument], int]:
    """Return one page of sessions, newest first, and their total number; `limit` -1 means all."""
    condition, values = _condition(wanted)
    ids = [
        id_
        for (id_,) in db.execute(
            f"SELECT document.id FROM document WHERE {condition} {_NEWEST_FIRST}", values
        )
    ]
    shown = ids[offset:] if limit < 0 else ids[offset : offset + limit]
    found = documents_by_key(db, shown)
    return [found[id_] for id_ in shown], len(ids)


def sessions_by_day(db: Statements, wanted: Wanted) -> list[tuple[str, str, str | None, str, int]]:
    """Count the sessions by local begin day, local end day, project and client."""
    condition, values = _condition(wanted)
    began, ended = (
        f"coalesce(date(document.{time}, 'unixepoch', 'localtime'), '')"
        for time in ("created", "updated")
    )
    return list(
        db.execute(
            f"SELECT {began}, {ended}, document.project, {_CLIENT}, count(*) FROM document"
            f" WHERE {condition}"
            " GROUP BY 1, 2, 3, 4",
            values,
        )
    )


def sessions_with(db: Statements, match: str, wanted: Wanted) -> dict[int, list[int]]:
    """Return the chunks that match an FTS5 expression, by session, newest session first."""
    condition, values = _condition(wanted)
    found: dict[int, list[int]] = {}
    for document_id, chunk_id in db.execute(
        "SELECT document.id, chunk.id FROM chunk_fts CROSS JOIN chunk ON chunk.id = chunk_fts.rowid"
        " CROSS JOIN document ON document.id = chunk.document_id WHERE chunk_fts MATCH ?"
        f" AND {condition}"
        f" {_NEWEST_FIRST}, chunk.ordinal",
        (match, *values),
    ):
        found.setdefault(document_id, []).append(chunk_id)
    return found


def turns_of(
    db: Statements, document_id: int, chunk_ids: Collection[int] | None = None
) -> Iterator[TurnText]:
    """Yield the parts of a session in order, or only the given chunks."""
    among, values = ("", []) if chunk_ids is None else (f" AND id {ANY_OF}", [any_of(chunk_ids)])
    where = f"document_id = ? AND ordinal >= 0{among}"
    # A block holds a dozen chunks, so read each block once.
    blocks = dict(
        db.execute(
            "SELECT id, body FROM text_block"
            f" WHERE id IN (SELECT block_id FROM chunk WHERE {where})",
            (document_id, *values),
        )
    )
    for start_line, block_id, place in db.execute(
        f"SELECT start_line, block_id, place FROM chunk WHERE {where} ORDER BY ordinal",
        (document_id, *values),
    ):
        yield TurnText(start_line, *headings_and_text(blocks[block_id], place))


def _condition(wanted: Wanted) -> tuple[str, list[object]]:
    of_filters, values = document_condition(wanted.filters)
    conditions = ["document.kind = 'session'", *([of_filters] if of_filters else [])]
    if wanted.clients:
        conditions.append(f"{_CLIENT} COLLATE NOCASE IN ({marks(wanted.clients)})")
        values += wanted.clients
    if wanted.folders:
        inside, places = held_in(wanted.folders)
        conditions.append(f"({inside})")
        values += places
    if wanted.since is not None:
        conditions.append("document.updated >= ?")
        values.append(wanted.since)
    if wanted.until is not None:
        conditions.append("document.created < ?")
        values.append(wanted.until)
    if not wanted.subagents:
        conditions.append("json_extract(document.frontmatter, '$.parent') IS NULL")
    return " AND ".join(conditions), values
