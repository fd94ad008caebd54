"""A home with a vault, and `vault-index serve` in front of its daemon as processes of their own."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.config import Home, find_home
from vault_index.daemon.client import Unreachable, connect, ping

WHOLE = Scope()
SETTINGS = '[embedding]\nprovider = "none"\n[watch]\nquiet = 0.02\n'


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Place:
    """A home; what `started` began ends with it."""

    def __init__(self, folder: Path, more: str = "") -> None:
        self.vault = folder / "vault"
        self.vault.mkdir(parents=True)
        self.home: Home = find_home(folder / "home")
        self.home.data_dir.mkdir()
        self.home.config_file.write_text(f'[sources.vault]\npath = "{self.vault}"\n{SETTINGS}{more}', "utf-8")
        self._processes: list[Process] = []

    def token(self, name: str, *, writes: bool = False, scope: Scope = WHOLE, expires: float | None = None) -> str:
        return Tokens(self.home.tokens_file).add(Caller(name, writes, scope), created=time.time(), expires=expires)

    def write(self, path: str, text: str) -> None:
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

    def process(self, *arguments: str, **environment: str) -> "Process":
        command = [sys.executable, "-m", "vault_index", "--home", str(self.home.data_dir), *arguments]
        process = Process(command, self.home.data_dir.parent / f"said-{len(self._processes)}", environment)
        self._processes.append(process)
        return process

    def daemon(self) -> "Process":
        """A daemon that has looked at everything."""
        process = self.process("watch")
        until(self._looked)
        return process

    def _looked(self) -> bool:
        client = connect(self.home.socket_path)
        if client is None:
            return False
        try:
            with client:
                status = client.call("status")
        except Unreachable:  # this machine has much to do
            return False
        assert isinstance(status, dict)
        return status["watch"]["last_reconcile"] is not None

    def serve(self, *options: str, **environment: str) -> "Served":
        """It serves at a port of its own choice."""
        process = self.process("serve", "--listen", "127.0.0.1:0", *options, **environment)
        return Served(process, process.port())

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        found = ping(self.home.socket_path)
        if found is not None:  # one that the server began
            os.kill(found["pid"], signal.SIGKILL)


class Process(subprocess.Popen[bytes]):
    """What it says on stderr goes to a file: a pipe that nobody reads would stop it."""

    def __init__(self, command: list[str], file: Path, environment: Mapping[str, str]) -> None:
        self._file = file
        with file.open("wb") as stderr:
            super().__init__(command, stderr=stderr, env={**os.environ, "PYTHONUTF8": "1", **environment})

    def said(self) -> str:
        return self._file.read_text("utf-8")

    def port(self) -> int:
        """Where it serves, as soon as it says so."""
        found: list[str] = []

        def told() -> bool:
            found[:] = re.findall(r"^vault-index: serving on https?://[^ ]+:(\d+) ", self.said(), re.MULTILINE)
            return bool(found) or self.poll() is not None

        until(told)
        assert found, self.said()
        return int(found[0])


class Served:
    def __init__(self, process: Process, port: int) -> None:
        self.process, self.port = process, port

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def call(self, method: str, token: str, **params: Any) -> Answered:
        return self.ask("POST", f"/api/{method}", json.dumps(params).encode(), bearer(token))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


@contextmanager
def place(folder: Path, more: str = "") -> Iterator[Place]:
    made = Place(folder, more)
    try:
        yield made
    finally:
        made.close()


def until(condition: Any, seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
