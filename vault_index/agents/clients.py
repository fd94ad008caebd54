"""The clients that agents work in: what starts our server in each, where that goes, and which hooks it has."""

import json
from collections.abc import Mapping, Sequence
from shlex import join
from typing import Any, NamedTuple

SERVER = "vault-index"
PLACES = {
    "claude-code": "run it in a shell; --scope project writes .mcp.json of the project instead",
    "claude-desktop": "Settings > Developer > Edit Config: claude_desktop_config.json in ~/Library/Application "
    "Support/Claude (macOS) or ~/.config/Claude (Linux); then start Claude anew",
    "codex": "run it in a shell",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
    "gemini": "~/.gemini/settings.json, or .gemini/settings.json of a project",
    "opencode": "opencode.json of a project, or ~/.config/opencode/opencode.json",
    "vscode": ".vscode/mcp.json of a project, or the command MCP: Open User Configuration",
    "generic": "where your client keeps its MCP servers; the transport is stdio",
}
"""Where the text of `setup` goes, of every client that is known."""


class Wiring(NamedTuple):
    """How a client with hooks is connected: its files, and what it calls the moments that matter."""

    server: tuple[str, str]
    """The file with the MCP servers, of a user (in the client's folder) and of a project."""
    hooks: tuple[str, str]
    events: Mapping[str, str]
    """What happens (`start` of a session, `prompt` of the user, `stop` of the answer) by the client's name for it."""
    hook: Mapping[str, Any]
    """What a hook has beside its command; the client waits for it no longer than `timeout`."""
    todo: str
    """What is left for the person to do."""


_EVENTS = {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "stop"}
_SECONDS = 10
"""How long a client waits for a hook that hangs; ours gives up before."""
WIRED = {
    "claude-code": Wiring(
        (".claude.json", ".mcp.json"),
        ("settings.json", ".claude/settings.local.json"),
        _EVENTS,
        {"timeout": _SECONDS},
        "Restart Claude Code; it asks once before it uses the server of a project",
    ),
    "codex": Wiring(
        ("config.toml", ".codex/config.toml"),
        ("hooks.json", ".codex/hooks.json"),
        _EVENTS,
        {"timeout": _SECONDS},
        "Start codex once and choose to trust the hooks: until then it leaves them out, and says nothing",
    ),
    "gemini": Wiring(
        ("settings.json", ".gemini/settings.json"),
        ("settings.json", ".gemini/settings.json"),
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "stop"},
        {"name": SERVER, "timeout": 1000 * _SECONDS},
        "Start Gemini CLI anew; in a folder that it does not trust it starts no servers",
    ),
}
CONNECTED = (*WIRED, "opencode")
"""What `agent install` can do; OpenCode has a plugin."""


def setup(client: str, command: Sequence[str]) -> tuple[str, str]:
    """The text to paste or run to set up a client, and where; `command` starts the server."""
    place = PLACES[client]
    if client in CONNECTED:
        place += f"; `vault-index agent install {client}` does it, and more"
    if client == "claude-code":
        text = join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", *command])
    elif client == "codex":
        text = join(["codex", "mcp", "add", SERVER, "--", *command])
    else:
        text = json.dumps(_settings(client, command), indent=2, ensure_ascii=False)
    return text, place


def entry(client: str, command: Sequence[str]) -> dict[str, Any]:
    """What a client keeps of a server."""
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
