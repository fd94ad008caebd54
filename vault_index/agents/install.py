"""Add our server and hooks to the configuration of a client, and remove them again.

Nothing else in these files changes.
"""

import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vault_index import disk
from vault_index.agents.clients import SERVER, WIRED, Wiring, entry
from vault_index.agents.edit import (
    read_json,
    read_toml,
    with_json,
    with_server,
    without_json,
    without_server,
)
from vault_index.config.home import private_folder
from vault_index.errors import ConfigError, ConflictError, UsageError, VaultIndexError
from vault_index.markdown.recalled import own_run
from vault_index.sources.sessions.clients import folder_of

_PROGRAM, _HOOK = re.compile(r"(?:vault[-_]index|vx)\b"), " agent hook "
_LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Target:
    """The configuration of a client for one user or one project."""

    client: str
    scope: str
    server: Path
    hooks: Path

    @property
    def wiring(self) -> Wiring:
        """The description of the client."""
        return WIRED[self.client]

    @property
    def paths(self) -> list[Path]:
        """The files of the server and the hooks, which may be one."""
        return list(dict.fromkeys((self.server, self.hooks)))


@dataclass(slots=True)
class Plan:
    """The new texts of files; None deletes a file. `carry_out` writes them."""

    before: dict[Path, str | None] = field(default_factory=dict)
    after: dict[Path, str | None] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        """Return the planned text of a file; empty if it does not exist."""
        if path not in self.before:
            self.before[path] = self.after[path] = _read(path)
        return self.after[path] or ""

    def data(self, path: Path) -> dict[str, Any]:
        """Return the planned data of a file. Raises ConfigError if it cannot be parsed."""
        text = self.text(path)
        with _naming(path):
            return read_toml(text) if path.suffix == ".toml" else read_json(text)

    def change(self, path: Path, edit: Callable[..., str], *args: Any) -> None:
        """Apply an edit to the planned text of a file."""
        text = self.text(path)
        with _naming(path):
            self.after[path] = edit(text, *args)

    @property
    def changed(self) -> list[Path]:
        """The files whose text changes."""
        return [path for path, text in self.after.items() if text != self.before[path]]

    def carry_out(self, data_dir: Path) -> list[Path]:
        """Write the files; return the backups, in `data_dir`, of those that existed.

        Symbolic links are followed. Raises ConflictError if a file changed since it was read.
        """
        copies = []
        for path in self.changed:
            before, after, real = (
                self.before[path],
                self.after[path],
                Path(disk.real_path(str(path))),
            )
            with _naming(path):
                if before is not None:
                    backups = private_folder(private_folder(data_dir) / "backups")
                    copies.append(backups / str(path).replace("/", "%")[-_LONGEST_NAME:])
                    disk.replace(str(copies[-1]), before.encode(), mode=0o600)
                disk.make_folder(folder := str(real.parent))
                like = real.stat() if real.exists() else None
                with disk.draft(folder, (after or "").encode(), like, mode=0o600) as draft:
                    if _read(path) != before:
                        raise ConflictError(
                            f"{path} changed in the meantime", "run the same command again"
                        )
                    real.unlink() if after is None else os.replace(draft, real)
        return copies


def target_of(client: str, project: Path | None = None) -> Target:
    """Return the configuration of a client, for the user or for a project folder."""
    wiring = WIRED[client]
    if project is None:
        folder = folder_of(client)
        # Claude Code keeps this file next to its default folder, but inside a custom folder.
        outside = client == "claude-code" and not os.path.isabs(
            os.environ.get("CLAUDE_CONFIG_DIR", "")
        )
        return Target(
            client,
            "global",
            (folder.parent if outside else folder) / wiring.server[0],
            folder / wiring.hooks[0],
        )
    if not project.is_dir():
        raise UsageError(f"{project} is not a folder", "give the folder of the project")
    return Target(client, "project", project / wiring.server[1], project / wiring.hooks[1])


def installing(target: Target, program: Sequence[str]) -> Plan:
    """Plan the installation or update of the server and the hooks.

    Raises ConfigError if a file cannot be changed safely, and ConflictError if another server has
    our name.
    """
    plan = Plan()
    _put_server(plan, target, program)
    _put_hooks(plan, target, program)
    return plan


def uninstalling(target: Target) -> Plan:
    """Plan the removal of the server and the hooks."""
    plan = Plan()
    if _is_ours(_server(plan, target)):
        toml = target.server.suffix == ".toml"
        plan.change(
            target.server, *((without_server,) if toml else (without_json, ("mcpServers", SERVER)))
        )
    for path, _ in reversed(_our_hooks(plan, target)):
        plan.change(target.hooks, _without_hook, path)
    for path in plan.changed:  # delete files that are empty now
        if plan.text(path).strip() in ("", "{}") and not path.is_symlink():
            plan.after[path] = None
    return plan


def state_of(target: Target, program: Sequence[str]) -> dict[str, object]:
    """Return the state of the installation, with its details.

    It is `installed`, `outdated` (another command), `incomplete`, `absent`, or `unreadable` with a
    reason.
    """
    status: dict[str, object] = {
        "client": target.client,
        "scope": target.scope,
        "paths": [str(path) for path in target.paths],
    }
    try:
        programs = _programs(target)
        wanted = installing(target, program)
    except VaultIndexError as error:
        return {**status, "state": "unreadable", "problem": error.message, "hint": error.hint}
    missing = {program for program in programs if not shutil.which(program)}
    if not programs:
        state = "absent"
    elif not wanted.changed:
        state = "installed"
    else:
        state = "incomplete" if len(programs) <= len(target.wiring.events) else "outdated"
    status |= {"state": state, "gone": sorted(missing)}
    return status | (
        {"trusted": _is_trusted(target)} if target.client == "codex" and programs else {}
    )


# --- helpers --------------------------------------------------------------------------------------


def _put_server(plan: Plan, target: Target, program: Sequence[str]) -> None:
    known = _server(plan, target)
    if known is not None and not _is_ours(known):
        raise ConflictError(
            f"{target.server}: another server is named {SERVER!r}; nothing was done",
            "rename or remove it",
        )
    words = _words(known)
    flags = words[words.index("mcp") + 1 :] if "mcp" in words else []  # keep --read-only
    value = {**(known or {}), **entry(target.client, [*program, "mcp", *flags])}
    if value != known:
        toml = target.server.suffix == ".toml"
        plan.change(
            target.server, *((with_server,) if toml else (with_json, ("mcpServers", SERVER))), value
        )


def _put_hooks(plan: Plan, target: Target, program: Sequence[str]) -> None:
    # Exit code 2, for wrong options, would make the client reject the user's prompt.
    command = f"{shlex.join([*program, 'agent', 'hook', target.client])} || true"
    hook = {"type": "command", "command": command, **target.wiring.hook}
    missing = list(target.wiring.events)
    for path, known in reversed(_our_hooks(plan, target)):
        if path[1] not in missing:  # from another version, or a duplicate
            plan.change(target.hooks, _without_hook, path)
            continue
        missing.remove(str(path[1]))
        if known != hook:
            plan.change(target.hooks, with_json, path, hook)
    for event in missing:
        groups = _list(_table(plan.data(target.hooks).get("hooks")).get(event))
        plan.change(target.hooks, with_json, ("hooks", event, len(groups)), {"hooks": [hook]})


def _without_hook(text: str, path: tuple[str | int, ...]) -> str:
    """Remove a hook, and its group if that would be empty.

    A client rejects a file with an empty group.
    """
    _, event, group = path[:3]
    alone = len(read_json(text)["hooks"][event][group]["hooks"]) == 1
    return without_json(text, path[:3] if alone else path)


def _server(plan: Plan, target: Target) -> dict[str, Any] | None:
    data = plan.data(target.server)
    servers = _table(data.get("mcp_servers", data.get("mcpServers")))
    return _table(servers[SERVER]) if SERVER in servers else None


def _words(server: dict[str, Any] | None) -> list[str]:
    """Return the command line of a server."""
    return [
        str(word)
        for word in ((server or {}).get("command", ""), *_list((server or {}).get("args")))
    ]


def _is_ours(server: dict[str, Any] | None) -> bool:
    program, *words = _words(server)
    return "mcp" in words and bool(own_run(" ".join([os.path.basename(program), *words])))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _our_hooks(plan: Plan, target: Target) -> list[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Return the path and the value of each of our hooks, in the order of the file."""
    found: list[tuple[tuple[str | int, ...], dict[str, Any]]] = []
    for event, groups in _table(plan.data(target.hooks).get("hooks")).items():
        for place, group in enumerate(_list(groups)):
            for number, hook in enumerate(_list(_table(group).get("hooks"))):
                program, ours, _ = str(_table(hook).get("command")).partition(_HOOK)
                if ours and _PROGRAM.search(program):
                    found.append((("hooks", event, place, "hooks", number), hook))
    return found


def _programs(target: Target) -> list[str]:
    """Return the program of each of our commands that a client starts."""
    plan = Plan()
    server = _server(plan, target)
    commands = [str(hook["command"]) for _, hook in _our_hooks(plan, target)]
    return [*(_words(server)[:1] if _is_ours(server) else ()), *map(_first_word, commands)]


def _first_word(command: str) -> str:
    with suppress(ValueError):  # a quote is not closed
        return next(iter(shlex.shlex(command, posix=True, punctuation_chars=True)), "")
    return command


def _is_trusted(target: Target) -> bool:
    """Return whether Codex may run our hooks, as far as its settings show.

    Codex also checks a hash of each hook, which is not compared here.
    """
    plan = Plan()
    known = _table(_table(plan.data(folder_of("codex") / "config.toml").get("hooks")).get("state"))
    expected = [
        f"{target.hooks}:{re.sub('(?<!^)(?=[A-Z])', '_', str(path[1])).lower()}:{path[2]}:{path[4]}"
        for path, _ in _our_hooks(plan, target)
    ]
    return all(key in known for key in expected)


def _read(path: Path) -> str | None:
    """Return the text of a file, or None if it does not exist."""
    if not os.path.lexists(path):
        return None
    with _naming(path):
        if not path.is_file():
            raise ConfigError("this is not a file", "move it away first")
        try:
            return path.read_bytes().decode()
        except UnicodeDecodeError as error:
            raise ConfigError("this is not UTF-8", "save it as UTF-8 first") from error


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Add the path of the file to errors."""
    try:
        with disk.os_errors_as(
            f"{path}: nothing was done", "make it readable and writable, or see --print"
        ):
            yield
    except VaultIndexError as error:
        if str(path) in error.message:
            raise
        raise type(error)(f"{path}: {error.message}", error.hint) from error
