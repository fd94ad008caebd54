"""The page's requests beyond the API, for its owner only: `/page/…` and `/files/…`.

The daemon answers.
"""

import base64
from collections.abc import Mapping
from typing import Any

import anyio
import anyio.to_thread

from vault_index.callers import Caller
from vault_index.errors import ForbiddenError, UsageError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.answers import Receive, Scope, Send, send_json
from vault_index.serve.guard import not_allowed, parse_json
from vault_index.serve.page.drawing import draw
from vault_index.serve.page.reading import read_document

_NAMES = ("about", "disk", "memories", "read", "sent", "tokens")
_DRAWERS = 2
"""Maximum number of documents rendered at once, in separate threads, so that searches stay fast."""


class Page:
    """The application behind the guard."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._drawers = anyio.CapacityLimiter(_DRAWERS)

    async def sign(self, code: str) -> dict[str, Any]:
        """Return a token for the one-time code, or an empty dict."""
        return await self._ask("sign_in", Caller(""), {"code": code})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of the page; only the owner may send one."""
        path, caller = scope["path"], scope["caller"]
        if not caller.owner:
            raise ForbiddenError(
                "only the page may request this", "open the page: vault-index open"
            )
        kind, _, name = path.removeprefix("/").partition("/")
        if kind == "files":
            scope["shown"] = "/files"
            await self._file(scope, send, caller, *name.split("/", 1))
            return
        scope["shown"] = path if name in _NAMES else "/page"
        if scope["method"] != "POST":
            raise not_allowed("POST")
        body = await scope["body"]()
        params = parse_json(body) if body else {}
        if not isinstance(params, dict):
            raise UsageError("the body is not a JSON object", "send an object with the parameters")
        own = {"read": self._read, "memories": self._memories}.get(name)
        if own:
            answer = await anyio.to_thread.run_sync(own, caller, params, limiter=self._drawers)
        else:
            answer = await self._ask(name, caller, params)
        await send_json(send, 200, answer)

    async def _ask(self, name: str, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        return await anyio.to_thread.run_sync(self._backend.call, f"page/{name}", params, caller)

    async def _file(
        self, scope: Scope, send: Send, caller: Caller, source: str, path: str = ""
    ) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise not_allowed("GET")
        image = await self._ask("image", caller, {"source": source, "path": path})
        data = base64.b64decode(image["data"])
        told = [(b"content-type", image["kind"].encode()), (b"content-length", b"%d" % len(data))]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": data})

    # --- in a thread: markdown is parsed here to keep the daemon free
    # ---------------------------------------------

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
