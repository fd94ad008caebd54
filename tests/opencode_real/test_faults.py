"""With the plugin and a fault: OpenCode continues as without the plugin, which logs the fault once."""

import os
import re
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.opencode_real.client import Place
from tests.opencode_real.test_session import BLOCK, INSTRUCTION, blocks
from tests.waiting import until
from vault_index.config import find_home


def test_opencode_logs_one_line_when_the_daemon_is_killed(place: Place) -> None:
    with place.served() as server:
        with place.daemon() as pid:
            session = server.session()
            server.turn(session, "How do we store prices? [[scene:plain]]")
            os.kill(pid, signal.SIGKILL)
            for _ in range(3):
                assert server.turn(session, "And now? [[scene:plain]]") == "All is well."
        requests = place.model.of("plain")
        assert len({tuple(blocks(request)) for request in requests}) == 1
        assert len({tuple(INSTRUCTION.findall(request.whole)) for request in requests}) == 1
        until(lambda: server.log_lines)
        (line,) = server.log_lines
        assert "no daemon answers" in line


def test_opencode_plugin_runs_the_command_without_a_daemon(place: Place) -> None:
    with place.served() as server:
        session = server.session()
        server.turn(session, "Note how invoices are numbered. [[scene:store]]")
        server.turn(session, "Use them. [[scene:tools]]")
        server.turn(session, "Count the stock. [[scene:remember]]")
        until(lambda: any("warehouse" in path.name for path in place.memories))
    answers = [message["content"] for message in place.model.of("tools")[-1].messages if message["role"] == "tool"]
    assert [answer for answer in answers if "Error" in str(answer)] == []
    assert [path.name for path in place.memories if "invoices" in path.name] != []


def test_opencode_is_unchanged_without_the_command(place: Place) -> None:
    file = place.folder / "user/.config/opencode/plugin/vault-index/place.ts"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r'"command": \[.*?\]', '"command": ["/nonexistent/vault-index"]', text), encoding="utf-8")
    folders = place.env["PATH"].split(os.pathsep)  # the machine may have another one
    place.env["PATH"] = os.pathsep.join(one for one in folders if not Path(one, "vault-index").exists())
    with place.served() as server:
        session = server.session()
        assert server.turn(session, "How do we store prices? [[scene:plain]]") == "All is well."
        assert server.turn(session, "Note it. [[scene:store]]") == "Stored."
        until(lambda: server.log_lines)
    (answer,) = [message["content"] for message in place.model.of("store")[-1].messages if message["role"] == "tool"]
    assert "vault-index agent install opencode" in str(answer)
    assert not any(BLOCK.search(request.whole) for request in place.model.requests)


@pytest.mark.parametrize("said", [b"\x00\xff not json\n", b'{"id": 1, "result": [1]}\n'])
def test_opencode_is_unchanged_when_the_daemon_sends_garbage(place: Place, said: bytes) -> None:
    with nonsense(find_home(place.home).socket_path, said), place.served() as server:
        session = server.session()
        assert server.turn(session, "How do we store prices? [[scene:plain]]") == "All is well."
        server.compact(session)
        until(lambda: server.log_lines)
    assert not any(BLOCK.search(request.whole) for request in place.model.of("plain"))


def test_opencode_two_copies_of_the_plugin_act_once(place: Place) -> None:
    place.command("agent", "install", "opencode", "--project", "--quiet")
    with place.daemon(), place.served() as server:
        session = server.session()
        server.turn(session, "We decided to sell maps. [[scene:remember]]")
        server.turn(session, "How do we store prices? [[scene:plain]]")
        server.compact(session)
        until(lambda: len([path for path in place.memories if "inbox" in path.parts]) == 2)
    for request in (*place.model.of("plain"), *place.model.of("compaction"), *place.model.of("remember")):
        assert len(blocks(request)) == 1
        assert len(INSTRUCTION.findall(request.whole)) == (request.scene != "compaction")


@contextmanager
def nonsense(path: Path, answer: bytes) -> Iterator[None]:
    """Listen in place of the daemon, and send everyone the same."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        listener.listen(16)
        kept: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                kept.append(client)
                client.sendall(answer)
                client.shutdown(socket.SHUT_WR)

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            for client in kept:
                client.close()
