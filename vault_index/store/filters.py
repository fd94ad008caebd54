"""Build SQL conditions from filters, and put equal scores in a fixed order."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from vault_index.fields import FILTERS, Filters, State
from vault_index.markdown.normalize import project_form
from vault_index.store.connection import ANY_OF, Statements, any_of
from vault_index.unicode import same_form

_Condition = tuple[str, Sequence[object]]
_T = TypeVar("_T")

_GLOB_MARKS = frozenset("*?[")
_FILE_NAME = (
    "substr(document.path, length(rtrim(document.path, replace(document.path, '/', ''))) + 1)"
)
_MODEL = "json_extract(document.frontmatter, '$.model')"
_NOW = "coalesce(?, unixepoch('subsec'))"
_STATES: dict[State, str] = {
    "expired": f"document.expires <= {_NOW}",
    "outdated": f"document.valid_until <= {_NOW}",
    "superseded": "document.superseded_by IS NOT NULL",
    "archived": f"document.archived <= {_NOW}",
    "unreviewed": "document.unreviewed > 0",
}
# A frontmatter value, or any element of a list; `[[Jane Doe]]` equals Jane Doe.
_HAS_VALUE = """
EXISTS (
    SELECT 1 FROM json_each(document.frontmatter) AS property, json_tree(
        CASE
            WHEN property.type IN ('array', 'object') THEN property.value
            WHEN property.type IN ('true', 'false') THEN json_array(property.type)
            ELSE json_array(property.value)
        END
    ) AS item
    WHERE {key} AND item.atom IS NOT NULL AND {value}
)"""
Candidates = list[tuple[int, float]]
"""Pairs of id and score, best first."""

_MORE = 8


def document_condition(filters: Filters) -> tuple[str, list[object]]:
    """Return a condition on the columns of `document`, with its values; empty without filters."""
    conditions = list(_conditions(filters))
    return " AND ".join(sql for sql, _ in conditions), [
        value for _, values in conditions for value in values
    ]


def _conditions(filters: Filters) -> Iterator[_Condition]:
    for tag in filters.tags:
        yield tagged((tag,))
    if filters.any_tags:
        yield tagged(filters.any_tags)
    for declared in FILTERS.values():
        wanted = getattr(filters, declared.field)
        if wanted and declared.name == "project":
            yield of_project(wanted)
        elif wanted and declared.column:
            yield _is_one(f"document.{declared.column}", wanted)
        elif wanted and declared.frontmatter:
            yield _has_value(declared.frontmatter, wanted)
    yield from _any(_path, filters.paths)
    yield from _any(lambda title: _contains("document.title", title), filters.titles)
    yield from _any(lambda name: _contains(_FILE_NAME, name), filters.files)
    yield from _any(lambda model: _contains(_MODEL, model), filters.models)
    yield from _any(_session, filters.sessions)
    yield from _any(
        lambda state: (_STATES[state], [filters.now] * _STATES[state].count("?")), filters.states
    )
    yield from _properties(filters)
    if filters.after is not None:
        yield "document.created >= ?", [filters.after]
    if filters.before is not None:
        yield "document.created < ?", [filters.before]
    for unwanted in filters.without:
        condition, values = document_condition(unwanted)
        yield f"({condition}) IS NOT TRUE", values  # NULL is not excluded


def _any(condition: Callable[[_T], _Condition], wanted: Iterable[_T]) -> Iterator[_Condition]:
    """Yield the conditions of all wanted values joined by OR; nothing without values."""
    conditions = [condition(value) for value in wanted]
    if conditions:
        yield (
            f"({' OR '.join(sql for sql, _ in conditions)})",
            [value for _, values in conditions for value in values],
        )


def of_project(names: Sequence[str]) -> _Condition:
    """Return the condition that the frontmatter names one of these projects, in any spelling."""
    forms, project = [project_form(name) for name in names], "document.project"
    # Most names need only lower case, which SQLite compares twenty times as fast.
    spelled = f"(glob('*[^A-Za-z0-9.-]*', {project}) AND names_project({project}, {marks(forms)}))"
    return f"(lower({project}) IN ({marks(forms)}) OR {spelled})", [*forms, *forms]


def tagged(tags: Sequence[str]) -> _Condition:
    """Return the condition that a document has one of these tags."""
    # A parent matches its children. `0` follows `/` in ASCII, so one range has all tags below it.
    any_of = " OR ".join(["tag.tag = ? OR (tag.tag >= ? AND tag.tag < ?)"] * len(tags)) or "false"
    values = [value for tag in tags for value in (tag, f"{tag}/", f"{tag}0")]
    return f"document.id IN (SELECT tag.document_id FROM tag WHERE {any_of})", values


def _path(path: str) -> _Condition:
    path = path.removeprefix("./").rstrip("/") or "*"
    glob, path, column = _GLOB_MARKS.intersection(path), same_form(path), _folded("document.path")
    if glob:
        return f"glob(?, {column})", [path]
    end = len(path) + 1
    rest = f"(substr({column}, ?) IN ('', '.md') OR substr({column}, ?, 1) = '/')"
    return f"(substr({column}, 1, ?) = ? AND {rest})", [len(path), path, end, end]


def _contains(column: str, wanted: str) -> _Condition:
    """Return the condition that `column` contains the text, or matches it as a glob."""
    glob, wanted, column = "*" in wanted or "?" in wanted, same_form(wanted), _folded(column)
    return (
        (f"glob(?, {column})", [wanted.replace("[", "[[]")])
        if glob
        else (f"instr({column}, ?) > 0", [wanted])
    )


def _session(prefix: str) -> _Condition:
    own = "(document.kind = 'session' AND lower(substr(document.uid, 1, ?)) = lower(?))"
    named = [
        f"lower(substr(json_extract(document.frontmatter, '$.{key}'), 1, ?)) = lower(?)"
        for key in ("session_id", "session")
    ]
    return f"({' OR '.join((own, *named))})", [len(prefix), prefix] * 3


def _properties(filters: Filters) -> Iterator[_Condition]:
    """Yield one condition per key, which holds for any of its wanted values."""
    by_key = sorted(filters.properties, key=lambda wanted: same_form(wanted[0]))
    for _, group in groupby(by_key, key=lambda wanted: same_form(wanted[0])):
        yield from _any(_property, group)


def _property(wanted: tuple[str, str | None]) -> _Condition:
    key, value = wanted
    if value is not None:
        return _has_value((key,), (value,))
    has_key, folded = _is_one("property.key", _with_inline([key]))
    return (
        f"EXISTS (SELECT 1 FROM json_each(document.frontmatter) AS property WHERE {has_key})",
        folded,
    )


def _has_value(keys: Sequence[str], values: Sequence[str]) -> _Condition:
    is_key, folded = _is_one("property.key", _with_inline(keys))
    is_value, wanted = _is_one("trim(item.atom, '[]')", [value.strip("[]") for value in values])
    return _HAS_VALUE.format(key=is_key, value=is_value), [*folded, *wanted]


def _with_inline(keys: Sequence[str]) -> list[str]:
    """Return the keys, and their form as inline fields (`key:: value`)."""
    return [spelled for key in keys for spelled in (key, f"{key}::")]


def _is_one(column: str, wanted: Sequence[str]) -> _Condition:
    return f"{_folded(column)} IN ({marks(wanted)})", [same_form(one) for one in wanted]


def _folded(column: str) -> str:
    """Return the SQL for `same_form` of a column; ASCII uses `lower`, ten times as fast."""
    return f"iif(octet_length({column}) > length({column}), fold({column}), lower({column}))"


def marks(values: Collection[object]) -> str:
    """Return one `?` for each value, separated by commas."""
    return ", ".join("?" * len(values))


def chunks_in_order(db: Statements, chunk_ids: Collection[int]) -> dict[int, int]:
    """Return the rank of each chunk by path, source and position."""
    sql = (
        "SELECT chunk.id FROM chunk JOIN document ON document.id = chunk.document_id"
        f" WHERE chunk.id {ANY_OF}"
    )
    rows = db.execute(
        f"{sql} ORDER BY document.path, document.source, chunk.ordinal", [any_of(chunk_ids)]
    )
    return {chunk_id: number for number, (chunk_id,) in enumerate(rows)}


def documents_in_order(db: Statements, document_ids: Collection[int]) -> dict[int, int]:
    """Return the rank of each document by path and source."""
    rows = db.execute(
        f"SELECT id FROM document WHERE id {ANY_OF} ORDER BY path, source", [any_of(document_ids)]
    )
    return {document_id: number for number, (document_id,) in enumerate(rows)}


def best(
    find: Callable[[int], Candidates],
    limit: int,
    in_order: Callable[[Collection[int]], dict[int, int]],
) -> Candidates:
    """Return the best `limit` candidates of `find`, which takes a limit.

    If the score at the limit is tied, fetch all candidates with that score and order them with
    `in_order`.
    """
    asked = limit + 1
    found = find(asked)
    while len(found) == asked and found[limit - 1][1] == found[-1][1]:
        asked *= _MORE
        found = find(asked)
    if len(found) > limit and found[limit - 1][1] == found[limit][1]:
        place = in_order([id_ for id_, score in found if score == found[limit][1]])
        found.sort(key=lambda one: (-one[1], place.get(one[0], 0)))
    return found[:limit]
