"""Read Amp's threads: `<folder>/threads/T-<uuid>.json`, one JSON object each, replaced on change.

Only prompts have times. (@sourcegraph/amp 0.0.1767830505-ga62310: dist/main.js)
"""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from vault_index.sources.sessions.entries import (
    IGNORED,
    Block,
    Entry,
    EntryClient,
    Reading,
    Result,
    texts_at,
)
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    millis_of,
    object_of,
    objects_of,
    text_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Session, Speaker

_BLOCKS = {
    "text": Block("text"),
    "thinking": Block("thought", "thinking"),
    "image": Block("file", "source.mediaType"),
    "tool_use": Block("call", "name", "id", "input"),
    "summary": Block("text", "summary.summary"),
    "manual_bash_invocation": Block("command", "args.cmd", exit="toolRun.result.exitCode"),
    "redacted_thinking": IGNORED,
    "tool_result": IGNORED,
}
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant", "info": "user"}
_STATUS = {"done": "completed", "error": "error"}


class Amp(EntryClient):
    """The client for Amp."""

    name = "amp"
    layout = Layout(("threads",), re.compile("(?!)"), re.compile(r"^T-[\w-]+\.json"))

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of a thread."""
        created, where = millis_of(record, "created") or 0, object_of(record, "env", "initial")
        folders = (urlsplit(text_of(one, "uri")).path for one in objects_of(where, "trees"))
        return Session(
            id=id_in(text_of(record, "id")) or file.stem,
            title="",
            directory=unquote(next(folders, "")),
            worktree="",
            parent=id_in(text_of(record, "mainThreadID")),
            version=text_of(where, "platform", "clientVersion"),
            created=created,
            updated=created,
        )

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert a thread, without prompts by the client."""
        reading.title, time = text_of(record, "title"), millis_of(record, "created") or 0
        for message in objects_of(record, "messages"):
            role, usage = text_of(message, "role"), object_of(message, "usage")
            if role not in _SPEAKERS:
                reading.report(f"messages of role {role!r}")
            elif not message.get("source"):
                time = millis_of(message, "meta", "sentAt") or time
                blocks = objects_of(message, "content")
                parts = reading.parts(message.get("content"), _BLOCKS)
                summary = any(one.get("type") == "summary" for one in blocks)
                yield Entry(
                    id="",
                    speaker="summary" if summary else _SPEAKERS[role],
                    time=time,
                    parts=[*parts, *_results(blocks)],
                    model=text_of(usage, "model"),
                    tokens=tokens_of(usage, "inputTokens", "", "outputTokens"),
                    finished=text_of(message, "state", "type") != "streaming",
                )


def _results(blocks: Iterable[Json]) -> Iterable[Result]:
    for block in blocks:
        run = object_of(block, "run")
        yield Result(
            text_of(block, "toolUseID"),
            {
                "status": _STATUS.get(text_of(run, "status"), "interrupted"),
                "error": text_of(run, "error", "message"),
                "exit": millis_of(run, "result", "exitCode"),
                "output": texts_at(run, "result.output") or texts_at(run, "result"),
                "child": id_in(text_of(run, "progress", "threadID")),
            },
        )
