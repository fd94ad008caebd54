"""Which methods and parameters callers with a token may use over the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vault_index.api.methods import METHODS, Method
from vault_index.callers import Caller
from vault_index.errors import ForbiddenError, NotFoundError, UsageError

if TYPE_CHECKING:  # `serve` checks requests without opening an index
    from vault_index.runtime import Runtime

_READS_FOLDERS = ("sessions", "recall", "capture")
"""Methods that accept a folder of this machine as a project and inspect it."""
_MOST_VALUES = 100


def methods_for(caller: Caller) -> list[Method]:
    """Return the methods that this caller may use, in the order of the registry."""
    return [method for method in METHODS.values() if _is_for(method, caller)]


def served_params(caller: Caller, name: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters to call the method with.

    Raises NotFoundError for a method that is not served, ForbiddenError for one that the token does
    not allow, and UsageError for an unknown or local parameter.
    """
    method = _method(caller, name)
    _check(caller, method, params)
    given = dict(params)
    if name in (*_READS_FOLDERS, "add", "update") and (project := given.get("project")):
        _refuse_folders(name, project if isinstance(project, list) else [project])
    is_signed = any(given.get(one) not in (None, "") for one in ("entered_by", "by"))
    if name in ("add", "capture") and not is_signed:
        given["entered_by"] = caller.name
    return given


def _method(caller: Caller, name: str) -> Method:
    method = METHODS.get(name)
    if method is None or not (method.served or _is_for(method, caller)):
        known = ", ".join(one.name for one in methods_for(caller))
        raise NotFoundError(f"there is no method {name[:40]!r} here", f"available methods: {known}")
    if method.writes and not caller.writes:
        raise ForbiddenError(
            f"{name} requires write access", "ask for a token created with --write"
        )
    if not _is_for(method, caller):
        raise ForbiddenError(
            f"{name} requires access to the whole index", "ask for a token without a scope"
        )
    return method


def _check(caller: Caller, method: Method, params: Mapping[str, Any]) -> None:
    names = _parameters(method)
    for parameter, value in params.items():
        if parameter not in names and not (caller.owner and parameter in method.local):
            raise UsageError(
                f"{method.name} has no parameter {parameter[:40]!r} here",
                f"its parameters: {', '.join(names) or 'none'}",
            )
        if isinstance(value, list) and len(value) > _MOST_VALUES:
            raise UsageError(
                f"{parameter[:40]!r} has more than {_MOST_VALUES} values", "send fewer per request"
            )


def _refuse_folders(name: str, projects: Sequence[object]) -> None:
    from vault_index.query.projects import is_folder  # late: most daemons serve no network
    from vault_index.sources.sessions.projects import is_place

    names_folder = is_folder if name in _READS_FOLDERS else is_place
    if any(names_folder(str(one)) for one in projects):
        raise UsageError("a project cannot be a folder here", "use the name that the documents use")


def redact_paths(answer: dict[str, Any], runtime: Runtime, asked: str) -> dict[str, Any]:
    """Redact folders of this machine from the errors of an answer.

    Only callers that may see the whole index get the original texts.
    """
    if "degraded" in answer:
        answer["degraded"] = [redact_path(one, runtime, asked) for one in answer["degraded"]]
    for failed in answer.get("failed", ()):
        failed.update(
            {
                key: redact_path(failed[key], runtime, asked)
                for key in ("error", "hint")
                if key in failed
            }
        )
    return answer


def redact_path(text: str, runtime: Runtime, asked: str) -> str:
    """Redact folders of this machine from a text.

    Folders that the request (`asked`) contains stay, because redacting them would confirm a guess.
    """
    folders = {str(one.config.path): f"the folder of {one.config.name}" for one in runtime.sources}
    for folder, name in {**folders, str(runtime.home.data_dir): "the data folder"}.items():
        if folder not in asked:
            text = text.replace(f"{folder}/", "").replace(folder, name)
    return text


def _parameters(method: Method) -> list[str]:
    """Return the documented parameters: also `instead` options, but no `local` ones."""
    from vault_index.api.json_api import parameters  # late: loads the index

    return sorted(
        {*parameters(method.call or method.name), *dict(method.instead)} - {*method.local}
    )


def _is_for(method: Method, caller: Caller) -> bool:
    allowed = method.served == "scoped" or (method.served == "whole" and caller.scope.whole)
    # A long method would block the connection, and a page must not name files of this machine.
    allowed = allowed or (
        caller.owner and method.remote and not (method.long or method.names_files)
    )
    return allowed and (caller.writes or not method.writes)
