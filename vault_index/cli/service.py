"""`service`: have systemd or launchd run the daemon, and ask how it is doing."""

import argparse
import os
import subprocess
from pathlib import Path
from typing import Any

from vault_index.cli.arguments import absolute, positive
from vault_index.cli.client import home_of
from vault_index.cli.options import Options
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.config.home import Home, private_folder
from vault_index.errors import BusyError, UsageError

TYPE_CHECKING = False  # spares the imports; type checkers know the name
if TYPE_CHECKING:
    from vault_index.config import Config
    from vault_index.service.definition import Definition


def add_service_install(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sandbox",
        action="store_true",
        help="let it write to the index and the vaults only (systemd; needs user namespaces)",
    )


def run_service_install(options: Options, args: dict[str, Any]) -> int:
    from vault_index.service.detect import service_here

    definition = definition_of(options, sandbox="sandbox" in args)
    service = service_here()
    home = home_of(options)
    _refuse_another(home, service.state().pid)
    private_folder(home.data_dir)  # inside a sandbox the daemon could not make it
    changed = service.install(definition)
    state = service.state()
    answer = {"installed": True, "changed": changed, "file": state.file, "active": state.active, "pid": state.pid}
    done = "installed" if changed else "already installed"
    show_value(options, "service_install", answer, f"{done} and {state.active}: {state.file}")
    if note := service.lifetime_note():
        remark(options, note)
    remark(options, "See: vault-index service status, vault-index service logs")
    return 0


def run_service_uninstall(options: Options, args: dict[str, Any]) -> int:
    from vault_index.service.detect import service_here

    removed = service_here().uninstall()
    text = "removed; the index and the configuration stay" if removed else "there is no service to remove"
    show_value(options, "service_uninstall", {"removed": removed}, text)
    return 0


def run_service_restart(options: Options, args: dict[str, Any]) -> int:
    from vault_index.service.detect import service_here

    service = service_here()
    service.restart()
    state = service.state()
    answer = {"active": state.active, "pid": state.pid}
    show_value(options, "service_restart", answer, f"restarted: {state.active} (pid {state.pid})")
    return 0


def run_service_status(options: Options, args: dict[str, Any]) -> int:
    from dataclasses import asdict

    from vault_index.service.detect import service_here

    answer = asdict(service_here().state()) | {"daemon": daemon_at(home_of(options))}
    people = answer_format(options, "service_status") == "human"
    show(options, "service_status", _for_people(answer) if people else answer)
    return 0


def _for_people(answer: dict[str, Any]) -> dict[str, Any]:
    """What there is to say, with a pid that is no count, and bytes that are."""
    daemon, memory = answer["daemon"], answer["memory"]
    shown = answer | {
        "pid": str(answer["pid"] or ""),
        "memory": f"{memory / 1e6:.0f} MB" if memory else "",
        "daemon": "not running",
    }
    if daemon["running"]:
        told = [f"{key} {daemon[key]}" for key in ("pid", "since", "version") if key in daemon]
        shown["daemon"] = ", ".join(["running", *told])
    return {key: value for key, value in shown.items() if value not in ("", None)}


def add_service_logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lines", "-n", metavar="N", type=positive, help="the last N lines (default: 50)")
    parser.add_argument("--follow", "-f", action="store_true", help="go on with what is written from now on")


def run_service_logs(options: Options, args: dict[str, Any]) -> int:
    from vault_index.service.detect import service_here

    command = service_here().logs_command(args.get("lines", 50), follow="follow" in args)
    return subprocess.run(command, check=False).returncode


def definition_of(options: Options, *, sandbox: bool) -> "Definition":
    """What `service install` would write. NotSetUpError and ConfigError where the daemon would end at once."""
    from vault_index.config import load_config
    from vault_index.service.definition import Definition, daemon_command, environment

    home = home_of(options)
    config = load_config(home)
    writable = tuple(map(Path, map(os.path.realpath, _written(home, config)))) if sandbox else None
    given = {"--home": options.home, "--config": options.config}
    words = [word for option, value in given.items() if value for word in (option, absolute(value))]
    return Definition(daemon_command(words), environment(os.environ), writable)


def _written(home: Home, config: "Config") -> list[Path]:
    """The index; whole vaults, because a memory moves to `.trash/` at their top; and OpenCode's data, because SQLite
    reads a database by way of a file beside it."""
    folders = [home.data_dir, home.runtime_dir, *(source.path for source in config.sources)]
    if config.opencode.enabled:
        from vault_index.sources.opencode.stores import data_folder

        data = config.opencode.data
        folders.append(data_folder(Path(data).expanduser() if data else None, os.environ))
    return folders


def _refuse_another(home: Home, own: int | None) -> None:
    """A daemon that was started by hand would have the service fail."""
    pid = daemon_at(home).get("pid")
    if pid is not None and pid != own:
        raise BusyError(
            f"a daemon that is no service runs for this home (pid {pid})",
            f"stop it (kill {pid}), then run the command again",
        )


def daemon_at(home: Home) -> dict[str, Any]:
    """What it says of itself, whoever started it."""
    from vault_index.daemon.client import connect

    try:
        client = connect(home.socket_path)
    except UsageError:  # it is of another version
        return {"running": True}
    if client is None:
        return {"running": False}
    with client:
        return {"running": True} | {key: client.daemon.get(key) for key in ("pid", "since", "version")}
