"""A session in OpenCode with the plugin and a daemon: recall, tools, capture, compaction."""

import re
from collections.abc import Sequence

from tests.opencode_real.client import Place, Server
from tests.opencode_real.model import Request, text_of
from tests.waiting import until
from vault_index import tokens
from vault_index.mcp_server.tools import TOOLS

BLOCK = re.compile(r'<vault-index-recall token="([0-9a-f]+)">\n.*?\n</vault-index-recall token="\1">', re.DOTALL)
INSTRUCTION = re.compile(r"^vault-index memory: .*$", re.MULTILINE)
PRICES = "Prices are stored as whole cents"


def blocks(request: Request) -> list[str]:
    return [match[0] for match in BLOCK.finditer(request.whole)]


def answers(requests: Sequence[Request]) -> list[str]:
    """The results of the tools, in order."""
    return [text_of(message) for message in requests[-1].messages if message["role"] == "tool"]


def test_opencode_recall_block_is_the_same_in_each_request(shared_place: Place, server: Server) -> None:
    session = server.session()
    before = len(shared_place.model.of("plain"))
    for _ in range(3):
        assert server.turn(session, "How do we store prices? [[scene:plain]]") == "All is well."
    requests = shared_place.model.of("plain")[before:]
    (block,) = blocks(requests[0])
    assert PRICES in block
    # The token in its marks is random: an equal block was computed once.
    assert [blocks(request) for request in requests] == [[block]] * 3
    (instruction,) = INSTRUCTION.findall(requests[0].system)
    assert [INSTRUCTION.findall(request.whole) for request in requests] == [[instruction]] * 3
    assert tokens.count(instruction) <= 80
    assert "memory_search" in instruction


def test_opencode_resumed_session_gets_the_same_recall_block(shared_place: Place, server: Server) -> None:
    session = server.session()
    server.turn(session, "Whole cents or floats for prices? [[scene:plain]]")
    first = blocks(shared_place.model.of("plain")[-1])
    shared_place.run("And in another process? [[scene:plain]]", "--session", session)
    assert len(first) == 1
    assert blocks(shared_place.model.of("plain")[-1]) == first


def test_opencode_title_requests_contain_no_memories(shared_place: Place, server: Server) -> None:
    server.turn(server.session(), "How do we store prices? [[scene:plain]]")
    until(lambda: bool(shared_place.model.of("title")))
    for request in shared_place.model.of("title"):
        assert "vault-index" not in request.whole


def test_opencode_child_session_gets_no_recall_and_no_capture(shared_place: Place, server: Server) -> None:
    server.turn(server.session(), "How do we store prices? [[scene:delegate]]")
    (child,) = shared_place.model.of("child")
    assert blocks(child) == []
    assert len(INSTRUCTION.findall(child.whole)) == 1
    assert all(len(blocks(request)) == 1 for request in shared_place.model.of("delegate"))
    assert not [path for path in shared_place.memories if "backwards" in path.name]


def test_opencode_every_tool_works(shared_place: Place, server: Server) -> None:
    server.turn(server.session(), "Use them. [[scene:tools]]")
    found, text, around, recalled, listed, stored, updated, deleted = answers(shared_place.model.of("tools"))
    assert "wal.md,1-3" in found
    assert "old pages" in text
    assert "wal.md" in around
    assert "old pages" in recalled
    assert "results[2]" in listed
    assert "created: true" in stored
    assert "tariffs" in updated
    assert "trashed" in deleted


def test_opencode_tools_equal_those_of_mcp(shared_place: Place, server: Server) -> None:
    server.turn(server.session(), "Hello. [[scene:plain]]")
    tools = shared_place.model.of("plain")[-1].tools
    for tool in TOOLS:
        assert tools[tool.name]["description"] == tool.description
        assert tools[tool.name]["parameters"]["properties"] == tool.schema()["properties"]
    needed = {name: tool["parameters"]["required"] for name, tool in tools.items() if name.startswith("memory_")}
    assert {name: what for name, what in needed.items() if what} == {
        "memory_search": ["query"], "memory_update": ["ref"], "memory_delete": ["ref"],
    }  # fmt: skip


def test_opencode_summary_is_written_with_the_memories(shared_place: Place, server: Server) -> None:
    session = server.session()
    server.turn(session, "How do we store prices? [[scene:plain]]")
    server.turn(session, "Go on. [[scene:plain]]")
    server.compact(session)
    summary = shared_place.model.of("compaction")[-1]
    (block,) = blocks(summary)
    assert PRICES in block
    assert "vault-index" not in summary.system
    server.turn(session, "Go on. [[scene:plain]]")
    assert len(blocks(shared_place.model.of("plain")[-1])) == 1


def test_opencode_captures_one_memory_of_a_marked_text(shared_place: Place, server: Server) -> None:
    session = shared_place.run("Count the stock. [[scene:remember]]")
    inbox = [path for path in shared_place.memories if path.parent.name == "inbox" and "warehouse" in path.name]
    (memory,) = inbox
    text = memory.read_text(encoding="utf-8")
    assert "the warehouse counts boxes, not books." in text
    for line in (f"session: {session}", "entered_by: opencode", "project: shop"):
        assert f"\n{line}\n" in text
    again = server.session()
    server.turn(again, "Count again. [[scene:remember]]")
    server.turn(again, "Count once more. [[scene:remember]]")
    assert [path for path in shared_place.memories if "warehouse" in path.name] == inbox


def test_opencode_captures_decisions_of_the_user(shared_place: Place, server: Server) -> None:
    server.turn(server.session(), "We decided to sell maps, too. Is that in the menu? [[scene:plain]]")
    until(lambda: any("sell-maps" in path.name for path in shared_place.memories))
    (memory,) = [path for path in shared_place.memories if "sell-maps" in path.name]
    assert memory.parent.name == "waiting"
    assert "\nentered_by: user\n" in memory.read_text(encoding="utf-8")
