"""Calls of models that ignore the schema or know another program's tools."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_server.sessions import Session, command
from vault_index import VaultIndex
from vault_index.config import Home
from vault_index.errors import UsageError, VaultIndexError
from vault_index.mcp_server.toolbox import answer_tool
from vault_index.mcp_server.tools import in_words_of_tools

TIDEWATER = {"query": "Tidewater", "limit": 1}


class Sent(Exception):
    """Ends a call once its method and parameters are known."""


def sent(tool: str, given: dict[str, Any], **who: str) -> tuple[str, dict[str, Any]]:
    """Return the first method call that a tool call becomes, with its parameters."""

    def ask(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        raise Sent(method, dict(params))

    with pytest.raises(Sent) as raised:
        answer_tool(ask, {"name": tool, "arguments": given, **who})
    method, params = raised.value.args
    return method, params


@pytest.mark.parametrize(
    ("tool", "given", "same"),
    [
        ("memory_search", {"query": "Tidewater", "limit": "1"}, TIDEWATER),
        ("memory_search", {"query": "Tidewater", "limit": 1.0}, TIDEWATER),
        ("memory_search", {"query": ["Tidewater"], "maxResults": " 1 "}, TIDEWATER),
        ("memory_search", {"q": "Tidewater", "limit": 1, "type": "", "tags": [], "nonsense": None},
         {**TIDEWATER, "tags": []}),
        ("memory_search", {"query": "Tidewater", "limit": 1, "fuzzy": "false", "threshold": "0.8"},
         {**TIDEWATER, "fuzzy": False, "threshold": 0.8}),
        ("search", TIDEWATER, TIDEWATER),
        ("memory-search", TIDEWATER, TIDEWATER),
        ("memory_get", {"ids": '["harbour.md", "wide.md"]'}, {"ref": ["harbour.md", "wide.md"]}),
        ("memory_get", {"id": "7d1c2a90, 7d1c2a90"}, {"ref": ["7d1c2a90", "7d1c2a90"]}),
        ("memory_get", {"ref": "[[Harbour#Queue]]", "neighbors": ""}, {"ref": ["[[Harbour#Queue]]"]}),
        ("memory-read", {"file": "decision/wal"}, {"ref": "decision/wal"}),
        (
            "memory-timeline",
            {"anchorId": "daily/2026-03-10.md", "depth_before": "1", "depth-after": 1},
            {"ref": "daily/2026-03-10.md", "depth_before": 1, "depth_after": 1},
        ),
        ("memory_get", {"ref": "harbour.md, 7d1c2a90"}, {"ref": ["harbour.md", "7d1c2a90"]}),
        ("memory_get", {"ref": "['harbour.md:3', '`7d1c2a90…`']"}, {"ref": ["harbour.md:3", "7d1c2a90"]}),
        ("memory_search", {**TIDEWATER, "kind": ["notes", "memory"], "type": "all", "tags": "null"},
         {**TIDEWATER, "kind": ["notes", "memory"]}),
        ("memory_search", {**TIDEWATER, "tags": ["null"], "any_tag": [None], "type": ["undefined"], "path": "None"},
         TIDEWATER),
        ("memory_search", {**TIDEWATER, "tags": "[null]", "any_tag": ["None", None], "project": [None]}, TIDEWATER),
        ("memory_recall", {"question": "which queue", "max_tokens": "300"}, {"query": "which queue", "budget": 300}),
        ("memory_list", {"path": "daily/*", "limit": "2", "include": None}, {"path": "daily/*", "limit": 2}),
        ("memory_store", {"content": "x", "tags": "[red, sea/lamp]", "facts": "['a is b', 'c']", "concepts": [2, "x"]},
         {"content": "x", "tags": "red, sea/lamp", "facts": ["a is b", "c"], "concepts": ["2", "x"]}),
        ("memory_store", {"content": "x", "by": "ann", "bead": "bd-7"},
         {"content": "x", "entered_by": "ann", "bead_id": "bd-7"}),
        ("memory_search", {**TIDEWATER, "by": "ann", "bead_id": "bd-7"},
         {**TIDEWATER, "entered_by": "ann", "bead": "bd-7"}),
        ("memory_store", {"content": "x", "facts": "Lamps burn, not from six"},
         {"content": "x", "facts": "Lamps burn, not from six"}),
    ],
)  # fmt: skip
def test_mcp_accepts_unambiguous_sloppy_calls(tool: str, given: dict[str, Any], same: dict[str, Any]) -> None:
    name = {"search": "memory_search", "memory-read": "memory_get"}.get(tool, tool.replace("-", "_"))
    assert sent(tool, given) == sent(name, same)


def test_mcp_stores_an_observation_of_opencodekit(client: Session, vault: Path) -> None:
    stored = client.call(
        "observation",
        type="Decision",
        title="Tide tables are cached",
        narrative="The server of the harbour office is slow.",
        facts="cached for a day, one file a port",
        concepts="caching, harbour",
        files="tides.py,ports.py",
        confidence="high",
        bead_id=12,
        subtitle="",
        supersedes=None,
    )
    text = (vault / stored["path"]).read_text("utf-8")
    for line in (
        "type: decision",
        "facts: [cached for a day, one file a port]",
        "concepts: [caching, harbour]",
        "files_modified: [tides.py, ports.py]",
        "confidence: high",
    ):
        assert f"\n{line}\n" in text
    assert "subtitle" not in text
    client.call("memory-update", file=stored["path"], content="It is down at night.", mode="append")
    text = (vault / stored["path"]).read_text("utf-8")
    assert "office is slow." in text
    assert "down at night." in text
    assert client.call("memory_store", file="handoffs/buoys", content="Buoys.")["path"] == "80-memory/handoffs/buoys.md"
    deleted = client.call("memory_delete", ids=[stored["id"], "no such memory"])
    assert "look for it with `memory_search 'no such memory'`" in deleted["failed"][0]["hint"]


def test_memory_update_ignores_empty_filler_values(client: Session, vault: Path, home: Home) -> None:
    stored = client.call("memory_store", content="The crane lifts ten tons.", tags=["crane"])
    client.call("memory_update", ref=stored["id"], content="", section="", append="", add_tags=["lift"])
    assert "ten tons" in (vault / stored["path"]).read_text("utf-8")
    client.call("memory_update", ref=stored["id"], content="# Crane\n\n## Load\n\nTen tons.\n\n## Reach\n\nFar.")
    client.call("memory_update", ref=stored["id"], content="", section="Load")
    text = (vault / stored["path"]).read_text("utf-8")
    assert ("Ten tons" in text, "Far." in text) == (False, True)
    client.call("memory_delete", ref=stored["id"])
    with VaultIndex.open(home) as index:
        assert {one.by for one in index.history(stored["id"]).results} == {"mcp"}


@pytest.mark.parametrize(
    ("tool", "given", "told"),
    [
        ("memory_get", {"ref": "no such note"}, "look for it with `memory_search 'no such note'`"),
        ("memory_timeline", {"ref": "harbour.md", "query": "queue"}, "query TEXT"),
        ("memory_update", {"ref": "7d1c2a90"}, "as add_tags or expires"),
        ("memory_store", {"content": "The key is ghp_" + "a1B2" * 9}, "use force if it is not a credential"),
        ("memory_search", {"query": "x", "mod": "text"}, "did you mean 'mode'?"),
        ("memory_search", {"quer": "x"}, "did you mean 'query'?"),
        ("memory_list", {"colour": "red"}, "the arguments are sort, limit"),
        ("memory_serch", {}, "did you mean 'memory_search'?"),
        ("memory_search", {"query": "   "}, "query is missing"),
        ("memory_search", {"query": "x", "kind": "notebook"}, "one of note, memory, session"),
        ("memory-admin", {"operation": "status"}, "vault-index status"),
        ("memory_search", {"limit": 3}, "pass query to memory_search"),
    ],
)
def test_mcp_hint_names_the_tool_and_arguments(client: Session, tool: str, given: dict[str, Any], told: str) -> None:
    error = client.error(tool, **given)
    assert told in error
    assert "--" not in error


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ("change it: vault-index update 5f0c --add-tags x", "change it: memory_update 5f0c add_tags x"),
        ("set embedding.provider, or search with --mode text", "set embedding.provider, or search with mode text"),
        ("run `vault-index doctor --fix`", "run `vault-index doctor --fix`"),
        ("run `vault-index sync`, or leave --max-tokens out", "run `vault-index sync`, or leave max_tokens out"),
        ("choose another place with --home DIR", "choose another place with --home DIR"),
        ("vault-index is not set up", "vault-index is not set up"),
    ],
)
def test_in_words_of_tools_translates_command_hints(hint: str, told: str) -> None:
    assert in_words_of_tools(hint) == told


def test_answer_tool_adds_agent_folder_and_session_of_the_plugin() -> None:
    who = {"entered_by": "opencode/build", "directory": "/shop", "session": "ses_1"}
    at = {"query": "x", "directory": ["/shop"], "session": "ses_1"}
    stored = {"entered_by": "opencode/build", "text": "x", "directory": ["/shop"], "session": "ses_1"}
    assert sent("memory_store", {"content": "x"}, **who) == ("add", stored)
    assert sent("memory_recall", {"query": "x"}, **who) == ("recall", {**at, "project": "/shop"})
    assert sent("memory_recall", {"query": "x", "project": "harbour"}, **who) == (
        "recall",
        {**at, "project": "harbour"},
    )

    def fail(method: str, params: Any) -> dict[str, Any]:
        raise VaultIndexError("nothing", "try `vault-index search`")

    with pytest.raises(VaultIndexError) as raised:
        answer_tool(fail, {"name": "memory_get", "arguments": {"ref": "x"}, **who})
    assert raised.value.hint == "try `memory_search`"
    with pytest.raises(UsageError):
        answer_tool(fail, {"name": 7})


def test_mcp_call_answers_a_call_on_stdin_as_text(home: Home) -> None:
    def called(told: str) -> "subprocess.CompletedProcess[str]":
        words = [sys.executable, "-m", "vault_index", *command(home.data_dir, ["--call"])]
        return subprocess.run(words, input=told, capture_output=True, text=True, check=False)

    done = called(json.dumps({"name": "memory_get", "arguments": {"ref": "harbour.md"}, "directory": "/shop"}))
    assert (done.returncode, "It is called Tidewater." in done.stdout) == (0, True)
    done = called(json.dumps({"name": "memory_get", "arguments": {"ref": "no such note"}}))
    assert (done.returncode, "memory_search" in done.stderr) == (3, True)
    for nothing in ("", "[]", "{"):
        assert called(nothing).returncode == 2
