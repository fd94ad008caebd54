"""Read Qwen Code's sessions: `<folder>/projects/<project>/chats/<id>.jsonl`, a tree of records.

Subagents' sessions are in `subagents/<id>/agent-<agent>.jsonl` beside `chats`. (QwenLM/qwen-code:
packages/core/src/services/chatRecordingService.ts and agents/agent-transcript.ts of 0.15.10 and
0.24.4)
"""

import re
from collections.abc import Iterable
from itertools import takewhile
from pathlib import Path

from vault_index.sources.sessions.entries import (
    IGNORED,
    Block,
    Entry,
    EntryClient,
    Reading,
    entry_of,
)
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    object_of,
    objects_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Session, Speaker

# The first key that a part has decides.
_PARTS = {
    "functionCall": Block("call", "functionCall.name", "functionCall.id", "functionCall.args"),
    "functionResponse": Block(
        "result",
        "functionResponse.response.output",
        "functionResponse.id",
        error="functionResponse.response.error",
        diff="resultDisplay.fileDiff",
    ),
    "inlineData": Block("file", "inlineData.mimeType"),
    "fileData": Block("file", "fileData.fileUri"),
    "thought": Block("thought"),
    "text": Block("text"),
    "thoughtSignature": IGNORED,
}
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant", "tool_result": "user"}
_REFERENCED = "\n--- Content from referenced files ---"
"""The part before the contents of files that a prompt names."""
_TYPED = ("", "mid_turn_user_message", "realtime_message")
"""Subtypes of prompts; others are notifications and scheduled prompts."""


class Qwen(EntryClient):
    """The client for Qwen Code."""

    name = "qwen"
    layout = Layout(
        ("projects",),
        re.compile("[^/]+(/chats|/subagents(/[^/]+)?)?"),
        re.compile(r"^[^/]+/(chats|subagents/[^/]+)/[^/]+\.jsonl"),
    )

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of the first record."""
        id_, parent = id_in(text_of(record, "sessionId")), ""
        if file.parent.name != "chats":
            id_, parent = id_in(f"{id_}-{file.stem}"), id_
        if not id_:
            return None
        created = time_of(record, "timestamp") or 0
        return Session(
            id=id_,
            title="",
            directory=text_of(record, "cwd"),
            worktree="",
            parent=parent,
            version=text_of(record, "version"),
            created=created,
            updated=created,
            forked_from=id_in(text_of(record, "forkedFrom", "sessionId")),
        )

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert a record."""
        kind, subtype = text_of(record, "type"), text_of(record, "subtype")
        entry = entry_of(record, "uuid", "parentUuid")
        payload = object_of(record, "systemPayload")
        if kind in _SPEAKERS:
            entry.speaker = _SPEAKERS[kind]
            if kind != "user" or subtype in _TYPED:
                more = {"resultDisplay": object_of(record, "toolCallResult", "resultDisplay")}
                parts = [{**one, **more} for one in objects_of(record, "message", "parts")]
                typed = takewhile(lambda one: one.get("text") != _REFERENCED, parts)
                entry.parts = reading.parts([*typed], _PARTS)
            entry.model = text_of(record, "model")
            usage = object_of(record, "usageMetadata")
            entry.tokens = tokens_of(
                usage, "promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount"
            )
        elif subtype == "chat_compression":
            entry.speaker = "summary"
            first = objects_of(payload, "compressedHistory")[:1]
            entry.parts = [
                part for one in first for part in reading.parts(one.get("parts"), _PARTS)
            ]
        elif subtype == "custom_title":
            reading.title = text_of(payload, "customTitle")
        elif kind != "system":
            reading.report(f"records of type {kind!r}")
        yield entry
