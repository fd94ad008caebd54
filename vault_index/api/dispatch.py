"""Method names and JSON-ready parameters to calls of `VaultIndex`, and their answers to JSON."""

import inspect
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

from vault_index.api.index import VaultIndex
from vault_index.errors import UsageError
from vault_index.indexer.sync import Progress

READING_METHODS = frozenset({"search", "get", "list", "tags", "stats", "status"})
WRITING_METHODS = frozenset({"sync", "rebuild", "embed"})


def dispatch(
    index: VaultIndex, method: str, params: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Call `method` with `params` (the options in snake_case). Raises UsageError for what does not exist."""
    if method not in READING_METHODS | WRITING_METHODS:
        raise UsageError(
            f"there is no method {method!r}", f"methods are {', '.join(sorted(READING_METHODS | WRITING_METHODS))}"
        )
    known = _parameters(method)
    unknown = sorted(set(params) - known)
    if unknown:
        raise UsageError(f"{method} has no parameter {unknown[0]!r}", f"it has {', '.join(sorted(known))}")
    call = getattr(index, method)
    answer = call(**params, progress=progress) if method in WRITING_METHODS and progress else call(**params)
    return to_json(answer)  # type: ignore[no-any-return]


@cache
def _parameters(method: str) -> frozenset[str]:
    names = inspect.signature(getattr(VaultIndex, method)).parameters
    return frozenset(names) - {"self", "progress"}


def to_json(value: Any) -> Any:
    """Dataclasses as objects with their fields in order, tuples as lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return value
