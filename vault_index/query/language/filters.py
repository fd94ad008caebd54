"""Parses and formats filter values, in a query (`tag:x`) and as options (`--tags x`)."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Any

from vault_index.errors import UsageError
from vault_index.fields import FILTERS, Filter, Filters
from vault_index.unicode import same_form

if TYPE_CHECKING:
    from vault_index.query.reader import Reader


def add_filter(filters: Filters, key: str, value: str) -> Filters:
    """Return `filters` with one more condition.

    `key` is a key of the query language or the name of a filter, such as `any_tag`. Raises
    UsageError for an invalid value.
    """
    declared = _DECLARED[key]
    old, new = getattr(filters, declared.field), _READ[declared.kind](declared, value)
    changes: dict[str, Any] = {declared.field: (*old, new) if isinstance(old, tuple) else new}
    return filters._replace(**changes)


def parse_time(text: str, *, now: datetime | None = None) -> float:
    """Return the seconds since the epoch of a date or time.

    Accepts ISO dates and times, `2026`, `2026-11`, and plain words (`last week`). The time is local
    unless it has a time zone. Raises UsageError.
    """
    try:
        return datetime.fromisoformat(text.strip().upper()).timestamp()
    except (ValueError, OverflowError):
        from vault_index.dates import read_start  # late: takes 2 ms, and most dates are ISO

    with suppress(ValueError, OverflowError):
        if found := read_start(text, now or datetime.now().astimezone()):
            return found.timestamp()
    hint = "write it like 2026-11-21, 2026-11, 2026-11-21T14:30, 3 days ago or last week"
    raise UsageError(f"not a date: {text!r}", hint)


def parse_day(text: str) -> float:
    """Return the start of the day of a date or time, as `parse_time` reads it."""
    moment = datetime.fromtimestamp(parse_time(text))
    return moment.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()


def _choice(declared: Filter, value: str) -> str:
    word = value.lower()
    meant = {"notes": "note", "memories": "memory", "sessions": "session"}.get(word, word)
    if meant not in declared.choices:
        raise UsageError(
            f"there is no {declared.name} {value!r}", f"use one of {', '.join(declared.choices)}"
        )
    return meant


def _tag(declared: Filter, value: str) -> str:
    from vault_index.markdown.normalize import normalize_tag

    tag = normalize_tag(value)
    if not tag:
        raise UsageError(f"not a tag: {value!r}", "write it like food or food/bread")
    return tag


def _property(declared: Filter, value: str) -> tuple[str, str | None]:
    key, _, wanted = value.partition(":")
    if not key.strip():
        raise UsageError(f"not a property: {value!r}", "write it like status, or status:done")
    return key.strip(), wanted.strip() or None


_READ: dict[str, Callable[[Filter, str], str | float | tuple[str, str | None]]] = {
    "choice": _choice,
    "tag": _tag,
    "lower": lambda _, value: value.lower(),
    "moment": lambda _, value: parse_time(value),
    "property": _property,
    "text": lambda _, value: value,
}


def _query_keys(declared: Filter) -> tuple[str, ...]:
    return (declared.key, *declared.other_names) if declared.key else ()


_BY_KEY = {key: declared for declared in FILTERS.values() for key in _query_keys(declared)}
_DECLARED = {**FILTERS, **_BY_KEY, "anytag": FILTERS["any_tag"]}

QUERY_KEYS = frozenset(_BY_KEY)
"""Filter keys of the query language. Alternative tags and properties have their own syntax."""

ALTERNATIVE_KEYS = frozenset(
    key for key, declared in _DECLARED.items() if declared.kind != "moment"
)
"""Keys of filters that OR may join: `type:bugfix OR type:decision`."""


def single_filters(filters: Filters) -> Iterator[tuple[str, Filters]]:
    """Yield each condition separately, in query syntax and as filters.

    Alternatives are one condition.
    """
    for tag in filters.tags:
        yield _written("tag", tag), Filters(tags=(tag,))
    for declared in FILTERS.values():
        value = getattr(filters, declared.field)
        if declared.name == "property":
            yield from _single_properties(value)
        elif declared.kind == "moment" and value is not None:
            day = datetime.fromtimestamp(value).isoformat(timespec="minutes").removesuffix("T00:00")
            yield f"{declared.name}:{day}", _only(filters, declared, value)
        elif value and declared.name != "tags":
            key = "tag" if declared.kind == "tag" else _query_keys(declared)[0]
            yield (
                " OR ".join(_written(key, wanted) for wanted in value),
                _only(filters, declared, value),
            )
    for unwanted in filters.without:
        parts = [written for written, _ in single_filters(unwanted)]
        yield (
            f"-({' '.join(parts)})" if len(parts) > 1 else f"-{parts[0]}",
            Filters(without=(unwanted,)),
        )


def _single_properties(
    properties: Iterable[tuple[str, str | None]],
) -> Iterator[tuple[str, Filters]]:
    by_key = sorted(properties, key=lambda wanted: same_form(wanted[0]))
    for _, group in groupby(by_key, key=lambda wanted: same_form(wanted[0])):
        wanted = tuple(group)
        yield " OR ".join(map(_written_property, wanted)), Filters(properties=wanted)


def _only(filters: Filters, declared: Filter, value: Any) -> Filters:
    return Filters(now=filters.now)._replace(**{declared.field: value})


def _written(key: str, value: str) -> str:
    return (
        f'{key}:"{value}"' if any(character in ' ()"' for character in value) else f"{key}:{value}"
    )


def _written_property(wanted: tuple[str, str | None]) -> str:
    key, value = wanted
    return f"[{key}]" if value is None else f"[{key}:{value}]"


def unmet_filters(reader: "Reader", filters: Filters) -> Iterator[str]:
    """Yield a hint for each filter that no document meets, with the nearest existing value."""
    unmet = [
        (written, one)
        for written, one in single_filters(filters)
        if not reader.newest_chunks(one, 1)
    ]
    for written, one in unmet:
        yield f"no document meets {written}{_nearest(reader, one)}"
    if not unmet and filters != Filters() and not reader.newest_chunks(filters, 1):
        yield "no document meets all filters"


def _nearest(reader: "Reader", filters: Filters) -> str:
    from difflib import get_close_matches  # late: most filters are met

    from vault_index.store.documents import tag_counts, value_counts

    for declared in FILTERS.values():
        wanted = getattr(filters, declared.field)
        if wanted and (declared.kind == "tag" or declared.column):
            found = (
                tag_counts(reader, Filters())
                if declared.kind == "tag"
                else value_counts(reader, declared.column)
            )
            counts = dict(found)
            for value in get_close_matches(wanted[0], counts, 1):
                return f"; {declared.key or 'tag'}:{value} has {counts[value]}"
    return ""
