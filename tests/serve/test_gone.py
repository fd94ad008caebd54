"""Clients that hang up before the answer, as a page does at the next key."""

import asyncio
import threading
from typing import Any, cast

import pytest
from starlette.routing import Router

from tests.waiting import PATIENCE
from vault_index.callers import Caller
from vault_index.mcp_server.backend import Backend
from vault_index.serve import api as serve_api
from vault_index.serve.api import Api


class _Slow:
    """Answers when `let` is set, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.begun, self.let = threading.Event(), threading.Event()

    def call(self, method: str, params: dict[str, Any], caller: Caller) -> dict[str, Any]:
        self.asked.append((method, params.get("query")))
        self.begun.set()
        assert self.let.wait(PATIENCE)
        return {}


async def _ask(api: Api, method: str, query: str, *, gone: bool) -> None:
    async def receive() -> dict[str, Any]:
        if first:
            return first.pop()
        if not gone:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None: ...

    first = [{"type": "http.request", "body": b'{"query": "%s"}' % query.encode()}]
    scope = {
        "type": "http", "path": f"/api/{method}", "method": "POST", "caller": Caller("page", writes=True),
        "headers": [], "known_headers": {"content-type": "application/json"}, "max_body_bytes": 1000,
    }  # fmt: skip
    await Router(api.routes)(scope, receive, send)


def test_api_calls_the_daemon_for_a_client_that_left_only_to_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_api, "READERS", 1)
    slow = _Slow()

    async def asking() -> None:
        api = Api(cast(Backend, slow))
        first = asyncio.create_task(_ask(api, "search", "w", gone=False))
        await asyncio.to_thread(slow.begun.wait, PATIENCE)
        others = [("search", "wa", True), ("undo", "wal", True), ("search", "walr", False)]
        later = [asyncio.create_task(_ask(api, method, query, gone=gone)) for method, query, gone in others]
        for _ in range(10):  # now they wait for their turn, and the server knows which client is gone
            await asyncio.sleep(0)
        slow.let.set()
        await asyncio.gather(first, *later)

    asyncio.run(asking())
    assert sorted(slow.asked) == [("search", "w"), ("search", "walr"), ("undo", "wal")]
