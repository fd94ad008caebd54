"""Facts about Gemini CLI's sessions that the readers rely on."""

from pathlib import Path
from typing import Any

import pytest

from tests.clients_real import sessions
from tests.clients_real.clients import Client, lines
from tests.clients_real.scenes import DONE, FIRST, MEND, OTHER, SECOND, SECRET, TALK, THOUGHT


@pytest.fixture(scope="module")
def mended(gemini: Client) -> Path:
    return sessions.gemini_mended(gemini)


def _messages(path: Path) -> list[dict[str, Any]]:
    """Messages, merged as the client itself does."""
    kept: dict[str, dict[str, Any]] = {}
    for line in lines(path):
        changes: Any = line.get("$set", {})
        if "messages" in changes:
            kept = {message["id"]: message for message in changes["messages"]}
        elif "$rewindTo" in line:
            ids = list(kept)
            kept = {name: kept[name] for name in ids[: ids.index(str(line["$rewindTo"]))]}
        elif "id" in line:
            kept[str(line["id"])] = line
    return list(kept.values())


def _texts(path: Path, kind: str) -> list[str]:
    texts = []
    for message in _messages(path):
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        text = "".join(part.get("text", "") for part in parts)
        texts += [sessions.plain(text)] if message["type"] == kind and text else []
    return [text for text in texts if not text.startswith("<session_context>")]


def test_gemini_rewrites_a_message_when_its_tools_finish(mended: Path) -> None:
    ids = [line["id"] for line in lines(mended) if "id" in line]
    assert len(set(ids)) < len(ids)
    assert _texts(mended, "user") == [MEND, SECRET]
    assert _texts(mended, "gemini")[-2:] == [DONE, TALK["secret"]]


def test_gemini_resume_writes_calls_among_the_parts(mended: Path) -> None:
    """A checkpoint stores messages in the API's format, with thoughts as parts of their own."""
    written = {call["id"]: call["name"] for line in lines(mended) for call in _calls(line)}
    assert list(written.values()) == ["read_file", "replace", "run_shell_command"]
    parts = [
        part for message in _messages(mended) if isinstance(message["content"], list) for part in message["content"]
    ]
    assert [part["functionCall"]["id"] for part in parts if "functionCall" in part] == list(written)
    assert [part["text"] for part in parts if part.get("thought")] == [THOUGHT]


def _calls(line: dict[str, Any]) -> list[dict[str, Any]]:
    return list(line.get("toolCalls", ()))


def test_gemini_writes_the_project_next_to_the_session(gemini: Client, mended: Path) -> None:
    assert (mended.parents[1] / ".project_root").read_text() == str(gemini.project)


def test_gemini_rewind_appends_a_line_that_removes_the_prompt(gemini: Client) -> None:
    session = sessions.gemini_rewound(gemini)
    assert SECOND in session.read_text()
    assert _texts(session, "user") == [FIRST, OTHER]


def test_gemini_delete_session_removes_its_file(gemini: Client) -> None:
    before = set(sessions.transcripts(gemini))
    gemini.run("--delete-session", "1")
    assert len(set(sessions.transcripts(gemini))) == len(before) - 1
