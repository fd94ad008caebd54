"""`POST /api/<method>`: the registry's methods that a caller may use, answered by the daemon."""

import asyncio
import math
import os
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread

from vault_index.api.methods import WRITING
from vault_index.api.served import methods_for, served_params
from vault_index.callers import Caller
from vault_index.errors import BusyError, NotFoundError, UsageError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.answers import MOST, App, Receive, Scope, Send, disconnected, send_json
from vault_index.serve.guard import not_allowed, parse_json

READERS, _WRITERS, _WAITING = (os.cpu_count() or 1) + 1, 4, 128
"""Maximum concurrent reading and writing requests, and requests waiting.

A search is CPU-bound, so more readers than processors would only slow down each other.
"""


class Api:
    """The application behind the guard; `page` and `others` answer the other paths."""

    def __init__(self, backend: Backend, page: App, others: Mapping[str, App]) -> None:
        self._backend = backend
        self._page, self._others = page, others
        self._writers = anyio.CapacityLimiter(_WRITERS)
        self._asked = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of `/api`, `/openapi.json` or another mounted path."""
        path, caller = scope["path"], scope["caller"]
        if other := self._others.get(path):
            scope["shown"] = path
            await other(scope, receive, send)
        elif path == "/openapi.json":
            scope["shown"] = path
            if scope["method"] not in ("GET", "HEAD"):
                raise not_allowed("GET")
            await send_json(send, 200, await anyio.to_thread.run_sync(_document, caller))
        elif path.startswith(("/page/", "/files/")):
            await self._page(scope, receive, send)
        elif path.startswith("/api/"):
            await self._method(scope, receive, send, caller, path.removeprefix("/api/"))
        else:
            raise NotFoundError("unknown path", "see /openapi.json")

    async def _method(
        self, scope: Scope, receive: Receive, send: Send, caller: Caller, name: str
    ) -> None:
        served_params(caller, name, {})  # before the body is read
        scope["shown"] = f"/api/{name}"
        if scope["method"] != "POST":
            raise not_allowed("POST")
        body = await scope["body"]()
        params = _checked(parse_json(body) if body else {})
        if self._asked >= _WAITING:
            raise BusyError("too many requests at once", "try again in a moment")
        self._asked += 1
        gone = asyncio.ensure_future(disconnected(receive))

        def call() -> dict[str, Any] | None:
            # Search-as-you-type clients disconnect from outdated queries: skip those not yet
            # started.
            return (
                None
                if gone.done() and name not in WRITING
                else self._backend.call(name, params, caller)
            )

        try:
            limiter = self._writers if name in WRITING else None
            answer = await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=limiter)
        finally:
            gone.cancel()
            self._asked -= 1
        await send_json(send, 200, answer)


def _checked(params: Any) -> dict[str, Any]:
    """Return the parameters.

    Raises UsageError for objects, nested lists and numbers out of bounds.
    """
    if not isinstance(params, dict):
        raise UsageError("the body is not a JSON object", "send an object with the parameters")
    for name, value in params.items():
        for one in value if isinstance(value, list) else [value]:
            number = isinstance(one, int | float)
            if isinstance(one, dict | list) or (
                number and not (math.isfinite(one) and abs(one) <= MOST)
            ):
                raise UsageError(f"invalid value for {name!r:.40}", "see /openapi.json")
    return params


def _document(caller: Caller) -> dict[str, Any]:
    from vault_index.serve.openapi import document  # imported here because it imports all results

    return document(tuple(method.name for method in methods_for(caller)))
