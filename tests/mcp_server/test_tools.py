"""Every tool, called by the SDK's client."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from tests.mcp_server.sessions import Session, session
from tests.output import answers
from vault_index import tokens
from vault_index.config import Home
from vault_index.mcp_server.budget import cut_records
from vault_index.mcp_server.tools import TOOLS
from vault_index.output import render_json

MOST_TOKENS = 2000


def test_mcp_lists_every_tool_within_its_token_limit(each: Session) -> None:
    listed = each.tools()
    assert [tool.name for tool in listed.tools] == [
        "memory_search", "memory_get", "memory_timeline", "memory_recall",
        "memory_store", "memory_update", "memory_delete", "memory_list", "memory_review",
    ]  # fmt: skip
    sent = listed.model_dump_json(by_alias=True, exclude_none=True)
    assert tokens.count(sent) <= MOST_TOKENS
    for tool in listed.tools:
        assert tool.description
        assert tool.output_schema
        assert tool.output_schema["properties"]
        assert "required" not in tool.output_schema  # errors do not match it, and some clients check them
        assert tool.input_schema["type"] == "object"

    hints = {tool.name: tool.annotations for tool in listed.tools}
    reading = {name for name, hint in hints.items() if hint and hint.read_only_hint}
    destructive = {name for name, hint in hints.items() if hint and hint.destructive_hint}
    assert reading == {"memory_search", "memory_get", "memory_timeline", "memory_recall", "memory_list"}
    assert destructive == {"memory_update", "memory_delete", "memory_review"}
    assert {name for name, hint in hints.items() if hint and hint.idempotent_hint} == {"memory_store", "memory_delete"}


def test_mcp_read_only_omits_writing_tools(home: Home) -> None:
    with session(home.data_dir, "--read-only") as client:
        assert {tool.name for tool in client.tools().tools}.isdisjoint(
            {"memory_store", "memory_update", "memory_delete"}
        )
        assert "no tool 'memory_store'" in client.error("memory_store", content="Not to be written.")
        assert client.call("memory_search", query="Tidewater")["results"]
        assert [one.name for one in client.does(Client.list_prompts).prompts] == ["recall"]
        with pytest.raises(MCPError, match="no prompt 'remember'"):
            client.does(lambda sdk: sdk.get_prompt("remember", {}))


def test_mcp_stores_finds_changes_and_deletes_a_memory(each: Session, vault: Path) -> None:
    client = each
    stored = client.call(
        "memory_store",
        narrative="The ferry carrier bans us.",
        title="Ferry",
        type="warning",
        tags="a/b, c",
        files="x.py",
    )
    text = (vault / stored["path"]).read_text("utf-8")
    assert stored["created"]
    assert "files_modified: [x.py]" in text  # OpenCodeKit's old name for them
    assert "entered_by: mcp" in text  # the name that the SDK's client sends
    found = client.call("memory_search", query="ferry carrier", kind="memory", tags=["c"])
    assert [hit["path"] for hit in found["results"]] == [stored["path"]]
    assert stored["id"][:8] in found["shown"]
    client.call("memory_update", ref=stored["id"], content="It unbanned us.", append=True, add_tags=["d"])
    assert "It unbanned us." in client.call("memory_get", ref=stored["id"])["shown"]
    assert client.call("memory_list", type="warning", tags="d")["total"] == 1
    client.call("memory_delete", ref=[stored["id"]])
    assert not (vault / stored["path"]).exists()
    assert client.call("memory_list", type="warning")["results"] == []


def test_memory_recall_quotes_within_its_budget(client: Session) -> None:
    recalled = client.call("memory_recall", query="what is the queue called", budget=200)
    assert "> It is called Tidewater." in recalled["shown"]
    assert recalled["text"] == recalled["shown"]
    assert tokens.count(recalled["shown"]) <= 200


WRONG: dict[str, dict[str, Any]] = {
    "memory_search": {"query": ["a", "b"]},
    "memory_get": {"ref": {"id": "a"}},
    "memory_timeline": {"ref": "harbour.md", "depth_before": "two"},
    "memory_recall": {"budget": 1.5},
    "memory_store": {"content": {"text": "x"}},
    "memory_update": {"ref": "7d1c2a90", "append": "perhaps"},
    "memory_delete": {"ref": [True]},
    "memory_list": {"limit": True},
    "memory_review": {"limit": True},
}


def test_memory_review_lists_and_decides(client: Session, vault: Path) -> None:
    for number in range(3):
        client.call("memory_store", content=f"The ferry runs on day {number}.", path=f"inbox/ferry-{number}")
    listed = client.call("memory_review", reason="unreviewed", limit=2)
    assert (len(listed["results"]), listed["total"], listed["cursor"]) == (2, 3, "2")
    rest = client.call("memory_review", reason="unreviewed", cursor="2")
    [last] = rest["results"][0]["memories"]
    assert "cursor" not in rest
    done = client.call("memory_review", action="accept", ref=last["id"], seen=last["seen"], reason="unreviewed")
    assert [one["outcome"] for one in done["results"]] == ["accepted"]
    assert (vault / done["results"][0]["path"]).exists()
    assert "pass both" in client.error("memory_review", ref=last["id"])
    assert "not in the inbox" in client.error("memory_review", action="accept", ref=last["id"])
    client.call("memory_delete", ref=[one["id"] for item in listed["results"] for one in item["memories"]])
    client.call("memory_delete", ref=last["id"])


def test_mcp_reports_a_malformed_call_as_a_tool_error(each: Session) -> None:
    assert WRONG.keys() == {tool.name for tool in TOOLS}
    for tool, given in WRONG.items():
        assert "must be" in each.error(tool, **given)
        assert "no argument 'nonsense'" in each.error(tool, nonsense=1)
    for tool in [tool.name for tool in TOOLS if tool.needs]:
        assert "is missing" in each.error(tool)


def test_memory_get_returns_good_references_and_names_bad_ones(client: Session) -> None:
    answer = client.call("memory_get", ref=["no such note", "harbour.md", "../x.md"])
    assert [text["path"] for text in answer["results"]] == ["harbour.md"]
    assert [item["position"] for item in answer["failed"]] == ["no such note", "../x.md"]
    assert "not found: 'no such note'; hint: look for it with `memory_search 'no such note'`" in answer["shown"]
    assert "not found: " in client.error("memory_get", ref=["no such note", "nor this"])
    assert "empty" in client.error("memory_get", ref=[" "])


def test_memory_list_pages_within_the_budget(client: Session) -> None:
    budget = 700
    titles: list[str] = []
    cursor = None
    while True:
        found = client.call("memory_list", path="daily/*", limit=12, max_tokens=budget, cursor=cursor)
        shown = found.pop("shown")
        assert max(tokens.count(shown), tokens.count(render_json(found))) <= budget
        titles += [record["title"] for record in found["results"]]
        cursor = found.get("cursor")
        if cursor is None:
            break
        assert shown.endswith(f"cursor: {cursor}")
    assert titles == [f"Day {day}" for day in range(28, 0, -1)]


def test_memory_search_counts_weak_hits_after_three_or_shows_all() -> None:
    hits = [answers.hit(number, weak=True) for number in range(6)]
    page = cut_records("search", answers.search(*hits), offset=0, limit=4, budget=5000)
    assert "weak: 1 (all=true)" in page.text.split("\n")
    assert (len(page.structured["results"]), page.structured["weak"]) == (3, 1)
    assert "cursor" not in page.structured  # it would lead to weak hits only
    page = cut_records("search", answers.search(*hits, all=True), offset=0, limit=4, budget=5000)
    assert ("weak:" in page.text, len(page.structured["results"]), page.structured["cursor"]) == (False, 4, "4")
    page = cut_records("search", answers.search(*hits, answers.hit(6)), offset=0, limit=6, budget=5000)
    assert page.structured["cursor"] == "6"


@pytest.mark.parametrize("note", ["long.md", "wide.md"])
def test_memory_get_pages_a_text_to_its_end_within_the_budget(client: Session, vault: Path, note: str) -> None:
    parts: list[str] = []
    found = client.call("memory_get", ref=[note, "harbour.md"], max_tokens=400)
    while len(parts) < 50:
        shown = found.pop("shown")
        assert max(tokens.count(shown), tokens.count(render_json(found))) <= 400
        parts += [text["content"] for text in found["results"]]
        if "cursor" not in found:
            break
        found = client.call("memory_get", cursor=found["cursor"], max_tokens=400)
    assert len(parts) > 3
    words = " ".join(parts).split()
    expected = "".join((vault / name).read_text("utf-8") for name in (note, "harbour.md")).split()
    assert "".join(words) == "".join(expected)


def test_memory_timeline_continues_at_its_cursor(client: Session) -> None:
    around = client.call("memory_timeline", ref="daily/2026-03-10.md", depth_before=1, depth_after=2)
    assert [record["title"] for record in around["before"]] == ["Day 9"]
    assert [record["title"] for record in around["after"]] == ["Day 11", "Day 12"]
    seen: list[str] = []
    cursor = None
    while True:
        around = client.call("memory_timeline", ref="daily/2026-03-10.md", max_tokens=900, cursor=cursor)
        seen += [record["title"] for record in (*around.get("before", ()), *around.get("after", ()))]
        cursor = around.get("cursor")
        if cursor is None:
            break
    assert sorted(seen) == sorted(f"Day {day}" for day in (5, 6, 7, 8, 9, 11, 12, 13, 14, 15))
