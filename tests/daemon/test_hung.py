"""A daemon that is stopped, or has other settings: every way in gives the same answer, and says what is missing."""

import json
import os
import signal
import socket
import time
from contextlib import suppress
from typing import Any

from tests.cli.process import vx
from tests.world import World
from vault_index.mcp_server.backend import Backend


def ask(world: World, *words: str) -> dict[str, Any]:
    told = vx(*words, "--json", environ={"VAULT_INDEX_HOME": str(world.home.data_dir)})
    assert told.returncode == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    return answer


def gist(answer: dict[str, Any]) -> tuple[set[str], list[str]]:
    """Its keys and the documents it names; how long it took and how often those were opened may differ."""
    return set(answer), [one["path"] for one in answer.get("results", answer.get("sources", ()))]


def test_a_daemon_that_is_stopped_changes_no_answer(world: World) -> None:
    world.write("b.md", "# Beta\n\nanother aardvark\n")
    daemon = world.daemon()
    questions = [("search", "aardvark"), ("list",), ("get", "a.md"), ("recall", "aardvark")]
    before = [ask(world, *words) for words in questions]
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        after = [ask(world, *words) for words in questions]
        status = ask(world, "status")
        by_mcp = Backend(world.home).call("search", {"query": "aardvark"})
        silent = vx("doctor", "--json", environ={"VAULT_INDEX_HOME": str(world.home.data_dir)})
        added = ask(world, "add", "Aardvarks dig at night.")
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert [gist(answer) for answer in after] == [gist(answer) for answer in before]
    assert [hit["path"] for hit in by_mcp["results"]] == [hit["path"] for hit in before[0]["results"]]
    for report in (status, json.loads(silent.stdout)):
        assert report["problems"][0]["code"] == "daemon_silent"
    assert added["created"] is True


def test_a_question_does_not_wait_for_a_daemon_that_hung_a_moment_ago(world: World) -> None:
    ask(world, "sync")
    path = world.home.socket_path
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as hanging:
        hanging.bind(str(path))
        hanging.listen()
        hanging.setblocking(False)

        def asked() -> int:
            """How many of one question and one look at the status came here."""
            ask(world, "list")
            ask(world, "status")
            came = 0
            with suppress(BlockingIOError):
                while True:
                    hanging.accept()[0].close()
                    came += 1
            return came

        first, second = asked(), asked()
        assert second == first - 1
        long_ago = time.time() - 60
        os.utime(path, (long_ago - 1, long_ago - 1))
        os.utime(path.with_suffix(".hung"), (long_ago, long_ago))
        assert asked() == first


def test_a_setting_is_in_force_when_the_command_returns(world: World) -> None:
    world.write("b.md", "# Beta\n\nanother aardvark\n")
    world.daemon()
    for limit in (1, 2, 1):
        ask(world, "config", "set", "search.limit", str(limit))
        assert len(world.ask("search", query="aardvark")["results"]) == limit
    ask(world, "config", "delete", "search.limit")
    assert len(world.ask("search", query="aardvark")["results"]) == 2


def test_a_daemon_that_is_stopped_reads_no_setting_and_that_is_said(world: World) -> None:
    daemon = world.daemon()
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        told = vx("config", "set", "search.limit", "3", environ={"VAULT_INDEX_HOME": str(world.home.data_dir)})
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    assert (told.returncode, told.stdout) == (0, "search.limit = 3\n")
    assert "the daemon has not read the new settings yet: the daemon does not answer" in told.stderr
