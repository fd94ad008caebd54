"""Find the documents related to one: by links, creation time and vectors."""

from collections.abc import Collection, Sequence
from typing import NamedTuple, Protocol

from vault_index.models import Filters, Vector
from vault_index.store import spaces
from vault_index.store.connection import ANY_OF, Statements, any_of
from vault_index.store.documents import documents_of
from vault_index.store.filters import Candidates, chunks_in_order, document_condition
from vault_index.store.records import StoredDocument

_NEAREST_CHUNKS = 200
"""Number of nearest chunks from which the nearest documents are taken."""


class Others(NamedTuple):
    """The documents that an answer about one document may name.

    They pass the filters and exclude the document itself. Memories that are hidden in search are
    left out unless the filters ask for them; archived ones stay, because links to them remain
    valid.
    """

    than: int
    """The id of the document that the answer is about."""
    filters: Filters
    now: float


class Backlink(NamedTuple):
    """A link as written, and the document that contains it."""

    document_id: int
    source: str
    path: str
    target: str


class Called(NamedTuple):
    """A document that a link may mean, by its file name or by an alias (case-folded)."""

    document_id: int
    source: str
    path: str
    alias: str | None = None


class Nearest(Statements, Protocol):
    """A database that finds the nearest chunks."""

    def nearest(
        self, space_id: int, vector: Vector, limit: int, where: str, values: Sequence[object]
    ) -> Candidates:
        """Return the nearest chunks of the documents that meet a condition, by cosine."""


def links_to(db: Statements, names: Collection[str]) -> list[Backlink]:
    """Return the links to a target that ends in one of `names` (case-folded)."""
    rows = db.execute(
        "SELECT DISTINCT document.id, document.source, document.path, link.target FROM link"
        f" JOIN document ON document.id = link.document_id WHERE link.target_name {ANY_OF}",
        (any_of(names),),
    )
    return [Backlink(*row) for row in rows]


def documents_called(db: Statements, names: Collection[str]) -> list[Called]:
    """Return the documents with a file name (without suffix) or alias in `names` (case-folded)."""
    rows = db.execute(
        f"SELECT id, source, path, NULL FROM document WHERE name {ANY_OF}"
        " UNION ALL SELECT document.id, source, path, folded FROM alias"
        f" JOIN document ON document.id = alias.document_id WHERE folded {ANY_OF}",
        (any_of(names), any_of(names)),
    )
    return [Called(*row) for row in rows]


def superseded_of(db: Statements, document: StoredDocument) -> tuple[set[int], set[int]]:
    """Return the ids of the memories that a memory supersedes, and of its successor."""
    # The first condition has a small index.
    by = "superseded_by IS NOT NULL AND lower(superseded_by)"
    older = db.execute(f"SELECT id FROM document WHERE {by} = ?", (document.uid,))
    newer = db.execute("SELECT id FROM document WHERE uid = lower(?)", (document.superseded_by,))
    return {id_ for (id_,) in older}, {id_ for (id_,) in newer}


def among(db: Statements, others: Others, document_ids: Collection[int]) -> set[int]:
    """Return the given documents that the answer may name."""
    where, values = _condition(others, document_ids)
    return {id_ for (id_,) in db.execute(f"SELECT document.id FROM document WHERE {where}", values)}


def nearest_documents(
    db: Nearest,
    space_id: int,
    vector: Vector,
    others: Others,
    document_ids: Collection[int] | None = None,
) -> dict[int, float]:
    """Return the nearest documents with the cosine of their nearest chunk, best first.

    With `document_ids`, return only these documents, at any distance.
    """
    where, values = _condition(others, document_ids)
    most = _NEAREST_CHUNKS if document_ids is None else spaces.MAX_K
    chunks = db.nearest(space_id, vector, most, where, values)
    chunk_ids = [chunk_id for chunk_id, _ in chunks]
    owners, place = documents_of(db, chunk_ids), chunks_in_order(db, chunk_ids)
    nearest: dict[int, float] = {}
    for chunk_id, cosine in sorted(chunks, key=lambda one: (-one[1], place[one[0]])):
        nearest.setdefault(owners[chunk_id], cosine)
    return nearest


def in_time(
    db: Statements, others: Others, position: tuple[float, str, str], *, before: int, after: int
) -> tuple[list[int], list[int]]:
    """Return the documents next to a position (created, path, source), in order.

    At most `before` documents before it and `after` documents after it.
    """
    where, values = _condition(others)
    columns = "(document.created, document.path, document.source)"
    sides = []
    for sign, direction, count in (("<", "DESC", before), (">", "ASC", after)):
        rows = db.execute(
            f"SELECT document.id FROM document WHERE {where} AND {columns} {sign} (?, ?, ?)"
            f" ORDER BY document.created {direction}, document.path {direction},"
            f" document.source {direction} LIMIT ?",
            (*values, *position, count),
        )
        sides.append([document_id for (document_id,) in rows])
    return sides[0][::-1], sides[1]


def _condition(
    others: Others, document_ids: Collection[int] | None = None
) -> tuple[str, list[object]]:
    conditions = ["document.id <> ?"]
    values: list[object] = [others.than]
    if not {"expired", "superseded"}.intersection(others.filters.states):
        conditions.append(
            "document.superseded_by IS NULL AND (document.expires IS NULL OR document.expires > ?)"
        )
        values.append(others.now)
    if "unreviewed" not in others.filters.states:
        conditions.append("document.unreviewed < 2")
    if document_ids is not None:
        conditions.append(f"document.id {ANY_OF}")
        values.append(any_of(document_ids))
    wanted, wanted_values = document_condition(others.filters)
    return " AND ".join([*conditions, *([wanted] if wanted else [])]), [*values, *wanted_values]
