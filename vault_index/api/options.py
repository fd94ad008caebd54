"""Checks and conversion of arguments: lists, numbers, choices, filters and origins."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.disk import real_path
from vault_index.errors import NotInSourceError, NotSetUpError, UsageError
from vault_index.fields import FILTERS, Declared, Filters
from vault_index.models import Origin

if TYPE_CHECKING:  # `list` must not import the search modules
    from vault_index.callers import Scope
    from vault_index.query.recall import RecallOptions
    from vault_index.query.search import SearchOptions
    from vault_index.runtime import Runtime
    from vault_index.store.documents import Project
    from vault_index.store.sessions import Wanted

Names = str | Sequence[str] | None
"""One value, several values, or several values in one string separated by commas."""

MAX_NUMBER = 1 << 53
"""The largest integer that all JSON parsers keep exact."""
_DAY = 24 * 60 * 60
_LONGEST_QUERY = 20_000


def whole(value: Names) -> tuple[str, ...]:
    """Return the values unsplit, because paths and names of people may contain a comma."""
    return tuple(item for item in ([value] if isinstance(value, str) else value or ()) if item)


def names(value: Names) -> tuple[str, ...]:
    """Return the values, splitting each string at its commas."""
    values = [value] if isinstance(value, str) else list(value or ())
    return tuple(name for item in values for part in str(item).split(",") if (name := part.strip()))


def at_least(low: int, name: str, value: int | None, default: int) -> int:
    """Return a number of at least `low`, capped at 2**53, which means no limit.

    Raises UsageError for a smaller number.
    """
    number = default if value is None else min(value, MAX_NUMBER)
    if number < low:
        raise UsageError(
            f"{name} must be at least {low}, not {number}", f"omit {name} to use the default"
        )
    return number


def between(low: float, high: float, name: str, value: float | None, default: float) -> float:
    """Return a number from `low` to `high`.

    Raises UsageError for a number out of range.
    """
    number = default if value is None else value
    if not low <= number <= high:
        raise UsageError(
            f"{name} must be from {low:g} to {high:g}, not {number:g}",
            f"omit {name} to use the default",
        )
    return number


def one_of(name: str, value: str | None, default: str, choices: tuple[str, ...]) -> Any:
    """Return one of `choices`.

    Raises UsageError for any other value.
    """
    chosen = default if value is None else value
    if chosen not in choices:
        raise UsageError(f"{name} cannot be {chosen!r}", f"use one of {', '.join(choices)}")
    return chosen


def question(query: str) -> str:
    """Return the query without private parts.

    Raises UsageError for a query as long as a document, because each of its words would be
    searched.
    """
    if len(query) > _LONGEST_QUERY:
        raise UsageError(
            f"the query has {len(query):,} characters; the limit is {_LONGEST_QUERY:,}",
            "search for single sentences or a few words",
        )
    return public(query)


def public(query: str) -> str:
    """Remove the text inside `<private>` tags from a query."""
    if "private" not in query.casefold():
        return query
    from vault_index.secrets.find import drop_private  # late: slow to import

    return drop_private(query)


def places_in(
    runtime: Runtime, paths: Sequence[str | Path] | None, source: Names
) -> dict[str, list[str]] | None:
    """Return the paths to sync by source name; None means everything.

    Without `paths`, these are the whole sources in `source`. Raises UsageError for a path outside
    all sources.
    """
    if paths is None:
        return {name: [""] for name in runtime.source_names(names(source))} or None
    # Imported here because most commands name no paths.
    from vault_index.sources.files import is_document_name, readable_part

    places: dict[str, list[str]] = {}
    for path in paths:
        given = _with_real_path(os.path.abspath(path))
        # No client's data has a name like a note's, so their folders are not searched for it.
        is_note = is_document_name(os.path.basename(path))
        sources = runtime.vaults.values() if is_note else runtime.sources
        inside = [(one.config.name, one.relative(place)) for one in sources for place in given]
        owners = [(name, relative) for name, relative in inside if relative is not None]
        if not owners:
            roots = ", ".join(str(one.config.path) for one in runtime.sources) or "none yet"
            raise NotInSourceError(f"{path} is not in a source", f"the sources are: {roots}")
        for name, relative in owners:
            places.setdefault(name, []).extend(dict.fromkeys((readable_part(relative), relative)))
    return places


def _with_real_path(path: str) -> Iterable[str]:
    """Return the path and its target, because editing a symbolic link changes the target."""
    try:
        return dict.fromkeys((path, real_path(path)))
    except ValueError:  # the path contains a NUL or a lone surrogate
        return (path,)


def filters_of(runtime: Runtime, *, source: Names, **given: Any) -> Filters:
    """Return the filters of a call."""
    from vault_index.query.language.filters import add_filter

    filters = Filters(sources=runtime.source_names(names(source)))
    for declared in FILTERS.values():
        for name in _names(declared):
            values = given.get(name)
            for value in names(values) if declared.splits else whole(values):
                filters = add_filter(filters, declared.name, value)
    return filters


def sessions_wanted(
    runtime: Runtime, *, project: Names, client: Names, since: str | None, until: str | None,
    before: str | None, source: Names, session: Names = None, subagents: bool = False,
) -> Wanted:  # fmt: skip
    """Convert the arguments of `sessions`; `until` includes its day.

    Raises UsageError.
    """
    from vault_index.query.language.filters import parse_day, parse_time
    from vault_index.query.projects import is_folder
    from vault_index.store.sessions import Wanted

    projects = whole(project)
    last = until or before
    end = parse_time(last) if last else None
    if until and end == parse_day(until):
        end += _DAY
    return Wanted(
        filters=Filters(
            sources=runtime.source_names(names(source)),
            projects=tuple(one for one in projects if not is_folder(one)),
            sessions=whole(session),
        ),
        clients=names(client),
        folders=tuple(
            folder
            for one in projects
            if is_folder(one)
            for folder in _project_in(runtime, one).folders
        ),
        since=parse_time(since) if since else None,
        until=end,
        subagents=subagents,
    )


def search_options(
    runtime: Runtime, *, limit: int | None, mode: str | None, match: str | None,
    per_document: int | None, as_of: str | None, fuzzy: bool | None, threshold: float | None,
    include_expired: bool, include_superseded: bool, directory: Names, exclude_session: Names,
    offset: int = 0, explain: bool = False, all: bool = False, **filters: Any,
) -> SearchOptions:  # fmt: skip
    """Combine the arguments of `search` and `why` with the configured defaults.

    Raises UsageError for a value out of range.
    """
    from vault_index.query.language.filters import parse_day
    from vault_index.query.search import SearchOptions

    settings, sessions = runtime.config.search, names(exclude_session)
    states = {"expired": include_expired, "superseded": include_superseded}
    return SearchOptions(
        limit=at_least(1, "limit", limit, settings.limit),
        offset=at_least(0, "offset", offset, 0),
        mode=one_of("mode", mode, "hybrid", ("hybrid", "text", "vector")),
        match=one_of("match", match, settings.match, ("any", "all")),
        per_document=at_least(1, "per_document", per_document, settings.per_document),
        filters=filters_of(runtime, **filters),
        fuzzy=settings.fuzzy if fuzzy is None else fuzzy,
        threshold=between(0.5, 1.0, "threshold", threshold, settings.threshold),
        shown=tuple(state for state, included in states.items() if included),
        as_of=parse_day(as_of) if as_of else None,
        explain=explain,
        all=all,
        origins=partial(query_origins, runtime.scope, directory, sessions),
        **_calling_sessions(sessions, directory),
    )


def recall_options(
    runtime: Runtime, *, query: str | None, project: str | None, budget: int | None,
    token: str | None, session: Names, source: Names, directory: Names,
) -> RecallOptions:  # fmt: skip
    """Combine the arguments of `recall` with the configured defaults.

    Raises UsageError if the token is not hexadecimal.
    """
    from secrets import token_hex

    from vault_index.markdown.recalled import is_token
    from vault_index.query.recall import RecallOptions

    sessions = names(session)
    if token is not None and not is_token(token):
        raise UsageError(f"invalid token: {token!r}", "give 4 to 64 hexadecimal digits (0-9, a-f)")
    return RecallOptions(
        query=public(query or ""),
        project=_project_in(runtime, project) if project else None,
        budget=at_least(1, "budget", budget, runtime.config.recall.budget),
        token=token or token_hex(8),
        sources=runtime.source_names(names(source)),
        now=time.time(),
        origins=partial(query_origins, runtime.scope, directory, sessions, project),
        **_calling_sessions(sessions, directory),
    )


def _project_in(runtime: Runtime, named: str) -> Project:
    """Return the project of a name, or of a folder and its clones in which sessions ran."""
    from vault_index.query.projects import is_folder, project_of
    from vault_index.store.documents import session_folders

    visited: list[str] = []
    if is_folder(named):
        with suppress(NotSetUpError), runtime.pool.lend() as connections:
            visited = session_folders(connections.reader)
    return project_of(named, visited)


def _calling_sessions(sessions: tuple[str, ...], directory: Names) -> dict[str, Any]:
    """Return the calling sessions, and with `current` the folders to look for them in."""
    from vault_index.query.search import CURRENT

    if CURRENT not in sessions:
        return {"asking": sessions}
    from vault_index.query.projects import project_of

    places = {
        folder for one in whole(directory) for folder in project_of(os.path.join(one, "")).folders
    }
    # `/` is the folder of clients that were started without a working directory.
    return {"asking": sessions, "folders": tuple(places - {"/"})}


def typed_in(
    directory: Names, sessions: Sequence[str], project: str | None = None
) -> tuple[Origin, ...]:
    """Return the origins of a typed text: its folders, its sessions and its project."""
    from vault_index.query.projects import is_folder
    from vault_index.query.search import CURRENT

    named = (project,) if project else ()
    places = (*whole(directory), *filter(is_folder, named))
    folders = tuple(os.path.abspath(os.path.expanduser(one)) for one in places)
    of_sessions = (Origin(session=one) for one in sessions if one != CURRENT)
    return tuple(one for one in (Origin(folders=folders), Origin(named), *of_sessions) if any(one))


def query_origins(
    scope: Scope | None, directory: Names, sessions: Sequence[str], project: str | None = None
) -> tuple[Origin, ...]:
    """Return the origins of a query.

    They are unknown (empty) if the caller has neither a folder nor a token with a scope.
    """
    if scope is None:
        return typed_in(directory, sessions, project) if directory else ()
    return (Origin(scope.projects), *typed_in(directory, sessions, project))


def memory_fields(runtime: Runtime, **fields: Any) -> dict[str, Any]:
    """Return the memory fields that `add` and `update` were given.

    If `project` is a folder, the field is the name of its project.
    """
    if folder := folder_given(fields["project"]):
        from vault_index.query.projects import name_for_memory

        fields["project"] = name_for_memory(folder, runtime.config)
    return fields


def folder_given(project: str | None) -> str | None:
    """Return `project` if it is a folder, such as `/srv/shop`, but not `acme/shop`."""
    from vault_index.sources.sessions.projects import is_place

    return project if project and is_place(project) else None


def _names(declared: Declared) -> tuple[str, ...]:
    return (declared.name, *declared.other_names)
