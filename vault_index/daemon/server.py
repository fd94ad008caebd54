"""Listen on the Unix socket and pass requests on, with limits (docs/protocol.md)."""

import contextlib
import json
import logging
import os
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from vault_index.daemon import protocol
from vault_index.daemon.log import error_location, log_event
from vault_index.daemon.protocol import is_own_process
from vault_index.errors import BusyError, DefectError, UsageError, VaultIndexError
from vault_index.progress import Progress

log = logging.getLogger(__name__)

FORMATS = ("toon", "markdown", "jsonl", "json")
_SEND_SECONDS = 30.0


class Request(NamedTuple):
    """One request: method, parameters, and output format (None for JSON values)."""

    method: str
    params: dict[str, Any]
    format: str | None


Answer = Callable[[Request, Progress], dict[str, Any] | str]
"""Called in the connection's thread. May report progress by its second argument. Raises
VaultIndexError.
"""


class Server:
    """Serves `answer` at `path`.

    The caller holds the daemon's lock, so an existing socket is stale.
    """

    def __init__(
        self, path: Path, answer: Answer, *, max_clients: int = 64, idle_seconds: float = 300.0
    ) -> None:
        self._path = path
        self._answer = answer
        self._max_clients = max_clients
        self._idle_seconds = idle_seconds
        self._clients: dict[socket.socket, threading.Thread] = {}
        """Added by the accepting thread; each thread removes its own."""
        self._stopping = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=self._accept, name="server", daemon=True)

    def start(self) -> None:
        """Bind and listen. The folder must exist and belong to this user alone."""
        self._path.unlink(missing_ok=True)
        self._listener.bind(str(self._path))
        os.chmod(self._path, 0o600)
        self._listener.listen(128)
        self._thread.start()

    def is_alive(self) -> bool:
        """Return whether the accepting thread runs."""
        return self._thread.is_alive()

    def stop(self, timeout: float = 0.5) -> None:
        """Stop listening, give running requests `timeout` seconds to answer, then hang up."""
        self._stopping.set()
        with (
            contextlib.suppress(OSError),
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last,
        ):
            last.settimeout(timeout)
            last.connect(str(self._path))  # no other way wakes an accepting thread on every system
        self._thread.join(timeout)
        self._path.unlink(missing_ok=True)
        clients = dict(self._clients)
        for client in clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RD)
        for thread in clients.values():
            thread.join(timeout / len(clients))
        self._listener.close()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError as error:
                # The client left before it was accepted, or file descriptors ran out: keep serving
                # others.
                log_event(
                    log,
                    logging.WARNING,
                    "not accepted",
                    error=type(error).__name__,
                    errno=error.errno,
                )
                self._stopping.wait(0.1)
            else:
                self._welcome(client)

    def _welcome(self, client: socket.socket) -> None:
        """Serve a client in its own thread, unless there are too many."""
        client.settimeout(self._idle_seconds)
        if not is_own_process(client):
            log_event(log, logging.WARNING, "refused a client of another user")
            client.close()
            return
        if len(self._clients) < self._max_clients:
            self._clients[client] = thread = threading.Thread(
                target=self._serve, args=(client,), name="client", daemon=True
            )
            try:
                thread.start()
            except RuntimeError as error:  # the system allows no more threads
                log_event(log, logging.WARNING, "not served", error=error_location(error))
                del self._clients[client]
            else:
                return
        busy = BusyError("the daemon has too many clients", "try again in a moment")
        client.settimeout(1.0)
        with client, contextlib.suppress(OSError):
            client.sendall(_error_line(None, busy))

    def _serve(self, client: socket.socket) -> None:
        try:
            with client, client.makefile("rb", buffering=65536) as lines:
                while line := lines.readline(protocol.MAX_REQUEST_BYTES + 1):
                    if not self._reply(client, line):
                        _hang_up(client)
                        break
                    client.settimeout(self._idle_seconds)
        except OSError:
            pass  # idle for too long, or the client left
        except Exception as error:  # noqa: BLE001 - one connection must not end the daemon
            log_event(log, logging.ERROR, "connection failed", error=error_location(error))
        finally:
            del self._clients[client]

    def _reply(self, client: socket.socket, line: bytes) -> bool:
        """Answer one line; return False if the connection must end."""
        client.settimeout(_SEND_SECONDS)
        ident: Any = None
        try:
            if not line.endswith(b"\n"):
                raise (
                    protocol.too_long()
                    if len(line) > protocol.MAX_REQUEST_BYTES
                    else ConnectionAbortedError
                )
            message = _read(line)
            if not isinstance(message.get("id"), str | int | None):
                raise UsageError(
                    "the id of the request must be a string or an integer", "see docs/protocol.md"
                )
            ident = message.get("id")
            request = _request(message)
        except VaultIndexError as error:
            client.sendall(_error_line(ident, error))
            return False
        client.sendall(self._answer_line(client, ident, request))
        return not self._stopping.is_set()

    def _answer_line(self, client: socket.socket, ident: Any, request: Request) -> bytes:
        here = True

        def progress(stage: str, done: int, total: int) -> None:
            nonlocal here
            if here:
                try:
                    step = {"stage": stage, "done": done, "total": total}
                    client.sendall(protocol.encode({"id": ident, "progress": step}))
                except OSError:
                    here = False  # the client left; its work continues

        try:
            answer = self._answer(request, progress)
            key = "text" if isinstance(answer, str) else "result"
            return protocol.encode({"id": ident, key: answer})
        except VaultIndexError as error:
            return _error_line(ident, error)
        except Exception as error:  # noqa: BLE001 - one request must not end the connection
            log_event(
                log,
                logging.ERROR,
                "request failed",
                method=request.method,
                error=error_location(error),
            )
            told = f"{request.method} failed in the daemon: {type(error).__name__}"
            return _error_line(ident, DefectError(told, "see the daemon's log: vault-index logs"))


def _error_line(ident: Any, error: VaultIndexError) -> bytes:
    return protocol.encode({"id": ident, "error": protocol.error_object(error)})


def _read(line: bytes) -> dict[str, Any]:
    try:
        message = json.loads(line, parse_constant=int)  # NaN and Infinity are not valid JSON
    except (ValueError, RecursionError):
        message = None
    if not isinstance(message, dict):
        raise UsageError(
            "the request is not a JSON object", "send one JSON object per line (docs/protocol.md)"
        )
    return message


def _request(message: dict[str, Any]) -> Request:
    version = message.get("v")
    if version != protocol.VERSION:
        raise UsageError(
            f"the daemon speaks protocol {protocol.VERSION}, "
            f"the request protocol {str(version)[:20]}",
            "restart the daemon, so that it runs the installed version",
        )
    method, params, form = message.get("method"), message.get("params"), message.get("format")
    if not isinstance(method, str) or not isinstance(params or {}, dict):
        raise UsageError(
            "the request has no method, or its params are not an object", "see docs/protocol.md"
        )
    if form is not None and form not in FORMATS:
        raise UsageError(f"unknown format {str(form)[:20]!r}", f"formats: {', '.join(FORMATS)}")
    return Request(method, params or {}, form)


def _hang_up(client: socket.socket) -> None:
    """Read remaining input, because closing with unread data would discard the last reply."""
    client.settimeout(0.2)
    with contextlib.suppress(OSError):
        client.shutdown(socket.SHUT_WR)
        for _ in range(1000):
            if not client.recv(65536):
                return
