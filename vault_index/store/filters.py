"""Filters as SQL: a condition on `document`, with its values."""

from vault_index.models import Filters

_GLOB_MARKS = frozenset("*?[")


def document_condition(filters: Filters) -> tuple[str, list[object]]:
    """A condition over the columns of `document` that holds where the filters do; empty without filters."""
    conditions: list[str] = []
    values: list[object] = []
    for tag in filters.tags:
        conditions.append(_tag_condition(1))
        values += _tag_values(tag)
    if filters.any_tags:
        conditions.append(_tag_condition(len(filters.any_tags)))
        values += [value for tag in filters.any_tags for value in _tag_values(tag)]
    for column, wanted in (
        ("type", filters.types),
        ("kind", filters.kinds),
        ("source", filters.sources),
        ("project", filters.projects),
        ("entered_by", filters.authors),
    ):
        if wanted:
            conditions.append(f"document.{column} COLLATE NOCASE IN ({', '.join('?' * len(wanted))})")
            values += wanted
    if filters.paths:
        alternatives = [_path_condition(path) for path in filters.paths]
        conditions.append(f"({' OR '.join(sql for sql, _ in alternatives)})")
        values += [value for _, path_values in alternatives for value in path_values]
    if filters.after is not None:
        conditions.append("document.created >= ?")
        values.append(filters.after)
    if filters.before is not None:
        conditions.append("document.created < ?")
        values.append(filters.before)
    return " AND ".join(conditions), values


def _tag_condition(count: int) -> str:
    # A parent matches its children: `/` is followed by `0` in ASCII, so one range holds all that begins with `tag/`.
    any_of = " OR ".join(["tag.tag = ? OR (tag.tag >= ? AND tag.tag < ?)"] * count)
    return f"document.id IN (SELECT tag.document_id FROM tag WHERE {any_of})"


def _tag_values(tag: str) -> list[object]:
    return [tag, f"{tag}/", f"{tag}0"]


def _path_condition(path: str) -> tuple[str, list[object]]:
    path = path.removeprefix("./").rstrip("/") or "*"
    if _GLOB_MARKS.intersection(path):
        return "lower(document.path) GLOB lower(?)", [path]
    folder = f"{path}/"
    return (
        "(document.path COLLATE NOCASE IN (?, ?) OR substr(document.path, 1, ?) = ? COLLATE NOCASE)",
        [path, f"{path}.md", len(folder), folder],
    )
