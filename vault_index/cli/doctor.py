"""`doctor`: report problems of index, daemon, service and plugin, each with its repair."""

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vault_index.agents import install as wiring
from vault_index.agents.clients import WIRED
from vault_index.cli.arguments import Options, flag, takes
from vault_index.cli.client import call, call_here, call_with_progress, daemon_at, home_of
from vault_index.cli.connect import link_of, program_of
from vault_index.cli.present import show
from vault_index.cli.service import definition_of
from vault_index.config.home import Home, find_home
from vault_index.errors import VaultIndexError
from vault_index.opencode_plugin.install import state_of, user_target
from vault_index.results.base import Problem
from vault_index.service import service_here
from vault_index.service.definition import MARK
from vault_index.service.systemd import user_unit
from vault_index.version import __version__

_RESTART = "restart it: vault-index service restart (or stop it and run: vault-index watch)"


@takes(
    flag("--deep", "compare the index with a newly built one"),
    flag(
        "--fix",
        "repair what the files and the cache can restore, and the permissions of vault-index's own "
        "files; notes are never changed",
    ),
    flag(
        "--recall",
        "search for notes by their titles, aliases, link texts and headings, and list the notes "
        "that are hard to find",
    ),
    description="List problems, each with its repair. The exit code is 1 if there is a problem.",
)
def run_doctor(options: Options, args: dict[str, Any]) -> int:
    """Print the problems, or repair them; return 1 if any is left."""
    home = home_of(options)
    daemon = daemon_at(home)
    # A daemon that hangs gets one request only, because each one waits for the timeout.
    report = _report(options, args, call if daemon["running"] else call_here)
    # Only daemon, service and plugin of this home; those of other homes are not checked.
    installed = [
        *_daemon(daemon),
        *_service(options, home, daemon.get("pid")),
        *_plugin(options, home),
        *_clients(options),
    ]
    problems = [*report["problems"], *map(asdict, installed)]
    report |= {"healthy": not problems, "problems": problems}
    show(options, "doctor", report)
    return VaultIndexError.exit_code if problems else 0


def _report(
    options: Options, args: dict[str, Any], ask: Callable[..., dict[str, Any]]
) -> dict[str, Any]:
    params = {name: value for name, value in args.items() if name != "fix"}
    if "fix" in args:
        deep = {name: value for name, value in params.items() if name == "deep"}
        repaired = call_with_progress(options, "repair", deep)
        return (
            repaired
            if "recall" not in args
            else repaired | {"recall": call_here(options, "doctor", params)["recall"]}
        )
    if not params:
        return ask(options, "doctor", {})
    # Hundreds of queries, or a full build, take longer than the timeout of a client.
    report = call_here(options, "doctor", params)
    status = ask(options, "status", {})
    known = {problem["code"] for problem in report["problems"]}
    own = [problem for problem in status["problems"] if problem["code"] not in known]
    gone = {"daemon_silent", "daemon_died"} if status["daemon"]["running"] else set[str]()
    kept = [problem for problem in report["problems"] if problem["code"] not in gone]
    return report | {"problems": [*kept, *own]}


def _daemon(daemon: dict[str, object]) -> Iterator[Problem]:
    if daemon["running"] and daemon.get("version") != __version__:
        version = daemon.get("version") or "unknown"
        yield Problem(
            "daemon_outdated",
            f"the daemon's version is {version}, this program's is {__version__}",
            _RESTART,
        )


def _service(options: Options, home: Home, daemon_pid: object) -> Iterator[Problem]:
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
            f"the service cannot start: another daemon (pid {daemon_pid}) runs for this home",
            f"kill {daemon_pid}; then: vault-index service restart",
        )
    elif state.active == "failed" or (
        state.active == "inactive" and state.result not in ("", "success")
    ):
        yield Problem(
            "service_failed",
            f"the service has stopped ({state.result or 'no reason given'})",
            "see the reason: vault-index logs; then: vault-index service restart",
        )
    if not _as_installed(options, text):
        yield Problem(
            "service_outdated",
            f"{state.file} differs from the file that this version writes",
            "update it: vault-index service install (add --sandbox if you used it)",
        )


def _as_installed(options: Options, text: str) -> bool:
    """Return whether a unit is up to date; a unit that vault-index did not write counts as such."""
    if MARK not in text or text.startswith("<?xml"):  # the file for launchd has no version
        return True
    return any(
        text == user_unit(definition_of(options, sandbox=sandbox)) for sandbox in (False, True)
    )


def _is_of(text: str, home: Home) -> bool:
    """Return whether the unit with this text runs the daemon of this home."""
    default = find_home(
        environ={
            key: value for key, value in os.environ.items() if not key.startswith("VAULT_INDEX_")
        }
    )
    names_home = any(word in text for word in ("VAULT_INDEX_HOME", "--home"))
    return str(home.data_dir) in text if names_home else bool(text) and home == default


def _plugin(options: Options, home: Home) -> Iterator[Problem]:
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
            "update it: vault-index agent install opencode",
        )


def _clients(options: Options) -> Iterator[Problem]:
    """Report hooks that call a missing program; they never fail, so no client reports it."""
    for client in WIRED:
        state = wiring.state_of(
            wiring.target_of(client),
            program_of(options),
            find_home(options.home, options.config).socket_path,
        )
        if state.get("gone"):
            yield Problem(
                "agent_outdated",
                f"{client} calls a program that does not exist",
                f"update it: vault-index agent install {client} (or remove it: agent uninstall)",
            )
