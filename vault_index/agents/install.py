"""Add our server and hooks to the configuration of a client, and remove them again.

Nothing else in these files changes.
"""

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vault_index import disk
from vault_index.agents.clients import SERVER, WIRED, Wiring, entry
from vault_index.config.home import private_folder
from vault_index.errors import ConfigError, ConflictError, UsageError, VaultIndexError
from vault_index.markdown.recalled import own_run
from vault_index.sources.sessions.clients import folder_of

_BEFORE_TOOL = Path(__file__).with_name("before_tool.py")
_PROGRAM, _HOOK = re.compile(r"(?:vault[-_]index|vx)\b"), " agent hook "
_LONGEST_NAME = 60
_TOML_SERVER = re.compile(
    r"""(?:^[ \t]*\r?\n)?^[ \t]*\[[ \t]*["']?mcp_servers["']?[ \t]*\.[ \t]*"""
    r"""["']?vault-index["']?[ \t]*[].].*(?:\n|\Z)"""
    r"""(?:(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*[ \t]*[^\s#[].*(?:\n|\Z))*""",
    re.MULTILINE,
)
"""Our table or one inside it, with a blank line before it.

Comments after its last key belong to the next table.
"""
_CORRECT = "correct the file, then run the same command again"


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

    def put(self, path: Path, data: dict[str, Any]) -> None:
        """Plan new data for a JSON file; the text of equal data stays."""
        if data != self.data(path):
            with _naming(path):
                self.after[path] = write_json(self.text(path), data)

    def layout(self, path: Path) -> str:
        """Return the old text of a file as `put` would lay it out."""
        text = self.before[path] or ""
        return write_json(text, read_json(text)) if text and path.suffix == ".json" else text

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
            before, after = self.before[path], self.after[path]
            real = Path(disk.real_path(str(path)))
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


def installing(target: Target, program: Sequence[str], socket: Path) -> Plan:
    """Plan the installation or update of the server and the hooks; `socket` is the daemon's.

    Raises ConfigError if a file cannot be changed safely, and ConflictError if another server has
    our name.
    """
    plan = Plan()
    known = _server(plan, target)
    if known is not None and not _is_ours(known):
        raise ConflictError(
            f"{target.server}: another server is named {SERVER!r}; nothing was done",
            "rename or remove it",
        )
    words = _words(known)
    flags = words[words.index("mcp") + 1 :] if "mcp" in words else []  # keep --read-only
    server = {**(known or {}), **entry(target.client, [*program, "mcp", *flags])}
    if server != known:
        _put_server(plan, target, server)
    _put_hooks(plan, target, program, socket)
    return plan


def uninstalling(target: Target) -> Plan:
    """Plan the removal of the server and the hooks."""
    plan = Plan()
    if _is_ours(_server(plan, target)):
        _put_server(plan, target, None)
    data = plan.data(target.hooks)
    _drop_hooks(data)
    plan.put(target.hooks, data)
    for path in plan.changed:  # delete files that are empty now
        if plan.text(path).strip() in ("", "{}") and not path.is_symlink():
            plan.after[path] = None
    return plan


def state_of(target: Target, program: Sequence[str], socket: Path) -> dict[str, object]:
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
        wanted = installing(target, program, socket)
    except VaultIndexError as error:
        return {**status, "state": "unreadable", "problem": error.message, "hint": error.hint}
    missing = {program for program in programs if not shutil.which(program)}
    if not programs:
        state = "absent"
    elif not wanted.changed:
        state = "installed"
    else:
        hooks = len(target.wiring.events) + bool(target.wiring.tools)
        state = "incomplete" if len(programs) <= hooks else "outdated"
    status |= {"state": state, "gone": sorted(missing)}
    return status | (
        {"trusted": _is_trusted(target)} if target.client == "codex" and programs else {}
    )


# --- helpers --------------------------------------------------------------------------------------


def _put_server(plan: Plan, target: Target, server: dict[str, Any] | None) -> None:
    """Set our server, or remove it with None."""
    path = target.server
    if path.suffix == ".toml":
        with _naming(path):
            plan.after[path] = write_toml(plan.text(path), server)
        return
    data = plan.data(path)
    servers = _inside(path, data, "mcpServers", {})
    servers.pop(SERVER, None) if server is None else servers.update({SERVER: server})
    if not servers:
        del data["mcpServers"]
    plan.put(path, data)


def _put_hooks(plan: Plan, target: Target, program: Sequence[str], socket: Path) -> None:
    """Set one hook per event; hooks that are right stay at their place."""
    # Exit code 2, for wrong options, would make the client reject the user's prompt.
    command = f"{shlex.join([*program, 'agent', 'hook', target.client])} || true"
    hook = {"type": "command", "command": command, **target.wiring.hook}
    data = plan.data(target.hooks)
    found = {one.event: one.value for one in _our_hooks(data)}
    wanted: dict[str, dict[str, Any]] = dict.fromkeys(target.wiring.events, hook)
    if target.wiring.tools:
        alone = [sys.executable, "-I", "-S", str(_BEFORE_TOOL), str(socket)]
        silent = f"{shlex.join(alone)} 2>/dev/null || true"
        wanted["PreToolUse"] = {"type": "command", "command": silent, "timeout": 1}
    if found == wanted and len(list(_our_hooks(data))) == len(wanted):
        return
    _drop_hooks(data)
    table = _inside(target.hooks, data, "hooks", {})
    for event, value in wanted.items():
        group = {"matcher": target.wiring.tools} if event == "PreToolUse" else {}
        _inside(target.hooks, table, event, [], f"hooks.{event}").append(
            {**group, "hooks": [value]}
        )
    plan.put(target.hooks, data)


def _inside(path: Path, data: dict[str, Any], key: str, empty: Any, name: str = "") -> Any:
    """Return the value of a key, at first `empty`. Raises ConfigError if it has another type."""
    value = data.setdefault(key, empty)
    if type(value) is not type(empty):
        raise ConfigError(
            f"{path}: {name or key} has an unexpected value", f"set it to {empty} by hand"
        )
    return value


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


class _Hook(NamedTuple):
    event: str
    group: int
    number: int
    value: dict[str, Any]


def _our_hooks(data: dict[str, Any]) -> Iterator[_Hook]:
    """Yield each of our hooks, in the order of the file."""
    for event, groups in _table(data.get("hooks")).items():
        for place, group in enumerate(_list(groups)):
            for number, hook in enumerate(_list(_table(group).get("hooks"))):
                command = str(_table(hook).get("command"))
                program, ours, _ = command.partition(_HOOK)
                if (ours and _PROGRAM.search(program)) or f"/{_BEFORE_TOOL.name} " in command:
                    yield _Hook(event, place, number, hook)


def _drop_hooks(data: dict[str, Any]) -> None:
    """Remove our hooks, and what is empty then: a client rejects a file with an empty group."""
    for one in reversed(list(_our_hooks(data))):
        events = data["hooks"]
        groups = events[one.event]
        del groups[one.group]["hooks"][one.number]
        if not groups[one.group]["hooks"]:
            del groups[one.group]
        if not groups:
            del events[one.event]
        if not events:
            del data["hooks"]


def _programs(target: Target) -> list[str]:
    """Return the program of each of our commands that a client starts."""
    plan = Plan()
    server = _server(plan, target)
    commands = [str(one.value["command"]) for one in _our_hooks(plan.data(target.hooks))]
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
    expected = []
    for event, group, number, _ in _our_hooks(plan.data(target.hooks)):
        name = re.sub("(?<!^)(?=[A-Z])", "_", event).lower()
        expected.append(f"{target.hooks}:{name}:{group}:{number}")
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


def read_json(text: str) -> dict[str, Any]:
    """Return the object in a text; an empty text is an empty object. Raises ConfigError."""
    text = text.removeprefix("\ufeff")
    try:
        value = json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"this is not valid JSON without comments: {error}",
            "correct the file or move its comments away, then run the same command again",
        ) from error
    if not isinstance(value, dict):
        raise ConfigError("this is not a JSON object", _CORRECT)
    return value


def write_json(old: str, data: dict[str, Any]) -> str:
    """Return the text of an object, with indentation, escapes and line ends as in the old text.

    Raises ConfigError for numbers that JSON cannot hold.
    """
    step = re.search(r'\n([ \t]+)"', old)
    try:
        text = json.dumps(
            data, indent=step[1] if step else 2, ensure_ascii=old.isascii(), allow_nan=False
        )
        text.encode()
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"this cannot be written as JSON: {error}", _CORRECT) from error
    text += "\n" if old.endswith("\n") or not old else ""
    return text.replace("\n", "\r\n") if "\r\n" in old else text


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables in a text, with at least an empty `mcp_servers`. Raises ConfigError."""
    try:
        data = tomllib.loads(text.replace("\r\n", "\n").removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"this is not valid TOML: {error}", _CORRECT) from error
    if not isinstance(data.setdefault("mcp_servers", {}), dict):
        raise ConfigError("mcp_servers is not a table", _CORRECT)
    return data


def write_toml(text: str, server: dict[str, Any] | None) -> str:
    """Return TOML with `[mcp_servers.vault-index]` at its end, or without it for None.

    Raises ConfigError if the table is written in a form that cannot be replaced safely.
    """
    wanted = read_toml(text)
    wanted["mcp_servers"].pop("vault-index", None)
    changed = _TOML_SERVER.sub("", text)
    if server is not None:
        # Imported here: 20 ms, and only Codex needs it.
        import tomlkit

        wanted["mcp_servers"]["vault-index"] = server
        gap = "\n" if changed.endswith("\n") else "\n\n"
        table = (gap if changed else "") + tomlkit.dumps({"mcp_servers": {"vault-index": server}})
        changed += table.replace("\n", "\r\n") if "\r\n" in text else table
    try:
        safe = read_toml(changed) == wanted
    except ConfigError:
        safe = False
    if safe:
        return changed
    by_hand = json.dumps(server, ensure_ascii=False, default=str) if server else "nothing"
    raise ConfigError(
        "there is no safe way to change this file", f"set mcp_servers.vault-index to {by_hand}"
    )
