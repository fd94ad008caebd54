"""The server as a process: its output, its end, and the process that does the work."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_server.sessions import INITIALIZE, INITIALIZED, Session, command, make_home, raw, request, session
from tests.waiting import PATIENCE, until
from vault_index.agents.clients import PLACES
from vault_index.cli import main
from vault_index.config import Home
from vault_index.daemon.client import ping
from vault_index.mcp_server.backend import Backend

NOISY = """
import os, subprocess, sys
from vault_index.mcp_server import toolbox
call = toolbox.Toolbox.call
def noisy(*arguments):
    print("a library speaks")
    os.write(1, b"and another")
    subprocess.run(["echo", "and a child"])
    return call(*arguments)
toolbox.Toolbox.call = noisy
from vault_index.cli import main
sys.exit(main(sys.argv[1:]))
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def test_mcp_writes_only_protocol_messages_to_stdout(home: Home) -> None:
    call, garbage = {"name": "memory_search", "arguments": {"query": "Tidewater \ud83d"}}, b"this is no JSON\n"
    with raw(home.data_dir, code=NOISY) as server:
        server.send(INITIALIZE, INITIALIZED, garbage, request(2, "tools/call", call))
        replies = [server.reply()]
        while replies[-1].get("id") != 2:
            replies.append(server.reply())
        server.stdin.close()
        rest, told = server.stdout.read(), server.stderr.read()
    assert [reply["id"] for reply in replies if reply.get("id")] == [1, 2]
    assert all(reply["jsonrpc"] == "2.0" for reply in replies)
    assert "harbour.md" in replies[-1]["result"]["content"][0]["text"]  # despite a lone surrogate
    assert rest == b""
    for words in (b"a library speaks", b"and another", b"and a child"):
        assert words in told
    assert server.process.returncode == 0


def test_mcp_starts_without_unneeded_imports() -> None:
    code = "import sys, vault_index.mcp_server as m; m.server_alone(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "mcp.server.runner" in (imported := done.stdout.split())
    assert not [name for name in imported if name.startswith(("mcp.client", "mcp.server.mcpserver", "openai", "numpy"))]


def test_mcp_answers_before_init_and_calls_name_the_missing_set_up(tmp_path: Path) -> None:
    with session(tmp_path / "nowhere") as client:
        assert len(client.tools().tools) == 9
        assert "vault-index init" in client.error("memory_search", query="x")
    assert not (tmp_path / "nowhere").exists()


def test_mcp_treats_a_client_that_leaves_in_a_call_as_normal(home: Home) -> None:
    with raw(home.data_dir) as server:
        server.send(INITIALIZE, INITIALIZED)
        assert "protocolVersion" in server.reply()["result"]
        server.stdout.close()
        server.stdin.write(request(2, "tools/call", {"name": "memory_list", "arguments": {}}))
        server.stdin.close()
        assert b"defect" not in server.stderr.read()
        assert server.process.wait(PATIENCE) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_mcp_stops_when_its_parent_dies(home: Home) -> None:
    # The pipe stays open in this process: only the parent's death can end the server.
    code = (
        f"import subprocess, sys; print(subprocess.Popen({[sys.executable, '-m', 'vault_index']} + sys.argv[1:]).pid)"
    )
    code += "; sys.stdout.flush(); sys.stdin.close(); import signal; signal.pause()"
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", code, *command(home.data_dir)], stdin=reading, stdout=subprocess.PIPE
    ) as parent:
        os.close(reading)
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.write(writing, INITIALIZE)
        assert b"protocolVersion" in parent.stdout.readline()
        parent.kill()
    until(lambda: not alive(pid))
    os.close(writing)


@pytest.fixture
def daemon_home() -> Iterator[Home]:
    """A home whose daemon is stopped at the end, whichever process started it."""
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        home = make_home(Path(folder), start_daemon=True)
        yield home
        if (pid := daemon_pid(home)) is not None:
            os.kill(pid, signal.SIGTERM)
            until(lambda: not home.socket_path.exists() and not alive(pid))


def daemon_pid(home: Home) -> int | None:
    daemon = ping(home.socket_path)
    return None if daemon is None else int(daemon["pid"])


def test_mcp_starts_one_daemon_that_outlives_its_clients(daemon_home: Home) -> None:
    def store(client: Session, number: int) -> str:
        return str(client.call("memory_store", content=f"Fact {number} of several agents.")["id"])

    with session(daemon_home.data_dir) as one, session(daemon_home.data_dir) as other:
        ids = [store(client, number) for number, client in enumerate((one, other, one, other))]
        pid = until(lambda: daemon_pid(daemon_home))
        found = other.call("memory_search", query="several agents", per_document=1)["results"]
        assert {hit["id"] for hit in found} == set(ids)
    assert daemon_pid(daemon_home) == pid


def test_mcp_updates_the_index_without_a_daemon(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    (tmp_path / "vault" / "new.md").write_text("A zeppelin landed.\n", "utf-8")
    backend = Backend(home)
    until(lambda: backend.call("search", {"query": "zeppelin"})["results"])
    assert daemon_pid(home) is None


def test_mcp_printed_configuration_starts_the_server(
    home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    printed = {}
    for name in PLACES:
        assert main(["mcp", "--print-config", name, "--home", str(home.data_dir), "--read-only"]) == 0
        printed[name] = started_by(name, capsys.readouterr().out)
    [words] = {tuple(words) for words in printed.values()}
    assert "--read-only" in words
    # Another folder, no environment and no PATH, as for a client on a desktop.
    ended = subprocess.run(
        words, input=INITIALIZE, capture_output=True, timeout=PATIENCE, check=False, cwd=tmp_path, env={}
    )
    assert json.loads(ended.stdout)["result"]["serverInfo"]["name"] == "vault-index"


def started_by(name: str, printed: str) -> list[str]:
    """Return the words of the command that a client makes of its configuration."""
    if name in ("claude-code", "codex"):
        words = printed.split()
        begin = {"claude-code": "claude mcp add --scope user vault-index --", "codex": "codex mcp add vault-index --"}[
            name
        ]
        assert " ".join(words).startswith(f"{begin} ")
        return words[words.index("--") + 1 :]
    settings = json.loads(printed)
    if name == "opencode":
        server = settings["mcp"]["vault-index"]
        assert (server["type"], server["enabled"]) == ("local", True)
        return list(server["command"])
    server = settings["servers" if name == "vscode" else "mcpServers"]["vault-index"]
    assert server.get("type") == ("stdio" if name == "vscode" else None)
    return [server["command"], *server["args"]]
