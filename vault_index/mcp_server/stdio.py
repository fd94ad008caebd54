"""The server on stdio: one client, which started this process and whose end is its end."""

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
from vault_index.surrogates import mended

_PARENT_SECONDS = 1.0


def serve(backend: Backend, *, read_only: bool = False, source: str | None = None) -> int:
    """Answer the client on stdin and stdout until it goes away; returns the exit code."""
    # The default handler would wait for the reading thread, which waits for a line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    try:
        anyio.run(_serve, Asker(backend.call, read_only, source), backend, *_wire())
    except* BrokenPipeError:  # the client is gone, and waits for no answer
        pass
    return 0


async def _serve(asker: Asker, backend: Backend, reading: io.TextIOWrapper, writing: io.TextIOWrapper) -> None:
    server = build_server(lambda _: asker, backend.prepare)
    async with stdio_server(anyio.wrap_file(reading), anyio.wrap_file(writing)) as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Lines(io.TextIOWrapper):
    """The lines of the client that the SDK answers; it would leave others without a word, and these are refused here.

    Of lone surrogates, which it takes for no JSON, every one becomes U+FFFD.
    """

    def __init__(self, reading: BinaryIO, answers: BinaryIO) -> None:
        super().__init__(reading, "utf-8", errors="replace")
        self._answers = answers

    def readline(self, size: int = -1) -> str:  # type: ignore[override]
        while line := super().readline(size):
            try:
                message = mended(json.loads(line, parse_constant=int))  # NaN is no JSON, and no int
            except (ValueError, RecursionError):
                self._refuse(None, types.PARSE_ERROR, "this is no JSON")
                continue
            try:
                check_message(message)
            except ValueError:
                ident = message.get("id") if isinstance(message, dict) else None
                self._refuse(
                    ident if type(ident) in (str, int) else None,
                    types.INVALID_REQUEST,
                    "this is no request of JSON-RPC 2.0",
                )
                continue
            return json.dumps(message) + "\n" if "\\ud" in line.lower() else line
        return ""

    def _refuse(self, ident: str | int | None, code: int, message: str) -> None:
        """By one call, which cannot fall into an answer of the SDK: that writes whole lines to the same stream."""
        error = {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}
        self._answers.write(json.dumps(error).encode() + b"\n")
        self._answers.flush()


def _wire() -> tuple[io.TextIOWrapper, io.TextIOWrapper]:
    """The streams to and from the client, for the SDK alone: other output, also of child processes, goes to stderr."""
    reading, writing = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return _Lines(reading, writing), io.TextIOWrapper(writing, "utf-8")


def _end_with_parent(parent: int) -> None:
    """Exit when the parent dies: another of its children may keep the pipe open, so that stdin never ends."""
    while os.getppid() == parent:
        time.sleep(_PARENT_SECONDS)
    os._exit(0)
