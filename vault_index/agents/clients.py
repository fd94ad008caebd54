"""Describe the clients that can use the server: how each is configured, and its hooks."""

import json
from collections.abc import Mapping, Sequence
from shlex import join
from typing import Any, NamedTuple

SERVER = "vault-index"
PLACES = {
    "claude-code": "run it in a shell; --scope project writes .mcp.json of the project instead",
    "claude-desktop": "Settings > Developer > Edit Config: claude_desktop_config.json in ~/Library/"
    "Application Support/Claude (macOS) or ~/.config/Claude (Linux); then restart Claude",
    "codex": "run it in a shell",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
    "gemini": "~/.gemini/settings.json, or .gemini/settings.json of a project",
    "opencode": "opencode.json of a project, or ~/.config/opencode/opencode.json",
    "vscode": ".vscode/mcp.json of a project, or the command MCP: Open User Configuration",
    "generic": "where your client keeps its MCP servers; the transport is stdio",
}
"""Instructions for the text of `setup`, by client."""


class Wiring(NamedTuple):
    """The configuration of a client with hooks: its files, and its names for events."""

    server: tuple[str, str]
    """The files with the MCP servers of a user (in the client's folder) and of a project."""
    hooks: tuple[str, str]
    """The files with the hooks of a user and of a project."""
    events: Mapping[str, str]
    """Our event by the client's event: session `start`, user `prompt`, or `stop` of the answer."""
    hook: Mapping[str, Any]
    """The keys of a hook besides its command; the client waits at most `timeout`."""
    todo: str
    """Steps that the user must do."""
    tools: str = ""
    """Matches the tools before which the client asks for a reminder (`PreToolUse`)."""


_EVENTS = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "stop"}
_SECONDS = 10
"""How long a client waits for a hook that hangs; our hooks time out earlier."""
WIRED = {
    "claude-code": Wiring(
        (".claude.json", ".mcp.json"),
        ("settings.json", ".claude/settings.local.json"),
        _EVENTS,
        {"timeout": _SECONDS},
        "Restart Claude Code; it asks once before it uses the server of a project",
        "Edit|MultiEdit|Write|NotebookEdit|Bash",
    ),
    "codex": Wiring(
        ("config.toml", ".codex/config.toml"),
        ("hooks.json", ".codex/hooks.json"),
        _EVENTS,
        {"timeout": _SECONDS},
        "Start codex once and choose to trust the hooks: until then it ignores them silently",
    ),
    "gemini": Wiring(
        ("settings.json", ".gemini/settings.json"),
        ("settings.json", ".gemini/settings.json"),
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "stop"},
        {"name": SERVER, "timeout": 1000 * _SECONDS},
        "Restart Gemini CLI; it starts no servers in folders that it does not trust",
    ),
}
CONNECTED = (*WIRED, "opencode")
"""The clients that `agent install` supports; OpenCode has a plugin."""


def setup(client: str, command: Sequence[str]) -> tuple[str, str]:
    """Return the text that sets up a client, and where to paste or run it.

    `command` is the command line that starts the server.
    """
    place = PLACES[client]
    if client in CONNECTED:
        place += f"; or use `vault-index agent install {client}`, which also connects sessions"
    if client == "claude-code":
        text = join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", *command])
    elif client == "codex":
        text = join(["codex", "mcp", "add", SERVER, "--", *command])
    else:
        text = json.dumps(_settings(client, command), indent=2, ensure_ascii=False)
    return text, place


def entry(client: str, command: Sequence[str]) -> dict[str, Any]:
    """Return the configuration of our server in the form of a client."""
    program = {"command": command[0], "args": list(command[1:])}
    if client == "opencode":
        return {"type": "local", "command": list(command), "enabled": True}
    return {"type": "stdio", **program} if client in ("claude-code", "vscode") else program


def _settings(client: str, command: Sequence[str]) -> dict[str, Any]:
    server = {SERVER: entry(client, command)}
    match client:
        case "vscode":
            return {"servers": server}
        case "opencode":
            return {"$schema": "https://opencode.ai/config.json", "mcp": server}
        case _:
            return {"mcpServers": server}
