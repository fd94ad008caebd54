"""`/mcp`: the tools over the SDK's streamable HTTP, for old and new protocol versions."""

from collections import defaultdict
from functools import partial

from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import Message, Receive, Scope, Send

from vault_index.callers import Caller
from vault_index.mcp_server.backend import Backend
from vault_index.mcp_server.server import Asker, Context, build_server, check_message
from vault_index.serve.guard import not_allowed
from vault_index.serve.http import JsonResponse, Refusal, parse_json, read_body

_SESSIONS = 64
"""Maximum number of sessions per token; the least recently used one is closed, and its client
reconnects.
"""
_IDLE_SECONDS = 15 * 60.0
_SESSION_ID = b"mcp-session-id"


class Mcp:
    """The application behind the guard. A session belongs to the caller that began it."""

    def __init__(self, backend: Backend) -> None:
        server = build_server(partial(_asker, backend), backend.prepare)
        self.manager = StreamableHTTPSessionManager(server, session_idle_timeout=_IDLE_SECONDS)
        """Its `run` must be open while requests are answered."""
        self._used: defaultdict[Caller, dict[bytes, None]] = defaultdict(dict)
        """The session ids of each caller, most recently used last."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of an MCP session, or begin one."""
        if scope["method"] not in ("GET", "POST", "DELETE"):
            raise not_allowed("GET, POST, DELETE")
        body = await read_body(Request(scope, receive)) if scope["method"] == "POST" else b""
        try:
            said = check_message(parse_json(body)) if scope["method"] == "POST" else None
        except (Refusal, ValueError) as error:
            await _refused(error)(scope, receive, send)
            return
        # With it the SDK lets no other caller use the session.
        token = AccessToken(token="", client_id=repr(scope["caller"]), scopes=[])
        scope["user"] = AuthenticatedUser(token)
        used = self._used[scope["caller"]]
        if isinstance(said, types.JSONRPCRequest) and said.method == "initialize":
            await self._make_room(scope, used)
        first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return first.pop() if first else await receive()

        async def track(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                for name, ident in message["headers"]:
                    if name.lower() == _SESSION_ID:
                        used.pop(ident, None)
                        used[ident] = None
            await send(message)

        await self.manager.handle_request(scope, replay, track)

    async def _make_room(self, scope: Scope, used: dict[bytes, None]) -> None:
        """Close the least recently used sessions, so that one more is allowed."""
        while len(used) >= _SESSIONS:
            ident = next(iter(used))
            del used[ident]
            headers = [
                (_SESSION_ID, ident),
                (b"accept", b"application/json"),
                (b"content-type", b"application/json"),
            ]
            await self.manager.handle_request(
                {**scope, "method": "DELETE", "headers": headers}, _nothing, _drop
            )


def _refused(error: Exception) -> JsonResponse:
    """Return the response to a body that is not JSON (Refusal), or not a message."""
    code, kind = types.INVALID_REQUEST, "a JSON-RPC 2.0 message"
    if isinstance(error, Refusal):
        code, kind = types.PARSE_ERROR, "valid JSON in UTF-8"
    message = (
        f"the body is not {kind}; send one request, such as "
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
    )
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return JsonResponse(refused, 400)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _drop(message: Message) -> None:
    """Discard a message."""


def _asker(backend: Backend, context: Context) -> Asker:
    assert context.request is not None  # always set over HTTP
    caller: Caller = context.request.scope["caller"]
    return Asker(partial(backend.call, caller=caller), read_only=not caller.writes, remote=True)
