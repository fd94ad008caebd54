"""Only the gate reaches the network: checks of the source code and of traced processes."""

import ast
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import vault_index
from tests.cli.process import vx
from tests.embeddings.server import EmbeddingServer
from tests.mcp_server.sessions import INITIALIZE, INITIALIZED, request, started
from tests.waiting import PATIENCE, until
from vault_index.config import find_home
from vault_index.daemon.client import ping

PACKAGE = Path(vault_index.__file__).parent
EMBEDDERS = {
    ("embeddings/local.py", "model"): "the model itself",
    ("embeddings/local.py", "self._loaded()"): "the model itself",
    ("embeddings/multilingual.py", "self._english"): "the other local model",
    ("embeddings/multilingual.py", "self._multilingual"): "the model itself",
    ("runtime.py", "embedder"): "the local one, which sends nothing",
    ("indexer/outbound.py", "self._embedder"): "the gate",
    ("runtime.py", "Outbound(embedder, state, now)"): "through the gate",
    ("indexer/index_writer.py", "outbound"): "the gate",
    ("indexer/vectors.py", "self._outbound"): "through the gate",
    ("serve/pool.py", "outbound"): "through the gate, which sends no text of a pool",
    ("memories/transfer/importer.py", "runtime.write"): "fills vectors, through the gate",
    ("runtime.py", "self.embedders"): "handed to a searcher, which asks through the gate",
    ("store/writer.py", "link"): "whether a link shows a note, which asks nobody",
    ("api/index.py", "self._runtime.write"): "fills vectors, through the gate",
}
"""Every call or reference of `embed` and `embed_query`; judge each new one before adding it."""

TRACE = """
import os, sys
seen = os.open(os.environ["SEEN"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def hook(event, arguments):
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"):
        arguments = (int(arguments[0].family), *arguments[1:])
    elif event not in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "urllib.Request"):
        return
    os.write(seen, (repr((event, " ".join(sys.orig_argv[1:4]), *map(str, arguments))) + chr(10)).encode())
sys.addaudithook(hook)
"""


@cache
def nodes() -> list[tuple[str, ast.AST]]:
    trees = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py")}
    return [(module, node) for module, tree in trees.items() for node in ast.walk(tree)]


def test_network_embedders_are_called_only_by_the_gate() -> None:
    found = {
        (module, ast.unparse(node.value))
        for module, node in nodes()
        if isinstance(node, ast.Attribute) and node.attr in ("embed", "embed_query")
    }
    assert found == EMBEDDERS.keys()


def test_network_sockets_are_local_except_for_serve() -> None:
    kinds: dict[str, set[str]] = {}
    for _, node in nodes():
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)).startswith("socket."):
            kinds.setdefault(name, set()).update(map(ast.unparse, node.args[:1]))
    assert kinds.pop("socket.create_server") == {"(host, port)"}  # the address that the user of `serve` chose
    assert kinds == {"socket.socket": {"socket.AF_UNIX"}, "socket.socketpair": set()}


def test_network_modules_do_not_import_http_clients() -> None:
    """Packages of the standard library that import-linter checks only as a whole."""
    for module, node in nodes():
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module == "urllib.request":
            assert (Path(module).name, names) == ("access.py", ["getproxies", "proxy_bypass"])
        else:
            assert not {"request", "urllib.request"} & set(names), module


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file where every process logs its socket calls."""
    (tmp_path / "trace").mkdir()
    (tmp_path / "trace/sitecustomize.py").write_text(TRACE, "utf-8")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/trace{os.pathsep}{PACKAGE.parent}")
    monkeypatch.setenv("SEEN", str(tmp_path / "seen"))
    return tmp_path / "seen"


RUN_ALL = """
import json, sys
from vault_index.cli import main
for words in json.loads(sys.argv[1]):
    code = main(words)
    if code and words[0] != "doctor":
        sys.exit(f"{words} exited with {code}")
"""


def run(*commands: Sequence[str]) -> None:
    """Run commands in one traced process."""
    done = vx(json.dumps(commands), code=RUN_ALL)
    assert done.returncode == 0, done.stderr


def mcp(home: Path) -> None:
    ask = request(2, "tools/call", {"name": "memory_search", "arguments": {"query": "readers"}})
    with started(home) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(INITIALIZE + INITIALIZED + ask)
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != 2:
            pass
        server.stdin.close()


def ask_and_tell(home: Path, vault: Path, word: str) -> None:
    said = vault.parent / "said.txt"
    said.write_text(f"*Remember*: {word} is a word.", "utf-8")
    run(
        ["sync"],
        ["search", "who waits for the writer"],
        ["recall", "who waits for the writer", "--project", str(vault)],
        ["capture", str(said), "--project", str(vault)],
        ["add", f"Somebody said {word}."],
        ["embed"],
        ["doctor", "--recall"],
    )
    mcp(home)


def main_flows(home: Path, vault: Path) -> None:
    """Run the main commands without a daemon, then with one."""
    run(["config", "set", "agents.start_daemon", "false"])
    ask_and_tell(home, vault, "alone")
    daemon = subprocess.Popen([sys.executable, "-m", "vault_index", "watch"], stderr=subprocess.DEVNULL)
    try:
        until(lambda: ping(find_home(home).socket_path))
        ask_and_tell(home, vault, "together")
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)
    run(["status", "--privacy"])


def events(seen: Path) -> set[tuple[str, ...]]:
    return {ast.literal_eval(line) for line in seen.read_text("utf-8").splitlines()}


def off_the_machine(seen: Path) -> set[tuple[str, ...]]:
    return {one for one in events(seen) if one[2] != str(int(socket.AF_UNIX))}


def test_network_is_unused_with_the_local_model(home: Path, vault: Path, seen: Path) -> None:
    run(["init", str(vault), "--no-opencode"])
    main_flows(home, vault)
    assert any(event[0] == "socket.connect" for event in events(seen))
    assert off_the_machine(seen) == set()


def test_network_reaches_only_the_configured_server(
    home: Path, vault: Path, seen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:3128")
    with EmbeddingServer(dimensions=64) as server:
        settings = {"provider": "openai", "base_url": server.base_url, "model": "toy"}
        run(
            ["init", str(vault), "--no-opencode", "--provider", "none"],
            *(["config", "set", f"embedding.{key}", value] for key, value in settings.items()),
        )
        main_flows(home, vault)
        port = server.base_url.rpartition(":")[2].partition("/")[0]
        assert server.texts
    found = off_the_machine(seen)
    assert {event[0] for event in found} == {"socket.connect", "socket.getaddrinfo"}
    for event in found:
        assert "127.0.0.1" in "".join(event[2:4])
        assert port in "".join(event[3:])
