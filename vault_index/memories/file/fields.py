"""Validate the fields of a memory and convert them to frontmatter values."""

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any

from vault_index.dates import read_date
from vault_index.errors import UsageError
from vault_index.fields import (
    CONFIDENCES as CONFIDENCES,
    FIELDS,
    TYPES as TYPES,
    Field,
)
from vault_index.markdown.frontmatter import last_moment, string_list
from vault_index.markdown.normalize import normalize_tag, split_lines

_OTHER_NAMES = {"by": "entered_by", "bead": "bead_id"}
_BULLET = re.compile(r"^\s*[-*+]\s+")


def read_fields(given: Mapping[str, Any], *, now: datetime) -> dict[str, Any]:
    """Validate and normalize the fields that a caller gave.

    A field that is None was not given; an empty string or list removes the key. Dates become ISO
    8601 (`2027-02-01`, or with a time if one was given). Tags get the form that search uses
    (`project/x`, without `#`). A list may be one string: `facts` are separated by lines, other
    lists by commas. References in `supersedes` are not resolved, because that needs the index.
    Raises UsageError for unknown fields and invalid values.
    """
    read: dict[str, Any] = {}
    for option, value in given.items():
        name = _OTHER_NAMES.get(option, option)
        if name not in FIELDS:
            raise UsageError(f"unknown field {option!r}", f"the fields are: {', '.join(FIELDS)}")
        if value is not None:
            read[name] = _read(FIELDS[name], value, now)
    expires = read.get("expires")
    if expires and (last_moment(expires) or 0.0) < now.timestamp():
        raise UsageError(
            f"expires: {expires} is in the past",
            "give a future date, or leave it out: most memories never expire",
        )
    return read


def given_fields(front: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields in a frontmatter, as input for `read_fields`.

    A space separates two tags, as in notes.
    """
    fields = {name: front[name] for name in FIELDS if name in front}
    tags = front.get("tags", front.get("tag"))
    return fields if tags is None else {**fields, "tags": string_list(tags, split_spaces=True)}


def changes_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the frontmatter keys to set; None removes a key."""
    return {
        name: (list(value) if isinstance(value, tuple) else value) or None
        for name, value in fields.items()
    }


def _read(field: Field, value: Any, now: datetime) -> Any:
    name = field.name
    match field.kind:
        case "text":
            return _line(name, value)
        case "date":
            text = value.isoformat() if isinstance(value, date) else _line(name, value)
            return read_date(text, now, option=name) if text else ""
        case "choice":
            return _choice(field, value)
        case "tags":
            # Tags contain no comma: a comma in an item separates two tags.
            parts = [part for item in _items(name, value) for part in item.split(",")]
            return tuple(dict.fromkeys(tag for part in parts if (tag := normalize_tag(part))))
        case "lines" if isinstance(value, str):
            value = [_BULLET.sub("", line) for line in split_lines(value)]
    return tuple(dict.fromkeys(_items(name, value)))


def _line(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{name} must be text, not {value!r}", "give one line of text")
    return " ".join(str(value).split())


def _items(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return [text for part in value.split(",") if (text := part.strip())]
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise UsageError(
            f"{name} must be a list, not {value!r}", "give a list, or a text with commas"
        )
    return [text for item in value if (text := _line(name, item))]


def _choice(field: Field, value: Any) -> str:
    text = _line(field.name, value).lower()
    if text and text not in field.choices:
        raise UsageError(
            f"{text!r} is not a valid {field.name}", f"choose one of: {', '.join(field.choices)}"
        )
    return text
