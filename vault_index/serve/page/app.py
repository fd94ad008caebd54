"""The page's requests beyond the API, for its owner only: `/page/…` and `/files/…`.

The daemon answers.
"""

import base64
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from vault_index.callers import Caller
from vault_index.errors import ForbiddenError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.http import JsonResponse, read_params
from vault_index.serve.page.reading import draw, read_document

_NAMES = ("about", "around", "disk", "memories", "read", "sent", "tokens", "values")
_DRAWERS = 2
"""Maximum number of documents rendered at once, in separate threads, so that searches stay fast."""


class Page:
    """The routes of the page."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._drawers = anyio.CapacityLimiter(_DRAWERS)
        self.routes: list[BaseRoute] = [
            Route("/files/{source}/{path:path}", self._image),
            *(Route(f"/page/{name}", self._answer, methods=["POST"]) for name in _NAMES),
        ]

    async def sign(self, code: str) -> dict[str, Any]:
        """Return a token for the one-time code, or an empty dict."""
        return await self._ask("sign_in", Caller(""), {"code": code})

    async def _answer(self, request: Request) -> JsonResponse:
        caller, name = _owner(request), request.scope["path"].removeprefix("/page/")
        params = await read_params(request)
        own = {"read": self._read, "memories": self._memories}.get(name)
        if own:
            answer = await anyio.to_thread.run_sync(own, caller, params, limiter=self._drawers)
        else:
            answer = await self._ask(name, caller, params)
        return JsonResponse(answer)

    async def _image(self, request: Request) -> Response:
        image = await self._ask("image", _owner(request), request.path_params)
        return Response(base64.b64decode(image["data"]), media_type=image["kind"])

    async def _ask(self, name: str, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self._backend.call, f"page/{name}", params, caller)

    # --- in a thread: markdown is parsed here to keep the daemon free ---------------------------

    def _memories(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return whole memory files, as text and as trees."""
        answer = self._backend.call("page/memories", params, caller)
        for one, drawn in zip(
            answer["results"], draw([one["text"] for one in answer["results"]]), strict=True
        ):
            one["nodes"] = drawn.nodes
        return answer

    def _read(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return a document or a part of it, as `get` does, with a tree of its markdown."""

        def get(ref: str, source: str | None) -> dict[str, Any]:
            asked = {"ref": ref, "full": True} | ({"source": source} if source else {})
            found: dict[str, Any] = self._backend.call("get", asked, caller)["results"][0]
            return found

        return read_document(get, params)


def _owner(request: Request) -> Caller:
    """Return the caller. Raises ForbiddenError unless it is the owner."""
    caller: Caller = request.scope["caller"]
    if not caller.owner:
        raise ForbiddenError("only the page may request this", "open the page: vault-index open")
    return caller
