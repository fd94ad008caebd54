"""Arguments as callers write them: one value, several, several in one string; numbers and words that are allowed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from vault_index.errors import UsageError

TYPE_CHECKING = False  # spares the import of the sources and of the search; type checkers know the name
if TYPE_CHECKING:
    from vault_index.config.schema import SearchConfig
    from vault_index.models import Filters
    from vault_index.query.search import SearchOptions
    from vault_index.sources.source import Source

Names = str | Sequence[str] | None
"""One value, several, or several in one string with commas."""


class FilterOptions(TypedDict, total=False):
    """Which documents an answer is about: the filters of the query language, as arguments.

    `tags` must all be there, of `any_tag` one; several values of anything else are alternatives. `property` is a
    frontmatter key, or `key:value`; `state` is what `is:` says.
    """

    tags: Names
    any_tag: Names
    type: Names
    kind: Names
    project: Names
    by: Names
    path: Names
    title: Names
    file: Names
    concept: Names
    bead: Names
    confidence: Names
    session: Names
    state: Names
    property: Names
    source: Names
    after: str | None
    before: str | None


class AskOptions(FilterOptions, total=False):
    """How a question is read and ranked, beside the filters; None is what the configuration says.

    `fuzzy` reads words that no text holds as words that are spelled almost so; `threshold` is how alike they must be,
    from 0.5 to 1. `as_of` asks as on that day: what was created later is left out, what was not over yet is not.
    """

    mode: Literal["hybrid", "text", "vector"]
    match: Literal["any", "all"] | None
    per_document: int | None
    fuzzy: bool | None
    threshold: float | None
    include_expired: bool
    include_superseded: bool
    as_of: str | None


class MemoryOptions(TypedDict, total=False):
    """What is said of a memory beside its text. None is "not given"; in an update, an empty text takes the field away.

    Dates are ISO or plain words (`in 3 months`). Lists may be strings with commas; `facts` is a list, or has a line
    for each. `supersedes` names the memories that this one replaces: ids, their beginnings, or paths.
    """

    type: str | None
    title: str | None
    subtitle: str | None
    digest: str | None
    tags: Names
    project: str | None
    by: str | None
    entered_by: str | None
    expires: str | None
    valid_until: str | None
    confidence: str | None
    facts: Names
    concepts: Names
    files_read: Names
    files_modified: Names
    bead: str | None
    bead_id: str | None
    supersedes: Names


ASKING = AskOptions.__annotations__.keys() - FilterOptions.__annotations__.keys()
"""Options of a question that are no filters."""

FILTER_KEYS = {"tags": "tag", "any_tag": "anytag", "state": "is"}
"""Filters that are called otherwise in a query."""

LISTS = frozenset({"tags", "any_tag", "type", "kind", "confidence", "state"})
"""Filters whose values never hold a comma, so that several may stand in one string. Paths and names may."""

_ALL = 1 << 53
_LONGEST_QUERY = 20_000


def whole(value: Names) -> tuple[str, ...]:
    """The values as they are: paths and names of people may hold a comma."""
    return tuple(item for item in ([value] if isinstance(value, str) else value or ()) if item)


def names(value: Names) -> tuple[str, ...]:
    """The values, those in one string apart."""
    values = [value] if isinstance(value, str) else list(value or ())
    return tuple(name for item in values for part in str(item).split(",") if (name := part.strip()))


def at_least(low: int, name: str, value: int | None, default: int) -> int:
    """A number from `low` on; one that no database counts up to means all there is."""
    number = default if value is None else min(value, _ALL)
    if number < low:
        raise UsageError(f"{name} must be at least {low}, not {number}", f"leave {name} out for the default")
    return number


def question(query: str) -> str:
    """The query, unless it is a document: every word of it would be looked for."""
    if len(query) > _LONGEST_QUERY:
        raise UsageError(
            f"the query has {len(query):,} characters, and at most {_LONGEST_QUERY:,} are looked for",
            "ask for its sentences, or for a few words",
        )
    return query


def between(low: float, high: float, name: str, value: float | None, default: float) -> float:
    number = default if value is None else value
    if not low <= number <= high:
        raise UsageError(
            f"{name} must be from {low:g} to {high:g}, not {number:g}", f"leave {name} out for the default"
        )
    return number


def one_of(name: str, value: str | None, default: str, choices: tuple[str, ...]) -> Any:
    chosen = default if value is None else value
    if chosen not in choices:
        raise UsageError(f"{name} cannot be {chosen!r}", f"it is one of {', '.join(choices)}")
    return chosen


def places_in(sources: Sequence[Source], paths: Sequence[str | Path]) -> dict[str, list[str]]:
    """Paths as places inside the sources they are in, by the names of these. Raises UsageError for one in none."""
    from vault_index.sources.names import readable_part  # most commands name no places

    places: dict[str, list[str]] = {}
    for path in paths:
        owners = [
            (source.config.name, relative)
            for source in sources
            if (relative := source.relative(os.path.abspath(path))) is not None
        ]
        if not owners:
            roots = ", ".join(str(source.config.path) for source in sources) or "none yet"
            raise UsageError(f"{path} is in no source", f"the sources are: {roots}")
        for name, relative in owners:
            places.setdefault(name, []).append(readable_part(relative))
    return places


def search_options(asked: AskOptions, settings: SearchConfig, filters: Filters) -> SearchOptions:
    """Raises UsageError for what is no such option, or out of range."""
    from vault_index.query.language.filters import parse_day
    from vault_index.query.search import SearchOptions

    day, fuzzy = asked.get("as_of"), asked.get("fuzzy")
    return SearchOptions(
        limit=settings.limit,
        mode=one_of("mode", asked.get("mode"), "hybrid", ("hybrid", "text", "vector")),
        match=one_of("match", asked.get("match"), settings.match, ("any", "all")),
        per_document=at_least(1, "per_document", asked.get("per_document"), settings.per_document),
        filters=filters,
        fuzzy=settings.fuzzy if fuzzy is None else fuzzy,
        threshold=between(0.5, 1.0, "threshold", asked.get("threshold"), settings.threshold),
        include_expired=asked.get("include_expired", False),
        include_superseded=asked.get("include_superseded", False),
        as_of=parse_day(day) if day else None,
    )
