"""The service under the systemd manager of the user."""

import os
from pathlib import Path

from vault_index.errors import VaultIndexError
from vault_index.service.definition import Definition
from vault_index.service.managed_file import is_ours, write_ours
from vault_index.service.process import run, said
from vault_index.service.state import State
from vault_index.service.unit import NAME, user_unit

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
