"""Streamable HTTP in front of the stdio server, because the conformance tests speak only HTTP.

Each session with a handshake has its own process; all requests of a protocol without one share one. Rules of HTTP
itself are not covered.
"""

import json
import queue
import subprocess
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any

from tests.waiting import PATIENCE

_VERSION = "io.modelcontextprotocol/protocolVersion"


class _Process:
    """One stdio server. It renumbers requests, since several clients may count from 1."""

    def __init__(self, command: Sequence[str]) -> None:
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._numbers = count(1)
        self._waiting: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the messages of the server up to its answer."""
        number = next(self._numbers)
        answers = self._waiting[number] = queue.Queue()
        self.tell(request | {"id": number})
        message: dict[str, Any] = {}
        while "result" not in message and "error" not in message:
            message = answers.get(timeout=PATIENCE)
            yield message if "method" in message else message | {"id": request["id"]}
        del self._waiting[number]

    def tell(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message) + "\n")
        self._server.stdin.flush()

    def end(self) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()
        self._server.wait(PATIENCE)
        self._reader.join()

    def _read(self) -> None:
        assert self._server.stdout is not None
        with self._server.stdout as lines:
            for message in map(json.loads, lines):
                for number, answers in list(self._waiting.items()):
                    if "method" in message or number == message.get("id"):
                        answers.put(message)


def _era(message: dict[str, Any]) -> str:
    """The first request to a process decides the protocol."""
    return str(message.get("params", {}).get("_meta", {}).get(_VERSION, ""))


@contextmanager
def bridge(command: Sequence[str]) -> Iterator[str]:
    """Yield the URL of the server that the command starts."""
    processes: dict[str, _Process] = {}
    lock = threading.Lock()

    def process(session: str) -> _Process:
        with lock:
            return processes.setdefault(session, processes.get(session) or _Process(command))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            session = self.headers.get("Mcp-Session-Id") or _era(message)
            if message.get("method") == "initialize":
                session = uuid.uuid4().hex
            if "id" not in message or "method" not in message:
                process(session).tell(message)
                self.send_response(202)
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            if message["method"] == "initialize":
                self.send_header("Mcp-Session-Id", session)
            self.end_headers()
            for said in process(session).ask(message):
                self.wfile.write(b"data: " + json.dumps(said).encode() + b"\n\n")

        def do_GET(self) -> None:
            self.send_error(405)

        def do_DELETE(self) -> None:
            if ended := processes.pop(self.headers.get("Mcp-Session-Id", ""), None):
                ended.end()
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()
    for one in processes.values():
        one.end()
