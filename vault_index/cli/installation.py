"""What `doctor` finds wrong with what surrounds the program: the daemon's version, the service, the plugin."""

import os
from collections.abc import Iterator
from pathlib import Path

from vault_index import __version__
from vault_index.cli.client import home_of
from vault_index.cli.opencode import link_of
from vault_index.cli.options import Options
from vault_index.cli.service import daemon_at, definition_of
from vault_index.config.home import Home, find_home
from vault_index.errors import VaultIndexError
from vault_index.results import Problem

_RESTART = "vault-index service restart, or end it and start it again"


def installation_problems(options: Options) -> list[Problem]:
    """Only of what belongs to this home: another one has a doctor of its own."""
    home = home_of(options)
    daemon = daemon_at(home)
    return [*_daemon(daemon), *_service(options, home, daemon.get("pid")), *_plugin(options, home)]


def _daemon(daemon: dict[str, object]) -> Iterator[Problem]:
    if daemon["running"] and daemon.get("version") != __version__:
        version = daemon.get("version") or "another version"
        yield Problem("daemon_outdated", f"the daemon is {version}, this program {__version__}", _RESTART)


def _service(options: Options, home: Home, daemon_pid: object) -> Iterator[Problem]:
    from vault_index.service.detect import service_here

    try:
        state = service_here().state()
        text = Path(state.file).read_text("utf-8", "replace") if state.installed else ""
    except (VaultIndexError, OSError):
        return
    if not _is_of(text, home):
        return
    if state.active != "active" and daemon_pid is not None:
        yield Problem(
            "service_blocked",
            f"the service cannot run: a daemon that was started otherwise (pid {daemon_pid}) serves this home",
            f"kill {daemon_pid}, then: vault-index service restart",
        )
    elif state.active == "failed" or (state.active == "inactive" and state.result not in ("", "success")):
        yield Problem(
            "service_failed",
            f"the service ended and stays down ({state.result or 'no reason given'})",
            "vault-index logs says why; then: vault-index service restart",
        )
    if not _as_installed(options, text):
        yield Problem(
            "service_outdated",
            f"{state.file} is not what this version would write",
            "renew it: vault-index service install (with --sandbox if it was)",
        )


def _as_installed(options: Options, text: str) -> bool:
    """Whether a unit is as we would write it now; that of somebody else is theirs."""
    from vault_index.service.definition import MARK
    from vault_index.service.systemd import user_unit

    if MARK not in text or text.startswith("<?xml"):  # launchd's knows no versions
        return True
    return any(text == user_unit(definition_of(options, sandbox=sandbox)) for sandbox in (False, True))


def _is_of(text: str, home: Home) -> bool:
    usual = find_home(environ={key: value for key, value in os.environ.items() if not key.startswith("VAULT_INDEX_")})
    named = any(word in text for word in ("VAULT_INDEX_HOME", "--home"))
    return str(home.data_dir) in text if named else bool(text) and home == usual


def _plugin(options: Options, home: Home) -> Iterator[Problem]:
    from vault_index.opencode_plugin.install import state_of, user_target

    target = user_target()
    try:
        state = state_of(target, link_of(options))["state"]
        ours = any(str(home.socket_path) in file.text for file in target.files)
    except VaultIndexError:
        return
    if ours and state in ("outdated", "incomplete"):
        yield Problem(
            "plugin_outdated",
            f"the plugin for OpenCode in {target.folder} is {state}",
            "renew it: vault-index opencode install",
        )
