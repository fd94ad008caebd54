"""Rules shared by the index and the memory writers: ids, projects, identity and dates."""

import uuid
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

from vault_index.fields import scalars
from vault_index.markdown.frontmatter import plain_text, read_frontmatter, string_list
from vault_index.markdown.normalize import fenced_lines, identity, normalize_tag, split_lines
from vault_index.models import Origin
from vault_index.times import seconds_of

INBOX, WAITING = "inbox", "inbox/waiting"
"""Folders of unreviewed memories; search does not find those in WAITING."""
_IN_TAGS = "project/"
_NAMESPACE = uuid.UUID("6f0d0f6e-2d0c-5f43-9c7e-0b8a5e7a3c11")


def memory_identity(text: str, frontmatter: Mapping[str, Any], title: str) -> bytes:
    """Return a hash that ignores tags, dates and paths, so that duplicates are equal.

    `title` is the title in the text.
    """
    lines = split_lines(text)
    # A known frontmatter saves a parse of 0.5 ms.
    head = fenced_lines(lines) if frontmatter else read_frontmatter(lines).lines
    body = "\n".join(lines[head:])
    return identity(
        title,
        plain_text(frontmatter.get("subtitle")) or "",
        string_list(frontmatter.get("facts")),
        body,
    )


def unreviewed_in(path: str, memory_dir: str) -> int:
    """Return 1 for a path in the inbox, 2 for one in its waiting folder, 0 for others."""
    return sum(path.startswith(f"{memory_dir}/{folder}/") for folder in (INBOX, WAITING))


def origin_in(front: Mapping[str, Any], tags: Iterable[str] = ()) -> Origin:
    """Return the projects, folders and session in frontmatter, text fields and normal tags."""
    texts = _texts_by_key(front)
    listed, tagged = texts.get("project", []), [*texts.get("tags", ()), *texts.get("tag", ())]
    split = (
        part
        for one in tagged
        for spaces in (False, True)
        for part in string_list(one, split_spaces=spaces)
    )
    named = projects_in((*tags, *map(normalize_tag, split)))
    projects = [*listed, *(part for one in listed for part in string_list(one)), *named]
    return Origin(
        tuple(projects), tuple(texts.get("directory", ())), next(iter(texts.get("session", ())), "")
    )


def project_in(front: Mapping[str, Any]) -> str | None:
    """Return the projects of a frontmatter, separated by commas (see `project_forms`), or None."""
    return ", ".join(_texts_by_key(front).get("project", ())) or None


def _texts_by_key(front: Mapping[str, Any]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = {}
    for key, value in front.items():
        texts.setdefault(key.strip().rstrip(":").casefold(), []).extend(scalars(value))
    return texts


def projects_in(tags: Iterable[str]) -> list[str]:
    """Return the projects in normal tags; `project/a/b` gives both `a/b` and `a`."""
    named = [tag.partition(_IN_TAGS)[2].split("/") for tag in tags if tag.startswith(_IN_TAGS)]
    return ["/".join(parts[:length]) for parts in named for length in range(len(parts), 0, -1)]


def last_moment(value: Any) -> float | None:
    """Parse an end time to seconds since the epoch; a date means the end of that day."""
    found = _parse_date(value, first=False)
    return (
        None
        if found is None
        else seconds_of(found if isinstance(found, datetime) else _at(found, time(23, 59, 59)))
    )


def document_uid(own: Any, source: str, path: str) -> str:
    """Return the memory's own id if it is a UUID, else one derived from source and path."""
    return as_uuid(own) or str(uuid.uuid5(_NAMESPACE, f"{source}\0{path}"))


def as_uuid(value: object) -> str | None:
    """Return a UUID in canonical form; None for other values."""
    if isinstance(value, str):
        with suppress(ValueError):
            return str(uuid.UUID(value.strip()))
    return None


def first_time(*values: Any) -> float | None:
    """Return the first valid date, in seconds since the epoch; local time if it has no zone."""
    for value in values:
        if (found := _parse_date(value, first=True)) is not None:
            return seconds_of(found if isinstance(found, datetime) else _at(found, time()))
    return None


def _parse_date(value: Any, *, first: bool) -> date | None:
    match value:
        case [[link]]:  # an unquoted `[[2027-02-01]]`
            text = plain_text(link) or ""
        case _:
            text = plain_text(value) or ""
    try:
        return (
            datetime.fromisoformat(text)
            if len(text) > len("2027-02-01")
            else date.fromisoformat(text)
        )
    except ValueError:
        from vault_index.dates import written_date  # its patterns take 2 ms; most dates are ISO

        return written_date(text, first=first) if text else None


def _at(day: date, moment: time) -> datetime:
    return datetime.combine(day, moment)
