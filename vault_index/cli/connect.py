"""`agent`, `opencode wake`, `mcp`, `agent-context`: connect clients of agents, and serve them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from vault_index.agents.clients import CONNECTED, PLACES, WIRED
from vault_index.cli.arguments import Options, absolute, argument, flag, takes
from vault_index.cli.client import call, call_here, home_of, with_source
from vault_index.cli.present import remark, show_value, write
from vault_index.config.home import working_directory
from vault_index.daemon.client import OtherProtocol, ping
from vault_index.errors import UsageError

if TYPE_CHECKING:
    from vault_index.agents.install import Plan, Target
    from vault_index.opencode_plugin.install import Link, Target as PluginTarget

_SECONDS = 8.0
"""The time limit of a hook; the clients wait a little longer."""
_PROJECT = "the project in DIR (default: this folder) instead of all projects"
_CLIENT = argument("client", metavar="CLIENT", choices=CONNECTED, help=", ".join(CONNECTED))
_CLIENTS = tuple(PLACES)
_GUIDE = Path(__file__).parent.parent / "data" / "agent-context.md"
_SKILL_HEAD = """\
---
name: vault-index
description: Search and store long-term memory (the user's notes, earlier decisions, past \
sessions). Use before answering about earlier work or preferences, and when something was decided, \
learned or fixed that later sessions need.
---

"""
"""The head of the guide as a SKILL.md. It says when to use it: agents see the rest only then."""


@takes(
    _CLIENT,
    argument("--project", nargs="?", const=".", metavar="DIR", help=f"connect {_PROJECT}"),
    flag("--print", "print the changes without making them"),
    flag("--force", "overwrite files of OpenCode's plugin that were edited"),
    description="Connect a client. This adds the MCP server to the client's configuration. If the "
    "client has hooks, it also adds recall at the first prompt of a session and capture of "
    "`*Remember*: …`. OpenCode gets its plugin. The client's other settings do not change. Run "
    "this command again after you move vault-index.",
)
def run_agent_install(options: Options, args: dict[str, Any]) -> None:
    """Connect a client, or print the changes."""
    from vault_index.agents.install import installing
    from vault_index.opencode_plugin import install as plugin

    if args["client"] == "opencode":
        link = link_of(options)
        _change_plugin(
            options,
            "agent_install",
            args,
            partial(plugin.install, link=link, force="force" in args),
        )
        todo = "Restart OpenCode to use it"
    else:
        target = _target(args)
        plan = installing(target, program_of(options), home_of(options).socket_path)
        _carry_out(options, "agent_install", target, plan, args)
        todo = target.wiring.todo
    if "print" not in args:
        remark(options, todo)
        if not home_of(options).config_file.exists():
            remark(options, "There is no index yet; create it: vault-index init ~/Vault")


@takes(
    _CLIENT,
    argument("--project", nargs="?", const=".", metavar="DIR", help=f"disconnect {_PROJECT}"),
    flag("--print", "print the changes without making them"),
    flag("--force", "also remove files of OpenCode's plugin that were edited"),
)
def run_agent_uninstall(options: Options, args: dict[str, Any]) -> None:
    """Disconnect a client, or print the changes."""
    from vault_index.agents.install import uninstalling
    from vault_index.opencode_plugin import install as plugin

    if args["client"] == "opencode":
        _change_plugin(
            options, "agent_uninstall", args, partial(plugin.uninstall, force="force" in args)
        )
    else:
        target = _target(args)
        _carry_out(options, "agent_uninstall", target, uninstalling(target), args)


@takes(
    argument(
        "client",
        nargs="?",
        default=None,
        metavar="CLIENT",
        choices=CONNECTED,
        help=f"{', '.join(CONNECTED)} (default: all)",
    ),
    argument(
        "--project",
        metavar="DIR",
        default=".",
        help="also check this project (default: this folder)",
    ),
)
def run_agent_status(options: Options, args: dict[str, Any]) -> None:
    """Print which clients are connected, and the last error of a hook."""
    from vault_index.agents.install import state_of, target_of
    from vault_index.opencode_plugin import install as plugin

    project, program = Path(absolute(args["project"])), program_of(options)
    states: list[dict[str, Any]] = []
    for client in [args["client"]] if args.get("client") else CONNECTED:
        if client == "opencode":
            link, targets = (
                link_of(options),
                (plugin.user_target(), plugin.project_target(project)),
            )
            states += [{"client": client, **plugin.state_of(target, link)} for target in targets]
        else:
            states += [
                state_of(target, program, home_of(options).socket_path)
                for target in (target_of(client), target_of(client, project))
            ]
    lines = []
    for state in states:
        paths = ", ".join(state.get("paths") or [state["path"]])
        lines.append(f"{state['client']:<12} {state['scope']:<8} {state['state']}: {paths}")
        lines += [f"{'':<13}{note}" for note in _notes(state)]
    fault = _fault_file(options)
    answer: dict[str, Any] = {"results": states, "total": len(states), "command": list(program)}
    if fault.is_file():
        answer["fault"] = fault.read_text(encoding="utf-8", errors="replace").strip()
        lines.append(f"last error of a hook: {answer['fault']}")
    show_value(options, "agent_status", answer, "\n".join(lines))
    if any(state["state"] in ("outdated", "incomplete") for state in states):
        remark(
            options,
            "To update, run: vault-index agent install CLIENT (with --project for a project)",
        )


def _notes(state: Mapping[str, Any]) -> Iterator[str]:
    """Yield what needs the attention of the user in the connection of a client."""
    if state.get("problem"):
        yield state["problem"]
    yield from (f"{path} is missing" for path in state.get("gone", ()))
    yield from (f"{path} was changed after the installation" for path in state.get("changed", ()))
    if state.get("trusted") is False:
        yield "the hooks need your approval: start codex once"


@takes(
    argument("client", metavar="CLIENT", choices=tuple(WIRED), help=", ".join(WIRED)),
    description="Answer a hook of a client: read the hook's input from stdin and print the answer. "
    "The exit code is always 0; `vault-index agent status` shows the last error.",
)
def run_agent_hook(options: Options, args: dict[str, Any]) -> None:
    """Answer a hook of a client within the time limit; never fail."""
    if not home_of(options).config_file.exists():
        return
    output: list[str] = []
    fault = ["no answer in time"]
    worker = Thread(target=lambda: _hook(options, args["client"], output, fault), daemon=True)
    worker.start()
    worker.join(_SECONDS)
    if fault:
        with suppress(OSError):
            _fault_file(options).write_text(
                f"{args['client']}: {fault[0]}\n", encoding="utf-8", errors="replace"
            )
    if output:
        write(output[0])
    if worker.is_alive():  # a normal exit would wait for it
        sys.stdout.flush()
        os._exit(0)


# --- Helpers --------------------------------------------------------------------------------------


def _hook(options: Options, client: str, output: list[str], fault: list[str]) -> None:
    """Put the answer of a hook into `output`, and clear `fault`, or replace it with the error."""
    try:
        from vault_index.agents.hook import answer

        def start(words: Sequence[str], text: str, folder: str) -> None:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "vault_index",
                    *home_options(options),
                    "--quiet",
                    *words,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder if os.path.isdir(folder) else None,
                start_new_session=True,
            )
            assert process.stdin is not None
            with process.stdin as stdin:
                stdin.write(text.encode("utf-8", "replace"))
            process.returncode = 0  # it outlives this process: prevents a ResourceWarning

        event = json.loads(sys.stdin.buffer.read())
        folder = home_of(options).data_dir / "agents"
        given = answer(
            client, event, folder, lambda method, params: call(options, method, params), start
        )
        if given:
            output.append(json.dumps(given))
        fault.clear()
    except Exception as error:  # noqa: BLE001 - a hook must never stop its client
        fault[:] = [f"{type(error).__name__}: {error}"]


def _fault_file(options: Options) -> Path:
    return home_of(options).data_dir / "fault"


def _change_plugin(
    options: Options,
    method: str,
    args: dict[str, Any],
    change: "Callable[[PluginTarget], list[Path]]",
) -> None:
    from vault_index.opencode_plugin.install import project_target, user_target

    target = project_target(Path(absolute(args["project"]))) if "project" in args else user_target()
    if "print" in args:
        write("\n".join(str(file.path) for file in target.files))
        return
    changed = [str(target.folder)] if change(target) else []
    _show_changes(options, method, "opencode", target.scope, {"changed": changed, "backups": []})


def _target(args: dict[str, Any]) -> "Target":
    from vault_index.agents.install import target_of

    return target_of(args["client"], Path(absolute(args["project"])) if "project" in args else None)


def _carry_out(
    options: Options, method: str, target: "Target", plan: "Plan", args: dict[str, Any]
) -> None:
    if "print" in args:
        write(_diff(plan))
        return
    changed = {"changed": [str(path) for path in plan.changed]}
    changed["backups"] = [str(copy) for copy in plan.carry_out(home_of(options).data_dir)]
    _show_changes(options, method, target.client, target.scope, changed)


def _show_changes(
    options: Options, method: str, client: str, scope: str, changes: dict[str, list[str]]
) -> None:
    text = "\n".join(
        f"{what.removesuffix('s')}: {path}" for what, paths in changes.items() for path in paths
    )
    answer = {"client": client, "scope": scope, **changes}
    show_value(options, method, answer, text or f"nothing to change for {client}")


def _diff(plan: "Plan") -> str:
    """Return our lines only, because other lines of a file may hold keys."""
    from difflib import unified_diff

    lines: list[str] = []
    for path in plan.changed:
        before, after = plan.layout(path).splitlines(), (plan.after[path] or "").splitlines()
        lines += unified_diff(before, after, str(path), str(path), n=0, lineterm="")
    return "\n".join(lines)


@takes(
    flag("--read-only", "omit the tools that write"),
    flag(
        "--call",
        'run one tool call, {"name": "memory_search", "arguments": {…}}, from stdin, print the '
        "result and exit",
    ),
    argument(
        "--print-config",
        metavar="CLIENT",
        choices=_CLIENTS,
        help=f"print the configuration for {', '.join(_CLIENTS[:-1])} or {_CLIENTS[-1]}",
    ),
    description="Serve the memory tools (search, get, timeline, recall, store, update, delete, "
    "list, review) to an MCP client on stdin and stdout. The client starts this command and ends "
    "it.",
)
def run_mcp(options: Options, args: dict[str, Any]) -> int:
    """Serve MCP on stdin and stdout, answer one call, or print a client's configuration."""
    if "print_config" in args:
        _print_config(options, args)
        return 0
    if "call" in args:
        return _call_tool(options)
    if sys.stdin.isatty():
        remark(
            options,
            "vault-index: reading MCP messages from stdin; to configure a client, run: "
            "vault-index mcp --print-config CLIENT",
        )
    from vault_index.mcp_server import server_alone

    stdio = server_alone()
    from vault_index.mcp_server.backend import Backend

    backend = Backend(home_of(options), home_options(options))
    done: int = stdio.serve(backend, read_only="read_only" in args, source=options.source)
    return done


def _call_tool(options: Options) -> int:
    from vault_index.mcp_server.toolbox import answer_tool

    try:
        params = json.load(sys.stdin)
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the tool call is not valid JSON: {error}",
            "pipe in an object with the keys name and arguments",
        ) from error
    given = params if isinstance(params, dict) else {}
    tool_call = {"directory": working_directory(), **given}
    write(
        answer_tool(
            lambda method, args: call(options, method, with_source(options, dict(args))), tool_call
        )
    )
    return 0


def _print_config(options: Options, args: dict[str, Any]) -> None:
    from vault_index.agents.clients import setup

    flags = ["--read-only"] if "read_only" in args else []
    if options.source is not None:
        flags += ["--source", options.source]
    text, place = setup(args["print_config"], [*program_of(options), "mcp", *flags])
    write(text)
    remark(options, f"vault-index: {place}")


@takes(
    flag("--skill", "add the header of a SKILL.md file"),
    description="Print a guide for agents of less than 600 tokens: what to store, how to search, "
    "and how to read results with few tokens.",
)
def run_agent_context(options: Options, args: dict[str, Any]) -> None:
    """Print the guide for agents."""
    text = _GUIDE.read_text(encoding="utf-8")
    if "skill" in args:
        text = _SKILL_HEAD + text
    show_value(options, "agent_context", {"text": text}, text.rstrip("\n"))


@takes()
def run_opencode_wake(options: Options, args: dict[str, Any]) -> None:
    """Start the daemon or, if the configuration forbids that, update the index."""
    from vault_index.config import load_config

    home = home_of(options)
    try:
        daemon = ping(home.socket_path)
    except OtherProtocol:  # a daemon of another version: the user restarts it
        return
    if daemon is not None:
        answer: dict[str, Any] = {"daemon": "running"}
    elif load_config(home).agents.start_daemon:
        from vault_index.daemon.system import launch

        answer = {"daemon": "started", "pid": launch(home, home_options(options)).pid}
    else:
        call_here(options, "sync", {})
        answer = {"daemon": "off", "synced": True}
    texts = {
        "running": "the daemon is running",
        "started": "started the daemon",
        "off": "the daemon is off; synced the index",
    }
    show_value(options, "opencode_wake", answer, texts[answer["daemon"]])


# --- Helpers --------------------------------------------------------------------------------------


def link_of(options: Options) -> "Link":
    """Return the command, socket and folder that a newly installed plugin would use."""
    from vault_index.opencode_plugin.install import Link

    return Link(program_of(options), home_of(options))


def program_of(options: Options) -> tuple[str, ...]:
    """Return the command that starts this program from any folder with the same home."""
    from vault_index.service.definition import program  # late: `mcp` must start fast

    return (*program(), *home_options(options))


def home_options(options: Options) -> tuple[str, ...]:
    """Return the options for the home and the configuration, without defaults.

    They are passed on because other programs run with another environment.
    """
    home = options.home or os.environ.get("VAULT_INDEX_HOME", "")
    config = options.config or ("" if options.home else os.environ.get("VAULT_INDEX_CONFIG", ""))
    given = (("--home", home), ("--config", config))
    return tuple(word for name, value in given if value for word in (name, absolute(value)))
