"""The filters of a question one by one, each with how it is written in a query: to say which of them holds."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import groupby

from vault_index.models import Filters

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
        yield " OR ".join(map(_property, wanted)), Filters(properties=wanted)
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


def _property(wanted: tuple[str, str | None]) -> str:
    key, value = wanted
    return f"[{key}]" if value is None else f"[{key}:{value}]"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).isoformat(timespec="minutes").removesuffix("T00:00")
