"""Method names and JSON-ready parameters to calls of `VaultIndex`, and their answers to JSON."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from vault_index.api.index import VaultIndex
from vault_index.api.methods import METHODS
from vault_index.cancel import CancelToken
from vault_index.errors import UsageError
from vault_index.models import Progress
from vault_index.results.base import WHEN_ASKED


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
    """Call `method` with `params` (the options in snake_case); the answer is a dataclass of `results`.

    Raises UsageError for what does not exist.
    """
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}", f"methods are {', '.join(sorted(METHODS))}")
    entry = METHODS[method]
    rest = dict(params)
    name = next((call for option, call in entry.instead if rest.pop(option, False)), entry.call or method)
    known = _parameters(name) - {"progress", "cancel"}
    unknown = sorted(set(rest) - known)
    if unknown:
        raise UsageError(f"{method} has no parameter {unknown[0]!r}", f"it has {', '.join(sorted(known)) or 'none'}")
    if not entry.names_files:
        _must_be_text(rest)
    if progress and "progress" in _parameters(name):
        rest |= {"progress": progress, "cancel": cancel}
    return getattr(index, name)(**rest)


def _must_be_text(params: Mapping[str, Any]) -> None:
    """Raise UsageError for bytes of a shell that are not UTF-8: nothing in an index is called by them."""
    for name, value in params.items():
        for text in [value] if isinstance(value, str) else value if isinstance(value, list | tuple) else ():
            try:
                str(text).encode()
            except UnicodeEncodeError as error:
                raise UsageError(f"{name} is not valid UTF-8", "give it in UTF-8") from error


@cache
def _parameters(name: str) -> frozenset[str]:
    return frozenset(inspect.signature(getattr(VaultIndex, name)).parameters) - {"self"}


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
