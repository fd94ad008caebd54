"""`opencode`: the plugin for OpenCode, and the daemon it needs."""

import argparse
import os
from pathlib import Path
from typing import Any

from vault_index.cli.client import call_here, home_of
from vault_index.cli.options import Options
from vault_index.cli.present import remark, show_value
from vault_index.cli.program import home_options, program
from vault_index.daemon.client import connect
from vault_index.errors import UsageError

TYPE_CHECKING = False  # spares the import of the plugin; type checkers know the name
if TYPE_CHECKING:
    from vault_index.opencode_plugin.install import Link, Target

_PROJECT = "the project in this folder (default: this one) instead of every project"


def add_opencode_install(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Put the plugin where OpenCode finds it, for every project or for one. Run it again after an update. Files "
        "that it did not write are not touched."
    )
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help=f"for {_PROJECT}")
    parser.add_argument("--force", action="store_true", help="overwrite files of the plugin that somebody changed")


def run_opencode_install(options: Options, args: dict[str, Any]) -> int:
    from vault_index.opencode_plugin.install import install

    target = _target(args)
    written = install(target, link_of(options), force="force" in args)
    told = (
        f"the plugin is in {target.folder}" if written else f"the plugin was in {target.folder} already, as it is now"
    )
    show_value(options, "opencode_install", {"path": str(target.folder), "written": _names(written)}, told)
    if written:
        remark(options, "Start OpenCode anew to use it.")
    if not home_of(options).config_file.exists():
        remark(options, "There is no index yet: vault-index init ~/Vault")
    return 0


def add_opencode_uninstall(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help=f"from {_PROJECT}")
    parser.add_argument("--force", action="store_true", help="remove files of the plugin that somebody changed, too")


def run_opencode_uninstall(options: Options, args: dict[str, Any]) -> int:
    from vault_index.opencode_plugin.install import uninstall

    target = _target(args)
    removed = uninstall(target, force="force" in args)
    told = f"the plugin is no longer in {target.folder}" if removed else f"no plugin of ours is in {target.folder}"
    show_value(options, "opencode_uninstall", {"path": str(target.folder), "removed": _names(removed)}, told)
    return 0


def add_opencode_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--project", metavar="DIR", default=".", help="look into this project (default: this folder)")


def run_opencode_status(options: Options, args: dict[str, Any]) -> int:
    from vault_index.opencode_plugin.install import project_target, state_of, user_target

    link = link_of(options)
    targets = (user_target(), project_target(_folder(args["project"])))
    states = [state_of(target, link) for target in targets]
    lines = []
    for state in states:
        version = f" ({state['version']})" if state["version"] else ""
        lines.append(f"{state['scope']:<8} {state['state']}{version}: {state['path']}")
        changed = state["changed"]
        lines += [f"{'':<9}not as it was installed: {path}" for path in changed] if isinstance(changed, list) else []
    answer = {"results": states, "total": len(states), "command": list(link.command)}
    show_value(options, "opencode_status", answer, "\n".join(lines))
    if any(state["state"] in ("outdated", "incomplete") for state in states):
        remark(options, "Renew it with: vault-index opencode install (with --project in a project)")
    return 0


def run_opencode_wake(options: Options, args: dict[str, Any]) -> int:
    from vault_index.config import load_config

    home = home_of(options)
    try:
        client = connect(home.socket_path)
    except UsageError:  # of another version: it is to be restarted, but not by us
        return 0
    if client is not None:
        client.close()
        answer: dict[str, Any] = {"daemon": "running"}
    elif load_config(home).agents.start_daemon:
        from vault_index.daemon.launch import launch

        answer = {"daemon": "started", "pid": launch(home, home_options(options))}
    else:
        call_here(options, "sync", {})
        answer = {"daemon": "off", "synced": True}
    told = {"running": "a daemon runs", "started": "a daemon was started", "off": "no daemon: the index was synced"}
    show_value(options, "opencode_wake", answer, told[answer["daemon"]])
    return 0


# --- inside --------------------------------------------------------------------------------------------------------


def _target(args: dict[str, Any]) -> "Target":
    from vault_index.opencode_plugin.install import project_target, user_target

    return project_target(_folder(args["project"])) if "project" in args else user_target()


def _folder(name: str) -> Path:
    return Path(os.path.abspath(os.path.expanduser(name)))


def link_of(options: Options) -> "Link":
    """How a plugin that is installed now would reach this home."""
    from vault_index.opencode_plugin.install import Link

    return Link((*program(), *home_options(options)), home_of(options))


def _names(paths: list[Path]) -> list[str]:
    return [str(path) for path in paths]
