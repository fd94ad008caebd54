"""Values that describe a caller of `serve` and the part of the index it may read or write."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Scope(NamedTuple):
    """The part of the index that a caller may see; an empty field restricts nothing.

    A document must match one of the sources, one of the folders and one of the projects.
    """

    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Paths inside the source, with `/`, such as `work/acme`."""
    projects: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the caller may see everything."""
        return self == Scope()

    @property
    def below(self) -> tuple[str, ...]:
        """The path prefixes of the folders, ending in `/`."""
        return tuple(f"{folder.strip('/')}/" for folder in self.folders)

    def holds(self, source: str, path: str, project: str | None) -> bool:
        """Return whether a document lies in the scope.

        Project names ignore the case of ASCII letters, as in SQL.
        """
        projects = {name.encode().lower() for name in self.projects}
        return (
            (not self.sources or source in self.sources)
            and (not self.folders or path.startswith(self.below))
            and (not projects or (project or "").encode().lower() in projects)
        )


class Caller(NamedTuple):
    """The holder of a token."""

    name: str
    """The name of the token, used as the author of what the caller writes."""
    writes: bool = False
    scope: Scope = Scope()
    owner: bool = False
    """Whether the caller is the user of this machine (the page), with access to its data."""


def caller_to_json(caller: Caller) -> dict[str, Any]:
    """Return a caller as a JSON object, which `caller_from_json` reads."""
    return {**caller._asdict(), "scope": caller.scope._asdict()}


def caller_from_json(data: Mapping[str, Any]) -> Caller:
    """Return the caller in a JSON object from `caller_to_json`.

    Raises ValueError for anything else. No field has a default, so a missing one cannot open the
    whole index.
    """
    try:
        name, writes, scope, owner = (data[key] for key in Caller._fields)
        parts = [scope[key] for key in Scope._fields]
    except (KeyError, TypeError) as error:
        raise ValueError("not a caller") from error
    fits = isinstance(name, str) and isinstance(writes, bool) and isinstance(owner, bool)
    if not fits or not all(
        isinstance(one, list | tuple) and all(isinstance(x, str) for x in one) for one in parts
    ):
        raise ValueError("not a caller")
    sources, folders, projects = map(tuple, parts)
    return Caller(name, writes, Scope(sources, folders, projects), owner)
