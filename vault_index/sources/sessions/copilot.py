"""Read GitHub Copilot CLI's sessions: `<folder>/session-state/<id>/events.jsonl`, a list of events.

Older versions wrote `session-state/<id>.jsonl`. (@github/copilot 1.0.102:
schemas/session-events.schema.json)
"""

import re
from collections.abc import Iterable
from pathlib import Path

from vault_index.sources.sessions.entries import (
    Block,
    Call,
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
    objects_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Attachment, Session

_TEXTS = {"text": Block("text"), "thought": Block("thought")}
_DONE = Block(
    "result", "result.content", "toolCallId", error="error.message", exit="shellExecution.exitCode"
)
_RESULT, _EDIT = {"": _DONE}, {"": _DONE._replace(diff="result.detailedContent")}
_VERSION = 1


class Copilot(EntryClient):
    """The client for GitHub Copilot CLI."""

    name = "copilot"
    layout = Layout(
        ("session-state",),
        re.compile("[^/]+"),
        re.compile(r"^(?:[^/]+/events|[\w-]+)\.jsonl"),
    )

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of its first event."""
        data = object_of(record, "data")
        id_ = id_in(text_of(data, "sessionId"))
        if record.get("type") != "session.start" or not id_:
            return None
        if (version := millis_of(data, "version") or _VERSION) > _VERSION:
            problems.append(f"{file}: unknown session version {version}, parts may be missing")
        created = time_of(data, "startTime") or time_of(record, "timestamp") or 0
        where = object_of(data, "context")
        return Session(
            id=id_,
            title="",
            directory=text_of(where, "cwd"),
            worktree=text_of(where, "gitRoot"),
            parent="",
            version=text_of(data, "copilotVersion"),
            created=created,
            updated=created,
        )

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert an event. Prompts with a source are by skills, agents and the client itself."""
        kind, data = text_of(record, "type"), object_of(record, "data")
        entry = entry_of(record, "id", "parentId")
        if kind == "user.message" and text_of(data, "source") in ("", "user"):
            files = [text_of(one, "displayName") for one in objects_of(data, "attachments")]
            entry.speaker = "user"
            entry.parts = [*reading.parts(data.get("content"), _TEXTS), *map(Attachment, files)]
        elif kind == "assistant.message":
            thoughts = reading.parts(data.get("reasoningText"), _TEXTS, "thought")
            calls = [
                Call(text_of(one, "toolCallId"), text_of(one, "name"), object_of(one, "arguments"))
                for one in objects_of(data, "toolRequests")
            ]
            entry.parts = [*thoughts, *reading.parts(data.get("content"), _TEXTS), *calls]
            entry.model = text_of(data, "model")
            entry.tokens, reading.tokens = reading.tokens, 0
        elif kind == "tool.execution_complete":
            # A call that only read has a diff of equal lines.
            entry.parts = reading.parts([data], _EDIT if data.get("fileEdits") else _RESULT)
        elif kind == "session.compaction_complete":
            entry.speaker, entry.parts = (
                "summary",
                reading.parts(data.get("summaryContent"), _TEXTS),
            )
        elif kind == "session.usage_record":
            usage = object_of(data, "usage")
            reading.tokens += tokens_of(usage, "inputTokens", "cacheReadTokens", "outputTokens")
        elif kind in ("session.error", "abort"):
            entry.error = text_of(data, "message") or text_of(data, "reason")
        yield entry
