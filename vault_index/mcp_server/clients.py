"""Configuration for MCP clients: the text that starts this server, and where it goes."""

import json
from collections.abc import Sequence
from shlex import join
from typing import Any

_NAME = "vault-index"
_PLACES = {
    "claude-code": "run it in a shell; --scope project writes .mcp.json of the project instead",
    "claude-desktop": "Settings > Developer > Edit Config: claude_desktop_config.json in ~/Library/Application "
    "Support/Claude (macOS) or ~/.config/Claude (Linux); then start Claude anew",
    "cursor": "~/.cursor/mcp.json, or .cursor/mcp.json of a project",
    "opencode": "opencode.json of a project, or ~/.config/opencode/opencode.json; `vault-index opencode install` does "
    "more",
    "vscode": ".vscode/mcp.json of a project, or the command MCP: Open User Configuration",
    "generic": "where your client keeps its MCP servers; the transport is stdio",
}


def setup(client: str, command: Sequence[str]) -> tuple[str, str]:
    """The text to paste or run to set up a client, and where; `command` starts the server."""
    if client == "claude-code":
        text = join(["claude", "mcp", "add", "--scope", "user", _NAME, "--", *command])
    else:
        text = json.dumps(_settings(client, command), indent=2, ensure_ascii=False)
    return text, _PLACES[client]


def _settings(client: str, command: Sequence[str]) -> dict[str, Any]:
    program = {"command": command[0], "args": list(command[1:])}
    match client:
        case "vscode":
            return {"servers": {_NAME: {"type": "stdio", **program}}}
        case "opencode":
            server = {"type": "local", "command": list(command), "enabled": True}
            return {"$schema": "https://opencode.ai/config.json", "mcp": {_NAME: server}}
        case _:
            return {"mcpServers": {_NAME: program}}
