"""Client and server over a real socket: answers, errors, progress, size, unicode, crowds and garbage."""

import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import PATIENCE, until
from vault_index import errors
from vault_index.daemon import protocol
from vault_index.daemon.client import OtherProtocol, Unreachable, connect, ping
from vault_index.daemon.server import Request, Server
from vault_index.errors import BusyError, NotFoundError, UsageError, VaultIndexError
from vault_index.models import Progress


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
    raise ZeroDivisionError("the text of a note")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "d.sock"


@pytest.fixture
def server(path: Path) -> Iterator[Server]:
    server = Server(path, answer)
    server.start()
    yield server
    server.stop()


def raw(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(PATIENCE)
    connection.connect(str(path))
    return connection


def say(path: Path, *data: bytes) -> list[dict[str, Any]]:
    """Send raw bytes; all replies until the server hangs up."""
    with raw(path) as connection:
        for part in data:
            connection.sendall(part)
        connection.shutdown(socket.SHUT_WR)
        return [json.loads(line) for line in connection.makefile("rb")]


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize("text", ["", "plain", "two\nlines", "Käse 漢字 🧀", "\udce4 no utf-8", "x" * 9_000_000])
def test_an_answer_is_what_was_said(path: Path, text: str) -> None:
    client = connect(path)
    assert client is not None
    with client:
        if len(text) < protocol.MAX_REQUEST_BYTES:
            assert client.call("echo", {"text": text}) == {"text": text}
            assert client.call("echo", {"text": text}, format="toon") == f"toon: {text}"
        else:
            with pytest.raises(UsageError, match="longer than 4 MiB"):
                client.call("echo", {"text": text})
            assert client.call("echo", {"text": "short"}) == {"text": "short"}


def test_a_big_answer(path: Path) -> None:
    text = "漢字 " * 4_000_000
    server = Server(path, lambda _request, _progress: {"text": text})
    server.start()
    client = connect(path)
    assert client is not None
    with client:
        assert client.call("get") == {"text": text}
    server.stop()


@pytest.mark.usefixtures("server")
def test_ping_tells_who_answers(path: Path) -> None:
    client = connect(path)
    assert client is not None
    with client:
        client.greet()
        assert client.daemon["pid"] == os.getpid()
    assert ping(path) == client.daemon


@pytest.mark.usefixtures("server")
def test_errors_keep_class_and_words(path: Path) -> None:
    client = connect(path)
    assert client is not None
    with client:
        with pytest.raises(NotFoundError, match="no such note") as raised:
            client.call("missing")
        assert raised.value.hint == "look again"
        with pytest.raises(VaultIndexError) as raised_unknown:
            client.call("nonsense")
        assert "note" not in str(raised_unknown.value)
        with pytest.raises(VaultIndexError):
            client.call("infinite")
        assert client.call("echo", {"text": "still here"}) == {"text": "still here"}


def every_error(kind: type[VaultIndexError]) -> list[type[VaultIndexError]]:
    return [kind, *(found for sub in kind.__subclasses__() for found in every_error(sub))]


@pytest.mark.parametrize("kind", every_error(VaultIndexError))
def test_every_error_survives_the_way(kind: type[VaultIndexError]) -> None:
    back = protocol.error_from(json.loads(protocol.encode(protocol.error_object(kind("what", "hint")))))
    assert (back.code, back.exit_code, back.message, back.hint) == (kind.code, kind.exit_code, "what", "hint")
    assert isinstance(kind("what"), type(back))


@pytest.mark.parametrize("reply", [None, [], {}, {"code": 7}, {"code": "of tomorrow", "message": "m"}])
def test_an_unknown_error_is_one_of_ours(reply: object) -> None:
    assert type(protocol.error_from(reply)) is errors.VaultIndexError


@pytest.mark.usefixtures("server")
def test_progress_arrives_in_order(path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    client = connect(path)
    assert client is not None
    with client:
        result = client.call("work", {"steps": 50}, on_progress=lambda *step: seen.append(step))
        assert result == {"done": True}
        assert seen == [("text", step, 50) for step in range(1, 51)]
        assert client.call("work", {"steps": 3}) == {"done": True}


def test_a_client_that_leaves_does_not_stop_its_work(path: Path) -> None:
    go, done = threading.Event(), threading.Event()

    def work(request: Request, progress: Progress) -> dict[str, Any]:
        if request.method == "work":
            assert go.wait(PATIENCE)
            for step in range(2000):
                progress("x" * 1000, step, 2000)
            done.set()
        return {}

    server = Server(path, work)
    server.start()
    with raw(path) as connection:
        connection.sendall(b'{"v":1,"id":1,"method":"work"}\n')
    go.set()
    assert done.wait(PATIENCE)
    server.stop()


@pytest.mark.usefixtures("server")
def test_many_clients_at_once(path: Path) -> None:
    wrong: list[object] = []

    def talk(number: int) -> None:
        client = connect(path)
        assert client is not None
        with client:
            for turn in range(20):
                text = f"{number}/{turn}"
                if client.call("echo", {"text": text}) != {"text": text}:
                    wrong.append(text)

    threads = [threading.Thread(target=talk, args=(number,)) for number in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def test_one_client_too_many_is_told_so(path: Path) -> None:
    server = Server(path, answer, max_clients=2)
    server.start()
    clients = [connect(path), connect(path)]
    for client in clients:
        assert client is not None
        client.greet()
    assert say(path)[0]["error"]["code"] == "busy"
    assert ping(path) is None
    for client in clients:
        assert client is not None
        client.close()
    until(lambda: ping(path))
    server.stop()


def test_who_gets_no_thread_is_told_and_others_are_served(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name == "client":
            raise RuntimeError("can't start new thread")
        start(thread)

    server = Server(path, answer)
    server.start()
    with monkeypatch.context() as small:
        small.setattr(threading.Thread, "start", refuse)
        assert say(path)[0]["error"]["code"] == "busy"
    assert server.is_alive()
    assert ping(path)
    server.stop()


@pytest.mark.usefixtures("server")
@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"GET / HTTP/1.1\r\n", "no JSON object"),
        (b"\x00\xff\xfe\n", "no JSON object"),
        (b"[1, 2]\n", "no JSON object"),
        (b"[" * 100_000 + b"\n", "no JSON object"),
        (b'{"id": 4, "method": "ping"}\n', "protocol 1, the request protocol None"),
        (b'{"v": 2, "id": 4, "method": "ping"}\n', "protocol 1, the request protocol 2"),
        (b'{"v": 1, "id": 4}\n', "names no method"),
        (b'{"v": 1, "id": 4, "method": "ping", "params": [1]}\n', "params are no object"),
        (b'{"v": 1, "id": 4, "method": "ping", "format": "xml"}\n', "cannot answer as 'xml'"),
    ],
)
def test_garbage_gets_an_error_and_the_end(path: Path, line: bytes, told: str) -> None:
    (reply,) = say(path, line, b'{"v": 1, "id": 5, "method": "ping"}\n')
    assert told in reply["error"]["message"]
    assert reply["error"]["code"] == "usage"
    assert reply["error"]["hint"]
    assert reply["id"] == (4 if b'"id"' in line else None)


@pytest.mark.usefixtures("server")
def test_a_request_that_does_not_end(path: Path) -> None:
    (reply,) = say(path, b"x" * (protocol.MAX_REQUEST_BYTES + 1))
    assert "longer than" in reply["error"]["message"]


@pytest.mark.usefixtures("server")
def test_half_a_request_gets_nothing(path: Path) -> None:
    with raw(path) as connection:
        connection.sendall(b'{"v": 1, "id"')
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(10) == b""


@pytest.mark.usefixtures("server")
def test_two_requests_in_one_packet(path: Path) -> None:
    with raw(path) as connection:
        connection.sendall(b'{"v":1,"id":"a","method":"ping"}\n{"v":1,"id":"b","method":"ping"}\n')
        lines = connection.makefile("rb")
        assert [json.loads(lines.readline())["id"] for _ in range(2)] == ["a", "b"]


def test_an_idle_client_is_dropped(path: Path) -> None:
    server = Server(path, answer, idle_seconds=0.05)
    server.start()
    with raw(path) as connection:
        assert connection.recv(1) == b""
    server.stop()


def test_no_daemon(path: Path) -> None:
    assert connect(path) is None
    assert connect("/" + "x" * 300) is None
    path.write_text("a file")
    assert connect(path) is None


def test_a_stale_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(path))
    assert path.exists()
    assert connect(path) is None
    server = Server(path, answer)
    server.start()
    assert ping(path)
    server.stop()
    assert not path.exists()
    assert connect(path) is None


def test_a_daemon_that_hangs(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(str(path))
        deaf.listen()
        client = connect(path, greeting=0.05)
        assert client is not None
        with client, pytest.raises(Unreachable):
            client.call("add", {"text": "of a request that it must not get to"})
        awake, _ = deaf.accept()
        with awake, pytest.raises(BrokenPipeError):
            awake.sendall(b"the answer to ping")


def test_a_daemon_that_hangs_later(path: Path) -> None:
    go = threading.Event()

    def hang(request: Request, _progress: Progress) -> dict[str, Any]:
        if request.method != "ping":
            go.wait()
        return {}

    server = Server(path, hang)
    server.start()
    client = connect(path, silence=0.05)
    assert client is not None
    with client, pytest.raises(BusyError, match="does not answer any more"):
        client.call("search")
    go.set()
    server.stop()


def test_a_daemon_that_is_slow_is_waited_for_and_one_that_hangs_is_not(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While it answers others, it works; silence to everybody is the end, long before the time is up."""
    pings: list[int] = []
    hangs, go = threading.Event(), threading.Event()

    def slow(request: Request, _progress: Progress) -> dict[str, Any]:
        if request.method == "ping":
            pings.append(1)
            if hangs.is_set():
                go.wait()
            return {"pid": 1}
        until(lambda: len(pings) > 3)  # asked for meanwhile
        hangs.set()
        if request.method == "stuck":
            go.wait()
        return {"done": True}

    monkeypatch.setattr("vault_index.daemon.client.LOOK_SECONDS", 0.05)
    server = Server(path, slow)
    server.start()
    for method in ("work", "stuck"):
        hangs.clear()
        client = connect(path, silence=3600)
        assert client is not None
        with client:
            if method == "work":
                assert client.call(method, reading=True) == {"done": True}
            else:
                with pytest.raises(BusyError, match="does not answer any more"):
                    client.call(method, reading=True)
    go.set()
    server.stop()


def test_a_daemon_before_which_too_many_wait(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(str(path))
        deaf.listen(0)
        with contextlib.ExitStack() as waiting:

            def crowd() -> None:
                while client := connect(path):
                    waiting.enter_context(client)

            with pytest.raises(Unreachable):
                crowd()


@pytest.mark.parametrize("reply", [b"", b"hello\n", b"7\n", b"{}\n", b'{"id": 1, "result": {'])
def test_a_daemon_that_answers_nonsense(path: Path, reply: bytes) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen()

        def speak() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(reply)

        thread = threading.Thread(target=speak)
        thread.start()
        if reply.endswith(b"\n"):
            with pytest.raises(VaultIndexError, match="cannot be read"):
                ping(path)
        else:
            assert ping(path) is None
        thread.join(PATIENCE)


def test_a_daemon_of_another_protocol(path: Path) -> None:
    def refuse(_request: Request, _progress: Progress) -> dict[str, Any]:
        raise UsageError("the daemon speaks protocol 2, the request protocol 1", "restart the daemon")

    server = Server(path, refuse)
    server.start()
    with pytest.raises(OtherProtocol, match="protocol 2"):
        ping(path)
    server.stop()


def test_the_end_of_the_server_is_an_error_for_who_waits(path: Path) -> None:
    started, go = threading.Event(), threading.Event()
    failed: list[BusyError] = []

    def slow(request: Request, _progress: Progress) -> dict[str, Any]:
        if request.method != "ping":
            started.set()
            go.wait()
            raise BusyError("the daemon is stopping")
        return {}

    def ask() -> None:
        client = connect(path)
        assert client is not None
        with client:
            try:
                client.call("search")
            except BusyError as error:
                failed.append(error)

    server = Server(path, slow)
    server.start()
    asking = threading.Thread(target=ask)
    asking.start()
    assert started.wait(PATIENCE)
    go.set()
    server.stop()
    asking.join(PATIENCE)
    assert [error.exit_code for error in failed] == [5]


@pytest.mark.usefixtures("server")
def test_the_socket_is_for_its_owner_alone(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_client_is_thin() -> None:
    code = "import sys, vault_index.daemon.client; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"dataclasses", "vault_index.api.index", "vault_index.models", "logging", "watchdog", "apsw", "pathlib"}
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert heavy & (set(out) - set(bare)) == set()
