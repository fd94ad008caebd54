"""Add a token for programs that cannot send one: requests are forwarded with one more header."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer

_MOST = 65536


@contextmanager
def gate(port: int, token: str) -> Iterator[str]:
    """Yield a URL of `/mcp` that needs no token. A connection has one request."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            client: socket.socket = self.request
            data = client.recv(_MOST)
            while data and b"\r\n\r\n" not in data:
                data += client.recv(_MOST)
            line, _, rest = data.partition(b"\r\n")
            own, theirs = client.getsockname()[1], port
            head, _, body = re.sub(rb"(?im)^connection:[^\n]*\n", b"", rest).partition(b"\r\n\r\n")
            head = head.replace(b":%d" % own, b":%d" % theirs)  # Host and Origin name the server itself
            ours = b"Authorization: Bearer %s\r\nConnection: close\r\n" % token.encode()
            with socket.create_connection(("127.0.0.1", theirs)) as server:
                server.sendall(line + b"\r\n" + ours + head + b"\r\n\r\n" + body)
                threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
                _pass_on(server, client)

    class Gate(ThreadingTCPServer):
        daemon_threads = True

    with Gate(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/mcp"
        server.shutdown()


def _pass_on(giving: socket.socket, taking: socket.socket) -> None:
    """Copy until one side closes; then close the other."""
    with suppress(OSError):
        while data := giving.recv(_MOST):
            taking.sendall(data)
    with suppress(OSError):
        taking.shutdown(socket.SHUT_RDWR)
