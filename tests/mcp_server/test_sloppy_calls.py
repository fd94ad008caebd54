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

CALLS = json.loads(Path(__file__).with_name("sloppy_calls.json").read_text("utf-8"))
"""Calls with the plain call that each equals; calls with a part of their error; hints in words of tools."""
NAMES = {"search": "memory_search", "memory-read": "memory_get", "observation": "memory_store"}
"""Our names of other programs' tools."""


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


@pytest.mark.parametrize(("tool", "given", "same"), CALLS["accepted"])
def test_mcp_accepts_unambiguous_sloppy_calls(tool: str, given: dict[str, Any], same: dict[str, Any]) -> None:
    name = {"search": "memory_search", "memory-read": "memory_get", "observation": "memory_store"}.get(
        tool, tool.replace("-", "_")
    )
    assert sent(tool, given) == sent(name, same)


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


@pytest.mark.parametrize(("tool", "given", "told"), CALLS["hints"])
def test_mcp_hint_names_the_tool_and_arguments(client: Session, tool: str, given: dict[str, Any], told: str) -> None:
    error = client.error(tool, **given)
    assert told in error
    assert "--" not in error


@pytest.mark.parametrize(("hint", "told"), CALLS["translated"])
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
