"""Check every request: host, origin, token, rate and size; and log it."""

import asyncio
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from vault_index.access import Tokens, page_key
from vault_index.callers import Caller
from vault_index.config.schema import ServeConfig
from vault_index.daemon.log import error_location, log_event
from vault_index.errors import DefectError, ForbiddenError, VaultIndexError
from vault_index.serve.answers import (
    SECURITY,
    App,
    Headers,
    Receive,
    Refusal,
    Scope,
    Send,
    send_error,
    send_json,
)
from vault_index.serve.limits import Rates
from vault_index.serve.page.site import send_file

log = logging.getLogger(__name__)

HEADER_BYTES = 32_768
BODY_SECONDS = 10.0
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
_SHARED = (
    b"access-control-allow-headers: authorization, content-type, accept, last-event-id, "
    b"mcp-protocol-version, mcp-session-id, mcp-method, mcp-name",
    b"access-control-allow-methods: GET, POST, DELETE",
    b"access-control-expose-headers: mcp-session-id, retry-after",
    b"access-control-max-age: 600",
    b"vary: origin",
)
"""CORS headers for a page in `serve.origins`."""


Sign = Callable[[str], Awaitable[dict[str, Any]]]


class Guard:
    """Passes requests to `app`, with the caller in `scope["caller"]`.

    `host` is the listening address. `sign` returns a token for the page's one-time code, or an
    empty dict.
    """

    def __init__(
        self, app: App, settings: ServeConfig, tokens: Tokens, host: str, sign: Sign
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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check host, origin, size, rate and token; pass the request on and log one line."""
        began, status = time.monotonic(), 0
        more: Headers = []
        headers = _headers(scope["headers"])
        unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"

        async def read() -> Any:
            nonlocal unread
            message = await receive()
            unread = message.get("more_body", False)
            return message

        async def answer(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                kept = [
                    one
                    for one in message["headers"]
                    if scope.get("public") or one[0].lower() != b"cache-control"
                ]
                said = {name.lower() for name, _ in kept}
                message = {
                    **message,
                    "headers": [*kept, *(one for one in SECURITY if one[0] not in said), *more],
                }
            await send(message)

        try:
            await self._let_in(scope, headers, read, answer, more)
        except Exception as error:  # noqa: BLE001 - one request must not end the connection
            if not isinstance(error, VaultIndexError):
                log_event(log, logging.ERROR, "request failed", error=error_location(error))
                error = DefectError("internal server error", "see the log of the server")
            if status:  # end the started answer
                await send({"type": "http.response.body", "body": b""})
            else:
                if (
                    unread
                    and headers.get("connection", "").lower() == "close"
                    and "expect" not in headers
                ):
                    await _drop_body(receive)  # otherwise a TCP reset may discard the answer
                await send_error(answer, error)
        finally:
            self._log(scope, status, time.monotonic() - began)

    async def _let_in(
        self,
        scope: Scope,
        headers: Mapping[str, str],
        receive: Receive,
        answer: Send,
        more: Headers,
    ) -> None:
        self._check_host_and_origin(headers, more)
        method, path = scope["method"], scope["path"]
        if path == "/healthz":
            if method not in ("GET", "HEAD"):
                raise not_allowed("GET")
            scope["shown"] = path
            await send_json(answer, 200, {"status": "ok", "run": self._run})
            return
        scope["public"] = True
        if await send_file(scope, answer):
            return
        scope["public"] = False
        if more and method == "OPTIONS":
            await answer({"type": "http.response.start", "status": 204, "headers": []})
            await answer({"type": "http.response.body", "body": b""})
            return
        scope["body"] = lambda: read_body(headers, receive, self._settings.max_body_bytes)
        if path == "/signin":
            scope["shown"] = path
            await self._sign_in(scope, answer, headers)
            return
        secret = _secret(headers)
        caller = self._caller(secret, scope, headers)
        if seconds := self._rates.wait(caller.name, time.monotonic()):
            raise _too_many("too many requests with this token", seconds)
        scope["caller"] = caller
        answering = asyncio.ensure_future(self._app(scope, receive, answer))
        try:
            while not (await asyncio.wait((answering,), timeout=_LOOK_SECONDS))[0]:
                if self._find(secret, scope) != caller:
                    answering.cancel()
                    await asyncio.wait((answering,), timeout=1)
                    raise _unknown()
            answering.result()
        finally:
            answering.cancel()

    async def _sign_in(self, scope: Scope, answer: Send, headers: Mapping[str, str]) -> None:
        """Exchange the one-time code of `vault-index open` for a key for this server."""
        if scope["method"] != "POST":
            raise not_allowed("POST")
        params = parse_json(await scope["body"]())
        code = params.get("code") if isinstance(params, dict) else None
        with _logging_token_errors():
            made = await self._sign(code) if isinstance(code, str) else {}
        if not made:
            self._count_failure(scope, headers)
            raise Refusal(
                "the sign-in code is invalid or expired",
                "open the page again: vault-index open",
                401,
            )
        scope["known"] = made["name"]
        key = page_key(made.pop("token"), _place(scope))
        await send_json(answer, 200, {**made, "key": key})

    def _check_host_and_origin(self, headers: Mapping[str, str], more: Headers) -> None:
        """Check the host and the origin; add CORS headers to `more`.

        After DNS rebinding, a page of another site names its own host and origin, and is refused.
        """
        # A proxy may interpret them differently.
        if "transfer-encoding" in headers and "content-length" in headers:
            close = [(b"connection", b"close")]
            raise Refusal(
                "both Content-Length and Transfer-Encoding are given", "send only one", 400, close
            )
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if sum(len(key) + len(value) for key, value in headers.items()) > HEADER_BYTES:
            raise Refusal(
                "the headers are too long", "send fewer headers", 431, [(b"connection", b"close")]
            )
        name = _HOST.fullmatch(host)
        if name is None or not {host, name[1]} & self._hosts:
            raise Refusal("unknown host name", "add the name to serve.hosts", 421)
        if origin in self._settings.origins:
            told = (b"access-control-allow-origin: " + origin.encode("latin-1"), *_SHARED)
            more += [(name, value) for name, _, value in (line.partition(b": ") for line in told)]
        elif origin is not None and origin.lower() != f"{self._scheme}://{host}":
            raise Refusal("this origin is not allowed", "add the origin to serve.origins", 403)

    def _caller(self, secret: str, scope: Scope, headers: Mapping[str, str]) -> Caller:
        caller = self._find(secret, scope)
        if caller is not None:
            scope["known"] = caller.name
            return caller
        self._count_failure(scope, headers)
        raise _unknown()

    def _count_failure(self, scope: Scope, headers: Mapping[str, str]) -> None:
        """Count a failed login. Raises Refusal after too many from one address."""
        if seconds := self._failed.wait(self._address(scope, headers), time.monotonic()):
            raise _too_many("too many requests without a valid token", seconds)

    def _find(self, secret: str, scope: Scope) -> Caller | None:
        with _logging_token_errors():
            return (
                self._tokens.find(secret, time.time(), _place(scope), self._run) if secret else None
            )

    def _address(self, scope: Scope, headers: Mapping[str, str]) -> str:
        """Return the client's address.

        Behind a proxy, the last one in the header, because earlier ones may be forged.
        """
        forwarded = headers.get("x-forwarded-for", "") if self._settings.behind_proxy else ""
        return forwarded.rpartition(",")[2].strip()[:64] or (scope["client"] or ("",))[0]

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        """Log the request with its path only if known, because a URL may contain a token."""
        method = scope["method"] if scope["method"] in _METHODS else "other"
        log_event(
            log, logging.INFO, "request", method=method, path=scope.get("shown", "(unknown)"),
            status=status, ms=round(seconds * 1000, 1), token=scope.get("known", "-"),
        )  # fmt: skip


async def read_body(headers: Mapping[str, str], receive: Receive, most: int) -> bytes:
    """Read a JSON body within the limits. Raises Refusal."""
    if (
        not headers.keys() & {"content-type", "transfer-encoding"}
        and headers.get("content-length", "0") == "0"
    ):
        return b""
    kind, _, more = headers.get("content-type", "").lower().partition(";")
    charset = more.replace(" ", "")
    if kind.strip() != "application/json" or charset not in (
        "",
        "charset=utf-8",
        'charset="utf-8"',
    ):
        raise Refusal("the content type must be application/json", "send JSON in UTF-8", 415)
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise Refusal("the body is compressed", "send it uncompressed", 415)
    length = headers.get("content-length", "0")
    if (int(length) if length.isdecimal() else 0) > most:
        raise _too_long(most)
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > most:
                    raise _too_long(most)
                if message["type"] == "http.disconnect" or not message.get("more_body"):
                    return bytes(body)
    except TimeoutError as error:
        close = [(b"connection", b"close")]
        raise Refusal(
            "the body did not arrive in time", "send it without delay", 408, close
        ) from error


async def _drop_body(receive: Receive) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(_DROP_SECONDS):
            while (await receive()).get("more_body"):
                pass


def _place(scope: Scope) -> str:
    """Return the listening port, whatever name or port the client used."""
    return str(scope["server"][1])


def parse_json(body: bytes) -> Any:
    """Parse a JSON body. Raises Refusal, also for NaN and duplicate keys."""
    try:
        # int("NaN") raises ValueError.
        return json.loads(body.decode(), parse_constant=int, object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise Refusal("the body is not valid JSON in UTF-8", "send a JSON object", 400) from error


@contextmanager
def _logging_token_errors() -> Iterator[None]:
    """Log an unreadable token file, and hide its details from the caller."""
    try:
        yield
    except ForbiddenError:
        raise
    except VaultIndexError as error:
        log_event(log, logging.ERROR, "tokens not read", message=error.message, hint=error.hint)
        raise Refusal("the tokens cannot be read", "see the log of the server", 503) from error


def not_allowed(*methods: str) -> Refusal:
    """Return the error 405 that names the allowed methods."""
    allowed = ", ".join(methods)
    return Refusal(
        "this path does not support the method",
        f"use {allowed}",
        405,
        [(b"allow", allowed.encode())],
    )


def _too_long(most: int) -> Refusal:
    return Refusal(
        f"the body is longer than {most} bytes", "send less, or raise serve.max_body_bytes", 413
    )


def _unknown() -> Refusal:
    hint = "send the header Authorization: Bearer TOKEN; create a token with: vault-index token add"
    return Refusal("a valid token is required", hint, 401, [(b"www-authenticate", b"Bearer")])


def _too_many(message: str, seconds: int) -> Refusal:
    return Refusal(message, "wait, then try again", 429, [(b"retry-after", b"%d" % seconds)])


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    """Return the headers by name.

    Duplicates are joined with a comma, which matches no expected value.
    """
    found: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1"), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _secret(headers: Mapping[str, str]) -> str:
    scheme, _, secret = headers.get("authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("duplicate key")
    return found
