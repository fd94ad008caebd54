"""The MCP inspector lists, calls and reads, on both transports and in both eras of the protocol."""

from pathlib import Path

import pytest

from tests.mcp_real.conftest import Reached
from tests.mcp_real.programs import inspect
from vault_index.mcp_server.tools import offered

TRANSPORTS = ("stdio", "http")
ERAS = ("legacy", "modern")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
def test_it_finds_no_fault_in_the_schemas(reached: Reached, transport: str, era: str, tmp_path: Path) -> None:
    target = reached.by_inspector(transport)
    listed = inspect(target, "tools/list", "--strict", "--protocol-era", era, home=tmp_path)
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in offered(read_only=False)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
def test_what_it_stores_it_finds(reached: Reached, transport: str, era: str, tmp_path: Path) -> None:
    def call(tool: str, *arguments: str, code: int = 0) -> str:
        words = ("--tool-name", tool, "--tool-arg", *arguments, "--protocol-era", era)
        [content] = inspect(reached.by_inspector(transport), "tools/call", *words, home=tmp_path, code=code)["content"]
        return str(content["text"])

    name = f"{transport} {era}"
    assert "created: true" in call("memory_store", f"content=The {name} lighthouse is dark.", f"title=Lamp {name}")
    assert f"{name} lighthouse" in call("memory_search", f"query={name} lighthouse")
    assert "hint: " in call("memory_get", "ref=nowhere.md", code=5)
