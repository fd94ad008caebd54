"""Documents: found, listed, what is around them, what belongs to a project."""

from __future__ import annotations

from dataclasses import dataclass

from vault_index.store import spaces
from vault_index.store.connection import ANY_OF, any_of, translated
from vault_index.store.filters import document_condition
from vault_index.store.reading import CHUNK, DOCUMENT, Reading, chunk_record, stored_document

TYPE_CHECKING = False  # spares the import of what few questions need; type checkers know the name
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from vault_index.models import Filters, Link, Vector
    from vault_index.store.document_names import DocumentNames
    from vault_index.store.projects import Project
    from vault_index.store.records import ChunkRecord, StoredDocument
    from vault_index.store.related import Backlink, Called, Others


@dataclass(frozen=True, slots=True)
class Order:
    """How `list` is sorted; ties are broken by path, so that pages never overlap."""

    column: str = "created"
    descending: bool = True


class DocumentReader(Reading):
    """Looks documents up."""

    def documents(self, filters: Filters, order: Order, limit: int, offset: int) -> tuple[list[StoredDocument], int]:
        """One page of documents, and how many there are in all."""
        condition, values = document_condition(filters)
        where = f" WHERE {condition}" if condition else ""
        direction = "DESC" if order.descending else "ASC"
        by = f"ORDER BY {order.column} {direction} NULLS LAST, source, path"
        # The page first: sorting whole rows takes several times as long.
        rows = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE id IN (SELECT id FROM document{where} {by} LIMIT ? OFFSET ?) {by}",
            (*values, limit, offset),
        )
        total = self._all(f"SELECT count(*) FROM document{where}", values)[0][0]
        return [stored_document(row) for row in rows], int(total)

    def allows(self, filters: Filters, document_id: int) -> bool:
        """Whether the filters let a document through."""
        condition, values = document_condition(filters)
        where = f" AND {condition}" if condition else ""
        return bool(self._all(f"SELECT id FROM document WHERE id = ?{where}", (document_id, *values)))

    def documents_by_id(self, prefix: str, limit: int = 10) -> list[StoredDocument]:
        """Documents whose id begins with `prefix` (lower case)."""
        # An id holds no character after `g`: the range is a prefix search that the index can answer.
        rows = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE uid >= ? AND uid < ? ORDER BY uid, source, path LIMIT ?",
            (prefix, f"{prefix}g", limit),
        )
        return [stored_document(row) for row in rows]

    def documents_by_path(self, path: str, sources: Sequence[str] = ()) -> list[StoredDocument]:
        rows = self._all(f"SELECT {DOCUMENT} FROM document WHERE path = ? ORDER BY source", (path,))
        if not rows and not path.isascii():  # it may be called so in another Unicode normal form, as macOS writes names
            rows = self._all(f"SELECT {DOCUMENT} FROM document WHERE nfc(path) = nfc(?) ORDER BY source, path", (path,))
        return [document for row in rows if (document := stored_document(row)).source in sources or not sources]

    def documents_by_name(self, name: str) -> list[StoredDocument]:
        """Documents a wikilink's last part may mean: by file name first, then by alias; shortest path first."""
        folded = name.casefold()
        by_name = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE name = ? ORDER BY length(path), source, path", (folded,)
        )
        by_alias = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE id IN (SELECT document_id FROM alias WHERE folded = ?)"
            " ORDER BY length(path), source, path",
            (folded,),
        )
        if not (by_name or by_alias or name.isascii()):
            by_name = self._all(
                f"SELECT {DOCUMENT} FROM document WHERE fold(name) = fold(?) OR id IN"
                " (SELECT document_id FROM alias WHERE fold(folded) = fold(?)) ORDER BY length(path), source, path",
                (folded, folded),
            )
        return [stored_document(row) for row in (*by_name, *by_alias)]

    def memories_by_identity(self, identity: bytes, source: str) -> list[StoredDocument]:
        """Memories of one source that said the same when they were indexed, oldest first."""
        rows = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE identity = ? AND source = ? ORDER BY created, path",
            (identity, source),
        )
        return [stored_document(row) for row in rows]

    def memories_by_old_id(self, old_id: str, sources: Sequence[str] = ()) -> list[StoredDocument]:
        """Memories that were called so where they were imported from, by path."""
        rows = self._all(
            f"SELECT {DOCUMENT} FROM document WHERE kind = 'memory' AND EXISTS"
            " (SELECT 1 FROM json_each(document.frontmatter, '$.imported_id') WHERE CAST(value AS TEXT) = ?)"
            " ORDER BY source, path",
            (old_id,),
        )
        return [document for row in rows if (document := stored_document(row)).source in sources or not sources]

    def shared_ids(self) -> dict[str, list[str]]:
        """The paths of memories that have one id, by that id."""
        rows = self._all(
            "SELECT uid, path FROM document WHERE uid IN (SELECT uid FROM document GROUP BY uid HAVING count(*) > 1)"
            " ORDER BY uid, source, path"
        )
        paths: dict[str, list[str]] = {}
        for uid, path in rows:
            paths.setdefault(uid, []).append(path)
        return paths

    def chunks_of(self, document_id: int) -> list[ChunkRecord]:
        rows = self._all(
            f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
            " WHERE document.id = ? ORDER BY chunk.ordinal",
            (document_id,),
        )
        return [chunk_record(row) for row in rows]

    def aliases_of(self, document_id: int) -> list[str]:
        return [alias for (alias,) in self._all("SELECT alias FROM alias WHERE document_id = ?", (document_id,))]

    def document_names(self, now: float, only: Collection[int] | None = None) -> list[DocumentNames]:
        """What every document that can be found is called; with `only` as these documents alone say it."""
        from vault_index.store.document_names import document_names

        with self.snapshot():
            return document_names(self._connection, now, only)

    def links_of(self, document_id: int) -> list[Link]:
        from vault_index.models import Link

        rows = self._all(
            "SELECT target, heading, text, line, embed FROM link WHERE document_id = ? ORDER BY line",
            (document_id,),
        )
        return [Link(target, heading, text, line, bool(embed)) for target, heading, text, line, embed in rows]

    # --- around a document -------------------------------------------------------------------------------------

    def documents_by_key(self, document_ids: Collection[int]) -> dict[int, StoredDocument]:
        rows = self._all(f"SELECT {DOCUMENT} FROM document WHERE id {ANY_OF}", [any_of(document_ids)])
        return {row[0]: stored_document(row) for row in rows}

    def links_to(self, folded_names: Collection[str]) -> list[Backlink]:
        from vault_index.store import related as neighbours

        with translated(self._path):
            return neighbours.links_to(self._connection, folded_names)

    def documents_called(self, folded_names: Collection[str]) -> list[Called]:
        from vault_index.store import related as neighbours

        with translated(self._path):
            return neighbours.documents_called(self._connection, folded_names)

    def among(self, others: Others, document_ids: Collection[int]) -> set[int]:
        from vault_index.store import related as neighbours

        with translated(self._path):
            return neighbours.among(self._connection, others, document_ids)

    def vectors(self, space_id: int, chunk_ids: Sequence[int]) -> list[Vector]:
        with translated(self._path):
            return spaces.vectors(self._connection, space_id, chunk_ids)

    def nearest_documents(
        self, space_id: int, vector: Vector, others: Others, document_ids: Collection[int] | None = None
    ) -> dict[int, float]:
        from vault_index.store import related as neighbours

        with translated(self._path):
            return neighbours.nearest_documents(self._connection, space_id, vector, others, document_ids)

    def in_time(
        self, others: Others, position: tuple[float, str, str], *, before: int, after: int
    ) -> tuple[list[int], list[int]]:
        from vault_index.store import related as neighbours

        with translated(self._path):
            return neighbours.in_time(self._connection, others, position, before=before, after=after)

    # --- projects ----------------------------------------------------------------------------------------------

    def memories_of(self, project: Project, sources: Sequence[str], now: float, limit: int) -> list[tuple[int, bool]]:
        from vault_index.store import projects

        with translated(self._path):
            return projects.memories_of(self._connection, project, sources, now, limit)

    def memories_of_all(self, sources: Sequence[str], now: float, limit: int) -> list[int]:
        from vault_index.store import projects

        with translated(self._path):
            return projects.memories_of_all(self._connection, sources, now, limit)

    def sessions_of(self, project: Project, sources: Sequence[str], limit: int) -> list[int]:
        from vault_index.store import projects

        with translated(self._path):
            return projects.sessions_of(self._connection, project, sources, limit)
