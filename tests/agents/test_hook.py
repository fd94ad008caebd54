"""What a hook does with what its client says."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from vault_index.agents.clients import WIRED
from vault_index.agents.hook import answer

NAMES = {client: {what: name for name, what in wiring.events.items()} for client, wiring in WIRED.items()}


class Heard:
    """A memory that knows one thing, and what a hook asked and started."""

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
def heard(tmp_path: Path) -> Heard:
    return Heard(tmp_path / "agents")


@pytest.mark.parametrize("client", WIRED)
def test_a_session_is_told_once_what_answers_its_first_prompt(heard: Heard, client: str) -> None:
    given = heard.tell("prompt", client, prompt="How do we count boxes?")
    name = NAMES[client]["prompt"]
    assert given == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "What is known."}}
    params = {"query": "How do we count boxes?", "session": "s-1", "project": "/src/shop", "directory": "/src/shop"}
    assert heard.asked == [("recall", params)]
    assert heard.tell("prompt", client, prompt="And shelves?") is None
    assert heard.tell("prompt", client, prompt="And shelves?", session_id="s-2")
    assert len(heard.asked) == 2


def test_where_nothing_is_known_nothing_is_said(heard: Heard) -> None:
    heard.text = " \n"
    assert heard.tell("prompt", prompt="How do we count boxes?") is None


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
def test_a_session_that_was_summed_up_is_told_about_its_topic(heard: Heard, client: str, tmp_path: Path) -> None:
    prompt, *others = LINES[client]
    said = ["old", "/compact", "two", "three", "Boxes are counted by hand.", "five", "six", "go on"]
    transcript = tmp_path / "session.jsonl"
    transcript.write_text("\n".join([*(prompt % text for text in said), '{"half', *others, ""]))
    assert heard.tell("start", client, source="compact", transcript_path=str(transcript))
    assert heard.asked[-1][1]["query"].split("\n\n") == [*said[:1:-1]]
    for nowhere in (str(tmp_path), str(tmp_path / "gone"), "\0", None):
        assert heard.tell("start", client, source="compact", transcript_path=nowhere)
        assert heard.asked[-1][1]["query"] == ""


def test_with_a_session_the_daemon_is_woken(heard: Heard) -> None:
    heard.tell("start", source="startup")
    assert heard.started == [(["opencode", "wake"], "", "/src/shop")]
    assert heard.asked == []


@pytest.mark.parametrize(("client", "key"), [("codex", "last_assistant_message"), ("gemini", "prompt_response")])
def test_what_is_to_be_kept_is_captured_once(heard: Heard, client: str, key: str) -> None:
    for _ in range(2):  # two hooks: a user's and a project's
        heard.tell("prompt", client, prompt="*Remember*: the gate closes at five.")
        heard.tell("stop", client, **{key: "Done. *Remember*: the fork lift is red."})
        heard.tell("stop", client, **{key: "Nothing to say."})
    place = "/src/shop"
    common = ["--session=s-1", f"--project={place}"]
    assert heard.started == [
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
def test_what_nobody_said_is_neither_asked_nor_kept(heard: Heard, prompt: str) -> None:
    assert heard.tell("prompt", prompt=prompt) is None
    assert (heard.asked, heard.started) == ([], [])


@pytest.mark.parametrize("told", [{"session_id": "../x"}, {"session_id": None}, {"hook_event_name": "Notification"}])
def test_what_is_not_known_is_passed_over(heard: Heard, told: dict[str, Any]) -> None:
    assert heard.tell("prompt", **{"prompt": "How do we count?", **told}) is None
    assert not heard.folder.exists()


def test_what_is_kept_names_nothing_and_is_forgotten_in_time(heard: Heard) -> None:
    heard.tell("prompt", prompt="The gate closes at five.")
    (kept,) = heard.folder.iterdir()
    assert "s-1" not in kept.name
    assert "gate" not in kept.read_text()
    assert kept.stat().st_mode & 0o77 == 0
    os.utime(kept, (0, 0))
    heard.tell("start", source="startup", session_id="s-2")
    assert list(heard.folder.iterdir()) == []
