"""Read Crush's sessions: `.crush/crush.db` in the folder of each project.

`<folder>/projects.json` lists the projects. Older versions did not write it, so the projects of
other clients' sessions are searched too. Times are in seconds. (charmbracelet/crush at 37f36e93:
internal/db/migrations, internal/message/content.go, internal/projects/projects.go)
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zlib import crc32

from vault_index.models import FileStamp
from vault_index.sources.sessions.client import Listing
from vault_index.sources.sessions.client_database import SessionDatabase, blob_of, decoded
from vault_index.sources.sessions.database_client import DatabaseClient
from vault_index.sources.sessions.entries import (
    IGNORED,
    Block,
    Entry,
    Reading,
)
from vault_index.sources.sessions.json_access import (
    id_in,
    object_in,
    object_of,
    objects_of,
    read_object,
    since_epoch,
    text_of,
)
from vault_index.sources.sessions.model import Listed, Session, Speaker

_BLOCKS = {
    "text": Block("text", "data.text"),
    "reasoning": Block("thought", "data.thinking"),
    "image_url": Block("file", "data.url"),
    "binary": Block("file", "data.Path"),
    "tool_call": Block("call", "data.name", "data.id", "data.input"),
    "tool_result": Block("result", "data.content", "data.tool_call_id", error="data.is_error"),
    "finish": IGNORED,
    "shell_command": Block("command", "data.command", exit="data.exit_code"),
}
_SPEAKERS: dict[str, Speaker] = {"user": "user", "assistant": "assistant", "tool": "assistant"}
_SESSIONS = """
SELECT sessions.id, parent_session_id, {sessions.title}, sessions.created_at, sessions.updated_at,
    max(messages.updated_at), count(messages.id), sum(octet_length(parts))
FROM sessions LEFT JOIN messages ON session_id = sessions.id
WHERE ?1 IS NULL OR replace(sessions.id, '$', '-') = ?1 GROUP BY sessions.id
"""
_MESSAGES = """
SELECT id, role, created_at, {messages.model}, {messages.parts}, {messages.is_summary_message}
FROM messages WHERE replace(session_id, '$', '-') = ? ORDER BY created_at, rowid
"""


class CrushDatabase(SessionDatabase):
    """An open database."""

    title = "Crush"
    needed = MappingProxyType(
        {
            "sessions": ("id", "parent_session_id", "title", "created_at", "updated_at"),
            "messages": ("id", "session_id", "role", "parts", "created_at", "updated_at"),
        }
    )
    optional = ("goose_db_version",)
    version_sql = "SELECT max(version_id) FROM goose_db_version"

    def sessions(self, problems: list[str], id_: str | None = None) -> list[Listed]:
        """Return all sessions, or one. A subagent's id is `<message>$$<call>`."""
        found, folder = list[Listed](), self._path.parents[1]
        for raw, above, title, *times, count, size in self._rows(_SESSIONS, (id_,)):
            if not (known := _id(raw)):
                problems.append(f"{self._path}: skipped a session, it has no valid id")
                continue
            created, last = since_epoch(times[0]), max(map(since_epoch, times))
            named = decoded(title)
            session = Session(known, named, str(folder), "", _id(above), "", created, last)
            stamp = FileStamp(size or 0, last * 1_000_000, crc32(repr((count, named)).encode()))
            found.append(Listed(session, stamp, count, created, (self,)))
        return found

    def entries(self, listed: Listed, reading: Reading) -> Iterator[Entry]:
        """Yield the messages of a session."""
        for id_, role, created, model, parts, summary in self._rows(
            _MESSAGES, (listed.session.id,)
        ):
            what = f"message {id_} of session {listed.session.id}"
            data = read_object(b'{"parts":%b}' % blob_of(parts), what, reading.problems) or {}
            blocks = objects_of(data, "parts")
            if role not in _SPEAKERS:
                reading.report(f"messages of role {role!r}")
                continue
            entry = Entry(str(id_), None, _SPEAKERS[role], since_epoch(created))
            entry.parts = reading.parts(blocks, _BLOCKS)
            entry.model = decoded(model)
            ends = [object_of(one, "data") for one in blocks if one.get("type") == "finish"]
            entry.finished = bool(ends) or role != "assistant"
            failed = (one for one in ends if one.get("reason") == "error")
            entry.error = next((text_of(one, "message") for one in failed), "")
            if blob_of(summary) == b"1":
                entry.speaker = "summary"
            yield entry


class Crush(DatabaseClient):
    """The client for Crush. A data folder may also be a project, or hold the database."""

    name = "crush"
    database = CrushDatabase
    file = "crush.db"

    def databases(self) -> Sequence[Path]:
        """Return the existing databases."""
        listed = (object_in(folder / "projects.json") for folder in self.folders)
        named = (
            text_of(one, "data_dir") for data in listed for one in objects_of(data, "projects")
        )
        given = (*self.folders, *(folder / ".crush" for folder in self.folders))
        paths = (folder / self.file for folder in (*map(Path, filter(None, named)), *given))
        return [*dict.fromkeys((*filter(Path.is_file, paths), *self.in_projects()))]

    def present(self) -> bool:
        """Return whether a database exists; if none is known, look in other clients' projects."""
        return bool(self.databases() or self.in_projects(look=True))

    def listing(self) -> Listing:
        """List the sessions of all databases, also of new ones in other clients' projects."""
        self.in_projects(look=True)
        return super().listing()

    def deleted(self, listed: Listed) -> bool:
        """Return whether the database of the session's project exists, which then lacks it."""
        folders = {str(path.parents[1]) for path in self.databases()}
        return listed.session.directory in folders

    def watched(self) -> Sequence[Path]:
        """Return the folders of the databases and of the list of projects."""
        self.in_projects(look=True)
        return [*self.folders, *(path.parent for path in self.databases())]

    def concerns(self, path: str) -> bool:
        """Return whether a path is a database, its `-wal` file, or the list of projects."""
        return super().concerns(path) or path.endswith("/projects.json")


def _id(raw: Any) -> str:
    return id_in(str(raw or "").replace("$", "-"))
