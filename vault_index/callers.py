"""Who asks by way of `serve`, and what of the index they may see and do. Only values: tokens are kept by `serve`."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Scope(NamedTuple):
    """The part of the index that a caller may see; an empty field restricts nothing.

    A document is in it that is in one of the sources, below one of the folders, and of one of the projects.
    """

    sources: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    """Inside their source, with `/`, as `work/acme`."""
    projects: tuple[str, ...] = ()
    isolated: bool = False
    """Whether it has an index of its own, so that not even scores depend on anything else."""

    @property
    def whole(self) -> bool:
        """Whether nothing is kept from the caller."""
        return self == Scope()

    @property
    def below(self) -> tuple[str, ...]:
        """What the paths of its folders begin with."""
        return tuple(f"{folder.strip('/')}/" for folder in self.folders)

    def holds(self, source: str, path: str, project: str | None) -> bool:
        """Whether such a document is in it. Of letters only ASCII may be upper or lower case, as in SQL."""
        projects = {name.encode().lower() for name in self.projects}
        return (
            (not self.sources or source in self.sources)
            and (not self.folders or path.startswith(self.below))
            and (not projects or (project or "").encode().lower() in projects)
        )


class Caller(NamedTuple):
    """One who showed a token."""

    name: str
    """What the user calls the token: the author of what is written with it."""
    writes: bool = False
    scope: Scope = Scope()
    owner: bool = False
    """Whether it is the user of this machine, by way of the page: nothing that tells of the machine is kept from it."""


def caller_to_json(caller: Caller) -> dict[str, Any]:
    return {**caller._asdict(), "scope": caller.scope._asdict()}


def caller_from_json(said: Mapping[str, Any]) -> Caller:
    """The reverse of `caller_to_json`. Raises ValueError for anything else: no part of it has a default, so that one
    that is forgotten does not open the whole index."""
    try:
        name, writes, scope, owner = (said[key] for key in Caller._fields)
        *parts, isolated = (scope[key] for key in Scope._fields)
    except (KeyError, TypeError) as error:
        raise ValueError("this is no caller") from error
    fits = isinstance(name, str) and all(isinstance(one, bool) for one in (writes, owner, isolated))
    if not fits or not all(isinstance(one, list | tuple) and all(isinstance(x, str) for x in one) for one in parts):
        raise ValueError("this is no caller")
    sources, folders, projects = map(tuple, parts)
    return Caller(name, writes, Scope(sources, folders, projects, isolated), owner)
