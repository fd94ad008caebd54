"""The service under launchd, on macOS."""

import os
import plistlib
import re
from pathlib import Path

from vault_index.errors import VaultIndexError
from vault_index.service.definition import (
    MARK,
    Definition,
    State,
    output_of,
    own_content,
    run,
    write_definition,
)

LABEL, SERVE = "vault-index.daemon", "vault-index.serve"


class Launchd:
    """A launchd agent; `install` and `uninstall` may be repeated."""

    def __init__(self, label: str = LABEL) -> None:
        self._label = label
        self._file = Path.home() / "Library" / "LaunchAgents" / f"{label}.plist"
        self._log = (
            Path.home()
            / "Library"
            / "Logs"
            / ("vault-index-serve.log" if label == SERVE else "vault-index.log")
        )
        self._domain = f"gui/{os.getuid()}"
        self._target = f"{self._domain}/{label}"

    def install(self, definition: Definition) -> bool:
        """Write, load and start the agent; return whether its file changed.

        launchd does not report when the service is ready.
        """
        if definition.writable is not None:
            raise VaultIndexError("launchd has no sandbox for agents", "leave out --sandbox")
        changed = write_definition(self._file, agent(definition, self._log, self._label))
        loaded = self._loaded()
        if loaded and changed:
            output_of(["launchctl", "bootout", self._target])
        if not loaded or changed:
            output_of(["launchctl", "bootstrap", self._domain, str(self._file)])
        return changed

    def uninstall(self) -> bool:
        """Stop and remove the agent; return whether it was installed."""
        if own_content(self._file) is None:
            return False
        if self._loaded():
            output_of(["launchctl", "bootout", self._target])
        self._file.unlink(missing_ok=True)
        return True

    def restart(self) -> None:
        """Restart the agent."""
        output_of(["launchctl", "kickstart", "-k", self._target])

    def state(self) -> State:
        """Return the state that launchd reports."""
        ended = run(["launchctl", "print", self._target])
        properties = dict(
            re.findall(r"^[ \t]*(state|pid|runs) = (.+)$", ended.stdout, re.MULTILINE)
        )
        return State(
            file=str(self._file),
            installed=self._file.exists(),
            enabled=self._file.exists(),
            active="active" if properties.get("state") == "running" else "inactive",
            pid=int(properties["pid"]) if properties.get("pid", "").isdigit() else None,
            restarts=max(0, int(properties["runs"]) - 1)
            if properties.get("runs", "").isdigit()
            else 0,
        )

    def lifetime_note(self) -> str:
        """Return an empty note, because this setting exists only under systemd."""
        return ""

    def logs_command(self, lines: int, *, follow: bool) -> list[str]:
        """Return the command that shows the last lines of the log, and new ones with `follow`."""
        return ["tail", "-n", str(lines), *(["-F"] if follow else []), str(self._log)]

    def _loaded(self) -> bool:
        return run(["launchctl", "print", self._target]).returncode == 0


def agent(definition: Definition, log: Path, label: str = LABEL) -> bytes:
    """Return the property list of the agent, with MARK as a comment."""
    content = plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(definition.command),
            "EnvironmentVariables": dict(definition.environment),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            # With the default of ten seconds, an invalid configuration would restart too often.
            "ThrottleInterval": 60,
            "ExitTimeOut": 10,
            "LowPriorityBackgroundIO": True,
            "StandardErrorPath": str(log),
        },
        sort_keys=False,
    )
    return content.replace(b"<plist ", f"<!-- {MARK} -->\n<plist ".encode(), 1)
