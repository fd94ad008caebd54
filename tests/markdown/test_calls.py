"""Parsing of tool-call lines in rendered sessions."""

import pytest

from tests.tables import tables
from vault_index.markdown.calls import Call, calls_in, program_of
from vault_index.sources.sessions.model import Message, Session, ToolCall
from vault_index.sources.sessions.render import render

CASES = tables(__file__)


def rendered(call: ToolCall) -> Call:
    session = Session("ses_a", "A", "/p", "/p", "", "1", 0, 0)
    message = Message("m", "", "assistant", 0, True, "", "", "", (call,))
    [read] = calls_in(render(session, [message], "opencode").text, 1)
    return read


@pytest.mark.parametrize(
    ("call", "tool", "target", "outcome"),
    [
        (ToolCall("read", "completed", "src/app.py"), "read", "src/app.py", "ok"),
        (ToolCall("bash", "completed", "echo `date` (now)", exit=2), "bash", "echo `date` (now)", "exit 2"),
        (ToolCall("bash", "completed", "`x`", exit=0), "bash", "`x`", "exit 0"),
        (ToolCall("edit", "error", "a.py", error="no (such) text"), "edit", "a.py", "error: no (such) text"),
        (ToolCall("task", "completed", "Find", child="ses_b"), "task", "Find", "ok"),
        (ToolCall("mcp.tool_x", "running", ""), "mcp.tool_x", "", "broken off"),
    ],
)
def test_calls_in_parses_a_rendered_call(call: ToolCall, tool: str, target: str, outcome: str) -> None:
    read = rendered(call)
    assert (read.tool, read.target, read.outcome) == (tool, target, outcome)


@pytest.mark.parametrize(
    "line",
    ["- a list item", "- note: see above", "- so: `x`", "- `x` (ok)", "- : `x` (ok)", "-", "- two words: `x` (ok)"],
)
def test_calls_in_ignores_plain_text(line: str) -> None:
    assert list(calls_in(line, 1)) == []


def test_calls_in_reports_lines() -> None:
    found = calls_in("Well.\n\n- read: `a` (ok)\n- edit: `b` (ok)", 10)
    assert [(call.line, call.target) for call in found] == [(12, "a"), (13, "b")]


@pytest.mark.parametrize(("tool", "target", "edited"), CASES["call_edited_knows_the_writing_tools_of_every_client"])
def test_call_edited_knows_the_writing_tools_of_every_client(tool: str, target: str, edited: list[str]) -> None:
    assert Call(1, tool, target, "ok").edited() == edited


@pytest.mark.parametrize(("command", "program"), CASES["program_of_names_the_program_of_a_command"])
def test_program_of_names_the_program_of_a_command(command: str, program: str) -> None:
    assert program_of(command) == program


@pytest.mark.parametrize(("command", "outcome", "failed"), CASES["call_failed_ignores_exit_codes_that_mean_no"])
def test_call_failed_ignores_exit_codes_that_mean_no(command: str, outcome: str, failed: bool) -> None:
    assert Call(1, "Bash", command, outcome).failed is failed
