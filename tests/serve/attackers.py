"""What attackers of `serve` use: the real processes in front of a small vault, and connections that send any bytes."""

import http.client
import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from tests.daemon.fake_index import until
from vault_index.access import Tokens
from vault_index.callers import Caller, Scope
from vault_index.config import Home, find_home
from vault_index.daemon.client import connect
from vault_index.errors import VaultIndexError

PATIENCE = 60.0
"""Seconds; only for what never comes, however busy the machine is."""
OUTSIDE = "mandrill"
"""The word of a file beside the vault, which no answer may hold."""
NOTES = {
    "alpha.md": "# Alpha\n\nthe aardvark digs\n",
    "deep/beta.md": "# Beta\n\nthe buffalo stands by [[alpha]]\n",
    "private/gamma.md": "# Gamma\n\nthe gazelle hides\n",
}
_PORT = re.compile(r"//(?:127\.0\.0\.1|\[::1\]|0\.0\.0\.0|\[::\]):(\d+)")


class Reply(NamedTuple):
    status: int
    headers: Mapping[str, str]
    """By names in lower case."""
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        """The code of the error; empty where there is none."""
        try:
            return str(self.json["error"]["code"])
        except (ValueError, KeyError, TypeError):
            return ""


@dataclass
class Served:
    """A daemon and `vault-index serve`, as processes, for one home with one vault and memories in it."""

    home: Home
    vault: Path
    port: int = 0
    tokens: dict[str, str] = field(default_factory=dict)
    """What is shown, by the name of the token: `reader`, `writer`, and `part`, which may write below `deep`."""
    daemon: "subprocess.Popen[bytes] | None" = None
    serve: "subprocess.Popen[bytes] | None" = None
    _connections: int = 0

    @property
    def logs(self) -> str:
        """All that either process wrote, in a file or not."""
        own = sorted(self.home.data_dir.glob("*.log*"))
        return "\n".join(path.read_text("utf-8", "replace") for path in (*own, *self._said))

    @property
    def _said(self) -> tuple[Path, ...]:
        return tuple(sorted(self.home.data_dir.parent.glob("*.said")))

    def token(self, name: str, *, lives: float | None = None, **scope: Any) -> str:
        """A new token; `lives` for so many seconds."""
        caller = Caller(name, writes=scope.pop("writes", False), scope=Scope(**scope))
        now = time.time()
        self.tokens[name] = Tokens(self.home.tokens_file).add(
            caller, created=now, expires=None if lives is None else now + lives
        )
        return self.tokens[name]

    def start_daemon(self) -> None:
        self.daemon = self._start("watch", "--quiet")
        until(lambda: self._reconciled(), PATIENCE)

    def start_serve(self, *options: str) -> None:
        said = self.home.data_dir.parent / f"serve-{time.monotonic_ns()}.said"
        self.serve = self._start("serve", *(options or ("--listen", "127.0.0.1:0")), said=said)

        def listens() -> bool:
            assert self.serve is not None
            if self.serve.poll() is not None:
                raise RuntimeError(said.read_text("utf-8"))
            return _PORT.search(said.read_text("utf-8")) is not None

        until(listens, PATIENCE)
        found = _PORT.search(said.read_text("utf-8"))
        assert found is not None
        self.port = int(found[1])

    def _start(self, *words: str, said: Path | None = None) -> "subprocess.Popen[bytes]":
        said = said or self.home.data_dir.parent / f"{words[0]}-{time.monotonic_ns()}.said"
        with said.open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "vault_index", *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "VAULT_INDEX_HOME": str(self.home.data_dir), "PYTHONUTF8": "1"},
            )

    def _reconciled(self) -> bool:
        assert self.daemon is not None
        if self.daemon.poll() is not None:
            raise RuntimeError(self.logs)
        try:
            client = connect(self.home.socket_path)
        except VaultIndexError:
            return False
        if client is None:
            return False
        with client:
            answer = client.call("status", {})
        assert isinstance(answer, dict)
        return answer["watch"]["last_reconcile"] is not None

    def end(self) -> None:
        for process in (self.serve, self.daemon):
            if process is not None:
                if process.poll() is None:
                    process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()

    @property
    def lives(self) -> bool:
        return all(process is not None and process.poll() is None for process in (self.serve, self.daemon))

    def content(self) -> dict[str, bytes]:
        """The bytes of every file of the vault, by path."""
        return {
            str(path.relative_to(self.vault)): path.read_bytes() for path in self.vault.rglob("*") if path.is_file()
        }

    # --- requests ----------------------------------------------------------------------------------------------------

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def headers(self, name: str = "reader", **other: str) -> dict[str, str]:
        """As a good client sends them; `other` by names with `_` for `-`."""
        usual = {"Host": self.host, "Authorization": f"Bearer {self.tokens[name]}"} if name else {"Host": self.host}
        return usual | {key.replace("_", "-"): value for key, value in other.items()}

    def ask(self, method: str, name: str = "reader", /, **params: Any) -> Reply:
        """By POST, as a good client asks."""
        return self.post(f"/api/{method}", json.dumps(params).encode(), name)

    def post(self, path: str, body: bytes, name: str = "reader", /, **headers: str) -> Reply:
        given = self.headers(name, **({"Content_Type": "application/json"} | headers))
        return self.request("POST", path, given, body)

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Reply:
        lines = [f"{name}: {value}" for name, value in (self.headers() if headers is None else headers).items()]
        lines += ["Connection: close"] + ([] if body is None else [f"Content-Length: {len(body)}"])
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        [reply] = self.send(head.encode("latin-1") + (body or b""), method)
        return reply

    def send(self, data: bytes, *methods: str, source: str = "") -> list[Reply]:
        """All answers to these bytes, until the server hangs up. `methods` of the requests, where one is HEAD."""
        with self.connected(source) as connection:
            # Answered before all was read: it may hang up.
            with _hung_up():
                connection.sendall(data)
            return replies(read_all(connection), methods)

    def first(self, data: bytes, source: str = "") -> Reply:
        """The first answer, as soon as it is there; that of a stream without its body."""
        with self.connected(source) as connection:
            with _hung_up():
                connection.sendall(data)
            response = http.client.HTTPResponse(connection, method=data[:5].split(b" ")[0].decode("latin-1"))
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            streams = headers.get("content-type", "").startswith("text/event-stream")
            return Reply(response.status, headers, b"" if streams else response.read())

    def connected(self, source: str = "") -> socket.socket:
        """From an address of its own, where one can be had: failed logins are counted by address."""
        self._connections += 1
        number = self._connections
        other = f"127.{number // 62500 % 250 + 1}.{number // 250 % 250 + 1}.{number % 250 + 1}"
        mine = source or (other if sys.platform == "linux" else "127.0.0.1")
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (mine, 0))


@contextmanager
def _hung_up() -> Iterator[None]:
    with suppress(BrokenPipeError, ConnectionResetError):
        yield


def read_all(connection: socket.socket) -> bytes:
    got = b""
    with _hung_up():
        while more := connection.recv(1 << 16):
            got += more
    return got


def replies(data: bytes, methods: Sequence[str] = ()) -> list[Reply]:
    """All answers in these bytes, in order; those of 1xx are left out."""
    whole, found = io.BytesIO(data), list[Reply]()
    while whole.tell() < len(data):
        method = methods[len(found)] if len(found) < len(methods) else "GET"
        response = http.client.HTTPResponse(_Recorded(whole), method=method)  # type: ignore[arg-type]
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        found.append(Reply(response.status, headers, response.read()))
    return found


class _Recorded:
    """What a response is read from, as a socket is: reading one leaves the others where they are."""

    def __init__(self, data: io.BytesIO) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BufferedIOBase:
        return _Kept(self._data)


class _Kept(io.BufferedIOBase):
    def __init__(self, data: io.BytesIO) -> None:
        self._data = data

    def readline(self, size: int | None = -1, /) -> bytes:
        return self._data.readline(size)

    def read(self, size: int | None = -1, /) -> bytes:
        return self._data.read(size)

    def readinto(self, buffer: Any, /) -> int:
        return self._data.readinto(buffer)


@contextmanager
def served(folder: Path, settings: str = "", listen: Sequence[str] = ()) -> Iterator[Served]:
    """With `settings` as further lines of the section [serve]."""
    vault, data = folder / "vault", folder / "home"
    for path, text in NOTES.items():
        (vault / path).parent.mkdir(parents=True, exist_ok=True)
        (vault / path).write_text(text, "utf-8")
    (folder / "outside.md").write_text(f"# Outside\n\nthe {OUTSIDE} waits\n", "utf-8")
    (vault / "link.md").symlink_to(folder / "outside.md")
    data.mkdir(mode=0o700)
    one = Served(find_home(data), vault)
    one.home.config_file.write_text(
        f'[sources.vault]\npath = "{vault}"\n[embedding]\nprovider = "none"\n[watch]\nquiet = 0.02\n'
        f'[memory]\ndir = "memory"\n[serve]\nrate = 100000\n{settings}\n',
        "utf-8",
    )
    one.token("reader")
    one.token("writer", writes=True)
    one.token("part", writes=True, folders=("deep",))
    try:
        one.start_daemon()
        one.start_serve(*listen)
        yield one
    finally:
        one.end()
