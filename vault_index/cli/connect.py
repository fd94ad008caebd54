"""`agent install|uninstall|status|hook`: the clients that agents work in are connected, and what their hooks call."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from vault_index.agents.clients import CONNECTED, WIRED
from vault_index.cli import agents
from vault_index.cli.arguments import Options, Runner, absolute, argument, flag, takes
from vault_index.cli.client import call, home_of
from vault_index.cli.present import remark, show_value, write

if TYPE_CHECKING:
    from vault_index.agents.install import Plan, Target

_SECONDS = 8.0
"""How long a hook may take: the clients wait a little longer."""
_CLIENT = argument("client", metavar="CLIENT", choices=CONNECTED, help=", ".join(CONNECTED))


@takes(
    _CLIENT,
    argument("--project", nargs="?", const=".", metavar="DIR", help=f"for {agents.PROJECT}"),
    flag("--print", "show what would be changed, and change nothing"),
    flag("--force", "overwrite files of OpenCode's plugin that somebody changed"),
    description="Connect a client: its own configuration gets our MCP server and, where it has hooks, recall at the "
    "first prompt of a session and capture of `*Remember*: …`; OpenCode gets its plugin. Nothing else in its files "
    "changes. Run it again after this program was moved.",
)
def run_agent_install(options: Options, args: dict[str, Any]) -> None:
    from vault_index.agents.install import installing

    if args["client"] == "opencode":
        _plugin(options, args, agents.run_opencode_install)
        return
    target = _target(args)
    plan = installing(target, agents.program_of(options))
    _carry_out(options, "agent_install", target, plan, args)
    if "print" not in args:
        remark(options, target.wiring.todo)
        if not home_of(options).config_file.exists():
            remark(options, "There is no index yet: vault-index init ~/Vault")


@takes(
    _CLIENT,
    argument("--project", nargs="?", const=".", metavar="DIR", help=f"from {agents.PROJECT}"),
    flag("--print", "show what would be changed, and change nothing"),
    flag("--force", "remove files of OpenCode's plugin that somebody changed, too"),
)
def run_agent_uninstall(options: Options, args: dict[str, Any]) -> None:
    from vault_index.agents.install import uninstalling

    if args["client"] == "opencode":
        _plugin(options, args, agents.run_opencode_uninstall)
        return
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
    argument("--project", metavar="DIR", default=".", help="look into this project, too (default: this folder)"),
)
def run_agent_status(options: Options, args: dict[str, Any]) -> None:
    from vault_index.agents.install import state_of, target_of

    project, program = Path(absolute(args["project"])), agents.program_of(options)
    states: list[dict[str, Any]] = []
    for client in [args["client"]] if args.get("client") else CONNECTED:
        if client == "opencode":
            states += [{"client": client, **state} for state in agents.plugin_states(options, project)]
        else:
            states += [state_of(target, program) for target in (target_of(client), target_of(client, project))]
    lines = []
    for state in states:
        lines.append(f"{state['client']:<12} {state['scope']:<8} {state['state']}: {', '.join(_places(state))}")
        notes = [state.get("problem", ""), *(f"{path} is gone" for path in state.get("gone", ()))]
        notes.append("the hooks wait to be trusted: start codex once" if state.get("trusted") is False else "")
        lines += [f"{'':<13}{note}" for note in notes if note]
    fault = _fault_file(options)
    answer: dict[str, Any] = {"results": states, "total": len(states), "command": list(program)}
    if fault.is_file():
        answer["fault"] = fault.read_text(encoding="utf-8", errors="replace").strip()
        lines.append(f"the last fault of a hook: {answer['fault']}")
    show_value(options, "agent_status", answer, "\n".join(lines))
    if any(state["state"] in ("outdated", "incomplete") for state in states):
        remark(options, "Renew it with: vault-index agent install CLIENT (with --project in a project)")


@takes(
    argument("client", metavar="CLIENT", choices=tuple(WIRED), help=", ".join(WIRED)),
    description="What the hooks of a client call: it reads what the client says on stdin, and answers in kind. It "
    "never fails: the last fault is in `vault-index agent status`.",
)
def run_agent_hook(options: Options, args: dict[str, Any]) -> None:
    if not home_of(options).config_file.exists():
        return
    said: list[str] = []
    fault = ["no answer in time"]
    worker = Thread(target=lambda: _hook(options, args["client"], said, fault), daemon=True)
    worker.start()
    worker.join(_SECONDS)
    if fault:
        with suppress(OSError):
            _fault_file(options).write_text(f"{args['client']}: {fault[0]}\n", encoding="utf-8", errors="replace")
    if said:
        write(said[0])
    if worker.is_alive():  # what hangs would be waited for
        sys.stdout.flush()
        os._exit(0)


# --- inside --------------------------------------------------------------------------------------------------------


def _hook(options: Options, client: str, said: list[str], fault: list[str]) -> None:
    try:
        from vault_index.agents.hook import answer

        def start(words: Sequence[str], text: str, folder: str) -> None:
            process = subprocess.Popen(
                [sys.executable, "-m", "vault_index", *agents.home_options(options), "--quiet", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd=folder if os.path.isdir(folder) else None,
                start_new_session=True,
            )
            assert process.stdin is not None
            with process.stdin as stdin:
                stdin.write(text.encode("utf-8", "replace"))
            process.returncode = 0  # it outlives this one: no warning

        told = json.loads(sys.stdin.buffer.read())
        folder = home_of(options).data_dir / "agents"
        given = answer(client, told, folder, lambda method, params: call(options, method, params), start)
        if given:
            said.append(json.dumps(given))
        fault.clear()
    except Exception as error:  # noqa: BLE001 - whatever it is, the client goes on
        fault[:] = [f"{type(error).__name__}: {error}"]


def _fault_file(options: Options) -> Path:
    return home_of(options).data_dir / "agents.fault"


def _plugin(options: Options, args: dict[str, Any], runner: Runner) -> None:
    if "print" in args:
        write("\n".join(str(file.path) for file in agents.target_of(args).files))
    else:
        runner.run(options, args)


def _target(args: dict[str, Any]) -> "Target":
    from vault_index.agents.install import target_of

    return target_of(args["client"], Path(absolute(args["project"])) if "project" in args else None)


def _carry_out(options: Options, method: str, target: "Target", plan: "Plan", args: dict[str, Any]) -> None:
    if "print" in args:
        write(_shown(plan))
        return
    changed = {"changed": [str(path) for path in plan.changed]}
    changed["backups"] = [str(copy) for copy in plan.carry_out(home_of(options).data_dir)]
    told = "\n".join(f"{what.removesuffix('s')}: {path}" for what, paths in changed.items() for path in paths)
    answer = {"client": target.client, "scope": target.scope, **changed}
    show_value(options, method, answer, told or f"nothing to change for {target.client}")


def _shown(plan: "Plan") -> str:
    """What changes, and no line of a file that does not: there may be keys in it."""
    from difflib import unified_diff

    lines: list[str] = []
    for path in plan.changed:
        before, after = ((text or "").splitlines() for text in (plan.before[path], plan.after[path]))
        lines += unified_diff(before, after, str(path), str(path), n=0, lineterm="")
    return "\n".join(lines)


def _places(state: dict[str, Any]) -> list[str]:
    return state.get("paths") or [state["path"]]
