"""`mcp`, `agent-context`, `opencode wake`: the entry points of agents, and the guide for them."""

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_index.agents.clients import PLACES
from vault_index.cli.arguments import Options, absolute, argument, flag, takes
from vault_index.cli.client import call, call_here, home_of, with_source
from vault_index.cli.present import remark, show_value, write
from vault_index.config.home import working_directory
from vault_index.daemon.client import OtherProtocol, ping
from vault_index.errors import UsageError

if TYPE_CHECKING:  # spares the import of the plugin
    from vault_index.opencode_plugin.install import Link

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
