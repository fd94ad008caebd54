"""`mcp`: the memory tools for MCP clients, on stdio."""

import argparse
import sys
from typing import Any

from vault_index.cli.client import home_of
from vault_index.cli.options import Options
from vault_index.cli.present import remark, write
from vault_index.cli.program import home_options, program

_CLIENTS = ("claude-code", "claude-desktop", "cursor", "opencode", "vscode", "generic")


def add_mcp(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Serve the memory tools (search, get, timeline, recall, store, update, delete, list) to an MCP client on stdin "
        "and stdout. The client starts it, and it ends with the client."
    )
    parser.add_argument("--read-only", action="store_true", help="leave out the tools that write")
    parser.add_argument("--print-config", metavar="CLIENT", choices=_CLIENTS, help=f"how to set it up in {_listed()}")


def run_mcp(options: Options, args: dict[str, Any]) -> int:
    if "print_config" in args:
        return _print_config(options, args)
    if sys.stdin.isatty():
        remark(options, "vault-index: this speaks MCP on stdin; set it up in a client: vault-index mcp --print-config")
    import gc

    gc.disable()  # a tenth of the start: the SDK makes many objects, and drops hardly one
    from vault_index.mcp_server.server import serve

    gc.enable()
    from vault_index.mcp_server.backend import Backend

    backend = Backend(home_of(options), home_options(options))
    return serve(backend, read_only="read_only" in args, source=options.source)


def _print_config(options: Options, args: dict[str, Any]) -> int:
    from vault_index.mcp_server.clients import setup

    flags = ["--read-only"] if "read_only" in args else []
    if options.source is not None:
        flags += ["--source", options.source]
    text, place = setup(args["print_config"], [*program(), *home_options(options), "mcp", *flags])
    write(text)
    remark(options, f"vault-index: {place}")
    return 0


def _listed() -> str:
    return f"{', '.join(_CLIENTS[:-1])}, or {_CLIENTS[-1]}"
