"""The filters by name, and how their values are read: the same in a query (`tag:x`) and as options (`--tags x`)."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from vault_index.errors import UsageError
from vault_index.models import Filters

_KINDS = ("note", "memory", "session")
_CONFIDENCES = ("high", "medium", "low")
_STATES = ("expired", "superseded", "outdated")


def add_filter(filters: Filters, key: str, value: str) -> Filters:
    """`filters` with one `key:value` more; a key beside those of the query language is `anytag`, or `property` with
    `name` or `name:value`. Raises UsageError for a value that cannot be read."""
    name, convert = _KEYS[key]
    old, new = getattr(filters, name), convert(value)
    changes: dict[str, Any] = {name: (*old, new) if isinstance(old, tuple) else new}
    return replace(filters, **changes)


def parse_time(text: str, *, now: datetime | None = None) -> float:
    """Seconds since the epoch of an ISO date or time, `2026`, `2026-11`, `today` or `yesterday`; local time unless it
    names a zone. Raises UsageError."""
    word = text.strip().lower()
    midnight = (now or datetime.now()).replace(hour=0, minute=0, second=0, microsecond=0)
    if word in ("today", "yesterday"):
        return (midnight - timedelta(days=word == "yesterday")).timestamp()
    padded = (
        f"{word}-01-01" if re.fullmatch(r"\d{4}", word) else f"{word}-01" if re.fullmatch(r"\d{4}-\d\d", word) else word
    )
    try:
        return datetime.fromisoformat(padded.upper()).timestamp()
    except (ValueError, OverflowError) as error:
        raise UsageError(f"not a date: {text!r}", "write it like 2026-11-21, 2026-11 or 2026-11-21T14:30") from error


def parse_day(text: str) -> float:
    """The beginning of the day of a date or time, as `parse_time` reads it."""
    moment = datetime.fromtimestamp(parse_time(text))
    return moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def _kind(value: str) -> str:
    kind = value.lower()
    return _one_of("kind", value, {"memories": "memory"}.get(kind, kind.removesuffix("s")), _KINDS)


def _confidence(value: str) -> str:
    return _one_of("confidence", value, value.lower(), _CONFIDENCES)


def _state(value: str) -> str:
    return _one_of("state", value, value.lower(), _STATES)


def _one_of(what: str, value: str, meant: str, choices: tuple[str, ...]) -> str:
    if meant not in choices:
        raise UsageError(f"there is no {what} {value!r}", f"write one of {', '.join(choices)}")
    return meant


def _tag(value: str) -> str:
    from vault_index.markdown.normalize import normalize_tag

    tag = normalize_tag(value)
    if not tag:
        raise UsageError(f"not a tag: {value!r}", "write it like food or food/bread")
    return tag


def _property(value: str) -> tuple[str, str | None]:
    key, _, wanted = value.partition(":")
    if not key.strip():
        raise UsageError(f"not a property: {value!r}", "write it like status, or status:done")
    return key.strip(), wanted.strip() or None


_Reader = Callable[[str], str | float | tuple[str, str | None]]

_KEYS: dict[str, tuple[str, _Reader]] = {
    "tag": ("tags", _tag),
    "type": ("types", str.lower),
    "kind": ("kinds", _kind),
    "source": ("sources", str),
    "project": ("projects", str),
    "session": ("sessions", str),
    "path": ("paths", str),
    "title": ("titles", str),
    "file": ("files", str),
    "concept": ("concepts", str),
    "bead": ("beads", str),
    "confidence": ("confidences", _confidence),
    "by": ("authors", str),
    "after": ("after", parse_time),
    "before": ("before", parse_time),
    "is": ("states", _state),
    "anytag": ("any_tags", _tag),
    "property": ("properties", _property),
}

QUERY_KEYS = frozenset(_KEYS) - {"anytag", "property"}
"""What may stand before a colon in a query; alternatives and properties have a spelling of their own there."""

ALTERNATIVE_KEYS = frozenset(key for key, (name, _) in _KEYS.items() if name not in ("after", "before"))
"""What may be asked for with OR: `type:bugfix OR type:decision`."""


_ALTERNATIVES = {
    "types": "type",
    "kinds": "kind",
    "sources": "source",
    "projects": "project",
    "sessions": "session",
    "paths": "path",
    "titles": "title",
    "files": "file",
    "concepts": "concept",
    "beads": "bead",
    "confidences": "confidence",
    "authors": "by",
    "states": "is",
    "any_tags": "tag",
}


def single_filters(filters: Filters) -> Iterator[tuple[str, Filters]]:
    """Each condition by itself; alternatives are one condition."""
    for tag in filters.tags:
        yield _written("tag", tag), Filters(tags=(tag,))
    for name, key in _ALTERNATIVES.items():
        if values := getattr(filters, name):
            yield " OR ".join(_written(key, value) for value in values), _only(filters, name, values)
    by_key = sorted(filters.properties, key=lambda wanted: wanted[0].casefold())
    for _, group in groupby(by_key, key=lambda wanted: wanted[0].casefold()):
        wanted = tuple(group)
        yield " OR ".join(map(_written_property, wanted)), Filters(properties=wanted)
    for name, moment in (("after", filters.after), ("before", filters.before)):
        if moment is not None:
            yield f"{name}:{_moment(moment)}", _only(filters, name, moment)
    for unwanted in filters.without:
        parts = [written for written, _ in single_filters(unwanted)]
        yield f"-({' '.join(parts)})" if len(parts) > 1 else f"-{parts[0]}", Filters(without=(unwanted,))


def _only(filters: Filters, name: str, value: object) -> Filters:
    return replace(Filters(now=filters.now), **{name: value})  # type: ignore[arg-type]


def _written(key: str, value: str) -> str:
    return f'{key}:"{value}"' if any(character in ' ()"' for character in value) else f"{key}:{value}"


def _written_property(wanted: tuple[str, str | None]) -> str:
    key, value = wanted
    return f"[{key}]" if value is None else f"[{key}:{value}]"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(timespec="minutes").removesuffix("T00:00")
