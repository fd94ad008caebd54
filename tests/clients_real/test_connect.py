"""`agent install` with real clients: recall, capture and tool calls work, recalled text is not read back as part of the
session, and uninstall restores the settings."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients_real import clients
from tests.clients_real.clients import Client
from tests.clients_real.model import Model, Step
from tests.clients_real.terminal import ENTER
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).parents[2]
MAKE = {
    "claude-code": (clients.claude_code, "claude"),
    "codex": (clients.codex, "codex"),
    "gemini": (clients.gemini, "gemini"),
}
WORDS = {
    "claude-code": ("--allowedTools=mcp__vault-index__memory_search", "-p"),
    "codex": ("exec", "--dangerously-bypass-hook-trust"),
    "gemini": ("-y", "-p"),
}
FILES = {
    "claude-code": (".claude/settings.json", ".claude.json"),
    "codex": (".codex/config.toml", ".codex/hooks.json"),
    "gemini": (".gemini/settings.json",),
}
ASKED = {"query": "boxes"}
CALLS: dict[str, list[dict[str, Any]]] = {
    "claude-code": [{"name": "mcp__vault-index__memory_search", "args": ASKED}],
    "codex": [  # its tools exist once the servers have started; the first call waits for that
        {"name": "list_mcp_resources", "args": {}},
        {"namespace": "mcp__vault_index", "name": "memory_search", "args": ASKED},
    ],
    "gemini": [{"name": "mcp_vault-index_memory_search", "args": ASKED}],
}
KNOWN = "The warehouse counts boxes, not books."
PROMPT = "How do we count?\n\n*Remember*: the fork lift is red."
TEXT = "As the notes say.\n\n*Remember*: the gate closes at five."


class Place:
    """A client connected to its own index."""

    def __init__(self, folder: Path, name: str, **scenes: list[Step]) -> None:
        steps: list[Step] = [*({"tools": [call]} for call in CALLS[name]), {"text": TEXT}]
        self.model = Model({"default": steps, "connected": steps, **scenes})
        make, program = MAKE[name]
        self.name, self.vault = name, folder / "vault"
        self.client: Client = make(folder / "c", self.model, clients.installed(program))
        self.env = self.client.env | {"VAULT_INDEX_HOME": str(folder / "vx")}
        self.vault.mkdir()
        self.vx("init", str(self.vault), "--provider", "none")
        self.vx("config", "set", "agents.start_daemon", "false")
        self.vx("add", KNOWN, "--type", "decision", "--project", "shop")

    def vx(self, *words: str) -> str:
        command = [sys.executable, "-m", "vault_index", *words]
        ended = subprocess.run(
            command, env=self.env, cwd=self.client.project, capture_output=True, text=True, timeout=PATIENCE
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.vx("agent", "status", self.name, "--json"))
        assert "fault" not in found
        state: dict[str, Any] = found["results"][0]
        return state

    def files(self) -> dict[str, Any]:
        """The data of JSON files, and the text of others."""
        paths = {name: self.client.home / name for name in FILES[self.name]}
        texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.exists()}
        return {name: json.loads(text) if name.endswith(".json") else text for name, text in texts.items()}

    def inbox(self) -> str:
        """The captured memories."""
        return "\n".join(path.read_text(encoding="utf-8") for path in self.vault.glob("80-memory/inbox/*.md"))

    def told(self) -> str:
        """All text that the model received."""
        return "\n".join(turn.text for request in self.model.of("connected") for turn in request.turns)


@pytest.mark.parametrize("name", MAKE)
def test_agent_install_and_uninstall_a_real_client(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    place = Place(tmp_path_factory.mktemp("c").resolve(), name)
    before = place.files()
    place.vx("agent", "install", name)
    assert place.state()["state"] == "installed"
    place.client.run(*WORDS[name], f"{PROMPT}\n\n[[scene:connected]]")

    recalled = place.told()
    assert "<vault-index-recall" in recalled.replace("&lt;", "<")
    assert KNOWN in recalled
    assert f"> {KNOWN}" in recalled.replace("&gt;", ">")
    answered = json.dumps(place.model.of("connected")[-1].body)
    assert "80-memory/decision/" in answered.partition("memory_search")[2] or '0.67,\\\\"8\\\\"' in answered
    until(lambda: "gate closes" in place.inbox() and "fork lift" in place.inbox())
    assert place.inbox().count("session: ") == 2
    assert f"entered_by: {name}" in place.inbox()

    place.vx("sync")
    [session] = json.loads(place.vx("list", "--kind", "session", "--json"))["results"]
    transcript = place.vx("get", session["id"])
    assert "the fork lift is red" in transcript
    assert "As the notes say." in transcript
    assert "vault-index-recall" not in transcript
    assert KNOWN not in transcript

    place.vx("agent", "uninstall", name)
    assert place.state()["state"] == "absent"
    after = place.files()
    if name == "claude-code":  # Claude Code keeps notes of its own in it
        assert "vault-index" not in after.pop(".claude.json").get("mcpServers", {})
        before.pop(".claude.json")
    assert after == before


def test_codex_asks_once_to_trust_the_hooks(tmp_path_factory: pytest.TempPathFactory) -> None:
    place = Place(tmp_path_factory.mktemp("c").resolve(), "codex")
    place.vx("agent", "install", "codex")
    assert place.state()["trusted"] is False
    with place.client.terminal("--no-daemon", "--no-alt-screen") as terminal:
        terminal.wait("Hooks need review")
        terminal.settle()
        terminal.press("2", ENTER)
        until(lambda: place.state()["trusted"] is True)
    place.client.run("exec", f"{PROMPT}\n\n[[scene:connected]]")
    assert f"> {KNOWN}" in place.told()


def test_claude_code_uses_the_plugin_of_this_repository(tmp_path_factory: pytest.TempPathFactory) -> None:
    call = {"name": "mcp__plugin_vault-index_vault-index__memory_search", "args": ASKED}
    place = Place(tmp_path_factory.mktemp("c").resolve(), "claude-code", plugin=[{"tools": [call]}, {"text": TEXT}])
    place.client.env |= place.env | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for words in (("marketplace", "add", str(ROOT)), ("install", "vault-index@vault-index")):
        place.client.run("plugin", *words)
    place.client.run(f"--allowedTools={call['name']}", "-p", f"{PROMPT}\n\n[[scene:plugin]]")
    requests = place.model.of("plugin")
    assert f"> {KNOWN}" in "\n".join(turn.text for turn in requests[0].turns)
    assert "80-memory/decision/" in json.dumps(requests[-1].body).partition("memory_search")[2]
    until(lambda: "gate closes" in place.inbox() and "fork lift" in place.inbox())
