"""`/events`: changes of a caller's documents as server-sent events (HTML standard, 9.2).

All clients of one scope share one request to the daemon, which waits for changes. Each event is
sent at least once: a client that reconnects with the id of its last event gets what it missed,
possibly twice.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import anyio.to_thread

from vault_index import callers
from vault_index.callers import Caller
from vault_index.errors import BusyError, VaultIndexError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.answers import Receive, Scope, Send, disconnected
from vault_index.serve.guard import not_allowed

_HEARTBEAT_SECONDS = 15.0
_WAIT_SECONDS = 15.0
"""Seconds that a request to the daemon waits."""
_AGAIN_SECONDS = 2.0
"""Seconds between requests after a failure, or for scopes without waiting."""
_MOST, _MOST_OF_ONE = 256, 32
"""Maximum number of clients, and of clients with the same token."""
_MOST_FEEDS, _MOST_WAITING = 12, 8
"""Maximum number of scopes, and of scopes with a permanent connection to the daemon."""
_MOST_BEHIND = 64
"""Maximum number of events queued for a slow client."""
_START = [(b"content-type", b"text/event-stream"), (b"x-accel-buffering", b"no")]

Ask = Callable[[str, float], dict[str, Any]]
"""Request `changes` of the daemon: since a serial, with the seconds to wait."""


class Events:
    """The application behind the guard, which ends the streams of revoked tokens."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._feeds: dict[callers.Scope, _Feed] = {}
        self._listening: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send change events until the client disconnects or its token is revoked."""
        if scope["method"] != "GET":
            raise not_allowed("GET")
        caller: Caller = scope["caller"]
        if self._listening.total() >= _MOST or self._listening[caller.name] >= _MOST_OF_ONE:
            raise BusyError("too many event streams", "close one of them")
        feed = self._feed(caller)
        last = next((value for name, value in scope["headers"] if name == b"last-event-id"), b"")
        self._listening[caller.name] += 1
        client = _Client()
        feed.clients.add(client)
        try:
            first = await feed.join(client, last.decode("latin-1")[:100])
            await send({"type": "http.response.start", "status": 200, "headers": _START})
            await client.stream(first, receive, send)
        finally:
            feed.clients.discard(client)
            self._listening[caller.name] -= 1
            self._listening += Counter()  # removes entries of 0

    def _feed(self, caller: Caller) -> "_Feed":
        feed = self._feeds.get(caller.scope)
        if feed is None:
            if len(self._feeds) >= _MOST_FEEDS:
                raise BusyError(
                    "event streams exist for too many different scopes", "try again later"
                )
            wait = _WAIT_SECONDS if len(self._feeds) < _MOST_WAITING else 0.0

            def ask(since: str, seconds: float) -> dict[str, Any]:
                return self._backend.call(
                    "changes", {"since": since, "wait": min(seconds, wait)}, caller
                )

            feed = self._feeds[caller.scope] = _Feed(
                ask, wait, partial(self._feeds.pop, caller.scope, None)
            )
        return feed


class _Feed:
    """The clients of one scope. Everything except `_listen` runs in the event loop."""

    def __init__(self, ask: Ask, wait: float, ended: Callable[[], object]) -> None:
        self.clients: set[_Client] = set()
        self._ask, self._wait, self._ended = ask, wait, ended
        self._joining = asyncio.Lock()
        self._listens = False

    async def join(self, client: "_Client", last: str) -> bytes:
        """Return the first event of a client; later events are queued for it.

        Raises VaultIndexError.
        """
        try:
            async with self._joining:  # so that `_listen` starts no later than this serial
                answer = await anyio.to_thread.run_sync(
                    self._ask, last, 0.0, abandon_on_cancel=True
                )
                client.serial = str(answer["serial"])
                if not self._listens:
                    self._listens = True
                    loop = asyncio.get_running_loop()
                    # Not from a pool, whose threads delay the exit.
                    threading.Thread(
                        target=self._listen, args=(client.serial, loop), daemon=True
                    ).start()
        except BaseException:
            if not self._listens and self.clients <= {client}:
                self._ended()
            raise
        known = f"retry: 2000\nid: {client.serial}\n\n".encode()
        return known + _event(answer) if answer["changed"] or "progress" in answer else known

    def _listen(self, serial: str, loop: asyncio.AbstractEventLoop) -> None:
        """Request changes in a separate thread as long as there are clients."""
        pause, answer = threading.Event(), None
        while True:
            try:
                answer = self._ask(serial, _WAIT_SECONDS)
            except VaultIndexError:  # a restarted daemon resets the serial
                answer = None
            news = answer if answer is not None and answer["serial"] != serial else None
            serial = serial if answer is None else str(answer["serial"])
            try:
                if not asyncio.run_coroutine_threadsafe(self._tell(news), loop).result():
                    return
            except RuntimeError:  # the loop is closed
                return
            if answer is None or not self._wait:
                pause.wait(_AGAIN_SECONDS)

    async def _tell(self, answer: dict[str, Any] | None) -> bool:
        """Queue an answer for all clients; return whether any client is left."""
        if answer is not None:
            event = _event(answer)
            for client in tuple(self.clients):
                if not client.put(str(answer["serial"]), event):
                    self.clients.discard(client)
        if not self.clients:
            self._ended()
        return bool(self.clients)


class _Client:
    def __init__(self) -> None:
        self.serial = ""
        """The last serial that it has."""
        self._events: asyncio.Queue[tuple[str, bytes]] = asyncio.Queue(_MOST_BEHIND)
        self._dropped = asyncio.Event()

    def put(self, serial: str, event: bytes) -> bool:
        """Queue an event; False if the queue is full, which ends the connection."""
        with suppress(asyncio.QueueFull):
            self._events.put_nowait((serial, event))
            return True
        self._dropped.set()
        return False

    async def stream(self, first: bytes, receive: Receive, send: Send) -> None:
        """Send events until the client disconnects or is dropped."""
        await send({"type": "http.response.body", "body": first, "more_body": True})
        gone, event = (
            asyncio.ensure_future(disconnected(receive)),
            asyncio.ensure_future(self._events.get()),
        )
        try:
            while not (gone.done() or self._dropped.is_set()):
                await asyncio.wait(
                    (gone, event), timeout=_HEARTBEAT_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                body = b": still here\n\n"
                if event.done():
                    serial, body = event.result()
                    event = asyncio.ensure_future(self._events.get())
                    if _is_known(serial, self.serial):
                        continue
                await send({"type": "http.response.body", "body": body, "more_body": True})
        finally:
            gone.cancel()
            event.cancel()
        await send({"type": "http.response.body", "body": b""})


def _is_known(serial: str, known: str) -> bool:
    """Return whether a serial is not newer than another of the same daemon."""
    (name, _, number), (other, _, last) = serial.rpartition("-"), known.rpartition("-")
    return name == other and int(number) <= int(last)


def _event(answer: dict[str, Any]) -> bytes:
    name = "changed" if answer["changed"] else "progress"
    state = {key: answer[key] for key in ("documents", "progress") if key in answer}
    data = json.dumps(state, separators=(",", ":"))
    return f"event: {name}\nid: {answer['serial']}\ndata: {data}\n\n".encode("ascii")
