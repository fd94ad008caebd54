"""The registry of clients: the data folder of each, and its class, imported on first use.

A new client needs a line here and in `config.schema.CLIENTS`.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from vault_index import disk
from vault_index.config import Config
from vault_index.sources.git import worktree_of

if TYPE_CHECKING:
    from vault_index.sources.sessions.client import Client

_SECONDS = 60.0
"""Shortest time between two searches for files in projects."""
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
    in_project: str = ""
    """Path, in a project, of the file with its sessions, for a client that keeps them there."""
    more: tuple[str, ...] = ()
    """Further default folders, such as the storage of an extension in each editor."""
    resume: tuple[str, ...] = ()
    """Command that resumes a session; the id follows. Empty if there is none."""
    imported: bool = False
    """Whether `import` writes the data, into the data folder of this program."""


_SETTINGS = "Library/Application Support" if sys.platform == "darwin" else ".config"
_EDITORS = (
    *(f"{_SETTINGS}/{name}" for name in ("Code", "Code - Insiders", "VSCodium", "Cursor")),
    f"{_SETTINGS}/Windsurf",
    ".vscode-server/data",
    ".cursor-server/data",
)
"""Data folders of VS Code and similar editors, and of their servers on a remote machine."""


def _storage(extension: str) -> tuple[str, ...]:
    return tuple(f"{editor}/User/globalStorage/{extension}" for editor in _EDITORS)


KNOWN = {
    "opencode": Known(
        "vault_index.sources.opencode.client",
        "OpenCode",
        "XDG_DATA_HOME",
        "opencode",
        ".local/share/opencode",
        resume=("opencode", "-s"),
    ),
    "claude-code": Known(
        f"{_HERE}.claude_code",
        "ClaudeCode",
        "CLAUDE_CONFIG_DIR",
        "",
        ".claude",
        resume=("claude", "--resume"),
    ),
    "codex": Known(
        f"{_HERE}.codex", "Codex", "CODEX_HOME", "", ".codex", resume=("codex", "resume")
    ),
    "gemini": Known(
        f"{_HERE}.gemini",
        "Gemini",
        "GEMINI_CLI_HOME",
        ".gemini",
        ".gemini",
        resume=("gemini", "--resume"),
    ),
    "copilot": Known(
        f"{_HERE}.copilot",
        "Copilot",
        "COPILOT_HOME",
        "",
        ".copilot",
        resume=("copilot", "--resume"),
    ),
    "pi": Known(
        f"{_HERE}.pi", "Pi", "PI_CODING_AGENT_DIR", "", ".pi/agent", resume=("pi", "--session")
    ),
    "qwen": Known(f"{_HERE}.qwen", "Qwen", "QWEN_HOME", "", ".qwen", resume=("qwen", "--resume")),
    "amp": Known(
        f"{_HERE}.amp",
        "Amp",
        "XDG_DATA_HOME",
        "amp",
        ".local/share/amp",
        resume=("amp", "threads", "continue"),
    ),
    "crush": Known(
        f"{_HERE}.crush",
        "Crush",
        "CRUSH_GLOBAL_DATA",
        "",
        ".local/share/crush",
        in_project=".crush/crush.db",
        resume=("crush", "--session"),
    ),
    "goose": Known(
        f"{_HERE}.goose",
        "Goose",
        "XDG_DATA_HOME",
        "goose",
        ".local/share/goose",
        resume=("goose", "session", "--resume", "--session-id"),
    ),
    "aider": Known(
        f"{_HERE}.aider", "Aider", "", "", ".aider", in_project=".aider.chat.history.md"
    ),
    "cursor": Known(
        f"{_HERE}.cursor",
        "Cursor",
        "",
        "",
        ".cursor",
        more=(f"{_SETTINGS}/Cursor/User/globalStorage",),
    ),
    "cline": Known(
        f"{_HERE}.cline",
        "Cline",
        "CLINE_DATA_DIR",
        "",
        ".cline/data",
        more=_storage("saoudrizwan.claude-dev"),
        resume=("cline", "--id"),
    ),
    "roo": Known(
        f"{_HERE}.cline",
        "Roo",
        "VSCODE_PORTABLE",
        "user-data/User/globalStorage/rooveterinaryinc.roo-cline",
        ".vscode-mock/global-storage",
        more=_storage("rooveterinaryinc.roo-cline"),
    ),
    "claude-chat": Known(f"{_HERE}.chats", "ClaudeChat", "", "", "", imported=True),
    "chatgpt": Known(f"{_HERE}.chats", "ChatGPT", "", "", "", imported=True),
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
    if found := [Path(one, known.below) for one in given if os.path.isabs(one)]:
        return found
    return [Path.home() / one for one in (known.folder, *known.more)]


def data_of(name: str, config: Config) -> list[Path]:
    """Return a client's data folders, as the configuration sets them."""
    given = config.clients[name].data
    if KNOWN[name].imported and not given:
        return [(config.sessions_dir or Path(os.devnull)).parent / "chats" / name]
    return folders_of(name, given)


def folder_of(name: str) -> Path:
    """Return the folder that the client writes to."""
    return folders_of(name)[0]


def open_client(name: str, config: Config) -> "Client":
    """Open a client on its configured folders."""
    from importlib import import_module

    known = KNOWN[name]
    kind = getattr(import_module(known.module), known.kind)
    cache = config.sessions_dir / name / ".heads.json" if config.sessions_dir else None
    client: Client = kind(*data_of(name, config), cache=cache)
    if known.in_project:
        client.in_projects = InProjects(config, (known.in_project,), cache).files
    return client


class InProjects:
    """Finds the files with these names inside the projects in which clients' sessions ran.

    What was found is stored in `.projects.json` beside `cache`, because searches must not list all
    sessions: only `listing`, `watched`, and `present` without a known file look for more.
    """

    def __init__(self, config: Config, names: Sequence[str], cache: Path | None) -> None:
        self._config, self._names = config, names
        self._cache = cache and cache.with_name(".projects.json")
        self._found: set[str] = set()
        self._again = 0.0
        with suppress(OSError, ValueError, TypeError):  # a cache: look again
            self._found.update(json.loads(self._cache.read_bytes()) if self._cache else ())

    def files(self, look: bool = False) -> list[Path]:
        """Return the existing files; with `look`, search for more, at most once a minute."""
        if look and time.monotonic() >= self._again:
            listings = (client.listing().sessions.values() for client in self._others)
            places = ((one.session.directory, one.session.worktree) for one in chain(*listings))
            folders = set(filter(os.path.isabs, chain(*places)))
            folders.update([*map(worktree_of, folders)])
            paths = (os.path.join(folder, name) for folder in folders for name in self._names)
            before, self._again = self._found, time.monotonic() + _SECONDS
            self._found = set(filter(os.path.isfile, {*before, *paths}))
            if self._found != before and self._cache:
                with suppress(OSError):
                    self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    stored = json.dumps(sorted(self._found)).encode()
                    disk.replace(os.fspath(self._cache), stored, mode=0o600)
        return sorted(map(Path, filter(os.path.isfile, self._found)))

    @cached_property
    def _others(self) -> "list[Client]":
        clients = self._config.clients
        others = (one for one in clients if clients[one].enabled and not KNOWN[one].in_project)
        return [open_client(one, self._config) for one in others]


def resume_command(name: str, session: str) -> Sequence[str]:
    """Return the command that resumes a session in its folder; empty for an unknown client."""
    command = KNOWN[name].resume if name in KNOWN else ()
    return (*command, open_client(name, Config()).resumable(session)) if command else ()
