"""What the index and the writers of memories agree on: id, project, text and end of a document."""

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
"""The folders of the memories that nobody has looked at yet; what is in the second is not even found."""
_IN_TAGS = "project/"
_NAMESPACE = uuid.UUID("6f0d0f6e-2d0c-5f43-9c7e-0b8a5e7a3c11")


def memory_identity(text: str, frontmatter: Mapping[str, Any], title: str) -> bytes:
    """Equal for memories that say the same, whatever their tags, dates and paths; `title` is the one in the text."""
    lines = split_lines(text)
    head = fenced_lines(lines) if frontmatter else read_frontmatter(lines).lines  # half a millisecond is in reading it
    body = "\n".join(lines[head:])
    return identity(title, plain_text(frontmatter.get("subtitle")) or "", string_list(frontmatter.get("facts")), body)


def unreviewed_in(path: str, memory_dir: str) -> int:
    """1 for the path of a memory in the inbox, 2 for one that waits there, 0 for any other."""
    return sum(path.startswith(f"{memory_dir}/{folder}/") for folder in (INBOX, WAITING))


def said_in(front: Mapping[str, Any], tags: Iterable[str] = ()) -> Origin:
    """The projects, the folders and the session that a frontmatter, fields in the text and normal tags name."""
    said = _texts_by_key(front)
    listed, tagged = said.get("project", []), [*said.get("tags", ()), *said.get("tag", ())]
    split = (part for one in tagged for spaces in (False, True) for part in string_list(one, split_spaces=spaces))
    named = projects_in((*tags, *map(normalize_tag, split)))
    projects = [*listed, *(part for one in listed for part in string_list(one)), *named]
    return Origin(tuple(projects), tuple(said.get("directory", ())), next(iter(said.get("session", ())), ""))


def project_in(front: Mapping[str, Any]) -> str | None:
    """The project of a frontmatter, several with a comma between them; `project_forms` takes them apart."""
    return ", ".join(_texts_by_key(front).get("project", ())) or None


def _texts_by_key(front: Mapping[str, Any]) -> dict[str, list[str]]:
    said: dict[str, list[str]] = {}
    for key, value in front.items():
        said.setdefault(key.strip().rstrip(":").casefold(), []).extend(scalars(value))
    return said


def projects_in(tags: Iterable[str]) -> list[str]:
    """The projects that normal tags name: of `project/a/b` both `a/b` and `a`."""
    named = [tag.partition(_IN_TAGS)[2].split("/") for tag in tags if tag.startswith(_IN_TAGS)]
    return ["/".join(parts[:length]) for parts in named for length in range(len(parts), 0, -1)]


def last_moment(value: Any) -> float | None:
    """When something ends that lasts until a time, or through a day."""
    found = _written(value, first=False)
    return None if found is None else seconds_of(found if isinstance(found, datetime) else _at(found, time(23, 59, 59)))


def document_uid(own: Any, source: str, path: str) -> str:
    """The id a memory says it has, where that is one; else one made from source and path."""
    return as_uuid(own) or str(uuid.uuid5(_NAMESPACE, f"{source}\0{path}"))


def as_uuid(value: object) -> str | None:
    """The UUID that a text is, in its usual spelling; None for any other value."""
    if isinstance(value, str):
        with suppress(ValueError):
            return str(uuid.UUID(value.strip()))
    return None


def first_time(*values: Any) -> float | None:
    """The first value that is a date, in seconds since the epoch; local time unless it names a zone."""
    for value in values:
        if (found := _written(value, first=True)) is not None:
            return seconds_of(found if isinstance(found, datetime) else _at(found, time()))
    return None


def _written(value: Any, *, first: bool) -> date | None:
    match value:
        case [[link]]:  # an unquoted `[[2027-02-01]]`
            text = plain_text(link) or ""
        case _:
            text = plain_text(value) or ""
    try:
        return datetime.fromisoformat(text) if len(text) > len("2027-02-01") else date.fromisoformat(text)
    except ValueError:
        from vault_index.dates import written_date  # its patterns take 2 ms, and most dates are ISO

        return written_date(text, first=first) if text else None


def _at(day: date, moment: time) -> datetime:
    return datetime.combine(day, moment)
