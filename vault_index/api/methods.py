"""Method names and JSON-ready parameters to calls of `VaultIndex`, and their answers to JSON."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from vault_index.api.index import VaultIndex
from vault_index.api.options import AskOptions, FilterOptions, MemoryOptions
from vault_index.errors import UsageError
from vault_index.results import WHEN_ASKED

TYPE_CHECKING = False  # spares the import of the indexer; type checkers know the name
if TYPE_CHECKING:
    from vault_index.cancel import CancelToken
    from vault_index.models import Progress

READING_METHODS = frozenset(
    {"search", "why", "get", "list", "related", "timeline", "recall", "tags", "stats", "status", "doctor", "export"}
    | {"file_status"}
)
WRITING_METHODS = frozenset({"sync", "rebuild", "embed", "add", "update", "delete", "prune", "capture", "import"}) | {
    "repair"
}

# Those that may take long: they report how far they are, and can be cancelled.
_LONG = frozenset({"sync", "rebuild", "embed", "import_", "repair"})

# Those whose texts are names of files, which may hold any bytes.
_NAME_FILES = frozenset({"sync", "export", "import"})

# Methods that Python cannot have under their own name.
_CALLED = {"import": "import_"}

# Options of a command that ask for another answer, and the call that gives it.
_OTHER_CALLS = {
    "embed": {"plan": "embed_plan", "status": "embed_status"},
    "stats": {"agents": "agents"},
    "status": {"privacy": "privacy"},
}

# Parameters that stand for several, by the name they are gathered under.
_GATHERED: Mapping[str, type] = {
    "filters": FilterOptions,
    "options": AskOptions,
    "fields": MemoryOptions,
}


def dispatch(
    index: VaultIndex, method: str, params: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """The answer of `call` as JSON."""
    return to_json(call(index, method, params, progress))  # type: ignore[no-any-return]


def call(
    index: VaultIndex,
    method: str,
    params: Mapping[str, Any],
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Any:
    """Call `method` with `params` (the options in snake_case); a dataclass of `results`.

    Raises UsageError for what does not exist.
    """
    methods = READING_METHODS | WRITING_METHODS
    if method not in methods:
        raise UsageError(f"there is no method {method!r}", f"methods are {', '.join(sorted(methods))}")
    rest = dict(params)
    name = next((call for option, call in _OTHER_CALLS.get(method, {}).items() if rest.pop(option, False)), method)
    name = _CALLED.get(name, name)
    known = _parameters(name)
    unknown = sorted(set(rest) - known)
    if unknown:
        raise UsageError(f"{method} has no parameter {unknown[0]!r}", f"it has {', '.join(sorted(known)) or 'none'}")
    _must_be_text(method, rest)
    watch = {"progress": progress, "cancel": cancel} if progress and name in _LONG else {}
    return getattr(index, name)(**rest, **watch)


def _must_be_text(method: str, params: Mapping[str, Any]) -> None:
    """Bytes of a shell that are no UTF-8 are called by nothing in an index; only files on the disk may be named so."""
    for name, value in params.items() if method not in _NAME_FILES else ():
        for text in [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
            try:
                str(text).encode()
            except UnicodeEncodeError as error:
                raise UsageError(f"{name} is not valid UTF-8", "give it in UTF-8") from error


@cache
def _parameters(name: str) -> frozenset[str]:
    names = frozenset(inspect.signature(getattr(VaultIndex, name)).parameters) - {"self", "progress", "cancel"}
    return (names - _GATHERED.keys()).union(*(kind.__annotations__ for kind in map(_GATHERED.get, names) if kind))


def to_json(value: Any) -> Any:
    """Dataclasses as objects with their fields in order, tuples as lists; what was not asked for is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        known = ((field, getattr(value, field.name)) for field in fields(value))
        return {
            field.name: to_json(item)
            for field, item in known
            if item != field.default or WHEN_ASKED not in field.metadata
        }
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value
