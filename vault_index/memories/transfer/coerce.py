"""Values as other programs write them: times, lists, levels of confidence."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import string_list
from vault_index.markdown.normalize import normalize_tag
from vault_index.memories.file.fields import CONFIDENCES, TYPES
from vault_index.memories.file.frontmatter_edit import KEYS
from vault_index.surrogates import mended

_NOTHING = frozenset({"", "null", "none", "n/a", "-", "undefined"})
_MILLISECONDS_FROM = 1e11  # as seconds this is the year 5138
_MICROSECONDS_FROM = 1e14
_HIGH, _MEDIUM = 0.75, 0.4


def is_nothing(value: object) -> bool:
    """Whether a value says nothing: empty, or a word for that."""
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, list | tuple | dict) and not value)


def time_of(value: object, name: str) -> str | None:
    """A time as ISO 8601: given so, or in seconds, milliseconds or microseconds since the epoch.

    A day stays a day. `2026-01-09 04:37:20` is how SQLite writes UTC; any other time without a zone is local and
    stays without. Raises UsageError for what is no time.
    """
    if is_nothing(value):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _no_time(name, value)
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        return _iso(text, name)
    try:
        return datetime.fromtimestamp(_seconds(number), UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError) as error:
        raise _no_time(name, value) from error


def _seconds(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError(number)
    size = abs(number)
    return number / (1e6 if size >= _MICROSECONDS_FROM else 1e3 if size >= _MILLISECONDS_FROM else 1)


def _iso(text: str, name: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _no_time(name, text) from error
    if len(text) <= len("2026-01-09"):
        return moment.date().isoformat()
    if moment.tzinfo is None and " " in text and not moment.microsecond:
        moment = moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="seconds")


def _no_time(name: str, value: object) -> UsageError:
    return UsageError(f"{name} is no time: {value!r}", "write it as 2026-11-21T10:00:00Z, or in seconds since 1970")


def strings(value: object) -> list[str]:
    """A list of texts: as a list, a list in JSON, or between commas; marks of code around each are dropped."""
    if is_nothing(value):
        return []
    listed: Any = value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            listed = mended(json.loads(value))
        except ValueError:
            listed = value.strip().strip("[]")
    found = list(map(str, listed)) if isinstance(listed, Mapping) else string_list(listed)
    return [text for item in found if not is_nothing(text := item.strip().strip("`\"'").strip())]


def sentences(value: object) -> list[str]:
    """As `strings`, for texts that may hold commas: one text alone is one."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [] if is_nothing(value) else [value.strip()]
    return strings(value)


def tags_of(value: object) -> list[str]:
    return list(dict.fromkeys(tag for text in strings(value) if (tag := normalize_tag(text))))


def text_of(value: object) -> str:
    """A short text; empty for what says nothing or is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or is_nothing(value):
        return ""
    return str(value).strip()


def type_of(value: object) -> dict[str, Any]:
    """The type, as keys of the frontmatter: one we do not have is a note, and remembered."""
    text = text_of(value).lower()
    if not text or text in TYPES:
        return {"type": text or "note"}
    return {"type": "note", "imported_type": text_of(value)}


def confidence_of(value: object) -> dict[str, Any]:
    """The confidence, as keys of the frontmatter; numbers are from 0 to 1."""
    text = text_of(value).lower()
    if not text:
        return {}
    if text in CONFIDENCES:
        return {"confidence": text}
    try:
        number = float(text)
    except ValueError:
        return {"imported_confidence": text_of(value)}
    level = "high" if number >= _HIGH else "medium" if number >= _MEDIUM else "low"
    return {"confidence": level, "imported_confidence": number}


def in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """What says something, ours first."""
    told = {key: value for key, value in values.items() if not is_nothing(value)}
    return {key: told[key] for key in KEYS if key in told} | told
