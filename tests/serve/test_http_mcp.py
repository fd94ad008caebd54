"""MCP over HTTP with a token, in both eras of the protocol, with the SDK's client."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from tests.waiting import PATIENCE
from tests.world import Served, World, bearer
from vault_index.access import Tokens

OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@asynccontextmanager
async def client(served: Served, token: str, mode: str, **more: Any) -> AsyncIterator[Client]:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)
    url = f"http://127.0.0.1:{served.port}/mcp"
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode, **more) as connected:
        yield connected


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_http_mcp_tools_answer_in_both_eras(served: Served, world: World, mode: str) -> None:
    writer, reader = (world.token(f"{name}-{mode}", writes=name == "writer") for name in ("writer", "reader"))

    async def asked() -> None:
        async with client(served, writer, mode) as connected:
            tools = {tool.name for tool in (await connected.list_tools()).tools}
            assert {"memory_search", "memory_store"} <= tools
            found = await connected.call_tool("memory_search", {"query": "readers wait"})
            assert not found.is_error, found
            assert "wal.md" in str(found.structured_content)
            added = await connected.call_tool("memory_store", {"content": f"An idea of {mode}.", "title": mode})
            assert not added.is_error, added
            ref = (added.structured_content or {})["id"]
            changed = await connected.call_tool("memory_update", {"ref": ref, "content": "Another."})
            assert not changed.is_error, changed
            read = await connected.call_tool("memory_get", {"ref": ref, "full": True})
            [text] = (read.structured_content or {})["results"]
            assert text["metadata"]["entered_by"] == f"writer-{mode}"
        async with client(served, reader, mode) as connected:
            tools = {tool.name for tool in (await connected.list_tools()).tools}
            for name in ("memory_store", "memory_update", "memory_delete"):
                assert name not in tools
                refused = await connected.call_tool(name, {"ref": ref, "content": "No."})
                assert "there is no tool" in str(refused), name

    anyio.run(asked)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_http_mcp_asks_the_user_before_a_delete(served: Served, world: World, mode: str) -> None:
    token, said = world.token(f"asked-{mode}", writes=True), ["decline", "accept"]

    async def user(context: Any, params: Any) -> types.ElicitResult:
        assert "asked-" in params.message
        return types.ElicitResult(action=said.pop(0))  # type: ignore[arg-type]

    async def asked() -> None:
        async with client(served, token, mode, elicitation_callback=user) as connected:
            added = await connected.call_tool("memory_store", {"content": "Gone soon.", "title": f"asked-{mode}"})
            ref = (added.structured_content or {})["id"]
            outcomes = [await connected.call_tool("memory_delete", {"ref": ref}) for _ in range(2)]
            assert [one.is_error for one in outcomes] == [True, False]
            uri = f"vault-index://vault/{(added.structured_content or {})['path']}"
            with pytest.raises(MCPError, match="there is no resource"):
                await connected.read_resource(uri)

    anyio.run(asked)


def test_http_mcp_session_belongs_to_its_token(served: Served, world: World) -> None:
    anna, bert = world.token("anna", writes=True), world.token("bert")
    opened = mcp(served, anna, OPENING)
    session = session_of(opened)
    assert mcp(served, anna, LISTING, **session).status == 200
    assert mcp(served, bert, LISTING, **session).status == 404
    assert served.ask("POST", "/mcp", json.dumps(LISTING).encode(), session).status == 401
    Tokens(world.home.tokens_file).revoke("anna")
    assert mcp(served, anna, LISTING, **session).status == 401
    again = world.token("anna")  # another token of that name, read-only
    told = mcp(served, again, LISTING, **session)
    assert told.status == 404


def test_http_mcp_ends_the_least_recently_used_session_of_a_token(served: Served, world: World) -> None:
    carl, dora = world.token("carl"), world.token("dora")
    others = mcp(served, dora, OPENING)
    opened = [mcp(served, carl, OPENING) for _ in range(64)]
    assert mcp(served, carl, LISTING, **session_of(opened[0])).status == 200
    opened += [mcp(served, carl, OPENING) for _ in range(3)]
    assert {answer.status for answer in opened} == {200}
    again = [mcp(served, carl, LISTING, **session_of(one)).status for one in opened]
    assert again == [200, 404, 404, 404, *[200] * 63]
    assert mcp(served, dora, LISTING, **session_of(others)).status == 200


def test_http_mcp_refuses_invalid_requests(world: World, served: Served) -> None:
    headers = {**bearer(world.token("odd")), **ACCEPT}
    for method, body, more, status in (
        ("PUT", b"{}", {}, 405),
        ("POST", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", b"x" * 2_000_000, {}, 413),
        ("DELETE", b"", {"Mcp-Session-Id": "none"}, 404),
    ):
        assert served.ask(method, "/mcp", body, {**headers, **more}).status == status, (method, more)


NO_MESSAGES = [
    *((body, -32700) for body in (
        b"", b"{", b"hello", b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', b'"\xff"', b"[" * 100_000,
    )),
    *((body, -32600) for body in (
        b"{}", b"[]", b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', b'"x"', b"1", b"null",
        b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}', b'{"jsonrpc": "2.0", "id": 1}',
    )),
]  # fmt: skip


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_http_mcp_answers_an_invalid_message_with_a_hint(world: World, served: Served, version: str) -> None:
    headers = {**bearer(world.token(f"odd-{version}")), **ACCEPT, "Mcp-Protocol-Version": version}
    for body, code in NO_MESSAGES:
        answer = served.ask("POST", "/mcp", body, headers)
        assert (answer.status, answer.headers["content-type"]) == (400, "application/json"), body[:60]
        told = answer.json
        assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", None, code), body[:60]
        assert "; send one " in told["error"]["message"]
        for internal in ("pydantic", "alidation", "JSONRPC", "input_type", "Error", "line 1"):
            assert internal not in str(told)


def mcp(served: Served, token: str, message: dict[str, Any], **headers: str) -> Any:
    return served.ask("POST", "/mcp", json.dumps(message).encode(), {**bearer(token), **ACCEPT, **headers})


def session_of(opened: Any) -> dict[str, str]:
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
