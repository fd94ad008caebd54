"""The service under the systemd manager of the user."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from vault_index.errors import VaultIndexError
from vault_index.service.backend import is_ours, run, said, write_ours
from vault_index.service.definition import MARK, Definition, State

NAME = "vault-index.service"

_MADE = "Made by tools/build_units.py from vault_index/service/unit.toml; docs/operations.md says how to use it."
_TEMPORARY = ("/tmp", "/var/tmp")

Sections = dict[str, dict[str, Any]]
_CTL = ("systemctl", "--user", "--no-pager")
_ASKED = (
    "LoadState,FragmentPath,UnitFileState,ActiveState,ActiveEnterTimestamp,MainPID,StatusText,Result,NRestarts,"
    "MemoryCurrent"
)
_NO_NAMESPACE = "226"
_UNKNOWN = 2**63
"""Systemd's figure for memory it does not count is the largest of 64 bits."""


class Systemd:
    """`install` and `uninstall` may be repeated."""

    def __init__(self) -> None:
        self._file = _unit_folder() / NAME

    def install(self, definition: Definition) -> bool:
        """Write, enable and start it; whether the unit changed. Returns when the daemon answers."""
        changed = write_ours(self._file, user_unit(definition).encode())
        if changed:
            said([*_CTL, "daemon-reload"])
        said([*_CTL, "--quiet", "enable", NAME])
        run([*_CTL, "reset-failed", NAME])  # earlier failures shall not count against this start
        try:
            said([*_CTL, "restart" if changed else "start", NAME])
        except VaultIndexError:
            self._give_up()
            raise
        return changed

    def uninstall(self) -> bool:
        """Stop, disable and remove it; whether there was one."""
        if not is_ours(self._file):
            return False
        said([*_CTL, "--quiet", "disable", "--now", NAME])
        self._file.unlink(missing_ok=True)
        said([*_CTL, "daemon-reload"])
        run([*_CTL, "reset-failed", NAME])
        return True

    def restart(self) -> None:
        run([*_CTL, "reset-failed", NAME])
        said([*_CTL, "restart", NAME])

    def state(self) -> State:
        lines = said([*_CTL, "show", NAME, "-p", _ASKED]).splitlines()
        told = dict(line.split("=", 1) for line in lines if "=" in line)
        memory = told.get("MemoryCurrent", "")
        return State(
            file=told.get("FragmentPath") or str(self._file),
            installed=told.get("LoadState") == "loaded",
            enabled=told.get("UnitFileState", "").startswith("enabled"),
            active=told.get("ActiveState", "unknown"),
            since=told.get("ActiveEnterTimestamp") or None,
            pid=int(told.get("MainPID") or 0) or None,
            said=told.get("StatusText", ""),
            result=told.get("Result", ""),
            restarts=int(told.get("NRestarts") or 0),
            memory=int(memory) if memory.isdigit() and int(memory) < _UNKNOWN else None,
        )

    def lasts(self) -> str:
        try:
            lingers = run(["loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"]).stdout.strip()
        except VaultIndexError:  # no logind, no sessions
            return ""
        if lingers != "no":
            return ""
        return "It ends with your last session; to have it run from boot on: sudo loginctl enable-linger $USER"

    def _give_up(self) -> None:
        """A start that failed shall not be tried again and again. VaultIndexError where its reason is known."""
        status = said([*_CTL, "show", NAME, "-p", "ExecMainStatus", "--value"]).strip()
        run([*_CTL, "stop", NAME])
        if status == _NO_NAMESPACE:
            raise VaultIndexError(
                "this machine has no user namespace for the sandbox (226/NAMESPACE)",
                "install it without: vault-index service install",
            )

    def logs_command(self, lines: int, *, follow: bool) -> list[str]:
        command = ["journalctl", "--user", "--no-pager", "--unit", NAME, "--lines", str(lines)]
        return [*command, "--follow"] if follow else command


def _unit_folder() -> Path:
    """Where the manager looks: its own XDG_CONFIG_HOME counts, not this shell's. VaultIndexError without a manager."""
    ended = run([*_CTL, "show-environment"])
    if ended.returncode:
        words = ended.stderr.strip().splitlines() or ["it does not answer"]
        raise VaultIndexError(
            f"the systemd of this account cannot be reached: {words[0]}",
            "log in to the account itself (not by su or sudo); or keep its systemd running and say where it is: "
            "sudo loginctl enable-linger $USER; export XDG_RUNTIME_DIR=/run/user/$(id -u). "
            "Without systemd, have vault-index watch started by something else.",
        )
    told = dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)
    return Path(told.get("XDG_CONFIG_HOME") or Path.home() / ".config", "systemd", "user")


def facts() -> Sections:
    """What `unit.toml` says; a list stands for a directive given several times."""
    return tomllib.loads((files(__package__) / "unit.toml").read_text("utf-8"))


def user_unit(definition: Definition) -> str:
    """The unit of one user, as `service install` writes it."""
    told = facts()
    service: dict[str, Any] = {"ExecStart": " ".join(_quoted(word, command=True) for word in definition.command)}
    if definition.environment:
        service["Environment"] = [_quoted(f"{name}={value}") for name, value in sorted(definition.environment.items())]
    if definition.writable is not None:
        service |= told["Sandbox"] | {"ReadWritePaths": ["%t", *(_writable(path) for path in definition.writable)]}
        # A folder there would be covered by the private one.
        service["PrivateTmp"] = not any(path.is_relative_to(top) for path in definition.writable for top in _TEMPORARY)
    return _unit(told, service, MARK)


def shared_unit() -> str:
    """`systemd/vault-index.service`: for whoever copies it by hand or puts it into a package."""
    return _unit(facts(), {"ExecStart": "%h/.local/bin/vault-index watch"}, _MADE)


def system_unit() -> str:
    """`systemd/vault-index@.service`: the template of the system's manager; the instance is the name of the user."""
    told = facts()
    told["Install"]["WantedBy"] = "multi-user.target"
    return _unit(told, {"ExecStart": "/usr/local/bin/vault-index watch", **told["Sandbox"], **told["System"]}, _MADE)


def _unit(told: Sections, service: dict[str, Any], comment: str) -> str:
    return render({"Unit": told["Unit"], "Service": told["Service"] | service, "Install": told["Install"]}, comment)


def render(sections: Mapping[str, Mapping[str, Any]], *comments: str) -> str:
    """The INI of systemd, under lines of comment."""
    blocks = ["\n".join(f"# {comment}" for comment in comments)] if comments else []
    for name, directives in sections.items():
        blocks.append("\n".join([f"[{name}]", *_lines(directives)]))
    return "\n\n".join(blocks) + "\n"


def _lines(directives: Mapping[str, Any]) -> Iterable[str]:
    for key, value in directives.items():
        for item in value if isinstance(value, list) else [value]:
            yield f"{key}={_text(item)}"


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _quoted(word: str, *, command: bool = False) -> str:
    """One word of a directive, whatever it holds: specifiers, variables (of a command only), spaces and quotes."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    text = text.replace("$", "$$") if command else text
    return f'"{text}"' if any(mark in text for mark in " \t\"'\\;") or not text else text


def _writable(path: Path) -> str:
    """A folder that is not there (an unmounted vault) is no reason not to start."""
    return _quoted(f"-{path}")
