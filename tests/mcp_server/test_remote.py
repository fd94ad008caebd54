"""Callers with a token: the server knows nothing of their machine, and each request has its own `Asker`."""

import os
from collections.abc import Mapping
from typing import Any

import anyio
import pytest
from mcp import Client, types

from tests.mcp_server.sessions import NEW, OLD
from tests.output import answers
from vault_index.api import to_json
from vault_index.errors import NotFoundError
from vault_index.mcp_server.server import Asker, Context, build_server

FOUND = to_json(answers.search(answers.hit(0)))
CALLS = (
    ("memory_search", {"query": "x"}),
    ("memory_recall", {"query": "x"}),
    ("memory_update", {"ref": "a1", "content": "x"}),
    ("memory_delete", {"ref": "a1"}),
)


async def roots(context: Any) -> types.ListRootsResult:
    pytest.fail("a caller elsewhere was asked for folders")


def sent(asker: Asker, mode: str) -> list[types.CallToolResult]:
    async def called() -> list[types.CallToolResult]:
        server = build_server(lambda _: asker)
        async with Client(server, mode=mode, list_roots_callback=roots if asker.remote else None) as client:
            return [await client.call_tool(name, given) for name, given in CALLS]

    return anyio.run(called)


@pytest.mark.parametrize("mode", ["legacy", NEW])
@pytest.mark.parametrize("remote", [False, True])
def test_mcp_omits_local_folders_for_remote_callers(mode: str, remote: bool) -> None:
    asked: list[tuple[str, Mapping[str, Any]]] = []

    def ask(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        asked.append((method, params))
        if method == "delete":
            raise NotFoundError("not found: 'a1'", "look for it with `vault-index search a1`")
        return {"text": "", "results": [], "id": "a1"} if method != "search" else dict(FOUND)

    *_, refused = sent(Asker(ask, remote=remote), mode)
    assert {method for method, _ in asked} >= {"search", "recall", "update", "delete"}
    own = {"directory", "exclude_session", "session", "client"}
    told = {name for _, params in asked for name in params} & own
    assert told == (set() if remote else own)
    if not remote:
        assert dict(asked)["search"]["directory"] == [os.getcwd()]
    assert refused.is_error
    assert "memory_search a1" in str(refused.content)


@pytest.mark.parametrize("era", [OLD, NEW])
def test_mcp_gives_each_request_its_own_asker(era: str) -> None:
    askers: list[bool] = []

    def asker_of(context: Context) -> Asker:
        askers.append(len(askers) % 2 == 0)
        return Asker(lambda method, params: {"results": []}, read_only=askers[-1], remote=True)

    async def listed() -> list[int]:
        async with Client(build_server(asker_of), mode="legacy" if era == OLD else era, cache=None) as client:
            return [len((await client.list_tools()).tools) for _ in range(4)]

    assert anyio.run(listed) == [5, 9, 5, 9]
