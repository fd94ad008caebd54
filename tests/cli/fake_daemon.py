"""A fake daemon: real socket and protocol (docs/protocol.md), canned replies."""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE
from vault_index.config.home import find_home, private_folder

Reply = dict[str, Any]
Answer = Callable[[dict[str, Any]], list[Reply]]


def replying(*replies: Reply) -> Answer:
    """Send the same replies to every request."""
    return lambda request: list(replies)


class FakeDaemon:
    """Records the requests; `answer` makes the replies to each, without their id."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[dict[str, Any]] = []
        self._answer = answer

    def serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as stream:
                for line in stream:
                    for reply in self._replies(json.loads(line)):
                        stream.write(json.dumps(reply).encode() + b"\n")
                    stream.flush()

    def _replies(self, request: dict[str, Any]) -> list[Reply]:
        if request["method"] == "ping":
            return [{"id": request["id"], "result": {"version": "1.0.0", "protocol": 1, "pid": os.getpid()}}]
        self.requests.append(request)
        return [{"id": request["id"], **reply} for reply in self._answer(request)]


@contextmanager
def fake_daemon(home: Path, answer: Answer) -> Iterator[FakeDaemon]:
    places = find_home(home)
    private_folder(places.runtime_dir)
    daemon = FakeDaemon(answer)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(places.socket_path))
        listener.listen()
        thread = threading.Thread(target=daemon.serve, args=(listener,), daemon=True)
        thread.start()
        try:
            yield daemon
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(PATIENCE)
            places.socket_path.unlink(missing_ok=True)
