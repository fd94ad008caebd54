"""How MCP clients are told of this server: what goes where, in the form each of them reads."""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_NAME = "vault-index"


class Setup(NamedTuple):
    """What a user has to do: put the text at the place, or run it there."""

    text: str
    place: str


def setup(client: str, command: Sequence[str]) -> Setup:
    """For one of CLIENTS; `command` starts the server."""
    build, place = CLIENTS[client]
    return Setup(build(command), place)


def _command_line(command: Sequence[str]) -> str:
    from shlex import join

    return join(["claude", "mcp", "add", "--scope", "user", _NAME, "--", *command])


def _mcp_servers(command: Sequence[str]) -> str:
    return _json({"mcpServers": {_NAME: _program(command)}})


def _vscode(command: Sequence[str]) -> str:
    return _json({"servers": {_NAME: {"type": "stdio", **_program(command)}}})


def _opencode(command: Sequence[str]) -> str:
    server = {"type": "local", "command": list(command), "enabled": True}
    return _json({"$schema": "https://opencode.ai/config.json", "mcp": {_NAME: server}})


def _program(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


CLIENTS: dict[str, tuple[Callable[[Sequence[str]], str], str]] = {
    "claude-code": (_command_line, "run it in a shell; --scope project writes .mcp.json of the project instead"),
    "claude-desktop": (
        _mcp_servers,
        "Settings > Developer > Edit Config: claude_desktop_config.json in ~/Library/Application Support/Claude (macOS)"
        " or ~/.config/Claude (Linux); then start Claude anew",
    ),
    "cursor": (_mcp_servers, "~/.cursor/mcp.json, or .cursor/mcp.json of a project"),
    "opencode": (
        _opencode,
        "opencode.json of a project, or ~/.config/opencode/opencode.json; `vault-index opencode install` does more",
    ),
    "vscode": (_vscode, ".vscode/mcp.json of a project, or the command MCP: Open User Configuration"),
    "generic": (_mcp_servers, "where your client keeps its MCP servers; the transport is stdio"),
}
"""What is built, and where it goes."""
