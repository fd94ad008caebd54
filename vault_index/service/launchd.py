"""The service under launchd, on macOS."""

import os
import plistlib
import re
from pathlib import Path

from vault_index.errors import VaultIndexError
from vault_index.service.backend import is_ours, run, said, write_ours
from vault_index.service.definition import MARK, Definition, State

LABEL = "vault-index.daemon"


class Launchd:
    """`install` and `uninstall` may be repeated."""

    def __init__(self) -> None:
        self._file = Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
        self._log = Path.home() / "Library" / "Logs" / "vault-index.log"
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{LABEL}"

    def install(self, definition: Definition) -> bool:
        """Write, load and start it; whether the file changed. launchd does not say when the daemon answers."""
        if definition.writable is not None:
            raise VaultIndexError("launchd has no sandbox for agents", "leave out --sandbox")
        changed = write_ours(self._file, agent(definition, self._log))
        loaded = self._loaded()
        if loaded and changed:
            said(["launchctl", "bootout", self._target])
            loaded = False
        if not loaded:
            said(["launchctl", "bootstrap", self._domain, str(self._file)])
        return changed

    def uninstall(self) -> bool:
        """Stop and remove it; whether there was one."""
        if not is_ours(self._file):
            return False
        if self._loaded():
            said(["launchctl", "bootout", self._target])
        self._file.unlink(missing_ok=True)
        return True

    def restart(self) -> None:
        said(["launchctl", "kickstart", "-k", self._target])

    def state(self) -> State:
        ended = run(["launchctl", "print", self._target])
        told = dict(re.findall(r"^\s*(state|pid|runs) = (.+)$", ended.stdout, re.MULTILINE))
        return State(
            file=str(self._file),
            installed=self._file.exists(),
            enabled=self._file.exists(),
            active="active" if told.get("state") == "running" else "inactive",
            pid=int(told["pid"]) if told.get("pid", "").isdigit() else None,
            restarts=max(0, int(told["runs"]) - 1) if told.get("runs", "").isdigit() else 0,
        )

    def lasts(self) -> str:
        return ""

    def logs_command(self, lines: int, *, follow: bool) -> list[str]:
        return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(self._log)]

    def _loaded(self) -> bool:
        return run(["launchctl", "print", self._target]).returncode == 0


def agent(definition: Definition, log: Path) -> bytes:
    """The property list, with the mark as a comment."""
    content = plistlib.dumps(
        {
            "Label": LABEL,
            "ProgramArguments": list(definition.command),
            "EnvironmentVariables": dict(definition.environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            # Also what keeps a faulty configuration from being tried every ten seconds.
            "ThrottleInterval": 60,
            "ExitTimeOut": 10,
            "LowPriorityBackgroundIO": True,
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    )
    return content.replace(b"<plist ", f"<!-- {MARK} -->\n<plist ".encode(), 1)
