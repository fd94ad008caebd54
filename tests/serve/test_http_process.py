"""The process of `vault-index serve`: where it listens, what it logs, what becomes of it and of its daemon."""

import asyncio
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.serve.servers import Place, Served, bearer, place, until
from vault_index.callers import Scope
from vault_index.cli import main
from vault_index.daemon.client import ping
from vault_index.serve import connections, guard
from vault_index.serve.answers import Refusal


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Place]:
    with place(tmp_path) as made:
        made.write("wal.md", "# WAL\n\nReaders never wait for a tamarisk.\n")
        yield made


def test_it_says_where_it_listens_tells_the_service_manager_and_ends(here: Place, tmp_path: Path) -> None:
    here.daemon()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "n.sock"))
        manager.settimeout(30)
        served = here.serve(NOTIFY_SOCKET=str(tmp_path / "n.sock"))
        assert manager.recv(1000).startswith(b"READY=1")
        stream = socket.create_connection(("127.0.0.1", served.port))
        stream.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stream.recv(1000).startswith(b"HTTP/1.1 200")
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(30) == 0, served.process.stderr_text()
        told = [manager.recv(1000)]
        while told[-1] != b"STOPPING=1":
            told.append(manager.recv(1000))
    stream.close()


def test_a_daemon_that_was_started_anew_is_asked_again(here: Place) -> None:
    daemon = here.daemon()
    served, token = here.serve(), here.token("anna", writes=True)
    assert served.call("search", token, query="tamarisk").status == 200
    daemon.kill()
    daemon.wait()
    assert served.call("search", token, query="tamarisk").status == 200  # it starts one, but not again and again
    running = ping(here.home.socket_path)
    assert running is not None
    os.kill(running["pid"], signal.SIGKILL)
    until(lambda: ping(here.home.socket_path) is None)
    gone = served.call("search", token, query="tamarisk")
    assert (gone.status, gone.headers["retry-after"]) == (503, "1")
    here.daemon()
    assert served.call("add", token, text="Written after the daemon came back.").status == 200
    assert served.call("search", token, query="tamarisk").status == 200


def test_logs_hold_no_token_no_question_and_no_note(here: Place) -> None:
    here.daemon()
    served, token = here.serve(), here.token("anna", writes=True)
    for path in (f"/api/{token}", f"/{token}?token={token}", f"/api/search?query=tamarisk&token={token}"):
        served.ask("POST", path, b'{"query": "tamarisk"}', bearer(token))
        served.ask("GET", path)
    served.call("search", token, query="tamarisk")
    served.call("add", token, text="The tamarisk grows in the garden.")
    served.call("get", token, ref="tamarisk.md")
    served.process.send_signal(signal.SIGTERM)
    served.process.wait(30)
    said = served.process.stderr_text()
    for log in (said, here.home.serve_log.read_text("utf-8"), here.home.daemon_log.read_text("utf-8")):
        assert "tamarisk" not in log
        assert token not in log
    assert "method=POST path=/api/search status=200" in said
    assert "token=anna" in said
    assert "path=(unknown) status=404" in said
    assert "written by token" in here.home.daemon_log.read_text("utf-8")


@pytest.mark.parametrize(
    ("listen", "settings", "why"),
    [
        ("0.0.0.0:0", "", "nothing would be encrypted"),
        ("[::]:0", "", "nothing would be encrypted"),
        ("notes.example:7341", "", "nothing would be encrypted"),
        ("0.0.0.0:0", "behind_proxy = true", "there is no token"),
        ("127.0.0.1", "", "no address with a port"),
        ("127.0.0.1:99999", "", "no address with a port"),
        ("127.0.0.1:0", 'certificate = "no.pem"', "go together"),
        ("127.0.0.1:0", 'certificate = "no.pem"\nkey = "no.pem"', "cannot be used"),
    ],
)
def test_an_address_that_is_not_safe_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], listen: str, settings: str, why: str
) -> None:
    here = Place(tmp_path, f"[serve]\n{settings}\n")
    assert main(["--home", str(here.home.data_dir), "serve", "--listen", listen]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert "hint:" in said


def test_where_a_token_and_a_proxy_are_it_may_be_reached(tmp_path: Path) -> None:
    settings = '[serve]\nlisten = "0.0.0.0:0"\nbehind_proxy = true\nhosts = ["notes.example"]\n'
    with place(tmp_path, settings) as here:
        token = here.token("anna")
        here.daemon()
        process = here.process("serve")
        served = Served(process, process.port())
        own = {"Host": "notes.example", "Origin": "https://notes.example"}
        assert served.ask("POST", "/api/tags", b"", {**bearer(token), **own}).status == 200
        assert served.ask("GET", "/healthz", headers={"Host": f"0.0.0.0:{served.port}"}).status == 421
        wrong = {"X-Forwarded-For": "198.51.100.7, 203.0.113.9"}
        tried = [served.ask("GET", "/openapi.json", headers=wrong).status for _ in range(21)]
        assert tried == [401] * 20 + [429]
        invented = {"X-Forwarded-For": "192.0.2.1, 203.0.113.9"}
        assert served.ask("GET", "/openapi.json", headers=invented).status == 429
        other = {"X-Forwarded-For": "203.0.113.10"}
        assert served.ask("GET", "/openapi.json", headers=other).status == 401
        assert served.ask("POST", "/api/tags", b"", {**bearer(token), **invented}).status == 200


def test_an_address_that_is_taken_is_told_of(here: Place, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        listen = f"127.0.0.1:{other.getsockname()[1]}"
        assert main(["--home", str(here.home.data_dir), "serve", "--listen", listen]) == 5
    assert "address already in use" in capsys.readouterr().err


def test_with_a_certificate_it_speaks_tls(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    made = ["-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run(["openssl", "req", "-x509", *options, *made], check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("no openssl here")
    with place(tmp_path / "here", f'[serve]\ncertificate = "{certificate}"\nkey = "{key}"\n') as here:
        here.daemon()  # else one is begun, perhaps after the end
        served = here.serve()
        trusting = ssl.create_default_context(cafile=str(certificate))
        with (
            socket.create_connection(("127.0.0.1", served.port), timeout=30) as plain,
            trusting.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            assert connection.version() in ("TLSv1.2", "TLSv1.3")
            connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: https://localhost\r\n\r\n")
            assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_token_that_asks_too_often_waits(tmp_path: Path) -> None:
    with place(tmp_path, "[serve]\nrate = 1\n") as here:
        here.daemon()
        served, token = here.serve(), here.token("anna")
        answers = [served.call("tags", token) for _ in range(20)]
        assert [answer.status for answer in answers[:2]] == [200, 200]
        late = next(answer for answer in answers if answer.status == 429)
        assert int(late.headers["retry-after"]) >= 1
        assert served.call("tags", here.token("bert")).status == 200


def test_others_are_served_while_many_connections_say_nothing(here: Place) -> None:
    here.daemon()
    served, token = here.serve(), here.token("anna")
    with ExitStack() as silent:
        for number in range(connections.MOST + 50):
            one = silent.enter_context(socket.create_connection(("127.0.0.1", served.port)))
            one.sendall(b"POST /api/tags HTTP/1.1\r\nHost: loc" if number % 2 else b"")
        assert served.call("tags", token).status == 200


def test_a_body_that_does_not_come_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "BODY_SECONDS", 0.01)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(60)
        return {}

    with pytest.raises(Refusal, match="did not come in time") as refused:
        asyncio.run(guard.read_body({"content-type": "application/json"}, receive, 1000))
    assert refused.value.status == 408


def test_who_sees_a_part_is_not_told_where_a_vault_lies(tmp_path: Path) -> None:
    with place(tmp_path) as here:
        here.write("80-memory/m.md", "---\nproject: p\n---\nThe ferry.\n")
        here.daemon()
        served = here.serve()
        token = here.token("part", writes=True, scope=Scope(projects=("p",)))
        assert served.call("search", token, query="ferry").json["results"]
        here.vault.rename(tmp_path / "gone")
        asked: tuple[tuple[str, dict[str, str]], ...] = (
            ("search", {"query": "ferry"}), ("recall", {"query": "ferry"}), ("add", {"text": "New."}),
            ("get", {"ref": "80-memory/m.md"}), ("archive", {"ref": "80-memory/m.md"}),
        )  # fmt: skip
        for method, params in asked:
            answer = served.call(method, token, **params)
            assert answer.status != 500, method
            assert "vault" in answer.body.decode()
            assert str(tmp_path) not in answer.body.decode()
