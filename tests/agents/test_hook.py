"""Hooks of agents: the input of clients and the output for them."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from vault_index.agents import before_tool
from vault_index.agents.clients import WIRED
from vault_index.agents.hook import answer

NAMES = {client: {what: name for name, what in wiring.events.items()} for client, wiring in WIRED.items()}


class MemoryStub:
    """A memory that holds one statement and records the calls of a hook."""

    def __init__(self, folder: Path, text: str = "What is known.") -> None:
        self.folder, self.text = folder, text
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.started: list[tuple[Sequence[str], str, str]] = []

    def ask(self, method: str, params: dict[str, Any]) -> Mapping[str, Any]:
        self.asked.append((method, params))
        return {"text": self.text}

    def start(self, words: Sequence[str], text: str, folder: str) -> None:
        self.started.append((words, text, folder))

    def tell(self, what: str, client: str = "claude-code", **more: Any) -> dict[str, Any] | None:
        told = {"session_id": "s-1", "cwd": "/src/shop", "hook_event_name": NAMES[client].get(what, what), **more}
        return answer(client, told, self.folder, self.ask, self.start)


@pytest.fixture
def memory(tmp_path: Path) -> MemoryStub:
    return MemoryStub(tmp_path / "agents")


@pytest.mark.parametrize("client", WIRED)
def test_hook_adds_matches_to_the_first_prompt_once(memory: MemoryStub, client: str) -> None:
    given = memory.tell("prompt", client, prompt="How do we count boxes?")
    name = NAMES[client]["prompt"]
    assert given == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "What is known."}}
    params = {"query": "How do we count boxes?", "session": "s-1", "project": "/src/shop", "directory": "/src/shop"}
    assert memory.asked == [("recall", params)]
    assert memory.tell("prompt", client, prompt="And shelves?") is None
    assert memory.tell("prompt", client, prompt="And shelves?", session_id="s-2")
    assert len(memory.asked) == 2


LINES = {
    "claude-code": (
        '{"type":"user","message":{"content":"%s"}}',
        '{"type":"user","isCompactSummary":true,"message":{"content":"Summary: a long story"}}',
    ),
    "codex": (
        '{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"%s"}]}}',
        '{"payload":{"role":"user","content":[{"text":"<environment_context>x</environment_context>"}]}}',
    ),
}


@pytest.mark.parametrize("client", LINES)
def test_hook_recalls_the_topic_after_a_compaction(memory: MemoryStub, client: str, tmp_path: Path) -> None:
    prompt, *others = LINES[client]
    said = ["old", "/compact", "two", "three", "Boxes are counted by hand.", "five", "six", "go on"]
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("\n".join([*(prompt % text for text in said), '{"half', *others, ""]))
    assert memory.tell("start", client, source="compact", transcript_path=str(transcript))
    assert memory.asked[-1][1]["query"].split("\n\n") == [*said[:1:-1]]
    for nowhere in (str(tmp_path), str(tmp_path / "gone"), "\0", None):
        assert memory.tell("start", client, source="compact", transcript_path=nowhere)
        assert memory.asked[-1][1]["query"] == ""


def test_hook_wakes_the_daemon_at_session_start(memory: MemoryStub) -> None:
    memory.tell("start", source="startup")
    assert memory.started == [(["opencode", "wake"], "", "/src/shop")]
    assert memory.asked == []


@pytest.mark.parametrize(("client", "key"), [("codex", "last_assistant_message"), ("gemini", "prompt_response")])
def test_hook_captures_a_statement_once(memory: MemoryStub, client: str, key: str) -> None:
    for _ in range(2):  # the user's hook and the project's
        memory.tell("prompt", client, prompt="*Remember*: the gate closes at five.")
        memory.tell("stop", client, **{key: "Done. *Remember*: the fork lift is red."})
        memory.tell("stop", client, **{key: "Nothing to say."})
    place = "/src/shop"
    common = ["--session=s-1", f"--project={place}"]
    assert memory.started == [
        (
            ["capture", "--auto", "--by=user", *common, "--statements"],
            "*Remember*: the gate closes at five.",
            "/src/shop",
        ),
        (["capture", "--auto", f"--by={client}", *common], "Done. *Remember*: the fork lift is red.", "/src/shop"),
    ]


@pytest.mark.parametrize(
    "prompt", ["", " ", "/compact", "!ls", "<task-notification>\n*Remember*: x.", "<command-name>/x</command-name>"]
)
def test_hook_ignores_commands_and_empty_prompts(memory: MemoryStub, prompt: str) -> None:
    assert memory.tell("prompt", prompt=prompt) is None
    assert (memory.asked, memory.started) == ([], [])


@pytest.mark.parametrize("told", [{"session_id": "../x"}, {"session_id": None}, {"hook_event_name": "Notification"}])
def test_hook_ignores_unknown_events_and_ids(memory: MemoryStub, told: dict[str, Any]) -> None:
    assert memory.tell("prompt", **{"prompt": "How do we count?", **told}) is None
    assert not memory.folder.exists()


def test_hook_state_is_private_hashed_and_expires(memory: MemoryStub) -> None:
    memory.tell("prompt", prompt="The gate closes at five.")
    (kept,) = memory.folder.iterdir()
    assert "s-1" not in kept.name
    assert "gate" not in kept.read_text()
    assert kept.stat().st_mode & 0o77 == 0
    os.utime(kept, (0, 0))
    memory.tell("start", source="startup", session_id="s-2")
    assert list(memory.folder.iterdir()) == []


@pytest.mark.parametrize(
    ("reply", "given"),
    [
        (b'{"id":1,"result":{"id":"a","path":"\\"text\\":","text":"Say \\"no\\"."}}\n', 'Say "no".'),
        (b'{"id":1,"result":{"id":"","path":"","text":""}}\n', ""),
        (b'{"id":1,"error":{"message":"busy"}}\n', ""),
        (b"", ""),  # it hangs
        (None, ""),  # none runs
    ],
)
def test_hook_before_a_tool_prints_the_reminder_and_never_fails(
    tmp_path: Path, reply: bytes | None, given: str
) -> None:
    socket_path, asked = tmp_path / "s", list[bytes]()
    with socket.socket(socket.AF_UNIX) as daemon:
        if reply is not None:
            daemon.bind(str(socket_path))
            daemon.listen()

        def serve() -> None:
            with daemon.accept()[0] as connection:
                asked.append(connection.recv(65536))
                connection.sendall(reply or b"")
                connection.recv(1)

        thread = threading.Thread(target=serve)
        if reply is not None:
            thread.start()
        command = [sys.executable, "-I", "-S", before_tool.__file__, str(socket_path)]
        done = subprocess.run(command, input=b'{\n"cwd": "/src"}\n', capture_output=True, check=False)
        if reply is not None:
            thread.join()
            assert json.loads(asked[0])["params"] == {"event": {"cwd": "/src"}}
    assert (done.returncode, done.stderr) == (0, b"")
    output = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
    assert output == ({"hookEventName": "PreToolUse", "additionalContext": given} if given else {})
