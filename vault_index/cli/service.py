"""`service`, `logs`: the daemon as a service, and what it wrote."""

import json
import os
import re
import subprocess
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.cli.arguments import Options, absolute, argument, flag, positive, takes
from vault_index.cli.client import home_of
from vault_index.cli.daemon import daemon_at
from vault_index.cli.present import answer_format, remark, show, show_value
from vault_index.config.home import Home, private_folder
from vault_index.disk import is_under
from vault_index.errors import BusyError, NotFoundError, VaultIndexError
from vault_index.service.definition import Definition, daemon_command, environment
from vault_index.service.detect import service_here
from vault_index.times import iso_time

if TYPE_CHECKING:  # spares the import of the configuration
    from vault_index.config import Config

_LOGS = (
    argument("--lines", "-n", metavar="N", type=positive, help="the last N lines (default: 50)"),
    argument("--follow", "-f", action="store_true", help="go on with what is written from now on"),
)
_SERVE = flag(
    "--serve", "what answers callers with a token (vault-index serve) instead of the daemon"
)


_PAIR = re.compile(r'(?<!\S)(\w{1,60})=("(?:[^"\\]|\\.)*"|[^\s"]*)')


@takes(
    *_LOGS,
    description="Print the daemon's log: the journal where it is a service, else its own file.",
)
def run_logs(options: Options, args: dict[str, Any]) -> int:
    home = home_of(options)
    lines, follow = args.get("lines", 50), "follow" in args
    command = _service_log(home, lines, follow=follow)
    if command is None and not home.daemon_log.exists():
        raise NotFoundError(
            "no daemon of this home has written a log yet", "start one: vault-index watch"
        )
    tail = ["tail", "-n", str(lines), *(["-F"] if follow else []), str(home.daemon_log)]
    return _print_log(options, command or tail)


def _print_log(options: Options, command: list[str]) -> int:
    """Run the command that prints the log; of JSON an object a line."""
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
    """A line of the log, in whatever form it was written; one that has none is an event."""
    if line.startswith("{"):
        entry = _json_or_text(line)
        if isinstance(entry, dict) and "MESSAGE" in entry:  # of the journal
            said = iso_time(int(entry["__REALTIME_TIMESTAMP"]) / 1e6)
            return {"time": said, **_entry(str(entry["MESSAGE"]))}
        return entry if isinstance(entry, dict) else {"event": line}
    pairs = _PAIR.findall(line) if _PAIR.match(line) else [("event", line)]
    return {key: _json_or_text(value) for key, value in pairs}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=str)
    except ValueError:
        return text


def _service_log(home: Home, lines: int, *, follow: bool) -> list[str] | None:
    """The command that prints the log of the service; None if the service is not the daemon of this home."""
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
        "let it write to the index and the vaults only (systemd; needs user namespaces)",
    ),
    flag(
        "--serve",
        "install vault-index serve, which asks the daemon, in a sandbox of its own (systemd)",
    ),
)
def run_service_install(options: Options, args: dict[str, Any]) -> None:
    service = service_here(serve="serve" in args)
    home = home_of(options)
    if "serve" in args:
        if not service_here().state().installed:
            raise NotFoundError(
                "the daemon is no service yet, which serve asks",
                "run first: vault-index service install",
            )
        definition = _definition_of_serve(options)
    else:
        definition = definition_of(options, sandbox="sandbox" in args)
        _refuse_another(home, service.state().pid)
    private_folder(home.data_dir)  # a sandboxed daemon could not create it
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
    remark(options, "See: vault-index service status, vault-index service logs")


@takes(_SERVE)
def run_service_uninstall(options: Options, args: dict[str, Any]) -> None:
    removed = service_here(serve="serve" in args).uninstall()
    text = (
        "removed; the index and the configuration stay"
        if removed
        else "there is no service to remove"
    )
    show_value(options, "service_uninstall", {"removed": removed}, text)


@takes(_SERVE)
def run_service_restart(options: Options, args: dict[str, Any]) -> None:
    service = service_here(serve="serve" in args)
    service.restart()
    state = service.state()
    answer = {"active": state.active, "pid": state.pid}
    show_value(options, "service_restart", answer, f"restarted: {state.active} (pid {state.pid})")


@takes(_SERVE)
def run_service_status(options: Options, args: dict[str, Any]) -> None:
    answer = asdict(service_here(serve="serve" in args).state()) | {
        "daemon": daemon_at(home_of(options))
    }
    people = answer_format(options, "service_status") == "human"
    show(options, "service_status", _for_people(answer) if people else answer)


def _for_people(answer: dict[str, Any]) -> dict[str, Any]:
    """The state without empty values, with a readable size and one line for the daemon."""
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


@takes(*_LOGS, _SERVE)
def run_service_logs(options: Options, args: dict[str, Any]) -> int:
    command = service_here(serve="serve" in args).logs_command(
        args.get("lines", 50), follow="follow" in args
    )
    return _print_log(options, command)


def definition_of(options: Options, *, sandbox: bool) -> Definition:
    """What `service install` would write. Raises NotSetUpError and ConfigError if the daemon could not start."""
    from vault_index.config import load_config

    home = home_of(options)
    config = load_config(home)
    writable = tuple(map(Path, map(os.path.realpath, _written(home, config)))) if sandbox else None
    return Definition(daemon_command(_home_words(options)), environment(os.environ), writable)


def _definition_of_serve(options: Options) -> Definition:
    """What `service install --serve` would write: what is indexed is hidden from it, unless it lies around what it
    needs."""
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
    """The folders a sandboxed daemon writes to: the index; the vaults, because memories move to `.trash/` at their top;
    and OpenCode's data, because SQLite writes a `-shm` file beside a database that it reads."""
    folders = [home.data_dir, home.runtime_dir, *(source.path for source in config.sources)]
    if config.clients["opencode"].enabled and "opencode" in config.told:
        from vault_index.sources.sessions.source import SessionSource

        folders.append(SessionSource(config, "opencode").config.path)
    return folders


def _refuse_another(home: Home, own: int | None) -> None:
    """Raises BusyError if a daemon runs that is not the service: the service could not start."""
    pid = daemon_at(home).get("pid")
    if pid is not None and pid != own:
        raise BusyError(
            f"a daemon that is no service runs for this home (pid {pid})",
            f"stop it (kill {pid}), then run the command again",
        )
