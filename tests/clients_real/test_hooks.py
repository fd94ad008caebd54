"""What a hook is told, and that what it says reaches the model: the same three moments in every client."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

from tests.clients_real import clients, sessions
from tests.clients_real.clients import Client
from tests.clients_real.model import Model, Turn
from tests.clients_real.scenes import FIRST, TALK, asked, scenes

HOOK = """
import json, pathlib, sys
told = json.load(sys.stdin)
with pathlib.Path(__file__).with_suffix(".log").open("a") as log:
    log.write(json.dumps(told) + "\\n")
event = told["hook_event_name"]
if event in {"SessionStart", "UserPromptSubmit", "BeforeAgent"}:
    context = f"The hook of {event} was here."
    print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}))
"""
_COMMON = {"session_id", "transcript_path", "cwd", "hook_event_name"}


def _hooks(folder: Path, *events: str, seconds: int = 3) -> dict[str, Any]:
    """In the shape that all three read; Gemini counts milliseconds."""
    script = folder / "hook.py"
    script.write_text(HOOK, encoding="utf-8")
    hook = {"type": "command", "command": shlex.join([sys.executable, str(script)]), "timeout": seconds}
    return {"hooks": {event: [{"hooks": [hook]}] for event in events}}


def _told(folder: Path) -> list[dict[str, Any]]:
    log = folder / "hook.log"
    return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []


def _turns(model: Model) -> list[Turn]:
    return [turn for request in model.of("first") for turn in request.turns]


def _check(client: Client, told: list[dict[str, Any]], prompt: str, stop: str) -> None:
    assert all(event.keys() >= _COMMON and event["cwd"] == str(client.project) for event in told)
    by_name = {event["hook_event_name"]: event for event in told}
    assert by_name["SessionStart"]["source"] == "startup"
    assert asked(FIRST, "first") in by_name[prompt]["prompt"]
    assert by_name[stop]["transcript_path"] == str(sessions.transcripts(client)[-1])
    assert not by_name[stop]["stop_hook_active"]
    assert "reason" in by_name["SessionEnd"]


def test_claude_code(place: Path) -> None:
    model = Model(scenes(place / "shop")["claude-code"])
    client = clients.claude_code(place / "claude-code", model, clients.installed("claude"))
    (client.home / ".claude").mkdir()
    hooks = _hooks(client.home, "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    (client.home / ".claude/settings.json").write_text(json.dumps(hooks))
    client.run("-p", asked(FIRST, "first"))
    told = _told(client.home)
    _check(client, told, "UserPromptSubmit", "Stop")
    assert told[-2]["last_assistant_message"] == TALK["first"]
    assert any("The hook of SessionStart was here." in turn.text for turn in _turns(model))
    assert any("The hook of UserPromptSubmit was here." in turn.text for turn in _turns(model))


def test_codex_runs_none_that_is_not_trusted(place: Path) -> None:
    model = Model(scenes(place / "shop")["codex"])
    client = clients.codex(place / "codex", model, clients.installed("codex"))
    hooks = _hooks(client.home, "SessionStart", "UserPromptSubmit", "Stop", "SessionEnd")
    (client.home / ".codex/hooks.json").write_text(json.dumps(hooks))
    client.run("exec", asked(FIRST, "first"))
    assert not _told(client.home)
    client.run("exec", "--dangerously-bypass-hook-trust", asked(FIRST, "first"))
    told = _told(client.home)
    _check(client, told, "UserPromptSubmit", "Stop")
    assert told[-2]["last_assistant_message"] == TALK["first"]
    said = [turn.text for turn in _turns(model) if turn.role == "developer"]
    assert {"The hook of SessionStart was here.", "The hook of UserPromptSubmit was here."} <= set(said)


def test_gemini(place: Path) -> None:
    model = Model(scenes(place / "shop")["gemini"])
    client = clients.gemini(place / "gemini", model, clients.installed("gemini"))
    settings = client.home / ".gemini/settings.json"
    hooks = _hooks(client.home, "SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd", seconds=10_000)
    settings.write_text(json.dumps(json.loads(settings.read_text()) | hooks))
    client.run("-y", "-p", asked(FIRST, "first"))
    told = _told(client.home)
    _check(client, told, "BeforeAgent", "AfterAgent")
    assert next(event["prompt_response"] for event in told if "prompt_response" in event) == TALK["first"]
    said = "\n".join(turn.text for turn in _turns(model))
    assert "<hook_context>The hook of SessionStart was here.</hook_context>" in said
    assert "<hook_context>The hook of BeforeAgent was here.</hook_context>" in said
