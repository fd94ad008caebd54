"""A home with a vault, and its processes: the daemon, `vault-index serve`, any other command."""

import hmac
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from tests.waiting import PATIENCE, until
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope, caller_to_json
from vault_index.config import Home, find_home
from vault_index.daemon.client import Client, Unreachable, connect, ping

WHOLE = Scope()
SETTINGS = '[embedding]\nprovider = "none"\n[watch]\nquiet = 0.02\n'
_MAIN = "import sys; from vault_index.cli import main; sys.exit(main(sys.argv[1:]))"
_PORT = re.compile(r"^vault-index: serving on https?://[^ ]+:(\d+) ", re.MULTILINE)


class World:
    """A home with one empty vault and no embedder; `close` kills the processes started for it."""

    def __init__(self, folder: Path, more: str = "", *, home: Home | None = None) -> None:
        """Make it in `folder`; `more` is appended to the configuration. An existing `home` stays as it is."""
        self.vault = folder / "vault"
        self.home = home or find_home(folder / "home")
        self.more = more
        if home is None:
            self.vault.mkdir(parents=True)
            self.home.data_dir.mkdir(mode=0o700)
            self.configure()
        self.first = ""
        """Python that a daemon runs before anything else."""
        self._processes: list[Process] = []

    def configure(self, *vaults: Path) -> None:
        """Write the configuration; each source, by default the vault, has the name of its folder."""
        sources = "".join(f'[sources.{vault.name}]\npath = "{vault}"\n' for vault in vaults or (self.vault,))
        self.home.config_file.write_text(sources + SETTINGS + self.more, "utf-8")

    def write(self, path: str, text: str) -> None:
        """Write a file of the vault by rename, so that the watcher never sees it empty."""
        file = self.vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_name(f".{file.name}.tmp")
        unfinished.write_text(text, "utf-8")
        unfinished.replace(file)

    def files(self) -> dict[str, bytes]:
        """Return the bytes of every file of the vault, by path."""
        files = (path for path in self.vault.rglob("*") if path.is_file())
        return {path.relative_to(self.vault).as_posix(): path.read_bytes() for path in files}

    def token(self, name: str, *, writes: bool = False, scope: Scope = WHOLE, expires: float | None = None) -> str:
        return Tokens(self.home.tokens_file).add(Caller(name, writes, scope), created=time.time(), expires=expires)

    # --- processes ---------------------------------------------------------------------------------------------------

    def process(self, *arguments: str, first: str = "", **environment: str) -> "Process":
        """Start a command of vault-index; keyword arguments are environment variables."""
        command = [sys.executable, "-c", f"{first}\n{_MAIN}", "--home", str(self.home.data_dir), *arguments]
        process = Process(command, self.home.data_dir.parent / f"stderr-{len(self._processes)}", environment)
        self._processes.append(process)
        return process

    def start_daemon(self, **environment: str) -> "Process":
        """Start a daemon without waiting for it."""
        return self.process("watch", first=self.first, **environment)

    def daemon(self, **environment: str) -> "Process":
        """Start a daemon, and wait until it has compared the index with the files."""
        process = self.start_daemon(**environment)

        def reconciled() -> bool:
            assert process.poll() is None, process.stderr_text()
            return bool(self.listens() and self.ask("status")["watch"]["last_reconcile"])

        until(reconciled)
        return process

    def serve(self, *options: str, first: str = "", **environment: str) -> "Served":
        """Start `serve` at a free port, and wait until it listens. It runs the Python code `first` before that."""
        process = self.process("serve", "--listen", "127.0.0.1:0", *options, first=first, **environment)
        return Served(process, process.port())

    def log(self) -> str:
        """Return the stderr output of all its processes."""
        return "".join(process.stderr_text() for process in self._processes)

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()
        found = ping(self.home.socket_path)
        if found is not None:  # the server started it
            os.kill(found["pid"], signal.SIGKILL)

    # --- requests to the daemon --------------------------------------------------------------------------------------

    def connected(self) -> Client | None:
        return connect(self.home.socket_path)

    def listens(self) -> bool:
        return ping(self.home.socket_path) is not None

    def ask(self, method: str, /, **params: Any) -> dict[str, Any]:
        """Return the daemon's answer; a busy daemon is asked again. Raises ConnectionError without a daemon."""

        answers: list[Any] = []

        def answered() -> bool:
            with suppress(Unreachable):
                client = self.connected()
                if client is None:
                    raise ConnectionError
                with client:
                    answers.append(client.call(method, params))
            return bool(answers)

        until(answered)
        assert isinstance(answers[0], dict)
        return answers[0]

    def ask_for(self, caller: Caller, method: str, /, **params: Any) -> dict[str, Any]:
        """Return the answer that `serve` would get for a caller."""
        return self.ask("served", caller=caller_to_json(caller), method=method, params=params)

    def found(self, words: str) -> set[str]:
        """Return the paths that a search finds."""
        return {hit["path"] for hit in self.ask("search", query=words)["results"]}


class Process(subprocess.Popen[bytes]):
    """A process whose stderr goes to a file, because a pipe without a reader would stop it."""

    def __init__(self, command: list[str], file: Path, environment: Mapping[str, str]) -> None:
        self._file = file
        with file.open("wb") as stderr:
            super().__init__(command, stderr=stderr, env={**os.environ, "PYTHONUTF8": "1", **environment})

    def stderr_text(self) -> str:
        return self._file.read_text("utf-8")

    def port(self) -> int:
        """Wait until it serves, and return its port."""
        found = until(lambda: _PORT.search(self.stderr_text()) or self.poll() is not None)
        assert isinstance(found, re.Match), self.stderr_text()
        return int(found[1])

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.send_signal(number)
        return self.wait(PATIENCE)


class Answered(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The code of the error, or an empty text."""
        try:
            return str(self.json["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return ""


class Served:
    """`vault-index serve` and its port."""

    def __init__(self, process: Process, port: int) -> None:
        self.process, self.port = process, port

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answered:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answered(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def call(self, method: str, token: str, **params: Any) -> Answered:
        return self.ask("POST", f"/api/{method}", json.dumps(params).encode(), bearer(token))

    def signed(self, key: str) -> str:
        """Return what the page sends instead of a token: the run of the server, signed with the key of a sign-in."""
        run = self.ask("GET", "/healthz").json["run"]
        return hmac.digest(bytes.fromhex(key), run.encode(), "sha256").hex()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}


@contextmanager
def opened_world(folder: Path, more: str = "") -> Iterator[World]:
    """A world that is closed at the end, for fixtures of any scope."""
    world = World(folder, more)
    try:
        yield world
    finally:
        world.close()
