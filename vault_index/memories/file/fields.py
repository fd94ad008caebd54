"""What is said of a memory beside its text, as it stands in the frontmatter."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import string_list
from vault_index.markdown.normalize import normalize_tag, split_lines
from vault_index.memories.dates import read_date

TYPES = ("note", "decision", "bugfix", "feature", "pattern", "discovery", "learning", "warning")
CONFIDENCES = ("high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """Checked and normalised. None is "not given"; in a change, an empty string or tuple takes the key away.

    Dates are ISO 8601 (`2027-02-01`), ids whole UUIDs, tags as they are searched (no `#`, `project/x`).
    """

    type: str | None = None
    title: str | None = None
    subtitle: str | None = None
    digest: str | None = None
    tags: tuple[str, ...] | None = None
    project: str | None = None
    entered_by: str | None = None
    expires: str | None = None
    valid_until: str | None = None
    confidence: str | None = None
    supersedes: tuple[str, ...] | None = None
    facts: tuple[str, ...] | None = None
    concepts: tuple[str, ...] | None = None
    files_read: tuple[str, ...] | None = None
    files_modified: tuple[str, ...] | None = None
    bead_id: str | None = None


_OTHER_NAMES = {"by": "entered_by", "bead": "bead_id"}
_NAMES = tuple(field.name for field in dataclasses.fields(Fields))
_TEXTS = ("title", "subtitle", "digest", "project", "entered_by", "bead_id")
_LISTS = ("supersedes", "concepts", "files_read", "files_modified")
_DATES = ("expires", "valid_until")
_BULLET = re.compile(r"^\s*[-*+]\s+")


def read_fields(given: Mapping[str, Any], *, today: date) -> Fields:
    """What a caller gave, by the names of the options in snake_case; UsageError for what cannot be.

    Lists may be strings with commas, but for facts, which hold commas: theirs has a line for each. What `supersedes`
    names is kept as given: only the index knows whose ids those are.
    """
    named = _by_field(given)
    read: dict[str, Any] = {}
    for name, value in named.items():
        if name in _TEXTS:
            read[name] = _line(name, value)
        elif name in _LISTS:
            read[name] = _each_once(_items(name, value))
        elif name in _DATES:
            read[name] = _date(name, value, today)
    if "type" in named:
        read["type"] = _choice("type", named["type"], TYPES)
    if "confidence" in named:
        read["confidence"] = _choice("confidence", named["confidence"], CONFIDENCES)
    if "tags" in named:
        read["tags"] = _tags(named["tags"])
    if "facts" in named:
        read["facts"] = _facts(named["facts"])
    if read.get("expires") and date.fromisoformat(read["expires"][:10]) < today:
        raise UsageError(
            f"expires: {read['expires']} is past.", "Give a day to come, or leave it out: most memories never expire."
        )
    return Fields(**read)


def said_in(front: Mapping[str, Any]) -> dict[str, Any]:
    """What a frontmatter says of them, as `read_fields` takes it. Tags are read as in any note: `a b` are two."""
    said = {name: front[name] for name in _NAMES if name in front}
    tags = front.get("tags", front.get("tag"))
    return said if tags is None else {**said, "tags": string_list(tags, split_spaces=True)}


def changes_of(fields: Fields) -> dict[str, Any]:
    """The keys of the frontmatter to be set, and with None those to be taken away."""
    given = ((name, getattr(fields, name)) for name in _NAMES)
    return {name: _plain(value) if value else None for name, value in given if value is not None}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _by_field(given: Mapping[str, Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for option, value in given.items():
        name = _OTHER_NAMES.get(option, option)
        if name not in _NAMES:
            raise UsageError(f"A memory has no field {option!r}.", f"There are: {', '.join(_NAMES)}.")
        if value is not None:
            named[name] = value
    return named


def _line(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{name} must be text, not {value!r}.", "Give one line of text.")
    return " ".join(str(value).split())


def _items(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := part.strip())]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise UsageError(f"{name} must be a list, not {value!r}.", "Give a list, or a text with commas.")
    return [text for item in value if (text := _line(name, item))]


def _each_once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def _tags(value: Any) -> tuple[str, ...]:
    # No tag holds a comma: one in a list is between two tags.
    parts = [part for item in _items("tags", value) for part in item.split(",")]
    return _each_once(tag for part in parts if (tag := normalize_tag(part)))


def _facts(value: Any) -> tuple[str, ...]:
    lines = [_BULLET.sub("", line) for line in split_lines(value)] if isinstance(value, str) else value
    return _each_once(_items("facts", lines))


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    text = _line(name, value).lower()
    if text and text not in choices:
        raise UsageError(f"{text!r} is no {name} of a memory.", f"Choose one of: {', '.join(choices)}.")
    return text


def _date(name: str, value: Any, today: date) -> str:
    text = value.isoformat() if isinstance(value, date) else _line(name, value)
    return read_date(text, today, option=name) if text else ""
