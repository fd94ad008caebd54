"""Look up, list and count documents, and read their contents and those of a project."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from vault_index.models import Fault, FileStamp, Filters, Link
from vault_index.store.connection import ANY_OF, Statements, any_of
from vault_index.store.filters import document_condition, marks, of_project, tagged
from vault_index.store.records import (
    CHUNK,
    DOCUMENT,
    TEXT,
    ChunkRecord,
    StoredDocument,
    chunk_records,
)
from vault_index.unicode import same_form

_LASTING = ("decision", "warning", "pattern", "preference")
"""Types of memories that describe how to work, whatever the topic of a session."""
_LASTING_TAGS = ("preference", "preferences")
_HOLDS = (
    "document.kind = 'memory' AND document.superseded_by IS NULL"
    " AND (document.expires IS NULL OR document.expires > ?)"
    " AND (document.valid_until IS NULL OR document.valid_until > ?)"
    " AND (document.archived IS NULL OR document.archived > ?)"
)
_SUREST_FIRST = (
    "CASE lower(document.confidence) WHEN 'high' THEN 0 WHEN 'low' THEN 2 ELSE 1 END,"
    " document.updated DESC, document.source, document.path"
)


HIDDEN = {
    "expired": "SELECT id FROM document WHERE expires <= ?1",
    # Only if the newer memory exists at that time.
    "superseded": "SELECT id FROM document AS old WHERE superseded_by IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM document AS new WHERE new.uid = lower(old.superseded_by)"
    " AND new.created > ?1)",
    "archived": "SELECT id FROM document WHERE archived <= ?1",
    "unreviewed": "SELECT id FROM document WHERE unreviewed > 0 AND unreviewed = 2",
}
"""Memories that are hidden unless the query asks for their state.

One query each, because they are few and use small partial indexes; joined by OR, SQLite would scan
all documents.
"""
ALL = -1 << 31
"""Less than the ordinal of every chunk."""


class Order(NamedTuple):
    """The sort order of `list`; ties are broken by path, so that pages never overlap."""

    column: str = "created"
    descending: bool = True


class Project(NamedTuple):
    """A project, in the spellings that documents use."""

    names: tuple[str, ...]
    """Values of `project` in a frontmatter: names or folders."""
    tags: tuple[str, ...]
    folders: tuple[str, ...]
    """The folders of its sessions; empty if only a name is known."""


# --- look-up --------------------------------------------------------------------------------------


def documents_page(
    db: Statements, filters: Filters, order: Order, limit: int = -1, offset: int = 0
) -> tuple[list[StoredDocument], int]:
    """Return one page of the documents that pass the filters, and their total number.

    `limit` -1 means all.
    """
    condition, values = document_condition(filters)
    where = f"WHERE {condition or 'true'}"
    direction = "DESC" if order.descending else "ASC"
    by = f"ORDER BY {order.column} {direction} NULLS LAST, source, path"
    # Select the page by id first: sorting whole rows takes several times as long.
    page = f"id IN (SELECT id FROM document {where} {by} LIMIT ? OFFSET ?) {by}"
    found = _documents(db, page, (*values, limit, offset))
    return found, int(db.value(f"SELECT count(*) FROM document {where}", values))


def allows(db: Statements, filters: Filters, document_id: int) -> bool:
    """Return whether a document passes the filters."""
    condition, values = document_condition(filters)
    sql = f"SELECT id FROM document WHERE id = ? AND {condition or 'true'}"
    return bool(db.execute(sql, (document_id, *values)))


def documents_by_key(db: Statements, document_ids: Collection[int]) -> dict[int, StoredDocument]:
    """Return documents by row id."""
    return {
        document.id: document for document in _documents(db, f"id {ANY_OF}", [any_of(document_ids)])
    }


def documents_by_id(db: Statements, prefix: str) -> list[StoredDocument]:
    """Return at most ten documents with an id that begins with `prefix` (lower case)."""
    # Ids are hexadecimal, so `g` ends the range, and the index answers the prefix search.
    return _documents(
        db, "uid >= ? AND uid < ? ORDER BY uid, source, path LIMIT 10", (prefix, f"{prefix}g")
    )


def documents_by_path(
    db: Statements, path: str, sources: Sequence[str] = ()
) -> list[StoredDocument]:
    """Return the documents at a path, in all sources or the given ones."""
    found = _documents(db, "path = ? ORDER BY source", (path,))
    # The name may have another Unicode normal form, as macOS writes names.
    if not found and not path.isascii():
        found = _documents(db, "nfc(path) = nfc(?) ORDER BY source, path", (path,))
    wanted = {source.casefold() for source in sources}
    return [document for document in found if document.source.casefold() in wanted or not wanted]


def documents_by_name(db: Statements, name: str) -> list[StoredDocument]:
    """Return the documents that a wikilink may mean: by file name, alias, then shortest path."""
    folded = same_form(name)
    shortest = "ORDER BY length(path), source, path"
    return [
        *_documents(db, f"name = ? {shortest}", (folded,)),
        *_documents(
            db, f"id IN (SELECT document_id FROM alias WHERE folded = ?) {shortest}", (folded,)
        ),
    ]


def memories_by_identity(db: Statements, identity: bytes, source: str) -> list[StoredDocument]:
    """Return the memories of one source that were indexed with this content, oldest first."""
    return _documents(db, "identity = ? AND source = ? ORDER BY created, path", (identity, source))


def memories_by_old_id(
    db: Statements, old_id: str, sources: Sequence[str] = ()
) -> list[StoredDocument]:
    """Return the memories that were imported with this id, by path."""
    imported = (
        "SELECT 1 FROM json_each(document.frontmatter, '$.imported_id')"
        " WHERE CAST(value AS TEXT) = ?"
    )
    found = _documents(
        db, f"kind = 'memory' AND EXISTS ({imported}) ORDER BY source, path", (old_id,)
    )
    return [document for document in found if document.source in sources or not sources]


def paths_by_shared_id(db: Statements) -> dict[str, list[str]]:
    """Return the paths of memories that share an id, by id."""
    paths: dict[str, list[str]] = {}
    for uid, path in db.execute(
        "SELECT uid, path FROM document WHERE uid IN (SELECT uid FROM document GROUP BY uid"
        " HAVING count(*) > 1)"
        " ORDER BY uid, source, path"
    ):
        paths.setdefault(uid, []).append(path)
    return paths


def _documents(db: Statements, where: str, values: Sequence[object]) -> list[StoredDocument]:
    return [
        StoredDocument(*row)
        for row in db.execute(f"SELECT {DOCUMENT} FROM document WHERE {where}", values)
    ]


# --- contents -------------------------------------------------------------------------------------


def chunks_of(
    db: Statements, document_id: int, *, fields: bool = True, first: int = ALL, limit: int = -1
) -> list[ChunkRecord]:
    """Return the chunks of a document in order, from the ordinal `first` on.

    Without `fields`, leave out the chunks of frontmatter fields.
    """
    return chunk_records(
        db.execute(
            f"SELECT {CHUNK} FROM chunk JOIN document ON document.id = chunk.document_id"
            " WHERE document.id = ? AND chunk.ordinal >= ? ORDER BY chunk.ordinal LIMIT ?",
            (document_id, first if fields else max(first, 0), limit),
        )
    )


def texts_of(db: Statements, document_ids: Collection[int]) -> Iterator[tuple[int, str]]:
    """Yield document id and text of the chunks below the frontmatter, in order."""
    yield from db.execute(
        f"SELECT document_id, {TEXT} FROM chunk WHERE document_id {ANY_OF} AND ordinal >= 0"
        " ORDER BY document_id, ordinal",
        [any_of(document_ids)],
    )


def content_hashes(db: Statements, document_ids: Collection[int]) -> dict[int, str]:
    """Return the SHA-256 of each indexed file, in hexadecimal, by row id."""
    sql = f"SELECT id, lower(hex(content_hash)) FROM document WHERE id {ANY_OF}"
    return dict(db.execute(sql, [any_of(document_ids)]))


def spread_texts(db: Statements, limit: int, characters: int) -> list[str]:
    """Return the beginnings of about `limit` chunks, evenly spread over the table."""
    sql = f"SELECT substr({TEXT}, 1, ?) FROM chunk WHERE id >= ? LIMIT 1"
    [(last,)] = db.execute("SELECT coalesce(max(id), 0) FROM chunk")
    places = range(1, last + 1, last // limit + 1)
    return [text for place in places for (text,) in db.execute(sql, (characters, place))]


def embed_keys(db: Statements, document_id: int | None = None) -> set[bytes]:
    """Return the cache keys of the vectors of one document, or of all."""
    rows = db.execute(
        "SELECT embed_key FROM chunk WHERE ?1 IS NULL OR document_id = ?1", (document_id,)
    )
    return {key for (key,) in rows}


def documents_of(db: Statements, chunk_ids: Sequence[int]) -> dict[int, int]:
    """Return the document of each chunk."""
    return dict(
        db.execute(f"SELECT id, document_id FROM chunk WHERE id {ANY_OF}", [any_of(chunk_ids)])
    )


def chunks_in(db: Statements, document_ids: Collection[int]) -> set[int]:
    """Return the chunks of these documents."""
    return {
        id_
        for (id_,) in db.execute(
            f"SELECT id FROM chunk WHERE document_id {ANY_OF}", [any_of(document_ids)]
        )
    }


def hidden_chunks(db: Statements, now: float, *, shown: Collection[str] = ()) -> set[int]:
    """Return the chunks of memories hidden at `now`, except in the states `shown`."""
    hidden = [sql for state, sql in HIDDEN.items() if state not in shown]
    if not hidden:
        return set()
    sql = (
        "SELECT id FROM chunk WHERE ?1 IS NOT NULL"
        f" AND document_id IN ({' UNION ALL '.join(hidden)})"
    )
    return {chunk_id for (chunk_id,) in db.execute(sql, (now,))}


def first_chunks(db: Statements, document_ids: Sequence[int]) -> dict[int, int]:
    """Return the first chunk of each document that has one."""
    sql = f"SELECT document_id, id FROM chunk WHERE document_id {ANY_OF} AND ordinal = 0"
    return dict(db.execute(sql, [any_of(document_ids)]))


def aliases_of(db: Statements, document_id: int) -> list[str]:
    """Return the aliases of a document."""
    return [
        alias
        for (alias,) in db.execute("SELECT alias FROM alias WHERE document_id = ?", (document_id,))
    ]


def tags_of(db: Statements, document_ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """Return the tags of each document in alphabetical order."""
    sql = f"SELECT document_id, tag FROM tag WHERE document_id {ANY_OF} ORDER BY tag"
    tags: dict[int, tuple[str, ...]] = {}
    for document_id, tag in db.execute(sql, [any_of(document_ids)]):
        tags[document_id] = (*tags.get(document_id, ()), tag)
    return tags


def links_of(db: Statements, document_id: int) -> list[Link]:
    """Return the links of a document, by line."""
    rows = db.execute(
        "SELECT target, heading, text, line, embed FROM link WHERE document_id = ? ORDER BY line",
        (document_id,),
    )
    return [
        Link(target, heading, text, line, bool(embed))
        for target, heading, text, line, embed in rows
    ]


# --- projects -------------------------------------------------------------------------------------


def memories_of(
    db: Statements,
    project: Project,
    sources: Sequence[str],
    now: float,
    limit: int,
    *,
    unreviewed: bool = False,
) -> list[tuple[int, bool]]:
    """Return the memories of a project, lasting ones first, by confidence, then newest.

    `unreviewed` selects memories in the inbox instead of the others.
    """
    lasting, lasting_values = _lasting()
    about, tags = tagged(project.tags)
    named, names = of_project(project.names)
    where, values = _within(sources)
    rows = db.execute(
        f"SELECT document.id, {lasting} AS lasting FROM document WHERE {_holds(unreviewed)}"
        f" AND ({named} OR {about}){where}"
        f" ORDER BY lasting DESC, {_SUREST_FIRST} LIMIT ?",
        (*lasting_values, now, now, now, *names, *tags, *values, limit),
    )
    return [(document_id, bool(lasts)) for document_id, lasts in rows]


def memories_of_all(
    db: Statements, sources: Sequence[str], now: float, limit: int, *, unreviewed: bool = False
) -> list[int]:
    """Return the lasting memories without a project, by confidence, then newest."""
    lasting, lasting_values = _lasting()
    about, tags = tagged(("project",))
    where, values = _within(sources)
    rows = db.execute(
        f"SELECT document.id FROM document WHERE {_holds(unreviewed)} AND document.project IS NULL"
        f" AND NOT {about}"
        f" AND {lasting}{where} ORDER BY {_SUREST_FIRST} LIMIT ?",
        (now, now, now, *tags, *lasting_values, *values, limit),
    )
    return [document_id for (document_id,) in rows]


def unreviewed_elsewhere(db: Statements, project: Project | None) -> list[int]:
    """Return inbox memories of other projects than `project`; without it, of any project."""
    own, tags = tagged(project.tags if project else ("project",))
    named, names = of_project(project.names) if project else ("project IS NOT NULL", ())
    rows = db.execute(
        f"SELECT id FROM document WHERE unreviewed > 0 AND (coalesce({named}, false) OR {own}) = ?",
        (*names, *tags, project is None),
    )
    return [document_id for (document_id,) in rows]


def count_unreviewed(db: Statements, now: float, sources: Sequence[str] = ()) -> int:
    """Count the memories in the inbox, except expired, archived and superseded ones."""
    where, values = _within(sources)
    over = "expires <= ?1 OR archived <= ?1 OR superseded_by IS NOT NULL"
    sql = f"SELECT count(*) FROM document WHERE unreviewed > 0 AND ({over}) IS NOT TRUE{where}"
    return int(db.value(sql, (now, *values)))


def sessions_of(db: Statements, project: Project, sources: Sequence[str], limit: int) -> list[int]:
    """Return the sessions of a project, newest first, without sub-agent sessions."""
    named, names = held_in(project.folders) if project.folders else of_project(project.names)
    where, values = _within(sources)
    rows = db.execute(
        f"SELECT document.id FROM document WHERE document.kind = 'session' AND ({named})"
        f" AND json_extract(document.frontmatter, '$.parent') IS NULL{where}"
        " ORDER BY document.updated DESC, document.source, document.path LIMIT ?",
        (*names, *values, limit),
    )
    return [document_id for (document_id,) in rows]


def session_folders(db: Statements) -> list[str]:
    """Return the folders in which sessions ran."""
    sql = "SELECT DISTINCT json_extract(frontmatter, '$.directory') FROM document"
    return [str(one) for (one,) in db.execute(f"{sql} WHERE kind = 'session'") if one]


def sessions_written_in(
    db: Statements, folders: Sequence[str], since: float
) -> list[StoredDocument]:
    """Return the sessions that ran in these folders and were written to since a time (seconds)."""
    inside, places = held_in(folders)
    since_ns = int(since * 1e9)
    return _documents(
        db, f"kind = 'session' AND mtime_ns >= ? AND ({inside or 'false'})", (since_ns, *places)
    )


def session_tree(db: Statements, sessions: Collection[str]) -> set[int]:
    """Return the row ids of these sessions, and of all their parents and sub-agent sessions.

    If a session is a fork, its original is included with its own tree.
    """
    tree: set[int] = set()
    asked: set[str] = set()
    names = {session.casefold() for session in sessions}
    while new := names - asked:
        asked |= new
        listed, values = marks(new), [*new] * 3
        for found in _documents(
            db,
            f"kind = 'session' AND (name IN ({listed})"  # a mirrored session has its id as an alias
            f" OR id IN (SELECT document_id FROM alias WHERE folded IN ({listed})"
            f" UNION ALL SELECT document_id FROM link WHERE target_name IN ({listed})))",
            values,
        ):
            front = found.frontmatter
            own = {str(front.get("session")).casefold(), PurePosixPath(found.path).stem.casefold()}
            parent, origin = (
                str(front.get(key) or "").strip("[]").casefold()
                for key in ("parent", "forked_from")
            )
            if asked & {*own, parent}:
                tree.add(found.id)
                names |= {*own, *filter(None, (parent, origin))}
    return tree


def held_in(folders: Sequence[str]) -> tuple[str, list[object]]:
    """Return the condition that a session ran in or below one of the folders, with its values.

    Without folders, the condition is empty.
    """
    held_in = "json_extract(document.frontmatter, '$.directory')"
    inside = " OR ".join([f"({held_in} = ? OR substr({held_in}, 1, ?) = ?)"] * len(folders))
    return inside, [
        item for folder in folders for item in (folder, len(folder) + 1, f"{folder.rstrip('/')}/")
    ]


def _holds(unreviewed: bool) -> str:
    """Return the condition for current memories, in the inbox or elsewhere.

    `unreviewed > 0` uses a partial index.
    """
    return (
        f"{_HOLDS} AND document.unreviewed"
        f" {'> 0 AND document.unreviewed = 1' if unreviewed else '= 0'}"
    )


def _lasting() -> tuple[str, tuple[object, ...]]:
    about, tags = tagged(_LASTING_TAGS)
    return f"(coalesce(lower(document.type), '') IN ({marks(_LASTING)}) OR {about})", (
        *_LASTING,
        *tags,
    )


def _within(sources: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    listed = ", ".join(["lower(?)"] * len(sources))
    return (f" AND lower(document.source) IN ({listed})" if sources else "", tuple(sources))


def tag_counts(db: Statements, filters: Filters) -> list[tuple[str, int]]:
    """Return the tags with their number of documents, most frequent first."""
    condition, values = document_condition(filters)
    ids = f"SELECT document.id FROM document WHERE {condition or 'true'}"
    return db.execute(
        f"SELECT tag, count(*) AS n FROM tag WHERE document_id IN ({ids})"
        " GROUP BY tag ORDER BY n DESC, tag",
        values,
    )


def value_counts(
    db: Statements, column: str, filters: Filters | None = None
) -> list[tuple[str, int]]:
    """Return the values of a column of `document` with their counts, most frequent first."""
    condition, values = document_condition(filters or Filters())
    return db.execute(
        f"SELECT {column}, count(*) AS n FROM document WHERE {column} IS NOT NULL"
        f" AND {condition or 'true'}"
        f" GROUP BY {column} ORDER BY n DESC, {column}",
        values,
    )


def folder_counts(db: Statements) -> list[tuple[str, str, int]]:
    """Return source and path of each folder with its own number of notes and memories."""
    return db.execute(
        "SELECT source, rtrim(path, replace(path, '/', '')) AS folder, count(*) FROM document"
        " WHERE kind <> 'session' GROUP BY source, folder ORDER BY source, folder"
    )


def source_counts(db: Statements) -> dict[str, tuple[int, int]]:
    """Return the number of documents and chunks by source."""
    rows = db.execute(
        "SELECT document.source, count(DISTINCT document.id), count(chunk.id) FROM document"
        " LEFT JOIN chunk ON chunk.document_id = document.id GROUP BY document.source"
    )
    return {source: (documents, chunks) for source, documents, chunks in rows}


def stamps(db: Statements, source: str) -> dict[str, FileStamp]:
    """Return the stamps of the documents of a source by path, except those to be read again."""
    rows = db.execute(
        "SELECT path, size, mtime_ns, ctime_ns, inode FROM document WHERE source = ?"
        " AND made_with <> ''",
        (source,),
    )
    return {path: FileStamp(*stamp) for path, *stamp in rows}


def faults(db: Statements) -> list[tuple[str, Fault]]:
    """Return source and fault of every file with a problem, by source and path."""
    rows = db.execute(
        "SELECT source, code, message, path, line FROM fault ORDER BY source, path, line"
    )
    return [(source, Fault(*fault)) for source, *fault in rows]


def faults_of(db: Statements, source: str, path: str) -> list[Fault]:
    """Return the faults of one file."""
    return [fault for name, fault in faults(db) if (name, fault.path) == (source, path)]


def fingerprint(db: Statements) -> tuple[dict[str, int], int]:
    """Return the number of documents of each kind, and a hash of all documents.

    The hash is comparable within this process only.
    """
    rows = db.execute("SELECT kind, source, path, uid, substr(content_hash, 1, 8) FROM document")
    return dict(Counter(kind for kind, *_ in rows)), hash(frozenset(rows))


def names_of(db: Statements, document_ids: Collection[int]) -> dict[int, list[str]]:
    """Return the names that find each document: file name, title, aliases and link texts.

    Generated file names and titles are left out.
    """
    ids = any_of(document_ids)
    links = "JOIN link ON text <> '' AND target_name ="
    rows = db.execute(
        f"SELECT id, name FROM document WHERE name_given AND id {ANY_OF}"
        f" UNION SELECT id, title FROM document WHERE title_given AND id {ANY_OF}"
        f" UNION SELECT document_id, alias FROM alias WHERE document_id {ANY_OF}"
        f" UNION SELECT document.id, text FROM document {links} name WHERE document.id {ANY_OF}"
        f" UNION SELECT alias.document_id, text FROM alias {links} folded"
        f" WHERE alias.document_id {ANY_OF}",
        [ids] * 5,
    )
    return texts_by_document(rows)


def texts_by_document(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """Return the unique texts of each document, in order."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for document_id, text in pairs:
        found[document_id][text] = None
    return {document_id: list(texts) for document_id, texts in found.items()}
