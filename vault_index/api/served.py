"""What callers with a token may ask for: the registry's methods that are `served`, with the parameters that are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vault_index.api.methods import METHODS, Method
from vault_index.callers import Caller
from vault_index.errors import ForbiddenError, NotFoundError, UsageError

if TYPE_CHECKING:  # `serve` checks what is asked for, and opens no index
    from vault_index.runtime import Runtime

_OF_FOLDERS = ("sessions", "recall", "capture")
"""Methods that take a folder of this machine for a project, and look at it."""
_MOST_VALUES = 100


def methods_for(caller: Caller) -> list[Method]:
    """What this caller may ask for, in the order of the registry."""
    return [method for method in METHODS.values() if _is_for(method, caller)]


def served_params(caller: Caller, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters to call the method with. Raises NotFoundError for a method that nobody is served, ForbiddenError
    for one that this token does not allow, UsageError for a parameter that is this machine's own."""
    method = METHODS.get(name)
    if method is None or not (method.served or _is_for(method, caller)):
        known = ", ".join(one.name for one in methods_for(caller))
        raise NotFoundError(f"there is no method {name[:40]!r} here", f"methods are {known}")
    if method.writes and not caller.writes:
        raise ForbiddenError(
            f"this token may not write, and {name} does", "ask for one that was made with --write"
        )
    if not _is_for(method, caller):
        raise ForbiddenError(
            f"{name} is only for tokens that may see everything", "ask for one without a scope"
        )
    names = _parameters(method)
    for parameter, value in params.items():
        if parameter not in names and not (caller.owner and parameter in method.local):
            raise UsageError(
                f"{name} has no parameter {parameter[:40]!r} here",
                f"it has {', '.join(names) or 'none'}",
            )
        several = value if isinstance(value, list) else [value]
        if len(several) > _MOST_VALUES:
            raise UsageError(
                f"{parameter[:40]!r} has more than {_MOST_VALUES} values", "ask for fewer at a time"
            )
        if any(isinstance(one, str) and "\0" in one for one in several):
            raise UsageError(
                f"{parameter[:40]!r} holds a NUL, and no text of a vault does", "leave it out"
            )
    given = dict(params)
    if name in (*_OF_FOLDERS, "add", "update") and (project := given.get("project")):
        from vault_index.query.projects import is_folder  # late: most daemons serve nobody
        from vault_index.sources.sessions.projects import is_place

        looked_at = is_folder if name in _OF_FOLDERS else is_place
        if any(
            looked_at(str(one)) for one in (project if isinstance(project, list) else [project])
        ):
            raise UsageError(
                "a project is not named by a folder here", "name it as the documents do"
            )
    if name in ("add", "capture") and all(
        given.get(one) in (None, "") for one in ("entered_by", "by")
    ):
        given["entered_by"] = caller.name
    return given


def without_places(answer: dict[str, Any], runtime: Runtime, asked: str) -> dict[str, Any]:
    """What an answer says of faults, without the folders of this machine: only who sees everything is told of them."""
    if "degraded" in answer:
        answer["degraded"] = [without_place(one, runtime, asked) for one in answer["degraded"]]
    for failed in answer.get("failed", ()):
        failed.update(
            {
                key: without_place(failed[key], runtime, asked)
                for key in ("error", "hint")
                if key in failed
            }
        )
    return answer


def without_place(told: str, runtime: Runtime, asked: str) -> str:
    """What stands in the question (`asked`) is repeated as it is, or guesses would be confirmed."""
    folders = {str(one.config.path): f"the folder of {one.config.name}" for one in runtime.sources}
    for folder, name in {**folders, str(runtime.home.data_dir): "its data"}.items():
        if folder not in asked:
            told = told.replace(f"{folder}/", "").replace(folder, name)
    return told


def _parameters(method: Method) -> list[str]:
    """Their names as in the OpenAPI document: also what asks for another answer, and none that is `local`."""
    from vault_index.api.json_api import (
        parameters,
    )  # late: `serve` asks without any, and opens no index

    return sorted(
        {*parameters(method.call or method.name), *dict(method.instead)} - {*method.local}
    )


def _is_for(method: Method, caller: Caller) -> bool:
    allowed = method.served == "scoped" or (method.served == "whole" and caller.scope.whole)
    # What takes long would hold the connection, and files of this machine are nothing that a page should name.
    allowed = allowed or (
        caller.owner and method.remote and not (method.long or method.names_files)
    )
    return allowed and (caller.writes or not method.writes)
