"""`/api/<method>`: the registry's methods that a caller may use, answered by the daemon."""

import math
import os

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from vault_index.api.methods import WRITING
from vault_index.api.served import methods_for, served_params
from vault_index.callers import Caller
from vault_index.errors import BusyError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.http import JsonResponse, read_params

READERS, _WRITERS, _WAITING = (os.cpu_count() or 1) + 1, 4, 128
"""Maximum concurrent reading and writing requests, and requests waiting.

A search is CPU-bound, so more readers than processors would only slow down each other.
"""


class Api:
    """The routes of the methods and of their description."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._readers, self._writers = (anyio.CapacityLimiter(most) for most in (READERS, _WRITERS))
        self._threads = anyio.CapacityLimiter(math.inf)  # limited by the others
        self.routes: list[BaseRoute] = [
            Route("/api/{method}", self._call, methods=["POST"]),
            Route("/openapi.json", self._describe),
        ]

    async def _call(self, request: Request) -> Response:
        caller, method = request.scope["caller"], request.path_params["method"]
        served_params(caller, method, {})  # before the body is read
        request.scope["shown"] = f"/api/{method}"
        params = await read_params(request)
        limiter = self._writers if method in WRITING else self._readers
        if limiter.statistics().tasks_waiting >= _WAITING:
            raise BusyError("too many requests at once", "try again in a moment")
        async with limiter:
            # Search-as-you-type clients disconnect from outdated queries: skip those.
            if method not in WRITING and await request.is_disconnected():
                return Response()
            answer = await anyio.to_thread.run_sync(
                self._backend.call, method, params, caller,
                abandon_on_cancel=True, limiter=self._threads,
            )  # fmt: skip
        return JsonResponse(answer)

    async def _describe(self, request: Request) -> JsonResponse:
        return JsonResponse(await anyio.to_thread.run_sync(_document, request.scope["caller"]))


def _document(caller: Caller) -> dict[str, object]:
    from vault_index.serve.openapi import document  # imported here because it imports all results

    return document(tuple(method.name for method in methods_for(caller)))
