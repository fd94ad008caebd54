"""Client and server over a real socket: answers, errors, progress, size, unicode, crowds and garbage."""

import json
import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from vault_index import errors
from vault_index.daemon import protocol
from vault_index.daemon.client import Client, OtherProtocol, Unreachable, connect, ping
from vault_index.daemon.server import Answer, Request, Server
from vault_index.errors import BusyError, NotFoundError, UsageError, VaultIndexError
from vault_index.progress import Progress

BIG = "漢字 " * 1_000_000


def answer(request: Request, progress: Progress) -> dict[str, Any] | str:
    params = request.params
    match request.method:
        case "ping":
            return {"version": "0", "protocol": 1, "pid": os.getpid(), "since": ""}
        case "echo":
            return f"{request.format}: {params['text']}" if request.format else {"text": params["text"]}
        case "work":
            for step in range(params["steps"]):
                progress("text", step + 1, params["steps"])
            return {"done": True}
        case "missing":
            raise NotFoundError("no such note", "look again")
        case "infinite":
            return {"score": float("inf")}
        case "big":
            return {"text": BIG}
    raise ZeroDivisionError("the text of a note")


Serve = Callable[..., Server]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d.sock"


@pytest.fixture
def serve(path: Path) -> Iterator[Serve]:
    """Start a server at `path` that the end of the test stops."""
    servers: list[Server] = []

    def start(given: Answer = answer, **options: Any) -> Server:
        servers.append(Server(path, given, **options))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve()


@pytest.fixture
def gate(serve: Serve) -> Iterator[threading.Event]:
    """An event for answers to wait for; it is set before the servers stop."""
    gate = threading.Event()
    yield gate
    gate.set()


def client_at(path: Path, **options: float) -> Client:
    client = connect(path, **options)
    assert client is not None
    return client


def raw(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE)
    connection.connect(str(path))
    return connection


def say(path: Path, *data: bytes) -> list[dict[str, Any]]:
    """Send raw bytes, and return all replies until the server hangs up."""
    with raw(path) as connection:
        for part in data:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        return [json.loads(line) for line in connection.makefile("rb")]


@pytest.mark.usefixtures("server")
def test_client_receives_the_response_for_any_text(path: Path) -> None:
    with client_at(path) as client:
        for text in ("", "plain", "two\nlines", "Käse 漢字 🧀", "\udce4 no utf-8"):
            assert client.call("echo", {"text": text}) == {"text": text}
            assert client.call("echo", {"text": text}, format="toon") == f"toon: {text}"
        assert client.call("big") == {"text": BIG}
        with pytest.raises(UsageError, match="longer than 4 MiB"):
            client.call("echo", {"text": "x" * protocol.MAX_REQUEST_BYTES})
        assert client.call("echo", {"text": "short"}) == {"text": "short"}


@pytest.mark.usefixtures("server")
def test_server_ping_reports_its_process_on_an_owner_only_socket(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with client_at(path) as client:
        client.greet()
        assert client.daemon["pid"] == os.getpid()
    assert ping(path) == client.daemon


@pytest.mark.usefixtures("server")
def test_client_raises_server_errors_with_class_and_message(path: Path) -> None:
    with client_at(path) as client:
        with pytest.raises(NotFoundError, match="no such note") as raised:
            client.call("missing")
        assert raised.value.hint == "look again"
        with pytest.raises(VaultIndexError) as raised_unknown:
            client.call("nonsense")
        assert "note" not in str(raised_unknown.value)
        with pytest.raises(VaultIndexError):
            client.call("infinite")
        assert client.call("echo", {"text": "still here"}) == {"text": "still here"}


def test_protocol_carries_every_error_and_maps_unknown_ones() -> None:
    kinds = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, VaultIndexError)]
    for kind in kinds:
        back = protocol.error_from(json.loads(protocol.encode(protocol.error_object(kind("what", "hint")))))
        assert (back.code, back.exit_code, back.message, back.hint) == (kind.code, kind.exit_code, "what", "hint")
        assert isinstance(kind("what"), type(back))
    unknown: list[object] = [None, [], {}, {"code": 7}, {"code": "of tomorrow", "message": "m"}]
    assert {type(protocol.error_from(reply)) for reply in unknown} == {VaultIndexError}


@pytest.mark.usefixtures("server")
def test_client_receives_progress_in_order(path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    with client_at(path) as client:
        result = client.call("work", {"steps": 50}, on_progress=lambda *step: seen.append(step))
        assert result == {"done": True}
        assert seen == [("text", step, 50) for step in range(1, 51)]
        assert client.call("work", {"steps": 3}) == {"done": True}


def test_server_finishes_the_work_of_a_client_that_left(path: Path, serve: Serve, gate: threading.Event) -> None:
    done = threading.Event()

    def work(request: Request, progress: Progress) -> dict[str, Any]:
        if request.method == "work":
            gate.wait()
            for step in range(2000):
                progress("x" * 1000, step, 2000)
            done.set()
        return {}

    serve(work)
    with raw(path) as connection:
        connection.sendall(b'{"v":1,"id":1,"method":"work"}\n')
    gate.set()
    assert done.wait(PATIENCE)


def test_server_refuses_a_client_over_the_limit_as_busy(path: Path, serve: Serve) -> None:
    serve(max_clients=2)
    with client_at(path) as one, client_at(path) as other:
        one.greet()
        other.greet()
        assert say(path)[0]["error"]["code"] == "busy"
        assert ping(path) is None
    until(lambda: ping(path))


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"GET / HTTP/1.1\r\n", "not a JSON object"),
        (b"[" * 100_000 + b"\n", "not a JSON object"),
        (b'{"v": 2, "id": 4, "method": "ping"}\n', "protocol 1, the request protocol 2"),
        (b'{"v": 1, "id": 4}\n', "has no method"),
        (b'{"v": 1, "id": 4, "method": "ping", "params": [1]}\n', "params are not an object"),
        (b'{"v": 1, "id": 4, "method": "ping", "format": "xml"}\n', "unknown format 'xml'"),
        (b"x" * (protocol.MAX_REQUEST_BYTES + 1), "longer than"),
    ],
    ids=range(7),
)
def test_server_answers_garbage_with_an_error_and_hangs_up(path: Path, line: bytes, told: str) -> None:
    more = b'{"v": 1, "id": 5, "method": "ping"}\n' if line.endswith(b"\n") else b""
    (reply,) = say(path, line, more)
    assert told in reply["error"]["message"]
    assert reply["error"]["code"] == "usage"
    assert reply["error"]["hint"]
    assert reply["id"] == (4 if b'"id"' in line else None)


@pytest.mark.usefixtures("server")
def test_server_splits_requests_by_lines_not_by_packets(path: Path) -> None:
    assert say(path, b'{"v": 1, "id"') == []
    replies = say(path, b'{"v":1,"id":"a","method":"ping"}\n{"v":1,"id":"b","method":"ping"}\n')
    assert [reply["id"] for reply in replies] == ["a", "b"]


def test_server_drops_an_idle_client(path: Path, serve: Serve) -> None:
    serve(idle_seconds=0.05)
    with raw(path) as connection:
        assert connection.recv(1) == b""


def test_connect_finds_no_daemon_without_a_live_socket(path: Path) -> None:
    assert connect(path) is None
    assert connect("/" + "x" * 300) is None
    path.write_text("a file")
    assert connect(path) is None
    path.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    assert connect(path) is None
    server = Server(path, answer)
    server.start()
    assert ping(path)
    server.stop()
    assert not path.exists()
    assert connect(path) is None


@pytest.fixture
def deaf(path: Path) -> Iterator[socket.socket]:
    """A socket that listens and never accepts."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(str(path))
        deaf.listen(0)
        yield deaf


def test_client_sends_no_request_to_a_daemon_that_does_not_greet(path: Path, deaf: socket.socket) -> None:
    with client_at(path, greeting=0.05) as client, pytest.raises(Unreachable):
        client.call("add", {"text": "of a request that it must not get to"})
    awake, _ = deaf.accept()
    with awake, pytest.raises(BrokenPipeError):
        awake.sendall(b"the answer to ping")


def test_client_gives_up_on_a_daemon_silent_after_the_greeting(path: Path, serve: Serve, gate: threading.Event) -> None:
    def hang(request: Request, _progress: Progress) -> dict[str, Any]:
        if request.method != "ping":
            gate.wait()
        return {}

    serve(hang)
    with client_at(path, silence=0.05) as client, pytest.raises(BusyError, match="stopped answering"):
        client.call("search")


def test_client_waits_for_a_slow_daemon_but_not_for_a_hanging_one(
    path: Path, serve: Serve, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A daemon that answers other clients is working; silence to all means that it hangs."""
    pings: list[int] = []
    hangs = threading.Event()

    def slow(request: Request, _progress: Progress) -> dict[str, Any]:
        if request.method == "ping":
            pings.append(1)
            if hangs.is_set():
                gate.wait()
            return {"pid": 1}
        if request.method == "stuck":
            hangs.set()
            gate.wait()
        until(lambda: len(pings) > 3)  # pings of the waiting client
        return {"done": True}

    monkeypatch.setattr("vault_index.daemon.client.LOOK_SECONDS", 0.05)
    serve(slow)
    with monkeypatch.context() as patient:
        patient.setattr("vault_index.daemon.client.ping", lambda path, _seconds: ping(path))
        with client_at(path, silence=3600) as client:
            assert client.call("work", reading=True) == {"done": True}
    with client_at(path, silence=3600) as client, pytest.raises(BusyError, match="stopped answering"):
        client.call("stuck", reading=True)


@pytest.mark.parametrize("reply", [b"", b"hello\n", b"7\n", b"{}\n", b'{"id": 1, "result": {'])
def test_client_rejects_a_daemon_that_sends_garbage(path: Path, reply: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener, ThreadPoolExecutor() as pool:
        listener.bind(str(path))
        listener.listen()

        def speak() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(reply)

        pool.submit(speak)
        if reply.endswith(b"\n"):
            with pytest.raises(VaultIndexError, match="cannot be read"):
                ping(path)
        else:
            assert ping(path) is None


def test_client_names_a_daemon_of_another_protocol(path: Path, serve: Serve) -> None:
    def refuse(_request: Request, _progress: Progress) -> dict[str, Any]:
        raise UsageError("the daemon speaks protocol 2, the request protocol 1", "restart the daemon")

    serve(refuse)
    with pytest.raises(OtherProtocol, match="protocol 2"):
        ping(path)
