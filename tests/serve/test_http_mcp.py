"""MCP over HTTP: the SDK's own client in both eras, with a token."""

import json
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, types
from mcp.client.streamable_http import streamable_http_client

from tests.serve.servers import Place, Served, bearer, place
from vault_index.access import Tokens

OPENING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def here() -> Iterator[Place]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder, place(Path(folder)) as made:
        made.write("wal.md", "# WAL\n\nReaders never wait for a writer.\n")
        made.daemon()
        yield made


@asynccontextmanager
async def client(served: Served, token: str, mode: str, **more: Any) -> AsyncIterator[Client]:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
    url = f"http://127.0.0.1:{served.port}/mcp"
    async with http, Client(streamable_http_client(url, http_client=http), mode=mode, **more) as connected:
        yield connected


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_tools_answer_in_both_eras(served: Served, here: Place, mode: str) -> None:
    writer, reader = (here.token(f"{name}-{mode}", writes=name == "writer") for name in ("writer", "reader"))

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
            assert "memory_store" not in {tool.name for tool in (await connected.list_tools()).tools}
            refused = await connected.call_tool("memory_store", {"content": "No.", "title": "No"})
            assert refused.is_error

    anyio.run(asked)


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_the_user_is_asked_before_a_delete(served: Served, here: Place, mode: str) -> None:
    token, said = here.token(f"asked-{mode}", writes=True), ["decline", "accept"]

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


def test_a_session_is_found_by_its_own_token_alone(served: Served, here: Place) -> None:
    anna, bert = here.token("anna", writes=True), here.token("bert")
    opened = mcp(served, anna, OPENING)
    session = session_of(opened)
    assert mcp(served, anna, LISTING, **session).status == 200
    assert mcp(served, bert, LISTING, **session).status == 404
    assert served.ask("POST", "/mcp", json.dumps(LISTING).encode(), session).status == 401
    Tokens(here.home.tokens_file).revoke("anna")
    assert mcp(served, anna, LISTING, **session).status == 401
    again = here.token("anna")  # another token of that name, that only reads
    told = mcp(served, again, LISTING, **session)
    assert told.status == 404


def test_of_too_many_sessions_of_a_token_the_one_ends_that_was_used_least_of_late(served: Served, here: Place) -> None:
    carl, dora = here.token("carl"), here.token("dora")
    others = mcp(served, dora, OPENING)
    opened = [mcp(served, carl, OPENING) for _ in range(64)]
    assert mcp(served, carl, LISTING, **session_of(opened[0])).status == 200
    opened += [mcp(served, carl, OPENING) for _ in range(3)]
    assert {answer.status for answer in opened} == {200}
    again = [mcp(served, carl, LISTING, **session_of(one)).status for one in opened]
    assert again == [200, 404, 404, 404, *[200] * 63]
    assert mcp(served, dora, LISTING, **session_of(others)).status == 200


@pytest.mark.parametrize(
    ("method", "body", "headers", "status"),
    [
        ("PUT", b"{}", {}, 405),
        ("POST", b"{", {}, 400),
        ("POST", b"[" * 100_000, {}, 400),
        ("POST", b"{}", {"Content-Type": "text/plain"}, 415),
        ("POST", b"x" * 2_000_000, {}, 413),
        ("POST", b"{}", {"Host": "evil.example"}, 421),
        ("POST", b"{}", {"Origin": "https://evil.example"}, 403),
        ("DELETE", b"", {"Mcp-Session-Id": "none"}, 404),
    ],
)
def test_what_is_no_request_is_refused(
    served: Served, here: Place, method: str, body: bytes, headers: dict[str, str], status: int
) -> None:
    tokens = Tokens(here.home.tokens_file)
    if any(token.caller.name == "odd" for token in tokens.all()):
        tokens.revoke("odd")
    answer = served.ask(method, "/mcp", body, {**bearer(here.token("odd")), **ACCEPT, **headers})
    assert answer.status == status


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"hello", -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32700),
        (b'"\xff"', -32700),
        (b"[" * 100_000, -32700),
        (b"{}", -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'"x"', -32600),
        (b"1", -32600),
        (b"null", -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": "x"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    ],
    ids=lambda value: repr(value)[:60],
)
def test_a_body_that_is_no_message_is_told_what_to_send(
    served: Served, odd: dict[str, str], body: bytes, code: int, version: str
) -> None:
    answer = served.ask("POST", "/mcp", body, {**odd, "Mcp-Protocol-Version": version})
    assert (answer.status, answer.headers["content-type"]) == (400, "application/json")
    told = answer.json
    assert (told["jsonrpc"], told["id"], told["error"]["code"]) == ("2.0", None, code)
    assert "; send one " in told["error"]["message"]
    for internal in ("pydantic", "alidation", "JSONRPC", "input_type", "Error", "line 1"):
        assert internal not in str(told)


@pytest.fixture(scope="module")
def odd(here: Place) -> dict[str, str]:
    return {**bearer(here.token("nothing-said")), **ACCEPT}


def mcp(served: Served, token: str, message: dict[str, Any], **headers: str) -> Any:
    return served.ask("POST", "/mcp", json.dumps(message).encode(), {**bearer(token), **ACCEPT, **headers})


def session_of(opened: Any) -> dict[str, str]:
    return {"Mcp-Session-Id": opened.headers["mcp-session-id"], "Mcp-Protocol-Version": "2025-11-25"}
