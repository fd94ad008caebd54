"""The registry of clients: the data folder of each, and its class, imported on first use.

A new client needs a line here and in `config.schema.CLIENTS`.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_index.config import Config

if TYPE_CHECKING:
    from vault_index.sources.sessions.client import Client

_HERE = "vault_index.sources.sessions"


class Known(NamedTuple):
    """A supported client: its class, and the location of its data."""

    module: str
    kind: str
    """Class in `module`, a `Client`."""
    variable: str
    """Environment variable that overrides the client's folder."""
    below: str
    """Subfolder of that folder that holds the data."""
    folder: str
    """Default data folder, relative to the user's home."""


KNOWN = {
    "opencode": Known(
        "vault_index.sources.opencode.client",
        "OpenCode",
        "XDG_DATA_HOME",
        "opencode",
        ".local/share/opencode",
    ),
    "claude-code": Known(f"{_HERE}.claude_code", "ClaudeCode", "CLAUDE_CONFIG_DIR", "", ".claude"),
    "codex": Known(f"{_HERE}.codex", "Codex", "CODEX_HOME", "", ".codex"),
    "gemini": Known(f"{_HERE}.gemini", "Gemini", "GEMINI_CLI_HOME", ".gemini", ".gemini"),
    "copilot": Known(f"{_HERE}.copilot", "Copilot", "COPILOT_HOME", "", ".copilot"),
    "pi": Known(f"{_HERE}.pi", "Pi", "PI_CODING_AGENT_DIR", "", ".pi/agent"),
    "qwen": Known(f"{_HERE}.qwen", "Qwen", "QWEN_HOME", "", ".qwen"),
    "amp": Known(f"{_HERE}.amp", "Amp", "XDG_DATA_HOME", "amp", ".local/share/amp"),
}


def folders_of(
    name: str, data: Sequence[str] = (), environ: Mapping[str, str] = os.environ
) -> list[Path]:
    """Return a client's data folders: from `data`, the environment variable, or the default.

    For OpenCode, `data` may name databases. The variable may list several folders, separated by
    commas.
    """
    known = KNOWN[name]
    if data:
        return [Path(os.path.abspath(os.path.expanduser(one))) for one in data]
    value = environ.get(known.variable, "")
    given = [value] if os.path.isdir(value) else map(str.strip, value.split(","))
    # The XDG specification says to ignore relative paths.
    return [Path(one, known.below) for one in given if os.path.isabs(one)] or [
        Path.home() / known.folder
    ]


def folder_of(name: str) -> Path:
    """Return the folder that the client writes to."""
    return folders_of(name)[0]


def open_client(name: str, config: Config) -> "Client":
    """Open a client on its configured folders."""
    from importlib import import_module

    known = KNOWN[name]
    kind = getattr(import_module(known.module), known.kind)
    cache = config.sessions_dir / name / ".heads.json" if config.sessions_dir else None
    client: Client = kind(*folders_of(name, config.clients[name].data), cache=cache)
    return client


def resume_command(name: str, session: str) -> Sequence[str]:
    """Return the command that resumes a session in its folder; empty for an unknown client."""
    return open_client(name, Config()).resume(session) if name in KNOWN else ()
