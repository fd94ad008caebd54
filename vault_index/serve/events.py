"""`/events`: changes of a caller's documents as server-sent events (HTML standard, 9.2).

A client that reconnects with the id of its last event is told whether it missed a change.
"""

import json
from collections import Counter
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from vault_index.callers import Caller
from vault_index.errors import BusyError, VaultIndexError
from vault_index.mcp_server.backend import Backend

_POLL_SECONDS = 0.5
_AGAIN_SECONDS = 2.0
"""Seconds between requests to the daemon after a failure."""
_MOST, _MOST_OF_ONE = 256, 32
"""Maximum number of clients, and of clients with the same token."""
_POLLS = 2
"""Maximum concurrent requests to the daemon, so that searches stay fast."""

Answer = dict[str, Any]
"""The answer of the daemon to `changes`."""


class Events:
    """The endpoint behind the guard, which ends the streams of revoked tokens."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._polls = anyio.CapacityLimiter(_POLLS)
        self._listening: Counter[str] = Counter()

    async def stream(self, request: Request) -> EventSourceResponse:
        """Send change events until the client disconnects or its token is revoked."""
        caller: Caller = request.scope["caller"]
        if self._listening.total() >= _MOST or self._listening[caller.name] >= _MOST_OF_ONE:
            raise BusyError("too many event streams", "close one of them")
        first = await self._ask(caller, request.headers.get("last-event-id", "")[:100])
        ping = partial(ServerSentEvent, comment="still here", sep="\n")
        return EventSourceResponse(self._events(caller, first), sep="\n", ping_message_factory=ping)

    async def _ask(self, caller: Caller, serial: str) -> Answer:
        return await anyio.to_thread.run_sync(
            self._backend.call, "changes", {"since": serial}, caller,
            abandon_on_cancel=True, limiter=self._polls,
        )  # fmt: skip

    async def _events(self, caller: Caller, answer: Answer) -> AsyncIterator[dict[str, Any]]:
        self._listening[caller.name] += 1
        try:
            yield {"id": answer["serial"], "retry": 2000}
            progress = None
            while True:
                if answer["changed"] or answer.get("progress") != progress:
                    progress = answer.get("progress")
                    yield _event(answer)
                answer = await self._next(caller, answer)
        finally:
            self._listening[caller.name] -= 1

    async def _next(self, caller: Caller, answer: Answer) -> Answer:
        """Return the next answer of the daemon; ask again while it does not run."""
        await anyio.sleep(_POLL_SECONDS)
        while True:
            try:
                return await self._ask(caller, answer["serial"])
            except VaultIndexError:
                await anyio.sleep(_AGAIN_SECONDS)


def _event(answer: Answer) -> dict[str, Any]:
    name = "changed" if answer["changed"] else "progress"
    state = {key: answer[key] for key in ("documents", "progress") if key in answer}
    data = json.dumps(state, separators=(",", ":"))
    return {"data": data, "event": name, "id": answer["serial"]}
