"""`vault-index serve`: open the socket and run the applications behind the guard until a signal."""

import asyncio
import contextlib
import ipaddress
import logging
import os
import resource
import signal
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import anyio.to_thread
import uvicorn
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from vault_index.access import Tokens
from vault_index.config import Home, load_config
from vault_index.config.schema import ServeConfig
from vault_index.config.validate import address_of
from vault_index.daemon.log import log_event, logging_to
from vault_index.daemon.system import notify, watchdog_interval
from vault_index.errors import BusyError, ConfigError, NotFoundError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.address import address_for_browsers, publish_address
from vault_index.serve.api import READERS, Api
from vault_index.serve.connections import MOST, Connection
from vault_index.serve.events import Events
from vault_index.serve.guard import HEADER_BYTES, Guard
from vault_index.serve.mcp import Mcp
from vault_index.serve.page.app import Page

log = logging.getLogger(__name__)

_BACKLOG = 128
"""Connections accepted at once before any is handled."""
_TLS_SECONDS = 10.0
_FILES = 8192
"""Maximum open files, if the system allows: connections count before this server can close them."""
_KEEP_SECONDS = 75
"""Seconds that a connection may be idle."""


def run(
    home: Home,
    options: Sequence[str],
    *,
    listen: str = "",
    pool: bool = False,
    log_level: str = "info",
    say: Callable[[str], object] = print,
) -> int:
    """Serve until SIGTERM or SIGINT, and return the exit code; `say` gets the address.

    With `pool`, answer from the team's pool, to the tokens of its members.

    Call it from the main thread. Raises ConfigError for an unsafe address, BusyError for one in
    use.
    """
    settings = load_config(home).serve
    host, port = address_of(listen or settings.listen)
    tokens, backend = Tokens(home.tokens_file), Backend(home, options)
    if pool:
        from vault_index.serve.pool import PoolBackend, PoolTokens  # late: needs the extra `team`

        backend = PoolBackend(home)
        tokens = PoolTokens(home, backend.connections)
    _refuse_open(host, settings, tokens)
    with _listening(host, port) as listener, logging_to(home.serve_log, log_level):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(
            resource.RLIMIT_NOFILE,
            (_FILES if most == resource.RLIM_INFINITY else min(_FILES, most), most),
        )
        # Its messages may quote requests.
        logging.getLogger("mcp").setLevel(logging.CRITICAL)
        place = f"[{host}]" if ":" in host else host
        scheme = "https" if settings.certificate else "http"
        where = f"{scheme}://{place}:{listener.getsockname()[1]}"
        page, mcp = Page(backend), Mcp(backend)
        of_home = () if pool else (*page.routes, Route("/events", Events(backend).stream))
        routes = [*Api(backend).routes, Route("/mcp", mcp), *of_home]
        app = Router(routes, redirect_slashes=False, default=_unknown_path)
        guard = Guard(app, settings, tokens, host, page.sign)
        server = _Server(_configured(guard, settings), where, say)
        threading.Thread(target=backend.prepare, daemon=True).start()
        with publish_address(home.serve_file, address_for_browsers(where, settings)):
            asyncio.run(_serve(server, listener, mcp))
    return 0


async def _serve(server: "_Server", listener: socket.socket, mcp: Mcp) -> None:
    anyio.to_thread.current_default_thread_limiter().total_tokens = READERS
    async with mcp.manager.run():
        await server.serve(sockets=[listener])


async def _unknown_path(scope: Scope, receive: Receive, send: Send) -> None:
    raise NotFoundError("unknown path", "see /openapi.json")


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, where: str, say: Callable[[str], object]) -> None:
        super().__init__(config)
        self._where, self._say = where, say
        self.servers: list[asyncio.base_events.Server] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Like uvicorn's, with a shorter timeout for TLS handshakes (default: a minute)."""
        loop, config = asyncio.get_running_loop(), self.config
        connection = partial(Connection, config, self.server_state, {}, loop)
        wait = _TLS_SECONDS if config.ssl else None
        for one in sockets or ():
            listening = loop.create_server(
                connection, sock=one, ssl=config.ssl, backlog=_BACKLOG, ssl_handshake_timeout=wait
            )
            self.servers.append(await listening)
        self.started = True
        log_event(log, logging.INFO, "ready", address=self._where)
        self._say(
            f"vault-index: serving on {self._where} "
            "(create a token: vault-index token add NAME --read)"
        )
        notify(f"READY=1\nSTATUS=serving on {self._where}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        notify("STOPPING=1")
        # Uvicorn would log each connection that is closed now.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        await super().shutdown(sockets)
        log_event(log, logging.INFO, "stopped")

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Like uvicorn's, but a signal is not a failure."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.handle_exit)
        yield


async def _watchdog() -> None:
    notify("WATCHDOG=1")


def _configured(app: Any, settings: ServeConfig) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        http=Connection,
        loop="asyncio",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=2 * MOST,
        timeout_keep_alive=_KEEP_SECONDS,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=HEADER_BYTES,
        ssl_certfile=settings.certificate or None,
        ssl_keyfile=settings.key or None,
        callback_notify=_watchdog,
        timeout_notify=int(watchdog_interval() or 3600),
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            "the certificate or its key cannot be used: "
            f"{error.strerror or 'they are not matching PEM files'}",
            "check serve.certificate and serve.key",
        ) from error
    return config


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise BusyError(
            f"cannot listen at {host}, port {port}: {os.strerror(error.errno or 0).lower()}",
            "choose another address: vault-index serve --listen HOST:PORT",
        ) from error
    # Connections inherit it. asyncio sets it itself only for sockets that name their protocol, and
    # without it each answer waits 40 ms for the acknowledgement of its headers.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with listener:
        yield listener


def _refuse_open(host: str, settings: ServeConfig, tokens: Tokens) -> None:
    """Raise ConfigError for a public address without encryption or without valid tokens."""
    with contextlib.suppress(ValueError):
        if host == "localhost" or ipaddress.ip_address(host).is_loopback:
            return
    if not (settings.certificate or settings.behind_proxy):
        raise ConfigError(
            f"{host} is reachable from other machines, but connections to it are not encrypted",
            "set serve.certificate and serve.key, or serve.behind_proxy if a proxy terminates TLS",
        )
    if not tokens.is_remote and not any(
        one.expires is None or one.expires > time.time() for one in tokens.all()
    ):
        raise ConfigError(
            f"{host} is reachable from other machines, and there is no token",
            "create one: vault-index token add",
        )
