"""`/mcp`: the tools over the SDK's streamable HTTP, for old and new protocol versions."""

import logging
from functools import partial

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from vault_index.callers import Caller
from vault_index.daemon.log import error_location, log_event
from vault_index.mcp_server.backend import Backend
from vault_index.mcp_server.server import Asker, Context, build_server, check_message
from vault_index.serve.answers import JsonResponse, Refusal
from vault_index.serve.bodies import parse_json, read_body
from vault_index.serve.guard import not_allowed

log = logging.getLogger(__name__)

_SESSIONS = 64
"""Maximum number of sessions per token; the least recently used one is closed, and its client
reconnects.
"""
_IDLE_SECONDS = 15 * 60.0
_SESSION_ID = b"mcp-session-id"


class Mcp:
    """The application behind the guard. Sessions are separate for each caller."""

    group: TaskGroup
    """Runs the sessions. Set it before the first request."""

    def __init__(self, backend: Backend) -> None:
        self._server = build_server(partial(_asker, backend), backend.prepare)
        self._lock = anyio.Lock()
        self._of: dict[Caller, _Sessions] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of an MCP session, or begin one."""
        if scope["method"] not in ("GET", "POST", "DELETE"):
            raise not_allowed("GET, POST, DELETE")
        body = await read_body(Request(scope, receive)) if scope["method"] == "POST" else b""
        try:
            said = check_message(parse_json(body)) if scope["method"] == "POST" else None
        except (Refusal, ValueError) as error:
            code, kind = (
                (types.PARSE_ERROR, "valid JSON in UTF-8")
                if isinstance(error, Refusal)
                else (types.INVALID_REQUEST, "a JSON-RPC 2.0 message")
            )
            message = (
                f"the body is not {kind}; send one request, such as "
                '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
            )
            refused = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
            await JsonResponse(refused, 400)(scope, receive, send)
            return
        sessions = await self._sessions(scope["caller"])
        if isinstance(said, types.JSONRPCRequest) and said.method == "initialize":
            await sessions.make_room(scope)
        await sessions.answer(scope, body, receive, send)

    async def _sessions(self, caller: Caller) -> "_Sessions":
        async with self._lock:
            if caller not in self._of:
                self._of[caller] = _Sessions(self._server)
                await self.group.start(self._run, caller)
            return self._of[caller]

    async def _run(self, caller: Caller, *, task_status: TaskStatus[None]) -> None:
        try:
            async with self._of[caller].manager.run():
                task_status.started()
                await anyio.sleep_forever()
        except Exception as error:  # noqa: BLE001 - sessions of one caller must not end those of others
            log_event(
                log,
                logging.ERROR,
                "sessions of MCP ended",
                token=caller.name,
                error=error_location(error),
            )
        finally:
            del self._of[caller]


class _Sessions:
    """The sessions of one caller."""

    def __init__(self, server: Server) -> None:
        self.manager = StreamableHTTPSessionManager(
            server, max_sessions=2 * _SESSIONS, session_idle_timeout=_IDLE_SECONDS
        )
        self._used: dict[bytes, None] = {}
        """The session ids, most recently used last."""

    async def answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        async def track(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                for ident in (
                    value for name, value in message["headers"] if name.lower() == _SESSION_ID
                ):
                    self._used.pop(ident, None)
                    self._used[ident] = None
            await send(message)

        await self.manager.handle_request(scope, replay, track)

    async def make_room(self, scope: Scope) -> None:
        while len(self._used) >= _SESSIONS:
            ident = next(iter(self._used))
            del self._used[ident]
            headers = [
                (_SESSION_ID, ident),
                (b"accept", b"application/json"),
                (b"content-type", b"application/json"),
            ]
            await self.manager.handle_request(
                {**scope, "method": "DELETE", "headers": headers}, _nothing, _drop
            )


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _drop(message: Message) -> None:
    """Discard a message."""


def _asker(backend: Backend, context: Context) -> Asker:
    assert context.request is not None  # always set over HTTP
    caller: Caller = context.request.scope["caller"]
    return Asker(partial(backend.call, caller=caller), read_only=not caller.writes, remote=True)
