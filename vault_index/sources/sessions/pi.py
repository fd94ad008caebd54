"""Read pi's sessions: `<folder>/sessions/--<project>--/<time>_<id>.jsonl`, a tree of entries.

(earendil-works/pi, before badlogic/pi-mono: session-format.md and src/core/session-manager.ts in
packages/coding-agent of 0.73.1 and 1.6.0)
"""

import re
from collections.abc import Iterable
from pathlib import Path

from vault_index.sources.sessions.entries import (
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
    millis_of,
    object_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Session, Speaker

_BLOCKS = {
    "text": Block("text"),
    "thinking": Block("thought", "thinking"),
    "image": Block("file", "mimeType"),
    "toolCall": Block("call", "name", "id", "arguments"),
}
_RESULT = {"": Block("result", "content", "toolCallId", error="isError", diff="details.diff")}
_COMMAND = {"": Block("command", "command", exit="exitCode")}
_SUMMARIES = {"compaction", "branch_summary"}
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant"}
_CLIENTS_OWN = {"system", "custom", "hookMessage", "branchSummary", "compactionSummary"}
"""Roles of messages by extensions, and of copies of entries."""
_VERSION = 3


class Pi(EntryClient):
    """The client for pi."""

    name = "pi"
    layout = Layout(("sessions",), re.compile("[^/]+"), re.compile(r"^[^/]+/[^/]+\.jsonl"))

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of the first line."""
        id_, cwd = id_in(text_of(record, "id")), text_of(record, "cwd")
        if record.get("type") != "session" or not id_:
            return None
        if (version := millis_of(record, "version") or 1) > _VERSION:
            problems.append(f"{file}: unknown session version {version}, parts may be missing")
        created = time_of(record, "timestamp") or 0
        original = Path(text_of(record, "parentSession")).stem.rpartition("_")[2]
        return Session(id_, "", cwd, "", "", "", created, created, id_in(original))

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert an entry. The last name of the session is its title."""
        kind, message = text_of(record, "type"), object_of(record, "message")
        if kind == "session":
            return
        if kind == "session_info":
            reading.title = text_of(record, "name")
        entry = entry_of(record, "id", "parentId")
        if kind in _SUMMARIES:
            entry.speaker, entry.parts = "summary", reading.parts(record.get("summary"), _BLOCKS)
        elif kind == "message":
            self._add(message, entry, reading)
        yield entry

    def _add(self, message: Json, entry: Entry, reading: Reading) -> None:
        role = text_of(message, "role")
        if role in _SPEAKERS:
            entry.speaker = _SPEAKERS[role]
            entry.parts = reading.parts(message.get("content"), _BLOCKS)
            entry.model, entry.error = text_of(message, "model"), text_of(message, "errorMessage")
            entry.tokens = tokens_of(object_of(message, "usage"), "input", "", "output")
        elif role == "toolResult":
            entry.parts = reading.parts([message], _RESULT)
        elif role == "bashExecution":
            entry.speaker, entry.parts = "user", reading.parts([message], _COMMAND)
        elif role not in _CLIENTS_OWN:
            reading.report(f"messages of role {role!r}")
