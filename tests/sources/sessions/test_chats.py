"""Exports of chats by Claude and ChatGPT become sessions by `import`."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.api.vaults import opened
from vault_index.errors import UsageError

CLAUDE = {
    "uuid": "0c1d2e3f-0000-4000-8000-000000000001",
    "name": "Herons",
    "created_at": "2026-01-02T03:04:05.000000Z",
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "Where do herons sleep?", "created_at": "2026-01-02T03:04:05Z",
         "content": [], "attachments": [{"file_name": "heron.pdf"}]},
        {"uuid": "m2", "sender": "assistant", "text": "", "created_at": "2026-01-02T03:05:00Z",
         "content": [{"type": "text", "text": "In colonies. AKIAIOSFODNN7EXAMPLQ"}]},
    ],
}  # fmt: skip


def node(id_: str, parent: str, role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"id": id_, "author": {"role": role}, "create_time": 1767400000.5, "content": {"parts": [text]}, **more}
    return {"id": id_, "parent": parent, "message": message}


CHATGPT = {
    "title": "Egrets",
    "create_time": 1767400000.5,
    "mapping": {
        "root": {"id": "root", "parent": None, "message": None},
        "s": node("s", "root", "user", "Custom text", metadata={"is_visually_hidden_from_conversation": True}),
        "a": node("a", "s", "user", "Where do egrets sleep?"),
        "old": node("old", "a", "assistant", "An abandoned answer."),
        "b": node("b", "a", "assistant", "In reeds.", metadata={"model_slug": "gpt-5"}),
    },
    "current_node": "b",
    "conversation_id": "6789abcd-0000-8000-8000-000000000002",
}


def test_import_stores_chats_as_sessions_once(tmp_path: Path) -> None:
    archive = tmp_path / "claude.zip"
    with zipfile.ZipFile(archive, "w") as zipped:
        zipped.writestr("data/conversations.json", json.dumps([CLAUDE, {"uuid": "x"}, 5]))
        zipped.writestr("users.json", "[]")
    plain = tmp_path / "conversations.json"
    plain.write_text(json.dumps([CHATGPT]))
    with opened(tmp_path) as index:
        index.sync()
        assert [one.outcome for one in index.import_(archive, dry_run=True).results] == ["would be created"]
        assert index.search("herons sleep").results == ()
        assert [one.outcome for one in index.import_(archive).results] == ["created"]
        assert [one.outcome for one in index.import_(archive).results] == ["known"]
        assert [one.title for one in index.import_(plain).results] == ["Egrets"]
        heron, *_ = index.search("herons sleep", kind="session").results
        assert (heron.source, heron.title) == ("claude-chat", "Herons")
        text = index.get(str(CLAUDE["uuid"]), full=True).results[0].content
        assert "heron.pdf" in text
        assert "AKIA" not in text
        text = index.get(str(CHATGPT["conversation_id"]), full=True).results[0].content
        assert "In reeds." in text
        for hidden in ("Custom text", "abandoned"):
            assert hidden not in text
        index.forget(str(CLAUDE["uuid"]))
        index.sync()
        assert index.search("herons", kind="session").results == ()
        with zipfile.ZipFile(archive, "w") as zipped:
            zipped.writestr("users.json", "[]")
        with pytest.raises(UsageError, match="no export of"):
            index.import_(archive)
