"""`doctor`: problems of the index, the daemon, the service and the plugin, each with what mends it."""

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vault_index.agents import install as wiring
from vault_index.agents.clients import WIRED
from vault_index.cli.agents import link_of, program_of
from vault_index.cli.arguments import Options, flag, takes
from vault_index.cli.client import call, call_here, call_with_progress, home_of
from vault_index.cli.daemon import daemon_at
from vault_index.cli.present import show
from vault_index.cli.service import definition_of
from vault_index.config.home import Home, find_home
from vault_index.errors import VaultIndexError
from vault_index.opencode_plugin.install import state_of, user_target
from vault_index.results.base import Problem
from vault_index.service.definition import MARK
from vault_index.service.detect import service_here
from vault_index.service.systemd import user_unit
from vault_index.version import __version__

_RESTART = "vault-index service restart, or end it and start it again"


@takes(
    flag("--deep", "compare the index with one that is built anew"),
    flag(
        "--fix",
        "mend what comes back from the files and the cache, and the permissions of our own files; notes are never "
        "touched",
    ),
    flag(
        "--recall",
        "search for notes by their own titles, aliases, link texts and headings, and name those that are hard to find",
    ),
    description="Say what is wrong and what mends it. Exit code 1 where there is a problem.",
)
def run_doctor(options: Options, args: dict[str, Any]) -> int:
    home = home_of(options)
    daemon = daemon_at(home)
    # One that hangs is asked once: every question costs the time it is waited for.
    report = _report(options, args, call if daemon["running"] else call_here)
    # Of the daemon, service and plugin that belong to this home; those of other homes are not looked at.
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
        mended = call_with_progress(options, "repair", deep)
        return (
            mended
            if "recall" not in args
            else mended | {"recall": call_here(options, "doctor", params)["recall"]}
        )
    if not params:
        return ask(options, "doctor", {})
    # Hundreds of queries, or a full build: the daemon would take longer than a client waits.
    report = call_here(options, "doctor", params)
    status = ask(options, "status", {})
    known = {problem["code"] for problem in report["problems"]}
    own = [problem for problem in status["problems"] if problem["code"] not in known]
    gone = {"daemon_silent", "daemon_died"} if status["daemon"]["running"] else set[str]()
    kept = [problem for problem in report["problems"] if problem["code"] not in gone]
    return report | {"problems": [*kept, *own]}


def _daemon(daemon: dict[str, object]) -> Iterator[Problem]:
    if daemon["running"] and daemon.get("version") != __version__:
        version = daemon.get("version") or "another version"
        yield Problem(
            "daemon_outdated", f"the daemon is {version}, this program {__version__}", _RESTART
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
            f"the service cannot run: a daemon that was started otherwise (pid {daemon_pid}) serves this home",
            f"kill {daemon_pid}, then: vault-index service restart",
        )
    elif state.active == "failed" or (
        state.active == "inactive" and state.result not in ("", "success")
    ):
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
    """Whether a unit is what this version would write; a unit that we did not write counts as it is."""
    if MARK not in text or text.startswith("<?xml"):  # the file for launchd names no version
        return True
    return any(
        text == user_unit(definition_of(options, sandbox=sandbox)) for sandbox in (False, True)
    )


def _is_of(text: str, home: Home) -> bool:
    usual = find_home(
        environ={
            key: value for key, value in os.environ.items() if not key.startswith("VAULT_INDEX_")
        }
    )
    named = any(word in text for word in ("VAULT_INDEX_HOME", "--home"))
    return str(home.data_dir) in text if named else bool(text) and home == usual


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
            "renew it: vault-index agent install opencode",
        )


def _clients(options: Options) -> Iterator[Problem]:
    """Their hooks never fail, and so nobody else says that what they call is not there."""
    for client in WIRED:
        state = wiring.state_of(wiring.target_of(client), program_of(options))
        if state.get("gone"):
            yield Problem(
                "agent_outdated",
                f"{client} calls a program that is gone",
                f"renew it: vault-index agent install {client} (or take it out: agent uninstall)",
            )
