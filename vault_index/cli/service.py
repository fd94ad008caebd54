"""`service`, `logs`: manage the service of the daemon, and print its log."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vault_index.cli.arguments import Options, absolute, argument, flag, positive, takes
from vault_index.cli.client import daemon_at, home_of
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.config import Config
from vault_index.config.home import Home, private_folder
from vault_index.disk import is_under
from vault_index.errors import BusyError, NotFoundError, UsageError, VaultIndexError
from vault_index.service import service_here
from vault_index.service.definition import Definition, daemon_command, environment
from vault_index.times import iso_time

_SERVE = flag(
    "--serve", "use the service of vault-index serve (default: the service of the daemon)"
)
_DERIVED = (
    "index.db*", "cache.db*", "opencode", "tokens.json", "serve.address", "fault", "*.log*",
    "*.lock",
)  # fmt: skip
_UNIQUE = ("state.db*", "sessions", "agents")
_PAIR = re.compile(r'(?<!\S)(\w{1,60})=("(?:[^"\\]|\\.)*"|[^\s"]*)')


@takes(
    argument(
        "--lines", "-n", metavar="N", type=positive, help="print the last N lines (default: 50)"
    ),
    argument("--follow", "-f", action="store_true", help="print new lines until interrupted"),
    _SERVE,
    description="Print the daemon's log: the journal if the daemon is a service, else its log "
    "file.",
)
def run_logs(options: Options, args: dict[str, Any]) -> int:
    """Print the daemon's log; return the exit code of the program that prints it."""
    home = home_of(options)
    lines, follow = args.get("lines", 50), "follow" in args
    if "serve" in args:
        return _print_log(options, service_here(serve=True).logs_command(lines, follow=follow))
    command = _service_log(home, lines, follow=follow)
    if command is None and not home.daemon_log.exists():
        raise NotFoundError(
            "there is no log of a daemon for this home yet", "start a daemon: vault-index watch"
        )
    tail = ["tail", "-n", str(lines), *(["-F"] if follow else []), str(home.daemon_log)]
    return _print_log(options, command or tail)


def _print_log(options: Options, command: list[str]) -> int:
    """Run the command that prints the log; in the JSON formats, print an object per line."""
    if options.format not in ("json", "jsonl"):
        return subprocess.run(command, check=False).returncode
    from vault_index.output import render_json

    if command[0] == "journalctl":
        command = [*command, "--output", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout or ():
            print(render_json(_entry(line.rstrip("\n"))), flush=True)
    return process.returncode


def _entry(line: str) -> dict[str, Any]:
    """Parse a line of the log or of the journal; a line without a known form is an event."""
    entry = _json_or_text(line)
    if isinstance(entry, dict) and "MESSAGE" in entry:
        time = iso_time(int(entry["__REALTIME_TIMESTAMP"]) / 1e6)
        return {"time": time, **_entry(str(entry["MESSAGE"]))}
    pairs = _PAIR.findall(line) if _PAIR.match(line) else [("event", line)]
    return {key: _json_or_text(value) for key, value in pairs}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def _service_log(home: Home, lines: int, *, follow: bool) -> list[str] | None:
    """Return the command that prints the service's log; None if it is not this home's daemon."""
    try:
        service = service_here()
        state = service.state()
    except VaultIndexError:
        return None
    daemon = daemon_at(home)
    ours = daemon.get("pid") == state.pid if daemon["running"] else not home.daemon_log.exists()
    return service.logs_command(lines, follow=follow) if state.installed and ours else None


@takes(
    flag(
        "--sandbox",
        "restrict writing to index and vaults (systemd; needs user namespaces)",
    ),
    flag(
        "--serve",
        "install vault-index serve in its own sandbox (systemd)",
    ),
)
def run_service_install(options: Options, args: dict[str, Any]) -> None:
    """Install or update the service, and start it."""
    service = service_here(serve="serve" in args)
    home = home_of(options)
    if "serve" in args:
        if not service_here().state().installed:
            raise NotFoundError(
                "serve needs the daemon, which is not installed as a service",
                "install it first: vault-index service install",
            )
        definition = _definition_of_serve(options)
    else:
        definition = definition_of(options, sandbox="sandbox" in args)
        _refuse_another(home, service.state().pid)
    private_folder(home.data_dir)  # a sandboxed daemon cannot create it
    changed = service.install(definition)
    state = service.state()
    answer = {
        "installed": True,
        "changed": changed,
        "file": state.file,
        "active": state.active,
        "pid": state.pid,
    }
    done = "installed" if changed else "already installed"
    show_value(options, "service_install", answer, f"{done} and {state.active}: {state.file}")
    if note := service.lifetime_note():
        remark(options, note)
    remark(options, "See: vault-index service status, vault-index logs")


@takes(_SERVE)
def run_service_uninstall(options: Options, args: dict[str, Any]) -> None:
    """Stop and remove the service."""
    removed = service_here(serve="serve" in args).uninstall()
    text = (
        "removed the service; the index and the configuration stay"
        if removed
        else "no service is installed"
    )
    show_value(options, "service_uninstall", {"removed": removed}, text)


@takes(
    flag("--all", "also delete state.db and the stored sessions, which cannot be built again"),
    flag("--yes", "do not ask"),
    description="Remove the service, the entries in the configurations of clients, the index and "
    "the configuration. Your vaults stay. Without --all, so do the history of memories, your "
    "decisions, and sessions that their clients have deleted.",
)
def run_uninstall(options: Options, args: dict[str, Any]) -> None:
    """Remove everything that vault-index has created outside of the vaults."""
    home = home_of(options)
    patterns = (*_DERIVED, *(_UNIQUE if "all" in args else ()))
    found = [path for pattern in patterns for path in sorted(home.data_dir.glob(pattern))]
    found += home.config_file.parent.glob(home.config_file.name)
    if "yes" not in args:
        if sys.stdin is None or not sys.stdin.isatty():
            raise UsageError("uninstall asks on a terminal", "run it there, or use --yes")
        remark(options, "\n".join(["This deletes:", *map(str, found)]))
        if input("Uninstall vault-index? [y/N] ").strip().lower() not in ("y", "yes"):
            return
    for serve in (True, False):
        with suppress(VaultIndexError):  # there is no systemd or launchd
            service_here(serve=serve).uninstall()
    _refuse_another(home, None)
    changed = _disconnect_clients(home)
    for path in found:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    left = [str(path) for path in (home.data_dir.iterdir() if home.data_dir.exists() else ())]
    answer = {"removed": list(map(str, found)), "changed": list(map(str, changed)), "left": left}
    text = "\n".join(f"{name}: {path}" for name, paths in answer.items() for path in paths)
    show_value(options, "uninstall", answer, text)


def _disconnect_clients(home: Home) -> list[Path]:
    """Remove vault-index from the configurations of all clients; return the changed files."""
    from vault_index.agents.clients import WIRED
    from vault_index.agents.install import target_of, uninstalling
    from vault_index.opencode_plugin.install import uninstall, user_target

    changed = uninstall(user_target(), force=False)
    for plan in [uninstalling(target_of(client, None)) for client in WIRED]:
        changed += plan.changed
        plan.carry_out(home.data_dir)
    return changed


@takes(_SERVE)
def run_service_restart(options: Options, args: dict[str, Any]) -> None:
    """Restart the service."""
    service = service_here(serve="serve" in args)
    service.restart()
    state = service.state()
    answer = {"active": state.active, "pid": state.pid}
    show_value(options, "service_restart", answer, f"restarted: {state.active} (pid {state.pid})")


@takes(_SERVE)
def run_service_status(options: Options, args: dict[str, Any]) -> None:
    """Print the state of the service and of the daemon."""
    answer = asdict(service_here(serve="serve" in args).state()) | {
        "daemon": daemon_at(home_of(options))
    }
    human = answer_format(options, "service_status") == "human"
    show(options, "service_status", _for_people(answer) if human else answer)


def _for_people(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the state without empty values, with a readable size and one line for the daemon."""
    daemon, memory = answer["daemon"], answer["memory"]
    shown = answer | {
        "pid": str(answer["pid"] or ""),
        "memory": f"{memory / 1e6:.0f} MB" if memory else "",
        "daemon": "not running",
    }
    if daemon["running"]:
        details = [f"{key} {daemon[key]}" for key in ("pid", "since", "version") if key in daemon]
        shown["daemon"] = ", ".join(["running", *details])
    return {key: value for key, value in shown.items() if value not in ("", None)}


def definition_of(options: Options, *, sandbox: bool) -> Definition:
    """Return the unit of the daemon.

    Raises NotSetUpError and ConfigError if the daemon cannot start.
    """
    from vault_index.config import load_config

    home = home_of(options)
    config = load_config(home)
    writable = tuple(map(Path, map(os.path.realpath, _written(home, config)))) if sandbox else None
    return Definition(daemon_command(_home_words(options)), environment(os.environ), writable)


def _definition_of_serve(options: Options) -> Definition:
    """Return the unit of `serve`.

    It hides the indexed folders, except folders that contain files that `serve` needs.
    """
    from vault_index.api.scopes import all_sources
    from vault_index.config import load_config

    home = home_of(options)
    config = load_config(home)
    command = daemon_command(_home_words(options), command="serve")
    files = (
        home.data_dir,
        home.runtime_dir,
        home.config_file,
        command[0],
        config.serve.certificate,
        config.serve.key,
    )
    needed = [
        way(file) for file in map(str, files) if file for way in (os.path.realpath, os.path.abspath)
    ]
    folders = [os.path.realpath(source.path) for source in all_sources(config)]
    hidden = [
        Path(folder) for folder in folders if not any(is_under(folder, one) for one in needed)
    ]
    return Definition(command, environment(os.environ), hidden=tuple(hidden))


def _home_words(options: Options) -> list[str]:
    given = {"--home": options.home, "--config": options.config}
    return [word for option, value in given.items() if value for word in (option, absolute(value))]


def _written(home: Home, config: "Config") -> list[Path]:
    """Return the folders that a sandboxed daemon writes to.

    These are the index; the vaults, because memories move to their `.trash/`; and OpenCode's data,
    because SQLite writes a `-shm` file next to a database that it reads.
    """
    folders = [home.data_dir, home.runtime_dir, *(source.path for source in config.sources)]
    if config.clients["opencode"].enabled and "opencode" in config.configured:
        from vault_index.sources.sessions.source import SessionSource

        folders.append(SessionSource(config, "opencode").config.path)
    return folders


def _refuse_another(home: Home, own: int | None) -> None:
    """Raise BusyError if a daemon that is not the service runs: the service could not start."""
    pid = daemon_at(home).get("pid")
    if pid is not None and pid != own:
        raise BusyError(
            f"another daemon runs for this home (pid {pid})",
            f"stop it (kill {pid}), then run this command again",
        )
