"""What belongs to a project, or to every project: memories that hold, and sessions."""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from vault_index.store.connection import fetch_all

_LASTING = ("decision", "warning", "pattern", "preference")
"""Types of memories that say how things are done, whatever a session is about."""
_LASTING_TAGS = ("preference", "preferences")
_HOLDS = (
    "document.kind = 'memory' AND document.superseded_by IS NULL"
    " AND (document.expires IS NULL OR document.expires > ?)"
    " AND (document.valid_until IS NULL OR document.valid_until > ?)"
)
_SUREST_FIRST = (
    "CASE lower(document.confidence) WHEN 'high' THEN 0 WHEN 'low' THEN 2 ELSE 1 END,"
    " document.updated DESC, document.source, document.path"
)


@dataclass(frozen=True, slots=True)
class Project:
    """A project as documents name it."""

    names: tuple[str, ...]
    """What `project` in a frontmatter may say: a name, or a folder."""
    tags: tuple[str, ...]
    folders: tuple[str, ...]
    """Where its sessions were held; empty where nothing but a name is known."""


def memories_of(
    connection: apsw.Connection, project: Project, sources: Sequence[str], now: float, limit: int
) -> list[tuple[int, bool]]:
    """Memories of a project, each with whether it is a lasting one; these first, then the surest, then the newest."""
    lasting, lasting_values = _lasting()
    tagged, tags = _tagged(project.tags)
    where, values = _within(sources)
    rows = fetch_all(
        connection,
        f"SELECT document.id, {lasting} AS lasting FROM document WHERE {_HOLDS}"
        f" AND (document.project COLLATE NOCASE IN ({_marks(project.names)}) OR {tagged}){where}"
        f" ORDER BY lasting DESC, {_SUREST_FIRST} LIMIT ?",
        (*lasting_values, now, now, *project.names, *tags, *values, limit),
    )
    return [(document_id, bool(lasts)) for document_id, lasts in rows]


def memories_of_all(connection: apsw.Connection, sources: Sequence[str], now: float, limit: int) -> list[int]:
    """Lasting memories that name no project: they are for every one. The surest first, then the newest."""
    lasting, lasting_values = _lasting()
    tagged, tags = _tagged(("project",))
    where, values = _within(sources)
    rows = fetch_all(
        connection,
        f"SELECT document.id FROM document WHERE {_HOLDS} AND document.project IS NULL AND NOT {tagged}"
        f" AND {lasting}{where} ORDER BY {_SUREST_FIRST} LIMIT ?",
        (now, now, *tags, *lasting_values, *values, limit),
    )
    return [document_id for (document_id,) in rows]


def sessions_of(connection: apsw.Connection, project: Project, sources: Sequence[str], limit: int) -> list[int]:
    """Sessions of a project, newest first, without those that another session began for a part of its work."""
    held_in = "json_extract(document.frontmatter, '$.directory')"
    inside = " OR ".join([f"({held_in} = ? OR substr({held_in}, 1, ?) = ?)"] * len(project.folders))
    of_project = inside or f"document.project COLLATE NOCASE IN ({_marks(project.names)})"
    places = [item for folder in project.folders for item in (folder, len(folder) + 1, f"{folder.rstrip('/')}/")]
    where, values = _within(sources)
    rows = fetch_all(
        connection,
        f"SELECT document.id FROM document WHERE document.kind = 'session' AND ({of_project})"
        f" AND json_extract(document.frontmatter, '$.parent') IS NULL{where}"
        " ORDER BY document.updated DESC, document.source, document.path LIMIT ?",
        (*(places or project.names), *values, limit),
    )
    return [document_id for (document_id,) in rows]


def _lasting() -> tuple[str, tuple[str, ...]]:
    tagged, tags = _tagged(_LASTING_TAGS)
    condition = f"(coalesce(lower(document.type), '') IN ({_marks(_LASTING)}) OR {tagged})"
    return condition, (*_LASTING, *tags)


def _tagged(tags: Sequence[str]) -> tuple[str, list[str]]:
    # As in filters: a parent matches its children, which lie between `tag/` and `tag0`.
    any_of = " OR ".join(["tag.tag = ? OR (tag.tag >= ? AND tag.tag < ?)"] * len(tags)) or "false"
    values = [value for tag in tags for value in (tag, f"{tag}/", f"{tag}0")]
    return f"document.id IN (SELECT tag.document_id FROM tag WHERE {any_of})", values


def _within(sources: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    return (f" AND document.source COLLATE NOCASE IN ({_marks(sources)})", tuple(sources)) if sources else ("", ())


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
