"""A socket is trusted only if no other user can have created it, a process only if it belongs to this user."""

import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.attacks import NOBODY, as_nobody, did_as_nobody, needs_root, open_to_all
from vault_index.cli import main
from vault_index.config import find_home, private_folder
from vault_index.daemon.client import Untrusted, connect, ping
from vault_index.daemon.protocol import is_own_process, is_own_socket
from vault_index.daemon.server import Request, Server
from vault_index.errors import VaultIndexError
from vault_index.mcp_server.backend import Backend
from vault_index.progress import Progress

SERVE = """
import json, os, socket, sys
path, heard = sys.argv[1:3]
folder = os.path.dirname(path)
if not os.path.isdir(folder):
    os.mkdir(folder, 0o777)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen()
print("ready", flush=True)
while True:
    client, _ = listener.accept()
    with client, client.makefile("rwb") as stream:
        for line in stream:
            with open(heard, "ab") as file:
                file.write(line)
            ident = json.loads(line)["id"]
            answer = {"version": "0", "protocol": 1, "pid": 1, "results": [], "text": "forged"}
            stream.write(json.dumps({"id": ident, "result": answer}).encode() + b"\\n")
            stream.flush()
"""
"""A server of an attacker: logs its input and answers every request."""

CALL = """
import socket, sys
client = socket.socket(socket.AF_UNIX)
client.settimeout(300)
client.connect(sys.argv[1])
try:
    client.sendall(b'{"v": 1, "id": 1, "method": "ping", "params": {}}\\n')
    answer = client.recv(1000)
except (BrokenPipeError, ConnectionResetError):
    answer = b""
open(sys.argv[2], "wb").write(answer)
"""


@pytest.fixture
def shared() -> Iterator[Path]:
    with open_to_all() as folder:
        yield folder


@pytest.fixture
def deep(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose path is too long for a socket, so the socket lies in the folder for temporary files."""
    for name in [name for name in os.environ if name.startswith("VAULT_INDEX_")]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setenv("TMPDIR", str(shared))
    home = tmp_path / ("d" * 100)
    monkeypatch.setenv("VAULT_INDEX_HOME", str(home))
    assert find_home().socket_path.is_relative_to(shared)
    return home


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault/a.md").write_text("# Alpha\n\nthe aardvark\n", "utf-8")
    return tmp_path / "vault"


def listening(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    return listener


@needs_root
def test_client_sends_nothing_to_the_daemon_of_another_user(
    deep: Path, shared: Path, vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(vault), "--provider", "none", "--quiet"]) == 0
    heard, path = shared / "heard", find_home().socket_path
    with as_nobody(SERVE, path, heard):
        with pytest.raises(Untrusted, match="another user"):
            connect(path)
        assert ping(path) is None
        capsys.readouterr()
        assert main(["search", "aardvark", "--json"]) == 0
        assert [hit["path"] for hit in json.loads(capsys.readouterr().out)["results"]] == ["a.md"]
        assert main(["search", "aardvark", "--toon"]) == 0
        assert "running without the daemon: another user" in capsys.readouterr().err
        assert main(["add", "The aardvark sleeps by day.", "--quiet", "--json"]) == 0
        assert len(list(vault.glob("80-memory/**/*.md"))) == 1
        assert main(["config", "set", "agents.start_daemon", "false", "--quiet"]) == 0
        assert Backend(find_home()).call("search", {"query": "aardvark"})["results"]
    assert not heard.exists()


@needs_root
def test_private_folder_refuses_a_symlink_of_another_user(deep: Path, shared: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o700)
    places = find_home()
    did_as_nobody("import os, sys; os.symlink(*sys.argv[1:])", tmp_path / "mine", places.runtime_dir)
    with listening(tmp_path / "mine" / places.socket_path.name):
        assert not is_own_socket(places.socket_path)
        assert is_own_socket(tmp_path / "mine" / places.socket_path.name)
    with pytest.raises(VaultIndexError, match="belongs to another user"):
        private_folder(places.runtime_dir)


@needs_root
def test_connect_refuses_a_process_of_another_user_behind_an_own_file(shared: Path) -> None:
    """As after a swap between the check of the file and the connection."""
    path = shared / "s"
    with as_nobody(SERVE, path, shared / "heard"):
        os.chown(path, 0, 0)
        os.chmod(shared, 0o755)
        assert is_own_socket(path)
        with pytest.raises(Untrusted):
            connect(path)


@needs_root
def test_server_does_not_answer_another_user(shared: Path) -> None:
    asked = threading.Event()

    def answer(request: Request, progress: Progress) -> str:
        asked.set()
        return "secret"

    server = Server(shared / "s", answer)
    server.start()
    try:
        os.chmod(shared / "s", 0o666)
        did_as_nobody(CALL, shared / "s", shared / "answer")
    finally:
        server.stop()
    assert (shared / "answer").read_bytes() == b""
    assert not asked.is_set()


@pytest.mark.parametrize(("mode", "trusted"), [(0o700, True), (0o755, True), (0o775, False), (0o1777, False)])
def test_socket_is_trusted_only_in_a_folder_closed_to_others(tmp_path: Path, mode: int, trusted: bool) -> None:
    path = tmp_path / "run" / "s"
    path.parent.mkdir()
    path.parent.chmod(mode)
    (tmp_path / "link").symlink_to("run")
    with listening(path):
        assert is_own_socket(path) == trusted
        assert is_own_socket(tmp_path / "link" / "s") == trusted
        with nullcontext() if trusted else pytest.raises(Untrusted):
            client = connect(path)
            assert client is not None
            client.close()


def test_socket_check_refuses_files_links_and_missing_paths(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("")
    (tmp_path / "l").symlink_to("nothing")
    assert not is_own_socket(tmp_path / "s")
    assert not is_own_socket(tmp_path / "l")
    assert not is_own_socket(tmp_path / "nothing" / "s")


def test_is_own_process_refuses_unknown_and_foreign_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = socket.socketpair()
    with one, other:
        assert is_own_process(one)
        monkeypatch.setattr("os.geteuid", lambda: NOBODY)
        assert not is_own_process(one)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as alone:
        assert not is_own_process(alone)
