"""Check every request: host, origin, token, rate and size; and log it."""

import asyncio
import logging
import math
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vault_index.access import Tokens, page_key
from vault_index.callers import Caller
from vault_index.config.schema import ServeConfig
from vault_index.daemon.log import error_location, log_event
from vault_index.errors import DefectError, PoolError, VaultIndexError
from vault_index.serve.http import SECURITY, JsonResponse, Refusal, error_response, read_params
from vault_index.serve.page.site import page_file

log = logging.getLogger(__name__)

HEADER_BYTES = 32_768
_DROP_SECONDS = 2.0
"""Seconds to read the unused rest of a body before closing the connection."""
_FAILED_LOGINS = 0.5, 20
"""Failed logins per second and burst, per address. Valid tokens are still accepted, because they
cannot be guessed.
"""
_LOOK_SECONDS = 5.0
"""Seconds between checks whether the token of a long answer is still valid."""
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_HOST = re.compile(r"(\[[\da-f:.]+\]|[\w.-]+)(?::\d{1,5})?", re.ASCII)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT")
_CLOSE = {"connection": "close"}
_CORS = {
    "access-control-allow-headers": "authorization, content-type, accept, last-event-id, "
    "mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
    "access-control-allow-methods": "GET, POST, DELETE",
    "access-control-expose-headers": "mcp-session-id, retry-after",
    "access-control-max-age": "600",
    "vary": "origin",
}
"""CORS headers for a page in `serve.origins`. Starlette's middleware answers a preflight with a
text, also a refused one.
"""


Sign = Callable[[str], Awaitable[dict[str, Any]]]


class Guard:
    """Passes requests to `app`, with the caller in `scope["caller"]`.

    `host` is the listening address. `sign` returns a token for the page's one-time code, or an
    empty dict.
    """

    def __init__(
        self, app: ASGIApp, settings: ServeConfig, tokens: Tokens, host: str, sign: Sign
    ) -> None:
        self._app, self._settings, self._tokens, self._sign = app, settings, tokens, sign
        self._hosts = {
            f"[{host}]" if ":" in host else host.lower(),
            *_LOOPBACK,
            *map(str.lower, settings.hosts),
        }
        self._hosts -= {"0.0.0.0", "[::]"}  # listening addresses, not names
        self._scheme = "https" if settings.certificate or settings.behind_proxy else "http"
        self._rates = Rates(settings.rate, 2 * settings.rate)
        self._failed = Rates(*_FAILED_LOGINS)
        self._run = secrets.token_hex(32)
        """Signed by pages instead of sending their token."""
        public = [
            Route("/healthz", self._health),
            Route("/signin", self._signed_in, methods=["POST"]),
        ]
        self._routes = Router(public, redirect_slashes=False, default=self._authenticated)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check host, origin, size, rate and token; pass the request on and log one line."""
        began, status = time.monotonic(), 0
        cors: dict[str, str] = {}
        headers = scope["known_headers"] = _headers(scope["headers"])
        scope.update(app=self, max_body_bytes=self._settings.max_body_bytes)
        unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"

        async def read() -> Message:
            nonlocal unread
            message = await receive()
            unread = message.get("more_body", False)
            return message

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                response_headers = MutableHeaders(scope=message)
                if not scope.get("public"):
                    del response_headers["cache-control"]
                for name, value in (SECURITY | cors).items():
                    response_headers.setdefault(name, value)
            await send(message)

        try:
            cors = self._check_host_and_origin(headers)
            app = self._app_for(Request(scope, read), preflight=bool(cors))
            await app(scope, read, answer)
        except Exception as error:  # noqa: BLE001 - one request must not end the connection
            if status:  # end the started answer
                await send({"type": "http.response.body", "body": b""})
            else:
                closes = headers.get("connection", "").lower() == "close"
                if unread and closes and "expect" not in headers:
                    await _drop_body(receive)  # otherwise a TCP reset may discard the answer
                await error_response(_known(error))(scope, receive, answer)
        finally:
            self._log(scope, status, time.monotonic() - began)

    def _app_for(self, request: Request, *, preflight: bool) -> ASGIApp:
        """Return what answers the request: a file of the page, a preflight, or the routes."""
        if file := page_file(request):
            request.scope["public"] = True
            return file
        if preflight and request.method == "OPTIONS":
            return Response(status_code=204)
        return self._routes

    async def _health(self, _: Request) -> JsonResponse:
        return JsonResponse({"status": "ok", "run": self._run})

    async def _signed_in(self, request: Request) -> JsonResponse:
        """Exchange the one-time code of `vault-index open` for a key for this server."""
        code = (await read_params(request)).get("code")
        with _logging_token_errors():
            made = await self._sign(code) if isinstance(code, str) else {}
        if not made:
            self._count_failure(request.scope)
            hint = "open the page again: vault-index open"
            raise Refusal("the sign-in code is invalid or expired", hint, 401)
        request.scope["known"] = made["name"]
        key = page_key(made.pop("token"), _port(request.scope))
        return JsonResponse({**made, "key": key})

    async def _authenticated(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request of a valid token on; end a long answer when the token is revoked."""
        scheme, _, secret = scope["known_headers"].get("authorization", "").partition(" ")
        secret = secret.strip() if scheme.lower() == "bearer" else ""
        caller = await self._look_up(secret, scope)
        if caller is None:
            self._count_failure(scope)
            raise _unknown()
        scope["known"] = caller.name
        if seconds := self._rates.wait(caller.name, time.monotonic()):
            raise _too_many("too many requests with this token", seconds)
        scope["caller"] = caller
        answering = asyncio.ensure_future(self._app(scope, receive, send))
        try:
            while not (await asyncio.wait((answering,), timeout=_LOOK_SECONDS))[0]:
                if await self._look_up(secret, scope) != caller:
                    answering.cancel()
                    await asyncio.wait((answering,), timeout=1)
                    raise _unknown()
            answering.result()
        finally:
            answering.cancel()

    def _check_host_and_origin(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Check the host and the origin; return the CORS headers of the answer.

        After DNS rebinding, a page of another site names its own host and origin, and is refused.
        """
        # A proxy may interpret them differently.
        if "transfer-encoding" in headers and "content-length" in headers:
            message = "both Content-Length and Transfer-Encoding are given"
            raise Refusal(message, "send only one", 400, _CLOSE)
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if sum(len(key) + len(value) for key, value in headers.items()) > HEADER_BYTES:
            raise Refusal("the headers are too long", "send fewer headers", 431, _CLOSE)
        name = _HOST.fullmatch(host)
        if name is None or not {host, name[1]} & self._hosts:
            raise Refusal("unknown host name", "add the name to serve.hosts", 421)
        if origin in self._settings.origins:
            return {"access-control-allow-origin": origin, **_CORS}
        if origin is not None and origin.lower() != f"{self._scheme}://{host}":
            raise Refusal("this origin is not allowed", "add the origin to serve.origins", 403)
        return {}

    def _count_failure(self, scope: Scope) -> None:
        """Count a failed login. Raises Refusal after too many from one address.

        Behind a proxy, the address is the last one in its header, because earlier ones may be
        forged.
        """
        proxied = self._settings.behind_proxy
        forwarded = scope["known_headers"].get("x-forwarded-for", "") if proxied else ""
        address = forwarded.rpartition(",")[2].strip()[:64] or (scope["client"] or ("",))[0]
        if seconds := self._failed.wait(address, time.monotonic()):
            raise _too_many("too many requests without a valid token", seconds)

    async def _look_up(self, secret: str, scope: Scope) -> Caller | None:
        """Return the caller with a token; a lost database of tokens keeps no other request."""
        if not self._tokens.is_remote:
            return self._find(secret, scope)
        return await asyncio.to_thread(self._find, secret, scope)

    def _find(self, secret: str, scope: Scope) -> Caller | None:
        if not secret:
            return None
        with _logging_token_errors():
            return self._tokens.find(secret, time.time(), _port(scope), self._run)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """Log the request with its path only if known, because a URL may contain a token."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = getattr(scope.get("route"), "path", "(unknown)")
        log_event(
            log, logging.INFO, "request", method=method, path=scope.get("shown", route),
            status=status, ms=round(seconds * 1000, 1), token=scope.get("known", "-"),
        )  # fmt: skip


async def _drop_body(receive: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_DROP_SECONDS):
            while (await receive()).get("more_body"):
                pass


def _port(scope: Scope) -> str:
    """Return the listening port, whatever name or port the client used."""
    return str(scope["server"][1])


@contextmanager
def _logging_token_errors() -> Iterator[None]:
    """Log an unreadable token file, and hide its details from the caller."""
    try:
        yield
    except PoolError:
        raise
    except VaultIndexError as error:
        log_event(log, logging.ERROR, "tokens not read", message=error.message, hint=error.hint)
        raise Refusal("the tokens cannot be read", "see the log of the server", 503) from error


def _known(error: Exception) -> VaultIndexError:
    """Return the error to answer with; log one that is not expected."""
    if isinstance(error, VaultIndexError):
        return error
    if isinstance(error, HTTPException) and error.headers:  # of a route, for another method
        return not_allowed(error.headers["Allow"])
    log_event(log, logging.ERROR, "request failed", error=error_location(error))
    return DefectError("internal server error", "see the log of the server")


def not_allowed(methods: str) -> Refusal:
    """Return the error 405 that names the allowed methods."""
    message = "this path does not support the method"
    return Refusal(message, f"use {methods}", 405, {"allow": methods})


def _unknown() -> Refusal:
    hint = "send the header Authorization: Bearer TOKEN; create a token with: vault-index token add"
    return Refusal("a valid token is required", hint, 401, {"www-authenticate": "Bearer"})


def _too_many(message: str, seconds: int) -> Refusal:
    return Refusal(message, "wait, then try again", 429, {"retry-after": str(seconds)})


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the headers by name.

    Duplicates are joined with a comma, which matches no expected value.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


class Rates:
    """Token buckets by name (https://en.wikipedia.org/wiki/Token_bucket).

    Each allows `rate` requests per second, and `burst` after a pause. Only the `most` recent names
    are stored.
    """

    def __init__(self, rate: float, burst: float, most: int = 4096) -> None:
        self._rate, self._burst, self._most = rate, burst, most
        self._left: dict[str, tuple[float, float]] = {}
        """Remaining requests and time by name, most recent last."""

    def wait(self, name: str, now: float) -> int:
        """Count a request; return 0 if allowed, else the seconds to wait."""
        left, since = self._left.pop(name, (self._burst, now))
        left = min(self._burst, left + (now - since) * self._rate)
        allowed = left >= 1
        self._left[name] = (left - allowed, now)
        if len(self._left) > self._most:
            del self._left[next(iter(self._left))]
        return 0 if allowed else math.ceil((1 - left) / self._rate)
