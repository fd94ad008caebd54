"""The MCP inspector lists, calls and reads on both transports and in both eras of the protocol."""

import os
from pathlib import Path

import pytest

from tests.mcp_real.conftest import Reached
from tests.mcp_real.programs import inspect
from vault_index.mcp_server.tools import offered

TRANSPORTS = ("stdio", "http")
ERAS = ("legacy", "modern")
PAGE = Path(__file__).with_name("inspector.md")
TARGETS = {"stdio": "vault-index mcp", "http": "http://127.0.0.1:7341/mcp --header 'Authorization: Bearer vx_…'"}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
def test_inspector_finds_no_fault_in_the_schemas(reached: Reached, transport: str, era: str, tmp_path: Path) -> None:
    target = reached.by_inspector(transport)
    listed = inspect(target, "tools/list", "--strict", "--protocol-era", era, home=tmp_path)
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in offered(read_only=False)]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("era", ERAS)
def test_inspector_finds_the_memory_it_stored(reached: Reached, transport: str, era: str, tmp_path: Path) -> None:
    def call(tool: str, *arguments: str, code: int = 0) -> str:
        words = ("--tool-name", tool, "--tool-arg", *arguments, "--protocol-era", era)
        [content] = inspect(reached.by_inspector(transport), "tools/call", *words, home=tmp_path, code=code)["content"]
        return str(content["text"])

    name = f"{transport} {era}"
    assert "created: true" in call("memory_store", f"content=The {name} lighthouse is dark.", f"title=Lamp {name}")
    assert f"{name} lighthouse" in call("memory_search", f"query={name} lighthouse")
    assert "hint: " in call("memory_get", "ref=nowhere.md", code=5)


def test_inspector_page_is_up_to_date(reached: Reached, tmp_path: Path) -> None:
    told = ""
    for transport, target in TARGETS.items():
        words = ("tools/call", "--tool-name", "memory_get", "--tool-arg", "ref=harbour.md", "--protocol-era", "modern")
        [content] = inspect(reached.by_inspector(transport), *words, home=tmp_path)["content"]
        told += f"$ mcp-inspector --cli {target} --method {' '.join(words)}\n{content['text']}\n"
    told = f"```text\n{told}```\n"
    if "MCP_RECORD" in os.environ:
        PAGE.write_text(told, "utf-8")
    assert PAGE.read_text("utf-8") == told, "run: make test-mcp MCP_RECORD=1, and then make reference"
