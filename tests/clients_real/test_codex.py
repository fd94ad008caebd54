"""Facts about Codex's rollouts that the readers rely on."""

from pathlib import Path
from typing import Any

import pytest

from tests.clients_real import clients, sessions
from tests.clients_real.clients import Client, lines
from tests.clients_real.model import Model
from tests.clients_real.scenes import ARCHIVED, DONE, FIRST, FORK, LONG, MEND, OTHER, SECOND, SECRET, TALK, scenes
from vault_index.models import FileStamp
from vault_index.sources.sessions.codex import Codex
from vault_index.sources.sessions.model import Listed, Session


@pytest.fixture(scope="module")
def mended(codex: Client) -> Path:
    return sessions.codex_mended(codex)


def _payloads(path: Path, kind: str) -> list[Any]:
    return [line["payload"] for line in lines(path) if line["type"] == kind]


def _typed(path: Path) -> list[str]:
    """Prompts typed by the user, which have a mark that inserted prompts lack."""
    return [
        sessions.plain(part["text"])
        for item in _payloads(path, "response_item")
        if item["type"] == "message" and item["role"] == "user"
        for part, kind in zip(
            item["content"], item["internal_chat_message_metadata_passthrough"]["content_item_kinds"], strict=True
        )
        if kind == "user.text"
    ]


def _events(path: Path, kind: str) -> list[str]:
    """Items of this kind that the client reports as complete."""
    items = [event["item"] for event in _payloads(path, "event_msg") if event["type"] == "item_completed"]
    return [sessions.plain(item["content"][0]["text"]) for item in items if item["type"] == kind]


def test_codex_writes_each_prompt_twice(mended: Path) -> None:
    assert _typed(mended) == _events(mended, "UserMessage") == [MEND, SECRET]
    assert _events(mended, "AgentMessage")[-2:] == [DONE, TALK["secret"]]


def test_codex_names_the_model_in_the_turn_context(mended: Path) -> None:
    assert "model" not in _payloads(mended, "session_meta")[0]
    assert {turn["model"] for turn in _payloads(mended, "turn_context")} == {"gpt-5.5"}


def test_codex_writes_a_patch_as_a_custom_tool_call(mended: Path) -> None:
    calls = [item for item in _payloads(mended, "response_item") if item["type"] == "custom_tool_call"]
    assert [call["name"] for call in calls] == ["apply_patch"]
    assert "*** Update File: app.py" in calls[0]["input"]


def test_codex_fork_holds_only_later_items(codex: Client, mended: Path) -> None:
    before = lines(mended)[-1]["ordinal"]
    forked = sessions.codex_forked(codex, mended)
    meta = _payloads(forked, "session_meta")[0]
    assert meta["forked_from_id"] == sessions.codex_id(mended)
    assert isinstance(before, int)
    assert meta["forked_from_ordinal_exclusive"] == lines(forked)[0]["ordinal"] == before + 1
    assert _typed(forked) == [FORK]


def test_codex_archive_moves_and_delete_removes_a_session(codex: Client) -> None:
    archived = sessions.codex_archived(codex)
    assert _typed(archived) == [ARCHIVED]
    assert not list((codex.home / ".codex/sessions").rglob(archived.name))
    held = Session(sessions.codex_id(archived), "", "", "", "", "", 0, 0)
    listed = Listed(held, FileStamp(0, 0, 0), 1, 0)
    assert not Codex(codex.home / ".codex").deleted(listed)  # the answer if its file disappeared now
    codex.run("delete", "--force", sessions.codex_id(archived))
    assert not archived.exists()
    assert Codex(codex.home / ".codex").deleted(listed)


def test_codex_terminal_handles_compaction_interrupt_and_rewind(place: Path) -> None:
    """After a rewind, the thread continues in a second file that names its origin."""
    model = Model(scenes(place / "terminal/shop")["codex"])
    codex = clients.codex(place / "terminal", model, clients.installed("codex"))
    first, second = sessions.codex_on_a_terminal(codex, model)
    model.shutdown()
    model.server_close()
    assert _typed(first) == [FIRST, SECOND, LONG]
    assert len(_payloads(first, "compacted")) == 1
    assert [event["reason"] for event in _payloads(first, "event_msg") if event["type"] == "turn_aborted"] == [
        "interrupted"
    ]
    base = _payloads(second, "session_meta")[0]["history_base"]
    assert sessions.codex_id(second) == sessions.codex_id(first) == base["thread_id"]
    assert f"{base['thread_id']}_" in second.stem
    kept = first.read_bytes()[: base["end_byte_offset"]]
    assert len(kept.splitlines()) == base["end_ordinal_exclusive"] == lines(second)[0]["ordinal"]
    assert LONG not in kept.decode()
    assert _typed(second) == [OTHER]
    codex.run("delete", "--force", sessions.codex_id(first))
    assert not list(codex.home.rglob("rollout-*"))
