"""Puts our server and our hooks into the configuration of a client, and takes them out again; all else in these files
stays as it is."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vault_index import disk
from vault_index.agents.clients import SERVER, WIRED, Wiring, entry
from vault_index.agents.edit import (
    read_json,
    read_toml,
    with_json,
    with_table,
    without_json,
    without_table,
)
from vault_index.errors import ConfigError, ConflictError, UsageError, VaultIndexError
from vault_index.markdown.recalled import own_run
from vault_index.sources.sessions.clients import folder_of

_PROGRAM, _HOOK = re.compile(r"(?:vault[-_]index|vx)\b"), " agent hook "
_EMPTY = "{}"


@dataclass(frozen=True, slots=True)
class Target:
    """A client, for all projects of a user or for one."""

    client: str
    scope: str
    server: Path
    hooks: Path

    @property
    def wiring(self) -> Wiring:
        return WIRED[self.client]

    @property
    def paths(self) -> list[Path]:
        return list(dict.fromkeys((self.server, self.hooks)))


@dataclass(slots=True)
class Plan:
    """What files are to say: a text by path, None for one that goes. Nothing is written before `carry_out`."""

    before: dict[Path, str | None] = field(default_factory=dict)
    after: dict[Path, str | None] = field(default_factory=dict)

    def text(self, path: Path) -> str:
        if path not in self.before:
            self.before[path] = self.after[path] = _read(path)
        return self.after[path] or ""

    @property
    def changed(self) -> list[Path]:
        return [path for path, text in self.after.items() if text != self.before[path]]

    def carry_out(self) -> None:
        """ConflictError where a file changed since it was read."""
        for path in self.changed:
            text, place = self.after[path], Path(disk.real_path(str(path)))
            with _naming(path):
                disk.make_folder(folder := str(place.parent))
                like = place.stat() if place.exists() else None
                with disk.draft(folder, (text or "").encode(), like, mode=0o600) as draft:
                    if _read(path) != self.before[path]:
                        raise ConflictError(f"{path} was changed meanwhile", "run the same command again")
                    if text is None:
                        place.unlink()
                    else:
                        os.replace(draft, place)


def target_of(client: str, project: Path | None = None) -> Target:
    wiring = WIRED[client]
    if project is None:
        folder = folder_of(client)
        # Claude Code keeps this file beside its folder, unless it was told of another folder.
        beside = client == "claude-code" and not os.path.isabs(os.environ.get("CLAUDE_CONFIG_DIR", ""))
        return Target(
            client, "global", (folder.parent if beside else folder) / wiring.server[0], folder / wiring.hooks[0]
        )
    if not project.is_dir():
        raise UsageError(f"{project} is no folder", "name the folder of the project")
    return Target(client, "project", project / wiring.server[1], project / wiring.hooks[1])


def installing(target: Target, program: Sequence[str]) -> Plan:
    """ConfigError for a file that cannot be read, ConflictError for a server of our name that is not ours."""
    plan = Plan()
    with _About(target.server):
        _put_server(plan, target, program)
    with _About(target.hooks):
        _put_hooks(plan, target, program)
    return plan


def uninstalling(target: Target) -> Plan:
    plan = Plan()
    with _About(target.server):
        known = _server(plan, target)
        if known is not None and _is_ours(known):
            text = plan.text(target.server)
            plan.after[target.server] = (
                without_table(text, "mcp_servers", SERVER)
                if target.server.suffix == ".toml"
                else without_json(text, ("mcpServers", SERVER))
            )
    with _About(target.hooks):
        for _, place, _ in reversed(_our_hooks(read_json(plan.text(target.hooks)))):
            plan.after[target.hooks] = without_json(plan.text(target.hooks), place)
    for path in plan.changed:  # what is left of one that we began
        if plan.text(path).strip() in ("", _EMPTY):
            plan.after[path] = None
    return plan


def state_of(target: Target, program: Sequence[str]) -> dict[str, object]:
    """`installed`, `outdated` (another command), `incomplete`, `absent`, or `unreadable` with the reason."""
    told: dict[str, object] = {
        "client": target.client,
        "scope": target.scope,
        "paths": [str(path) for path in target.paths],
    }
    try:
        programs = _programs(target)
        wanted = installing(target, program)
    except VaultIndexError as error:
        return {**told, "state": "unreadable", "problem": error.message, "hint": error.hint}
    gone = {program for program in programs if not shutil.which(program)}
    if not programs:
        state = "absent"
    elif not wanted.changed:
        state = "installed"
    else:
        state = "incomplete" if len(programs) <= len(target.wiring.events) else "outdated"
    told |= {"state": state, "gone": sorted(gone)}
    return told | ({"trusted": _is_trusted(target)} if target.client == "codex" and programs else {})


# --- inside --------------------------------------------------------------------------------------------------------


def _put_server(plan: Plan, target: Target, program: Sequence[str]) -> None:
    known = _server(plan, target)
    if known is not None and not _is_ours(known):
        raise ConflictError(f"there is another server {SERVER!r}: nothing was done", "rename it, or take it out")
    words = [] if known is None else [str(word) for word in known.get("args") or ()]
    flags = words[words.index("mcp") + 1 :] if "mcp" in words else []  # --read-only stays
    value = {**(known or {}), **entry(target.client, [*program, "mcp", *flags])}
    if value != known:
        text = plan.text(target.server)
        plan.after[target.server] = (
            with_table(text, "mcp_servers", SERVER, value)
            if target.server.suffix == ".toml"
            else with_json(text, ("mcpServers", SERVER), value)
        )


def _put_hooks(plan: Plan, target: Target, program: Sequence[str]) -> None:
    command = f"{shlex.join([*program, 'agent', 'hook', target.client])} || true"
    # Whatever goes wrong: 2, the exit code of wrong options, would have the client refuse what the user said.
    hook = {"type": "command", "command": command, **target.wiring.hook}
    missing = list(target.wiring.events)
    for event, path, known in reversed(_our_hooks(read_json(plan.text(target.hooks)))):
        if event not in missing:  # of another version, or twice
            plan.after[target.hooks] = without_json(plan.text(target.hooks), path)
            continue
        missing.remove(event)
        if known != hook:
            plan.after[target.hooks] = with_json(plan.text(target.hooks), path, hook)
    for event in missing:
        groups = _table(_table(read_json(plan.text(target.hooks))).get("hooks")).get(event) or []
        path = ("hooks", event, len(groups))
        plan.after[target.hooks] = with_json(plan.text(target.hooks), path, {"hooks": [hook]})


def _server(plan: Plan, target: Target) -> dict[str, Any] | None:
    text, toml = plan.text(target.server), target.server.suffix == ".toml"
    servers = _table(read_toml(text).get("mcp_servers") if toml else read_json(text).get("mcpServers"))
    return _table(servers[SERVER]) if SERVER in servers else None


def _is_ours(server: dict[str, Any]) -> bool:
    words = [str(server.get("command", "")), *map(str, server.get("args") or ())]
    return "mcp" in words and bool(own_run(" ".join([os.path.basename(words[0]), *words[1:]])))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_Found = tuple[str, tuple[str | int, ...], dict[str, Any]]


def _our_hooks(settings: Any) -> list[_Found]:
    """The event, the path and the value of each hook of ours, in the order of the file."""
    return list(_hooks_in(settings))


def _hooks_in(settings: Any) -> Iterator[_Found]:
    for event, groups in _table(settings.get("hooks")).items():
        for place, group in enumerate(groups if isinstance(groups, list) else ()):
            hooks = _table(group).get("hooks")
            for number, hook in enumerate(hooks if isinstance(hooks, list) else ()):
                program, ours, _ = str(hook.get("command") if isinstance(hook, dict) else "").partition(_HOOK)
                if ours and _PROGRAM.search(program):
                    yield event, ("hooks", event, place, "hooks", number), hook


def _programs(target: Target) -> list[str]:
    """The program of each command of ours that a client starts."""
    plan = Plan()
    with _About(target.server):
        server = _server(plan, target)
    with _About(target.hooks):
        hooks = [hook for _, _, hook in _our_hooks(read_json(plan.text(target.hooks)))]
    found = [str(server.get("command"))] if server is not None and _is_ours(server) else []
    return [
        *found,
        *(next(iter(shlex.shlex(str(hook["command"]), posix=True, punctuation_chars=True)), "") for hook in hooks),
    ]


def _is_trusted(target: Target) -> bool:
    """Whether Codex was told that it may run our hooks, as far as that can be seen: it also knows what they said."""
    plan = Plan()
    known = _table(_table(read_toml(plan.text(folder_of("codex") / "config.toml")).get("hooks")).get("state"))
    asked = [
        f"{target.hooks}:{re.sub('(?<!^)(?=[A-Z])', '_', event).lower()}:{path[2]}:{path[4]}"
        for event, path, _ in _our_hooks(read_json(plan.text(target.hooks)))
    ]
    return all(key in known for key in asked)


def _read(path: Path) -> str | None:
    """None for a file that is not there."""
    if not os.path.lexists(path):
        return None
    try:
        with _naming(path), path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8", "save it as UTF-8 first") from error


def _naming(path: Path) -> AbstractContextManager[None]:
    return disk.os_errors_as(f"{path}: nothing was done", "put in by hand what --print shows")


class _About:
    """Names the file in an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, VaultIndexError) and str(self._path) not in error.message:
            raise type(error)(f"{self._path}: {error.message}", error.hint) from error
