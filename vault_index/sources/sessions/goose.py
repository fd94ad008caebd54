"""Read Goose's sessions: `<folder>/sessions/sessions.db`, since 1.10, which imported older ones.

(block/goose: crates/goose/src/session/session_manager.rs and migrations.rs at schema version 13,
crates/goose/src/conversation/message.rs, crates/goose/src/context_mgmt/mod.rs)
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any
from zlib import crc32

from vault_index.models import FileStamp
from vault_index.sources.sessions.client_database import SessionDatabase, blob_of, decoded
from vault_index.sources.sessions.database_client import DatabaseClient
from vault_index.sources.sessions.entries import (
    IGNORED,
    Block,
    Call,
    Entry,
    Reading,
    Result,
)
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    object_from,
    object_of,
    objects_of,
    read_object,
    since_epoch,
    text_of,
    time_of,
)
from vault_index.sources.sessions.model import Listed, Part, Session, Speaker, Text

_CALL = Block("call", "toolCall.value.name", "id", "toolCall.value.arguments")
_BLOCKS = {
    "text": Block("text"),
    "image": Block("file", "mimeType"),
    "thinking": Block("thought", "thinking"),
    "reasoning": Block("thought"),
    "toolRequest": _CALL,
    "frontendToolRequest": _CALL,
    "toolResponse": Block(
        "result",
        "toolResult.value.content",
        "id",
        error="toolResult.error",
        exit="toolResult.value.structuredContent.exit_code",
    ),
    **dict.fromkeys(
        (
            "actionRequired",
            "contextLengthExceeded",
            "conversationCompacted",
            "redactedThinking",
            "summarizationRequested",
            "systemNotification",
            "toolConfirmationRequest",
        ),
        IGNORED,
    ),
}
_COMPACTED = "The previous message contains a summary"
"""Beginning of a sentence in the answer that the client writes after a summary."""
_UNNAMED = re.compile(r"(?:CLI|ACP) Session|New (?:Chat|session)(?: \d+)?")
"""Names of sessions that the model has not named yet."""
_SESSIONS = """
SELECT sessions.id, {sessions.working_dir}, {sessions.name}, {sessions.description},
    {sessions.session_type}, {sessions.model_config_json}, created_at, updated_at,
    count(messages.id), max(messages.id), min(created_timestamp)
FROM sessions LEFT JOIN messages ON session_id = sessions.id
WHERE ?1 IS NULL OR sessions.id = ?1 GROUP BY sessions.id
"""
_MESSAGES = """
SELECT id, role, created_timestamp, {messages.content_json}, {messages.metadata_json}
FROM messages WHERE session_id = ? ORDER BY id
"""


class GooseDatabase(SessionDatabase):
    """An open database."""

    title = "Goose"
    needed = MappingProxyType(
        {
            "sessions": ("id", "working_dir", "created_at", "updated_at"),
            "messages": ("id", "session_id", "role", "content_json", "created_timestamp"),
        }
    )
    optional = ("schema_version",)
    version_sql = "SELECT max(version) FROM schema_version"

    def sessions(self, problems: list[str], id_: str | None = None) -> list[Listed]:
        """Return all sessions, or one; add those without a valid id to `problems`."""
        found = (self._listed(row, problems) for row in self._rows(_SESSIONS, (id_,)))
        return [listed for listed in found if listed is not None]

    def entries(self, listed: Listed, reading: Reading) -> Iterator[Entry]:
        """Yield the messages of a session: before a compaction, its messages, and the summary."""
        hidden = list[Entry]()
        for id_, role, time, content, metadata in self._rows(_MESSAGES, (listed.session.id,)):
            what = f"message {id_} of session {listed.session.id}"
            data = read_object(b'{"parts":%b}' % blob_of(content), what, reading.problems) or {}
            speaker: Speaker = "user" if role == "user" else "assistant"
            model = listed.place[1] if speaker == "assistant" else ""
            parts = [*_parts(data, reading)]
            entry = Entry(
                f"{listed.session.id}-{id_}", None, speaker, since_epoch(time), parts, model
            )
            about = object_from(decoded(metadata))
            if about.get("userVisible") is not False:
                yield entry
            elif any(_COMPACTED in part.text for part in entry.parts if isinstance(part, Text)):
                yield from (replace(one, speaker="summary") for one in hidden[-1:])
            else:
                hidden.append(entry)

    def _listed(self, row: Sequence[Any], problems: list[str]) -> Listed | None:
        id_, folder, name, description, kind, model, *times, count, last, first = row
        if not id_in(str(id_)):
            problems.append(f"{self._path}: skipped a session, it has no valid id")
            return None
        created, updated = (time_of({"": str(time)}, "") or 0 for time in times)
        directory, title = decoded(folder), decoded(name) or decoded(description)
        title = "" if _UNNAMED.fullmatch(title) else title
        session = Session(id_, title, directory, "", "", "", created, max(created, updated))
        stamp = FileStamp(count, updated * 1_000_000, crc32(repr((last, title)).encode()))
        model_name = text_of(object_from(decoded(model)), "model_name")
        shown = count if decoded(kind) != "hidden" else 0
        return Listed(session, stamp, shown, since_epoch(first) or created, (self, model_name))


class Goose(DatabaseClient):
    """The client for Goose."""

    name = "goose"
    database = GooseDatabase
    file = "sessions/sessions.db"


def _parts(data: Json, reading: Reading) -> Iterator[Part | Call | Result]:
    """Convert the parts of a message. Tools lose the prefix of the built-in extension."""
    blocks = objects_of(data, "parts")
    for block in blocks:
        result = object_of(block, "toolResult")
        if isinstance(result.get("value"), list):  # of the first versions
            result["value"] = {"content": result["value"]}
        if object_of(result, "value").get("isError") is True:
            result["error"] = True
    for part in reading.parts(blocks, _BLOCKS):
        if not isinstance(part, Call):
            yield part
            continue
        tool, given = part.tool.removeprefix("developer__"), part.given
        if tool == "text_editor":  # its `command` is what it does to a file
            tool, given = text_of(given, "command"), {**given, "command": ""}
        yield Call(part.id, tool, given)
