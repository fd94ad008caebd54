"""Calls `VaultIndex` methods by name with JSON parameters, and converts answers to JSON."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vault_index.api.index import VaultIndex
from vault_index.api.methods import METHODS
from vault_index.api.options import MAX_NUMBER
from vault_index.errors import UsageError
from vault_index.progress import CancelToken, Progress
from vault_index.results.base import WHEN_ASKED

_KINDS = {
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "bool": ((bool,), "true or false"),
    "int | str": ((int, str), "a version number or a commit hash"),
    "Names": ((str, list, tuple), "text, or a list of texts"),
    "Mapping[str, Any]": ((dict,), "an object"),
    "Sequence[str | Path]": ((list, tuple), "a list of texts"),
    "str | Path": ((str, Path), "text"),
}
"""Accepted types and their description, by the annotation of the parameter. All others are text."""
_TEXT = (str,), "text"
_OF_CALLER = {"progress", "cancel"}
"""Parameters that no caller from outside can give."""


def dispatch(
    index: VaultIndex, method: str, params: Mapping[str, Any], progress: Progress | None = None
) -> dict[str, Any]:
    """Call a method and return its answer as JSON."""
    return to_json(call(index, method, params, progress))  # type: ignore[no-any-return]


def call(
    index: VaultIndex,
    method: str,
    params: Mapping[str, Any],
    progress: Progress | None = None,
    cancel: CancelToken | None = None,
) -> Any:
    """Call `method` with `params` and return a dataclass of `results`.

    `params` are the options in snake_case. Raises UsageError for an unknown method or parameter.
    """
    name, given = bind(method, params)
    if progress and "progress" in parameters(name):
        given |= {"progress": progress, "cancel": cancel}
    return getattr(index, name)(**given)


def bind(method: str, params: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name of the VaultIndex method and its arguments.

    Raises UsageError as `call`.
    """
    if method not in METHODS:
        raise UsageError(
            f"there is no method {method!r}", f"use one of {', '.join(sorted(METHODS))}"
        )
    entry = METHODS[method]
    options = dict.fromkeys((option for option, _ in entry.instead), "bool")
    name = next(
        (call for option, call in entry.instead if params.get(option)), entry.call or method
    )
    known = parameters(name)
    kinds = {name: one.annotation for name, one in known.items() if name not in _OF_CALLER}
    _check_all(method, params, kinds | options)
    given = {
        name: value for name, value in params.items() if value is not None and name not in options
    }
    missing = [
        name for name, one in known.items() if one.default is one.empty and name not in given
    ]
    if missing:
        raise UsageError(f"{method} requires {missing[0]}", f"give {missing[0]}")
    return name, given


def _check_all(method: str, params: Mapping[str, Any], kinds: Mapping[str, str]) -> None:
    for name, value in params.items():
        if name not in kinds:
            names = ", ".join(sorted(kinds)) or "none"
            raise UsageError(f"{method} has no parameter {name!r}", f"its parameters: {names}")
        if value is not None:
            names_files = METHODS[method].names_files or name == "directory"
            _check(name, value, kinds[name], names_files=names_files)


def _check(name: str, value: Any, annotation: str, *, names_files: bool) -> None:
    """Raise UsageError for a wrong type, a too large number, NUL, or text that is not UTF-8.

    File names may contain any bytes of the shell except NUL.
    """
    kinds, expected = _KINDS.get(annotation.removesuffix(" | None"), _TEXT)
    one = [value] if isinstance(value, str) else []
    texts = value if isinstance(value, list | tuple) else one
    fits = isinstance(value, kinds) and isinstance(value, bool) == (bool in kinds)
    if not fits or not all(isinstance(text, str | Path) for text in texts):
        raise UsageError(
            f"{name} must be {expected}, not {value!r:.60}", "correct it and try again"
        )
    if isinstance(value, int | float) and not abs(value) <= MAX_NUMBER:
        raise UsageError(f"{name} is out of range (2**53)", f"omit {name} to use the default")
    try:
        raw = [os.fsencode(text) if names_files else str(text).encode() for text in texts]
    except UnicodeEncodeError as error:
        raise UsageError(f"{name} is not valid UTF-8", "encode it as UTF-8") from error
    if any(b"\0" in text for text in raw):
        raise UsageError(f"{name} contains a NUL character", "remove it")


@cache
def parameters(name: str) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a VaultIndex method, without `self`; annotations are strings."""
    return dict(list(inspect.signature(getattr(VaultIndex, name)).parameters.items())[1:])


def to_json(value: Any) -> Any:
    """Convert an answer to JSON: dataclasses become objects, tuples become lists.

    Omits fields marked `WHEN_ASKED` that have their default value.
    """
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
