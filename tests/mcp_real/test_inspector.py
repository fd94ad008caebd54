"""The MCP inspector lists, calls and reads, in both eras of the protocol."""

from pathlib import Path

import pytest

from tests.mcp_real.programs import SERVER, inspect
from vault_index.mcp_server.tools import offered

ERAS = ("legacy", "modern")


@pytest.fixture(scope="module")
def target(place: Path) -> list[str]:
    return [*SERVER, str(place / "home")]


@pytest.mark.parametrize("era", ERAS)
def test_it_finds_no_fault_in_the_schemas(target: list[str], era: str, tmp_path: Path) -> None:
    listed = inspect(target, "tools/list", "--strict", "--protocol-era", era, home=tmp_path)
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in offered(read_only=False)]


@pytest.mark.parametrize("era", ERAS)
def test_what_it_stores_it_finds(target: list[str], era: str, tmp_path: Path) -> None:
    def call(tool: str, *arguments: str, code: int = 0) -> str:
        words = ("--tool-name", tool, "--tool-arg", *arguments, "--protocol-era", era)
        [content] = inspect(target, "tools/call", *words, home=tmp_path, code=code)["content"]
        return str(content["text"])

    assert "created: true" in call("memory_store", f"content=The {era} lighthouse is dark.", f"title=Lamp {era}")
    assert f"{era} lighthouse" in call("memory_search", f"query={era} lighthouse")
    assert "hint: " in call("memory_get", "ref=nowhere.md", code=5)
