"""A server with a small vault, and requests as raw bytes that no HTTP client would send."""

import http.client
import io
import itertools
import json
import os
import socket
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.waiting import PATIENCE
from tests.world import Answered, Process, Served, World, opened_world
from vault_index.callers import Scope

OUTSIDE = "mandrill"
"""The word of a file outside the vault, which must be in no answer."""
REFUSED: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("hostile.toml").read_text("utf-8"))
NOTES = {
    "alpha.md": "# Alpha\n\nthe aardvark digs\n",
    "deep/beta.md": "# Beta\n\nthe buffalo stands by [[alpha]]\n",
    "private/gamma.md": "# Gamma\n\nthe gazelle hides\n",
}
STOPPED_CLOCK = """
import time, types
from vault_index.serve import guard
guard.time = types.SimpleNamespace(monotonic=lambda: 0.0, time=time.time)
"""
"""Python for `serve`: rate limits see no time pass, so a slow machine answers no more requests."""


class Target:
    """A server with its world, its tokens by name, and ways to send bytes to it."""

    def __init__(self, world: World, daemon: Process, served: Served) -> None:
        self.world, self.daemon, self.served = world, daemon, served
        self.host = f"127.0.0.1:{served.port}"
        self.tokens: dict[str, str] = {}
        self.secrets: list[str] = []
        """Tokens and codes that must be in no log and no file."""
        self._numbers = itertools.count()

    def token(self, name: str, *, writes: bool = False, expires: float | None = None, **scope: Any) -> str:
        self.tokens[name] = self.world.token(name, writes=writes, scope=Scope(**scope), expires=expires)
        self.secrets.append(self.tokens[name])
        return self.tokens[name]

    def logs(self) -> str:
        """Return all output of both processes, in files and on stderr."""
        files = sorted(self.world.home.data_dir.glob("*.log*"))
        return "\n".join([*(file.read_text("utf-8", "replace") for file in files), self.world.log()])

    @property
    def lives(self) -> bool:
        return self.daemon.poll() is None and self.served.process.poll() is None

    # --- requests ----------------------------------------------------------------------------------------------------

    def headers(self, name: str = "reader", **other: str) -> dict[str, str]:
        """Return the headers of a valid client with this token; write `_` for `-` in the names of others."""
        usual = {"Host": self.host, "Authorization": f"Bearer {self.tokens[name]}"} if name else {"Host": self.host}
        return usual | {key.replace("_", "-"): value for key, value in other.items()}

    def head(self, start: str, name: str = "reader", **other: str) -> bytes:
        """Return the beginning of a request without the empty line at its end."""
        lines = [start, *(f"{key}: {value}" for key, value in self.headers(name, **other).items()), ""]
        return "\r\n".join(lines).encode("latin-1")

    def ask(self, method: str, name: str = "reader", /, **params: Any) -> Answered:
        return self.post(f"/api/{method}", json.dumps(params).encode(), name)

    def post(self, path: str, body: bytes, name: str = "reader", /, **headers: str) -> Answered:
        return self.request("POST", path, self.headers(name, **({"Content_Type": "application/json"} | headers)), body)

    def request(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answered:
        lines = [f"{name}: {value}" for name, value in (self.headers() if headers is None else headers).items()]
        lines += ["Connection: close"] + ([] if body is None else [f"Content-Length: {len(body)}"])
        head = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])
        [reply] = self.send(head.encode("latin-1") + (body or b""), method)
        return reply

    def send(self, data: bytes, *methods: str, source: str = "") -> list[Answered]:
        """Return all replies until the server hangs up. Name the methods of the requests if one is HEAD."""
        with self.connected(source) as connection:
            with hung_up():  # it may answer and hang up before it has read everything
                connection.sendall(data)
            return replies(read_all(connection), methods)

    def first(self, data: bytes) -> Answered:
        """Return the first reply as soon as it arrives, of a stream without its body."""
        with self.connected() as connection:
            with hung_up():
                connection.sendall(data)
            response = http.client.HTTPResponse(connection, method=data[:5].split(b" ")[0].decode("latin-1"))
            response.begin()
            headers = {name.lower(): value for name, value in response.getheaders()}
            streams = headers.get("content-type", "").startswith("text/event-stream")
            return Answered(response.status, headers, b"" if streams else response.read())

    def connected(self, source: str = "") -> socket.socket:
        """Connect, on Linux from a new address, because failed logins are counted by address."""
        number = next(self._numbers)
        other = f"127.{number // 62500 % 250 + 1}.{number // 250 % 250 + 1}.{number % 250 + 1}"
        mine = source or (other if sys.platform == "linux" else "127.0.0.1")
        return socket.create_connection(("127.0.0.1", self.served.port), PATIENCE, (mine, 0))


@contextmanager
def attacked(folder: Path, more: str = "", *, first: str = STOPPED_CLOCK) -> Iterator[Target]:
    """A target with the tokens `reader`, `writer` and `part`, which may write below `deep`; `first` is its Python."""
    settings = f'[memory]\ndir = "memory"\n[serve]\nrate = 100000\n{more}\n'
    with opened_world(folder, settings) as world:
        for path, text in NOTES.items():
            world.write(path, text)
        (folder / "outside.md").write_text(f"# Outside\n\nthe {OUTSIDE} waits\n", "utf-8")
        (world.vault / "link.md").symlink_to(folder / "outside.md")
        for inside in (world.vault, world.vault / "memory"):
            inside.mkdir(exist_ok=True)
            (inside / "linked").symlink_to(folder)
            os.mkfifo(inside / "pipe.md")
        target = Target(world, world.daemon(), world.serve(first=first))
        target.token("reader")
        target.token("writer", writes=True)
        target.token("part", writes=True, folders=("deep",))
        yield target


def is_found(target: Target) -> bool:
    """Return whether a valid request gets the usual answer."""
    reply = target.ask("search", query="aardvark")
    assert reply.status == 200, reply
    return [hit["path"] for hit in reply.json["results"]] == ["alpha.md"]


@contextmanager
def hung_up() -> Iterator[None]:
    with suppress(BrokenPipeError, ConnectionResetError):
        yield


def read_all(connection: socket.socket) -> bytes:
    got = b""
    with hung_up():
        while more := connection.recv(1 << 16):
            got += more
    return got


def replies(data: bytes, methods: Sequence[str] = ()) -> list[Answered]:
    """Return all replies in these bytes, in order, without those of 1xx."""
    recorded, found = _Recorded(data), list[Answered]()
    while recorded.tell() < len(data):
        method = methods[len(found)] if len(found) < len(methods) else "GET"
        response = http.client.HTTPResponse(recorded, method=method)  # type: ignore[arg-type]
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        found.append(Answered(response.status, headers, response.read()))
    return found


class _Recorded(io.BytesIO):
    """Bytes that HTTPResponse reads as a socket; the next response continues where it stopped."""

    def makefile(self, _mode: str) -> "_Recorded":
        return self

    def close(self) -> None:
        pass
