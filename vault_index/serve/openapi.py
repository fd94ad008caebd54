"""Generate OpenAPI 3.1 from the method registry: signatures, docstrings and results."""

import inspect
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter

from vault_index import results
from vault_index.api.index import VaultIndex
from vault_index.api.methods import METHODS, Method
from vault_index.api.options import MAX_NUMBER
from vault_index.fields import FIELDS, FILTERS
from vault_index.query import search
from vault_index.version import __version__

_ERRORS = {
    "400": "the request is invalid",
    "401": "no valid token",
    "403": "the token does not allow it",
    "404": "there is no such document, memory or source",
    "405": "the path does not support the method",
    "408": "the body did not arrive in time",
    "409": "the file changed since it was read",
    "413": "the body is too long",
    "415": "the content type is not JSON",
    "421": "unknown host name",
    "429": "too many requests; see Retry-After",
    "503": "the index cannot answer now; see Retry-After",
}
_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
            "required": ["code", "message", "hint"],
        }
    },
    "required": ["error"],
}


@cache
def document(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the document for these methods."""
    calls = [(name, call) for name in names for call in _calls(METHODS[name])]
    adapters: list[tuple[str, Literal["serialization"], TypeAdapter[Any]]] = [
        (call, "serialization", TypeAdapter(_hints(call)["return"])) for _, call in calls
    ]
    answers, defined = TypeAdapter.json_schemas(
        adapters, ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for name in names:
        of_name = [answers[call, "serialization"] for one, call in calls if one == name]
        paths[f"/api/{name}"] = {"post": _operation(METHODS[name], of_name)}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "vault-index",
            "version": __version__,
            "description": "Notes, memories and past sessions.",
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {**defined.get("$defs", {}), "Error": _ERROR},
            "responses": {
                status: {
                    "description": said,
                    "content": _json({"$ref": "#/components/schemas/Error"}),
                }
                for status, said in _ERRORS.items()
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(method: Method, answers: list[Any]) -> dict[str, Any]:
    """Return the operation of one path; an option of the method may select another result type."""
    said = inspect.getdoc(getattr(VaultIndex, _calls(method)[0])) or ""
    parameters = _parameters(method)
    required = [name for name, one in parameters.items() if "null" not in str(one)]
    answer = answers[0] if len(answers) == 1 else {"anyOf": answers}
    return {
        "operationId": method.name,
        "summary": said.partition(". ")[0].partition("\n")[0].rstrip("."),
        "description": said,
        "requestBody": {
            "required": bool(required),
            "content": _json(
                {
                    "type": "object",
                    "properties": parameters,
                    "additionalProperties": False,
                    **({"required": required} if required else {}),
                }
            ),
        },
        "responses": {
            "200": {"description": "the answer, as with --json", "content": _json(answer)},
            **{status: {"$ref": f"#/components/responses/{status}"} for status in _ERRORS},
        },
    }


def _parameters(method: Method) -> dict[str, Any]:
    """Return the schema of each parameter; null means "not given", except for required ones."""
    helped = FIELDS if method.name in ("add", "update") else FILTERS
    found: dict[str, Any] = {
        option: {"anyOf": [{"type": "boolean"}, {"type": "null"}]} for option, _ in method.instead
    }
    for call in _calls(method):
        hints = _hints(call)
        function = getattr(VaultIndex, call)
        for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
            if name in method.local:
                continue
            kind = hints[name] if parameter.default is parameter.empty else hints[name] | None
            schema = _bounded(TypeAdapter(kind).json_schema())
            about = helped[name].help if name in helped else ""
            found[name] = {**schema, **({"description": about} if about else {})}
    return found


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    """Limit numbers to the range that all JSON parsers keep exact (RFC 8259, 6)."""
    bounds = (
        {"minimum": -MAX_NUMBER, "maximum": MAX_NUMBER}
        if schema.get("type") in ("integer", "number")
        else {}
    )
    return {
        **schema,
        **bounds,
        **({"anyOf": list(map(_bounded, schema["anyOf"]))} if "anyOf" in schema else {}),
    }


def _calls(method: Method) -> list[str]:
    """Return the methods of VaultIndex that answer a method."""
    return [method.call or method.name, *(call for _, call in method.instead)]


def _hints(call: str) -> dict[str, Any]:
    """Return the type hints of a method, including result types imported only for type checkers."""
    answers = (
        import_module(f"{results.__name__}.{module.name}")
        for module in iter_modules(results.__path__)
    )
    known = {
        name: kind
        for module in answers
        for name, kind in vars(module).items()
        if isinstance(kind, type)
    }
    return get_type_hints(
        getattr(VaultIndex, call), localns={**known, "Mode": search.Mode, "Match": search.Match}
    )


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
