"""Connect and disconnect MCP clients in every possible way, and check that nothing remains.

    python benchmarks/clients.py [--count 1000] [--at-once 4] [--transport stdio|http]

On stdio, each client has its own server process, which uses the daemon. On HTTP, all use one
`serve`. Half of the clients speak the protocol with a handshake, half the one without. Prints the
open files, sockets, threads and memory of the daemon and of `serve`, before and after, and every
process that remains. Linux only.
"""

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import describe
from benchmarks.process import usage
from tests.world import World, opened_world

_WITH, _WITHOUT = "2025-11-25", "2026-07-28"
"""The protocols with and without a handshake."""
_ANSWER_SECONDS = 60.0
_SETTLE_SECONDS = 120.0
"""For what only a time limit ends."""
_KEPT = 8
"""Allowed increase of files, sockets and threads. Connections are pooled, as many as were needed at
a time, which depends on the machine. It is far less than one per client.
"""


class Sides(NamedTuple):
    """The processes that clients talk to."""

    place: World
    daemon: int
    serve: int
    port: int
    token: str


Way = Callable[[Sides, str], object]


def call(protocol: str, number: int = 2) -> dict[str, Any]:
    """Return the request of a tool call."""
    params: dict[str, Any] = {"name": "memory_search", "arguments": {"query": "the harbour"}}
    if protocol == _WITHOUT:
        prefix = "io.modelcontextprotocol/"
        who = {"name": "comer", "version": "1"}
        params["_meta"] = {
            f"{prefix}protocolVersion": protocol,
            f"{prefix}clientInfo": who,
            f"{prefix}clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def handshake(protocol: str) -> list[dict[str, Any]]:
    """Return the messages of the handshake."""
    who = {
        "protocolVersion": protocol,
        "capabilities": {},
        "clientInfo": {"name": "comer", "version": "1"},
    }
    return [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": who},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]


# --- on stdio -------------------------------------------------------------------------------------


class Stdio:
    """A client with its own server process."""

    def __init__(self, sides: Sides, protocol: str, *, orphan: bool = False) -> None:
        command = [
            sys.executable,
            "-m",
            "vault_index",
            "mcp",
            "--home",
            str(sides.place.home.data_dir),
        ]
        if orphan:  # its parent is not this process, which holds the pipes
            command = ["sh", "-c", 'exec 3<&0; "$@" <&3 3<&- & wait', "sh", *command]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.protocol = protocol
        if protocol == _WITH:
            self.say(*handshake(protocol))
            self.hear()

    def say(self, *messages: dict[str, Any]) -> None:
        """Send messages."""
        self._pipe(self.server.stdin).write(
            b"".join(json.dumps(one).encode() + b"\n" for one in messages)
        )
        self._pipe(self.server.stdin).flush()

    def hear(self) -> None:
        """Read the answer and check that it is a result."""
        answer = json.loads(self._pipe(self.server.stdout).readline())
        assert "result" in answer, answer

    def served(self) -> "Stdio":
        """Call a tool and check the answer."""
        self.say(call(self.protocol))
        self.hear()
        return self

    def asks(self) -> "Stdio":
        """Send a tool call without reading the answer."""
        self.say(call(self.protocol))
        return self

    def leave(self) -> None:
        """Close the pipes, as the operating system does when a client ends."""
        for pipe in (self.server.stdin, self.server.stdout):
            with suppress(BrokenPipeError):
                self._pipe(pipe).close()

    def gone(self) -> None:
        """Wait until the server has ended by itself."""
        self.server.wait(_ANSWER_SECONDS)
        self.leave()

    @staticmethod
    def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
        assert pipe is not None
        return pipe


def _closes(sides: Sides, protocol: str) -> None:
    client = Stdio(sides, protocol).served()
    client.leave()
    client.gone()


def _aborts(sides: Sides, protocol: str) -> None:
    client = Stdio(sides, protocol).asks()
    client.leave()
    client.gone()


def _is_ended(sides: Sides, protocol: str) -> None:
    client = Stdio(sides, protocol).served()
    client.server.terminate()
    client.gone()


def _is_killed(sides: Sides, protocol: str) -> None:
    client = Stdio(sides, protocol).asks()
    client.server.kill()
    client.gone()


def _loses_its_parent(sides: Sides, protocol: str) -> None:
    client = Stdio(sides, protocol, orphan=True).served()
    server = int(
        Path(f"/proc/{client.server.pid}/task/{client.server.pid}/children")
        .read_text("utf-8")
        .split()[0]
    )
    client.server.kill()
    client.server.wait(_ANSWER_SECONDS)
    deadline = time.monotonic() + _ANSWER_SECONDS
    while _runs(server):
        assert time.monotonic() < deadline, f"the server {server} outlives its parent"
        time.sleep(0.05)
    client.leave()


def _runs(pid: int) -> bool:
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] not in "ZX"
        )
    except OSError:
        return False


STDIO: dict[str, Way] = {
    "closes": _closes,
    "aborts a call": _aborts,
    "ends the server": _is_ended,
    "kills it in a call": _is_killed,
    "dies, and another holds the pipes": _loses_its_parent,
}

# --- on HTTP --------------------------------------------------------------------------------------


class Http:
    """A client with its own connection."""

    def __init__(self, sides: Sides, protocol: str) -> None:
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", sides.port, timeout=_ANSWER_SECONDS
        )
        self.protocol = protocol
        self.headers = {
            "Authorization": f"Bearer {sides.token}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            "MCP-Protocol-Version": protocol,
        }
        if protocol == _WITH:
            greeting, initialized = handshake(protocol)
            answer = self.post(greeting)
            self.headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
            self.post(initialized)
        else:
            self.headers |= {"Mcp-Method": "tools/call", "Mcp-Name": "memory_search"}

    def post(self, message: dict[str, Any]) -> http.client.HTTPResponse:
        """Post a message and return the response."""
        self.connection.request("POST", "/mcp", json.dumps(message), self.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status in (200, 202), (answer.status, body)
        assert b'"error"' not in body, body
        return answer

    def served(self) -> "Http":
        """Call a tool and check the answer."""
        self.post(call(self.protocol))
        return self

    def begins(self, method: str, body: bytes, length: int | None = None) -> socket.socket:
        """Send a request, or a part of it, without waiting for the response."""
        headers = {
            **self.headers,
            "Host": "127.0.0.1",
            "Content-Length": str(len(body) if length is None else length),
        }
        head = f"{method} /mcp HTTP/1.1\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()
        )
        self.connection.close()
        self.connection.connect()
        self.connection.sock.sendall(head.encode() + b"\r\n" + body)
        return self.connection.sock

    def leave(self) -> None:
        """Close the connection."""
        self.connection.close()


def _leaves(sides: Sides, protocol: str) -> None:
    Http(sides, protocol).served().leave()


def _says_goodbye(sides: Sides, protocol: str) -> None:
    client = Http(sides, protocol).served()
    if protocol == _WITH:
        client.connection.request("DELETE", "/mcp", headers=client.headers)
        assert client.connection.getresponse().status == 200
    client.leave()


def _leaves_in_a_call(sides: Sides, protocol: str) -> None:
    client = Http(sides, protocol)
    client.begins("POST", json.dumps(call(protocol)).encode())
    client.leave()


def _leaves_in_a_body(sides: Sides, protocol: str) -> None:
    client = Http(sides, protocol)
    client.begins("POST", b'{"jsonrpc": "2.0", ', 500)
    client.leave()


def _is_reset(sides: Sides, protocol: str) -> None:
    """Not closed in order: what a machine does that went away."""
    client = Http(sides, protocol)
    opened = client.begins("POST", json.dumps(call(protocol)).encode())
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.leave()


def _listens(sides: Sides, protocol: str) -> None:
    """Opens the stream of what the server has to say, and leaves it."""
    client = Http(sides, protocol).served()
    if protocol == _WITH:
        opened = client.begins("GET", b"")
        assert b"200" in opened.recv(100)
    client.leave()


HTTP: dict[str, Way] = {
    "leaves": _leaves,
    "says goodbye": _says_goodbye,
    "leaves in a call": _leaves_in_a_call,
    "leaves in a body": _leaves_in_a_body,
    "is reset in a call": _is_reset,
    "listens and leaves": _listens,
}

WAYS = {"stdio": STDIO, "http": HTTP}

# --- what they leave ------------------------------------------------------------------------------


class Held(NamedTuple):
    """The resources that a process holds."""

    files: int
    sockets: int
    threads: int

    def within(self, other: "Held") -> bool:
        """Return whether no count exceeds that of `other` by more than `_KEPT`."""
        return all(now <= then + _KEPT for now, then in zip(self, other, strict=True))


def held(pid: int) -> Held:
    """Return the resources of a process."""
    links = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            links.append(os.readlink(file))
    tasks = list(Path(f"/proc/{pid}/task").iterdir())
    return Held(len(links), sum(link.startswith("socket:") for link in links), len(tasks))


def left(sides: Sides) -> list[str]:
    """Return the processes that name the home, except the daemon and `serve`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes()
            if os.fsencode(sides.place.home.data_dir) in words and int(folder.name) not in (
                sides.daemon,
                sides.serve,
            ):
                found.append(f"process {folder.name}: {words.replace(bytes(1), b' ').decode()}")
    return found


def warmed(sides: Sides, ways: dict[str, Way], at_once: int) -> dict[int, Held]:
    """Return the resources of the daemon and `serve` after more clients than `at_once`.

    They keep threads and connections for later clients, as many as were ever needed at a time.
    """
    come_and_go(sides, ways, 4 * at_once, 4 * at_once)
    return {pid: held(pid) for pid in (sides.daemon, sides.serve)}


def come_and_go(sides: Sides, ways: dict[str, Way], count: int, at_once: int) -> None:
    """Run this many clients, each in the next way. Raises the error of a client that must work."""
    turns = [(way, protocol) for way in ways.values() for protocol in (_WITH, _WITHOUT)]

    def come(number: int) -> None:
        way, protocol = turns[number % len(turns)]
        way(sides, protocol)

    with ThreadPoolExecutor(at_once) as pool:
        for _ in pool.map(come, range(count)):
            pass


def more_than(before: dict[int, Held], sides: Sides) -> list[str]:
    """Return the resources and processes that remain in the end beyond those before."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while True:
        now = {pid: held(pid) for pid in before}
        found = left(sides) + [
            f"{pid}: {now[pid]}, before {before[pid]}"
            for pid in now
            if not now[pid].within(before[pid])
        ]
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.1)


def _drain(lines: Iterable[str] | None) -> None:
    with suppress(ValueError):  # closed, in the end
        for _ in lines or ():
            pass


@contextmanager
def sides(folder: Path) -> Iterator[Sides]:
    """Start a daemon, and `serve` in front of it."""
    with opened_world(folder, "[agents]\nstart_daemon = false\n[serve]\nrate = 100000\n") as made:
        made.write("harbour.md", "# Harbour\n\nThe importer of the harbour tries three times.\n")
        daemon, served = made.daemon(), made.serve()
        for process in (daemon, served.process):  # their log is not to fill the pipe
            threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
        yield Sides(made, daemon.pid, served.process.pid, served.port, made.token("comer"))


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--transport", choices=WAYS, help="only this one")
    options = parser.parse_args()
    print(describe())
    with tempfile.TemporaryDirectory(prefix="vx-") as folder, sides(Path(folder)) as both:
        for name in (options.transport,) if options.transport else WAYS:
            ways = WAYS[name]
            before = warmed(both, ways, options.at_once)
            memory = {pid: usage(pid).resident_mb for pid in before}
            started = time.monotonic()
            come_and_go(both, ways, options.count, options.at_once)
            seconds = time.monotonic() - started
            found = more_than(before, both)
            print(
                f"{name}: {options.count} clients in {seconds:.0f} s, left behind: "
                f"{', '.join(found) or 'nothing'}"
            )
            for told, pid in (("daemon", both.daemon), ("serve", both.serve)):
                print(
                    f"  {told}: {before[pid]} -> {held(pid)}, "
                    f"{memory[pid]:.1f} -> {usage(pid).resident_mb:.1f} MB"
                )
            if found:
                raise SystemExit(1)


if __name__ == "__main__":
    main()
