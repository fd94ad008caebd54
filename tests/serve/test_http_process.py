"""The process of `vault-index serve`: its address, its logs, and the end of its daemon."""

import os
import shutil
import signal
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.serve.attackers import STOPPED_CLOCK
from tests.waiting import PATIENCE, until
from tests.world import Served, World, bearer
from vault_index.callers import Scope
from vault_index.cli import main
from vault_index.daemon.client import ping

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def test_serve_notifies_the_service_manager_when_ready_and_stopping(world: World, tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "n.sock"))
        manager.settimeout(PATIENCE)
        served = world.serve(NOTIFY_SOCKET=str(tmp_path / "n.sock"))
        assert manager.recv(1000).startswith(b"READY=1")
        with socket.create_connection(("127.0.0.1", served.port)) as stream:
            stream.sendall(HEALTH)
            assert stream.recv(1000).startswith(b"HTTP/1.1 200")
            assert served.process.end() == 0, served.process.stderr_text()
        told = [manager.recv(1000)]
        while told[-1] != b"STOPPING=1":
            told.append(manager.recv(1000))


def test_serve_uses_a_new_daemon(new_world: World) -> None:
    daemon = new_world.daemon()
    served, token = new_world.serve(), new_world.token("anna", writes=True)
    assert served.call("search", token, query="tamarisk").status == 200
    daemon.end(signal.SIGKILL)
    until(lambda: served.call("search", token, query="tamarisk").status == 200)  # it starts one, but only once
    running = ping(new_world.home.socket_path)
    assert running is not None
    os.kill(running["pid"], signal.SIGKILL)
    until(lambda: not new_world.listens())
    gone = served.call("search", token, query="tamarisk")
    assert (gone.status, gone.headers["retry-after"]) == (503, "1")
    new_world.daemon()
    assert served.call("add", token, text="Written after the daemon came back.").status == 200
    assert served.call("search", token, query="tamarisk").status == 200


def test_serve_logs_name_token_and_path_without_content(world: World, served: Served) -> None:
    token = world.token("anna", writes=True)
    for path in (f"/api/{token}", f"/{token}?token={token}", f"/api/search?query=tamarisk&token={token}"):
        served.ask("POST", path, b'{"query": "tamarisk"}', bearer(token))
        served.ask("GET", path)
    served.call("search", token, query="tamarisk")
    served.call("add", token, text="The tamarisk grows in the garden.")
    served.call("get", token, ref="tamarisk.md")
    until(lambda: "path=/api/get" in served.process.stderr_text())
    said = served.process.stderr_text()
    for log in (said, world.home.serve_log.read_text("utf-8"), world.home.daemon_log.read_text("utf-8")):
        assert "tamarisk" not in log
        assert token not in log
    assert "method=POST path=/api/search status=200" in said
    assert "token=anna" in said
    assert "path=(unknown) status=404" in said
    assert "written by token" in world.home.daemon_log.read_text("utf-8")


UNSAFE = [
    ("0.0.0.0:0", "", "are not encrypted"),
    ("[::]:0", "", "are not encrypted"),
    ("notes.example:7341", "", "are not encrypted"),
    ("0.0.0.0:0", "behind_proxy = true", "there is no token"),
    ("127.0.0.1", "", "not an address with a port"),
    ("127.0.0.1:99999", "", "not an address with a port"),
    ("127.0.0.1:0", 'certificate = "no.pem"', "go together"),
    ("127.0.0.1:0", 'certificate = "no.pem"\nkey = "no.pem"', "cannot be used"),
]


def test_serve_refuses_an_unsafe_or_taken_address(new_world: World, capsys: pytest.CaptureFixture[str]) -> None:
    home = str(new_world.home.data_dir)
    for listen, settings, why in UNSAFE:
        new_world.more = f"[serve]\n{settings}\n"
        new_world.configure()
        assert main(["--home", home, "serve", "--listen", listen]) == 2, listen
        said = capsys.readouterr().err
        assert why in said
        assert "hint:" in said
    new_world.more = ""
    new_world.configure()
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["--home", home, "serve", "--listen", f"127.0.0.1:{other.getsockname()[1]}"]) == 5
    assert "address already in use" in capsys.readouterr().err


def test_serve_behind_a_proxy_uses_the_address_that_the_proxy_saw(new_world: World) -> None:
    new_world.more = '[serve]\nrate = 1\nlisten = "0.0.0.0:0"\nbehind_proxy = true\nhosts = ["notes.example"]\n'
    new_world.configure()
    new_world.daemon()
    anna, bert = new_world.token("anna"), new_world.token("bert")
    process = new_world.process("serve", first=STOPPED_CLOCK)
    served = Served(process, process.port())

    def status(token: str = "", **headers: str) -> int:
        given = {**(bearer(token) if token else {}), **{k.replace("_", "-"): v for k, v in headers.items()}}
        answer = served.ask("POST", "/api/tags", b"", given)
        assert answer.status != 429 or int(answer.headers["retry-after"]) >= 1
        return answer.status

    assert status(anna, Host="notes.example", Origin="https://notes.example") == 200
    assert served.ask("GET", "/healthz", headers={"Host": f"0.0.0.0:{served.port}"}).status == 421
    tried = [status(X_Forwarded_For="198.51.100.7, 203.0.113.9") for _ in range(21)]
    assert tried == [401] * 20 + [429]
    assert status(X_Forwarded_For="192.0.2.1, 203.0.113.9") == 429  # the first address may be invented
    assert status(X_Forwarded_For="203.0.113.10") == 401
    assert status(anna, X_Forwarded_For="192.0.2.1, 203.0.113.9") == 200
    assert status(anna) == 429  # twice the rate at once
    assert status(bert) == 200


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_serve_speaks_tls_with_a_certificate(new_world: World, tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost"]
    made = ["-keyout", str(key), "-out", str(certificate), "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", "req", "-x509", *options, *made], check=True, capture_output=True)
    new_world.more = f'[serve]\ncertificate = "{certificate}"\nkey = "{key}"\n'
    new_world.configure()
    new_world.daemon()  # otherwise serve starts one, perhaps after the end of the test
    served = new_world.serve()
    trusting = ssl.create_default_context(cafile=str(certificate))
    with (
        socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as plain,
        trusting.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
    ):
        assert connection.version() in ("TLSv1.2", "TLSv1.3")
        connection.sendall(HEALTH.replace(b"localhost\r\n", b"localhost\r\nOrigin: https://localhost\r\n"))
        assert connection.recv(1000).startswith(b"HTTP/1.1 200")


def test_serve_hides_the_path_of_a_vault_from_a_scoped_token(new_world: World, tmp_path: Path) -> None:
    new_world.write("80-memory/m.md", "---\nproject: p\n---\nThe ferry.\n")
    new_world.daemon()
    served = new_world.serve()
    token = new_world.token("part", writes=True, scope=Scope(projects=("p",)))
    assert served.call("search", token, query="ferry").json["results"]
    new_world.vault.rename(tmp_path / "gone")
    asked: tuple[tuple[str, dict[str, str]], ...] = (
        ("search", {"query": "ferry"}), ("recall", {"query": "ferry"}), ("add", {"text": "New."}),
        ("get", {"ref": "80-memory/m.md"}), ("archive", {"ref": "80-memory/m.md"}),
    )  # fmt: skip
    for method, params in asked:
        answer = served.call(method, token, **params)
        assert answer.status != 500, method
        assert "vault" in answer.body.decode()
        assert str(tmp_path) not in answer.body.decode()
