"""`/mcp`: the tools over the SDK's streamable HTTP, in both eras of the protocol."""

from collections.abc import MutableMapping
from functools import partial
from typing import Any

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from vault_index.callers import Caller
from vault_index.mcp_server.backend import Backend
from vault_index.mcp_server.server import Asker, Context, build_server
from vault_index.serve.answers import Receive, Scope, Send
from vault_index.serve.guard import not_allowed, parse_json

_SESSIONS = 64
"""Of the era that has them, of one token: further ones are refused until some end."""
_IDLE_SECONDS = 15 * 60.0


class Mcp:
    """The application behind the guard. A caller has sessions of its own, which no other one finds."""

    def __init__(self, backend: Backend, group: TaskGroup) -> None:
        self._server = build_server(partial(_asker, backend), backend.prepare)
        self._group = group
        self._lock = anyio.Lock()
        self._managers: dict[Caller, StreamableHTTPSessionManager] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "POST", "DELETE"):
            raise not_allowed("GET", "POST", "DELETE")
        body = await scope["body"]() if scope["method"] == "POST" else b""
        if scope["method"] == "POST":
            parse_json(body)
        first: list[MutableMapping[str, Any]] = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> MutableMapping[str, Any]:
            return first.pop() if first else await receive()

        manager = await self._manager(scope["caller"])
        await manager.handle_request(scope, again, send)

    async def _manager(self, caller: Caller) -> StreamableHTTPSessionManager:
        async with self._lock:
            if caller not in self._managers:
                manager = StreamableHTTPSessionManager(
                    self._server, max_sessions=_SESSIONS, session_idle_timeout=_IDLE_SECONDS
                )
                await self._group.start(_run, manager)
                self._managers[caller] = manager
        return self._managers[caller]


async def _run(manager: StreamableHTTPSessionManager, *, task_status: TaskStatus[None]) -> None:
    async with manager.run():
        task_status.started()
        await anyio.sleep_forever()


def _asker(backend: Backend, context: Context) -> Asker:
    assert context.request is not None  # over HTTP each has one
    caller: Caller = context.request.scope["caller"]
    return Asker(partial(backend.call, caller=caller), read_only=not caller.writes, remote=True)
