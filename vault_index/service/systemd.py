"""The service under the user's systemd manager."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

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

NAME, SERVE = "vault-index.service", "vault-index-serve.service"

_TEMPORARY = ("/tmp", "/var/tmp")

Sections = dict[str, dict[str, Any]]
_CTL = ("systemctl", "--user", "--no-pager")
_PROPERTIES = (
    "LoadState,FragmentPath,UnitFileState,ActiveState,ActiveEnterTimestamp,MainPID,StatusText,"
    "Result,NRestarts,MemoryCurrent"
)
_NO_NAMESPACE = "226"
_FLAGS = {True: "yes", False: "no"}
_UNCOUNTED = 2**63
"""systemd reports unknown memory as the largest 64-bit number."""


class Systemd:
    """A systemd user unit; `install` and `uninstall` may be repeated."""

    def __init__(self, name: str = NAME) -> None:
        self._name = name
        self._file = _unit_folder() / name

    def install(self, definition: Definition) -> bool:
        """Write, enable and start the unit; return whether it changed.

        Returns when the service is ready. Raises VaultIndexError if it does not start.
        """
        changed = write_definition(self._file, user_unit(definition).encode())
        if changed:
            output_of([*_CTL, "daemon-reload"])
        output_of([*_CTL, "--quiet", "enable", self._name])
        # Earlier failures must not count towards the limit of starts.
        run([*_CTL, "reset-failed", self._name])
        try:
            output_of([*_CTL, "restart" if changed else "start", self._name])
        except VaultIndexError as error:  # stop it, because systemd would restart it repeatedly
            status = output_of(
                [*_CTL, "show", self._name, "-p", "ExecMainStatus", "--value"]
            ).strip()
            run([*_CTL, "stop", self._name])
            if status != _NO_NAMESPACE:
                raise
            serve = "start vault-index serve by other means"
            raise VaultIndexError(
                "this machine has no user namespace for the sandbox (226/NAMESPACE)",
                "install it without: vault-index service install"
                if definition.hidden is None
                else serve,
            ) from error
        return changed

    def uninstall(self) -> bool:
        """Stop, disable and remove the unit; return whether it was installed."""
        if own_content(self._file) is None:
            return False
        output_of([*_CTL, "--quiet", "disable", "--now", self._name])
        self._file.unlink(missing_ok=True)
        output_of([*_CTL, "daemon-reload"])
        run([*_CTL, "reset-failed", self._name])
        return True

    def restart(self) -> None:
        """Restart the unit, even after repeated failures."""
        run([*_CTL, "reset-failed", self._name])
        output_of([*_CTL, "restart", self._name])

    def state(self) -> State:
        """Return the state that systemd reports."""
        lines = output_of([*_CTL, "show", self._name, "-p", _PROPERTIES]).splitlines()
        properties = dict(line.split("=", 1) for line in lines if "=" in line)
        memory = properties.get("MemoryCurrent", "")
        return State(
            file=properties.get("FragmentPath") or str(self._file),
            installed=properties.get("LoadState") == "loaded",
            enabled=properties.get("UnitFileState", "").startswith("enabled"),
            active=properties.get("ActiveState", "unknown"),
            since=properties.get("ActiveEnterTimestamp") or None,
            pid=int(properties.get("MainPID") or 0) or None,
            said=properties.get("StatusText", ""),
            result=properties.get("Result", ""),
            restarts=int(properties.get("NRestarts") or 0),
            memory=int(memory) if memory.isdigit() and int(memory) < _UNCOUNTED else None,
        )

    def lifetime_note(self) -> str:
        """Return a note if the service ends with the user's last session, else an empty text."""
        with suppress(VaultIndexError):  # without logind there are no sessions
            lingers = run(
                ["loginctl", "show-user", str(os.getuid()), "--property=Linger", "--value"]
            )
            if lingers.stdout.strip() == "no":
                return (
                    "It ends with your last session; to start it at boot: "
                    "sudo loginctl enable-linger $USER"
                )
        return ""

    def logs_command(self, lines: int, *, follow: bool) -> list[str]:
        """Return the command that shows the last lines of the log, and new ones with `follow`."""
        command = [
            "journalctl",
            "--user",
            "--no-pager",
            "--unit",
            self._name,
            "--lines",
            str(lines),
        ]
        return [*command, "--follow"] if follow else command


def _unit_folder() -> Path:
    """Return the folder in which the manager looks for units.

    The manager's own XDG_CONFIG_HOME counts, not this shell's. Raises VaultIndexError without a
    manager.
    """
    ended = run([*_CTL, "show-environment"])
    if ended.returncode:
        words = ended.stderr.strip().splitlines() or ["it does not answer"]
        raise VaultIndexError(
            f"the systemd of this account cannot be reached: {words[0]}",
            "log in to the account directly, not with su or sudo; or run: "
            "sudo loginctl enable-linger $USER; export XDG_RUNTIME_DIR=/run/user/$(id -u)",
        )
    properties = dict(line.split("=", 1) for line in ended.stdout.splitlines() if "=" in line)
    return Path(properties.get("XDG_CONFIG_HOME") or Path.home() / ".config", "systemd", "user")


def facts() -> Sections:
    """Return the daemon's directives from `unit.toml`; a list means a repeated directive."""
    return tomllib.loads(Path(__file__).with_name("unit.toml").read_text("utf-8"))


def facts_of_serve() -> Sections:
    """Return the directives of `vault-index serve`, which always has the sandbox."""
    daemon = facts()
    serve = daemon["Serve"]
    service, system = ({**daemon[name], **serve[name]} for name in ("Service", "System"))
    for key in serve["Without"]:
        service.pop(key, None)
        system.pop(key, None)
    service = {**service, **daemon["Sandbox"], **serve["Service"]}
    return {
        **daemon,
        **serve,
        "Unit": {**daemon["Unit"], **serve["Unit"]},
        "Service": service,
        "System": system,
    }


def user_unit(definition: Definition) -> str:
    """Return the text of one user's unit, as `service install` writes it."""
    sections = facts() if definition.hidden is None else facts_of_serve()
    service: dict[str, Any] = {
        "ExecStart": " ".join(_quoted(word, command=True) for word in definition.command)
    }
    if definition.environment:
        service["Environment"] = [
            _quoted(f"{name}={value}") for name, value in sorted(definition.environment.items())
        ]
    if definition.hidden:
        service["InaccessiblePaths"] = [_quoted(f"-{path}") for path in definition.hidden]
    if definition.writable is not None:
        # With `-`, a missing folder (an unmounted vault) does not prevent the start.
        writable = [_quoted(f"-{path}") for path in definition.writable]
        service |= sections["Sandbox"] | {"ReadWritePaths": ["%t", *writable]}
        # The private folder would hide a vault below /tmp.
        service["PrivateTmp"] = not any(
            path.is_relative_to(top) for path in definition.writable for top in _TEMPORARY
        )
    return unit(sections, service, MARK)


def unit(sections: Sections, service: dict[str, Any], comment: str) -> str:
    """Return the text of a unit; `service` overrides the section `[Service]`."""
    return render(
        {
            "Unit": sections["Unit"],
            "Service": sections["Service"] | service,
            "Install": sections["Install"],
        },
        comment,
    )


def render(sections: Mapping[str, Mapping[str, Any]], *comments: str) -> str:
    """Return the text of an INI file for systemd, with comment lines at the top."""
    head = ["\n".join(f"# {comment}" for comment in comments)] if comments else []
    blocks = ("\n".join([f"[{name}]", *_lines(values)]) for name, values in sections.items())
    return "\n\n".join([*head, *blocks]) + "\n"


def _lines(directives: Mapping[str, Any]) -> Iterable[str]:
    for key, value in directives.items():
        for item in value if isinstance(value, list) else [value]:
            yield f"{key}={_FLAGS[item] if isinstance(item, bool) else item}"


def _quoted(word: str, *, command: bool = False) -> str:
    """Quote a word of a directive: specifiers, variables (in commands), spaces and quotes."""
    text = word.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("%", "%%")
    text = text.replace("$", "$$") if command else text
    return f'"{text}"' if any(mark in text for mark in " \t\"'\\;") or not text else text
