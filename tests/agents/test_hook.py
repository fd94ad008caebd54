"""Hooks of agents: the input of clients and the output for them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

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
