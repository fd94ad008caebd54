"""The MCP server on stdio, for the client that started this process; it ends with the client."""

import io
import json
import os
import signal
import threading
import time
from typing import BinaryIO

import anyio
from mcp import types
from mcp.server.stdio import stdio_server

from vault_index.mcp_server.backend import Backend
from vault_index.mcp_server.server import Asker, build_server, check_message
from vault_index.unicode import mended

_PARENT_SECONDS = 1.0


def serve(backend: Backend, *, read_only: bool = False, source: str | None = None) -> int:
    """Serve the client on stdin and stdout until it disconnects; return the exit code."""
    # The default handler would wait for the thread that is reading a line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        anyio.run(_serve, Asker(backend.call, read_only, source), backend, *_wire())
    except* BrokenPipeError:  # the client is gone
        pass
    return 0


async def _serve(
    asker: Asker, backend: Backend, reading: io.TextIOWrapper, writing: io.TextIOWrapper
) -> None:
    server = build_server(lambda _: asker, backend.prepare)
    async with stdio_server(anyio.wrap_file(reading), anyio.wrap_file(writing)) as (
        incoming,
        outgoing,
    ):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Lines(io.TextIOWrapper):
    """Yields the lines that the SDK can answer, and refuses others, which it would ignore.

    Each lone surrogate, which the SDK does not accept, becomes U+FFFD.
    """

    def __init__(self, reading: BinaryIO, answers: BinaryIO) -> None:
        super().__init__(reading, "utf-8", errors="replace")
        self._answers = answers

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        while line := super().readline(size):
            try:
                message = mended(json.loads(line, parse_constant=int))  # NaN is not valid JSON
            except (ValueError, RecursionError):
                self._refuse(None, types.PARSE_ERROR, "this is not JSON")
                continue
            try:
                check_message(message)
            except ValueError:
                ident = message.get("id") if isinstance(message, dict) else None
                self._refuse(
                    ident if type(ident) in (str, int) else None,
                    types.INVALID_REQUEST,
                    "this is not a JSON-RPC 2.0 request",
                )
                continue
            return json.dumps(message) + "\n" if "\\ud" in line.lower() else line
        return ""

    def _refuse(self, ident: str | int | None, code: int, message: str) -> None:
        """Write an error in one call, so that it cannot mix with an answer of the SDK."""
        error = {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}
        self._answers.write(json.dumps(error).encode() + b"\n")
        self._answers.flush()


def _wire() -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """Return the streams of the client for the SDK; redirect all other output to stderr."""
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return _Lines(reading, writing), io.TextIOWrapper(writing, "utf-8")


def _end_with_parent(parent: int) -> None:
    """Exit when the parent dies, because another child may keep the pipe of stdin open."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(0)
