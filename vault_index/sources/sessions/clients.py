"""The clients whose sessions can be read: where each keeps its data, and what reads them, which is imported when it is
asked. The next one is a line here and in the settings' list of clients."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_index.config import Config

if TYPE_CHECKING:
    from vault_index.sources.sessions.client import Client

_HERE = "vault_index.sources.sessions"


class Known(NamedTuple):
    module: str
    kind: str
    """The class in it, made with the folder of the data and a file where beginnings of sessions may be remembered."""
    variable: str
    """The environment variable by which a client is told of another folder."""
    below: str
    """Where in that folder its data are."""
    folder: str
    """Where they are without the variable, below the user's home."""


KNOWN = {
    "opencode": Known(
        "vault_index.sources.opencode.client", "OpenCode", "XDG_DATA_HOME", "opencode", ".local/share/opencode"
    ),
    "claude-code": Known(f"{_HERE}.claude_code", "ClaudeCode", "CLAUDE_CONFIG_DIR", "", ".claude"),
    "codex": Known(f"{_HERE}.codex", "Codex", "CODEX_HOME", "", ".codex"),
    "gemini": Known(f"{_HERE}.gemini", "Gemini", "GEMINI_CLI_HOME", ".gemini", ".gemini"),
}


def folders_of(name: str, data: Sequence[str] = (), environ: Mapping[str, str] = os.environ) -> list[Path]:
    """The folders of a client's data (of OpenCode, databases may be set): as set, else where it would look. In its
    variable, several are separated by commas."""
    known = KNOWN[name]
    if data:
        return [Path(os.path.abspath(os.path.expanduser(one))) for one in data]
    value = environ.get(known.variable, "")
    given = [value] if os.path.isdir(value) else map(str.strip, value.split(","))
    # A relative one is to be ignored, says the XDG specification.
    return [Path(one, known.below) for one in given if os.path.isabs(one)] or [Path.home() / known.folder]


def folder_of(name: str) -> Path:
    """The folder that the client itself writes to."""
    return folders_of(name)[0]


def open_client(name: str, config: Config) -> "Client":
    from importlib import import_module

    known = KNOWN[name]
    kind = getattr(import_module(known.module), known.kind)
    opened: list[Client] = []
    for number, folder in enumerate(folders_of(name, config.clients[name].data)):
        cache = config.sessions_dir / name / f".heads{number or ''}.json" if config.sessions_dir else None
        opened.append(kind(folder, cache))
    if len(opened) == 1:
        return opened[0]
    from vault_index.sources.sessions.several import Several

    return Several(opened)


def resume_command(name: str, session: str) -> Sequence[str]:
    """What goes on with a session, to be run in the folder it was held in; empty for a client that is not known."""
    return open_client(name, Config()).resume(session) if name in KNOWN else ()
