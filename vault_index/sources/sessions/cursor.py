"""Read Cursor's sessions, from the editor's database and from transcripts of agents.

`state.vscdb` holds a session as `composerData:<id>`, and its messages ("bubbles") as
`bubbleId:<id>:<bubble>`. A changed row gets a new rowid, so that only keys are read to see what
changed. `~/.cursor/projects/<project>/agent-transcripts/` holds a file (`.jsonl`) for each session
of an agent, without times; it counts if the database lacks the session. (No source is published:
vltansky/cursor-chat-history-mcp at e1549252, src/database/types.ts; wesm/agentsview at aea2eb12,
internal/parser/cursor.go)
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote, urlsplit
from zlib import crc32

from vault_index.models import FileStamp
from vault_index.sources.sessions.client import Conversation, Listing
from vault_index.sources.sessions.client_database import SessionDatabase, decoded
from vault_index.sources.sessions.database_client import DatabaseClient
from vault_index.sources.sessions.entries import (
    Block,
    Call,
    Entry,
    EntryClient,
    Reading,
)
from vault_index.sources.sessions.files import Layout
from vault_index.sources.sessions.json_access import (
    Json,
    between,
    id_in,
    list_of,
    millis_of,
    object_from,
    object_of,
    objects_of,
    text_of,
    time_of,
    tokens_of,
)
from vault_index.sources.sessions.model import Listed, Session, Text

_BLOCKS = {
    "text": Block("text"),
    "thinking": Block("thought", "thinking"),
    "tool_use": Block("call", "name", "id", "input"),
    "tool_result": Block("result", "content", "tool_use_id", error="is_error"),
}
_FILES = "target_file", "targetFile", "relativeWorkspacePath", "file_path", "path"
"""Keys of the file in the arguments of a tool."""
_VERSIONS = range(1, 40)
"""Versions (`_v`) of a session that are alike in what is read here."""
_LATEST = 1 << 43
"""Milliseconds that a stamp can hold in nanoseconds."""
_ROWS = """
SELECT substr(key, ?3, 36), max(rowid), count(*) FROM cursorDiskKV
WHERE key >= ?1 AND key < ?2 GROUP BY 1
"""
_VALUES = "SELECT key, {cursorDiskKV.value} FROM cursorDiskKV WHERE key >= ?1 AND key < ?2"


class CursorDatabase(SessionDatabase):
    """An open database."""

    title = "Cursor"
    needed = MappingProxyType({"cursorDiskKV": ("key", "value")})

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._seen: dict[str, tuple[int, Session]] = {}
        """The sessions, with the rowids that they were read from."""

    def sessions(self, problems: list[str], id_: str | None = None) -> list[Listed]:
        """Return all sessions, or one."""
        last_rows = self._rows(_ROWS, _range("bubbleId:", id_ or "", 10))
        bubbles, found = {known: rest for known, *rest in last_rows}, list[Listed]()
        for known, row, _ in self._rows(_ROWS, _range("composerData:", id_ or "", 14)):
            if id_in(str(known)):
                if known not in self._seen or self._seen[known][0] != row:
                    self._seen[known] = row, self._session(known, problems)
                session = self._seen[known][1]
                last, count = bubbles.get(known, (0, 0))
                stamp = FileStamp(
                    count, session.updated % _LATEST * 1_000_000, crc32(f"{row}/{last}".encode())
                )
                found.append(Listed(session, stamp, count, session.created, (self,)))
        return found

    def entries(self, listed: Listed, reading: Reading) -> Iterator[Entry]:
        """Yield the messages of a session, in the order of its list."""
        id_ = listed.session.id
        data, rows = (
            self._value(f"composerData:{id_}"),
            self._rows(_VALUES, _range("bubbleId:", id_)),
        )
        bubbles = {str(key).rpartition(":")[2]: object_from(decoded(data)) for key, data in rows}
        order = [
            text_of(one, "bubbleId") for one in objects_of(data, "fullConversationHeadersOnly")
        ]
        model = text_of(data, "modelConfig", "modelName")
        yield from (_entry(bubbles[one], one, model, reading) for one in order if one in bubbles)

    def _value(self, key: str) -> Json:
        rows = self._rows(f"{_VALUES} AND key = ?1", (key, f"{key};"))
        return object_from(decoded(rows[0][1])) if rows else {}

    def _session(self, id_: str, problems: list[str]) -> Session:
        data = self._value(f"composerData:{id_}")
        if (version := millis_of(data, "_v") or 1) not in _VERSIONS:
            problems.append(f"session {id_}: unknown version {version}, parts may be missing")
        first = next(iter(objects_of(data, "fullConversationHeadersOnly")), {})
        bubble = self._value(f"bubbleId:{id_}:{text_of(first, 'bubbleId')}")
        opened = next(map(str, list_of(bubble, "workspaceUris")), "")
        folder = text_of(data, "workspaceIdentifier", "uri", "fsPath")
        return Session(
            id=id_,
            title=text_of(data, "name"),
            directory=folder or unquote(urlsplit(opened).path),
            worktree="",
            parent=id_in(text_of(data, "subagentInfo", "parentComposerId")),
            version="",
            created=millis_of(data, "createdAt") or 0,
            updated=millis_of(data, "lastUpdatedAt") or millis_of(data, "createdAt") or 0,
        )


class Transcripts(EntryClient):
    """The transcripts of agents."""

    name = "cursor"
    layout = Layout(
        ("projects",),
        re.compile(r"[^/]+(/agent-transcripts(/[\w-]+(/subagents)?)?)?"),
        re.compile(r"^[^/]+/agent-transcripts/([\w-]+/(subagents/)?)?[\w-]+\.jsonl"),
    )

    def session_of(self, record: Json, file: Path, problems: list[str]) -> Session | None:
        """Return the session of a file. Its project is a path with `-` in place of `/`."""
        above, _, inside = str(file).rpartition("/agent-transcripts/")
        slug, parent = Path(above).name, inside.rpartition("/subagents/")[0]
        written, place = int(file.stat().st_mtime * 1000), Path("/", *slug.split("-"))
        folder = str(place) if place.is_dir() else slug
        return Session(id_in(file.stem), "", folder, "", parent, "", written, written)

    def entries(self, record: Json, reading: Reading) -> Iterable[Entry]:
        """Convert a line. Results of tools are not recorded."""
        entry = Entry("", speaker="user" if record.get("role") == "user" else "assistant")
        for part in reading.parts(object_of(record, "message").get("content"), _BLOCKS):
            if isinstance(part, Text):
                said = between(part.text, "<user_query>", "</user_query>").strip()
                entry.parts = [*entry.parts, Text(said or part.text)]
            elif isinstance(part, Call):
                done = {"status": "completed"}
                call = part._replace(given=_named(part.given), result=done)
                entry.parts = [*entry.parts, call]
        yield entry


class Cursor(DatabaseClient):
    """The client for Cursor. A session in the database hides its transcript."""

    name = "cursor"
    database = CursorDatabase
    file = "state.vscdb"

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        super().__init__(*folders, cache=cache)
        self._transcripts = Transcripts(*folders, cache=cache)

    def present(self) -> bool:
        """Return whether there is a database or a transcript."""
        return super().present() or self._transcripts.present()

    def listing(self) -> Listing:
        """List the sessions; without transcripts, while the database cannot be read."""
        mine = super().listing()
        if mine.faults:
            return mine
        others = self._transcripts.listing()
        problems = (*mine.problems, *others.problems)
        return Listing({**others.sessions, **mine.sessions}, others.faults, problems)

    def session(self, id_: str) -> Listed | None:
        """Return a session. Raises VaultIndexError."""
        return super().session(id_) or self._transcripts.session(id_)

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a whole session."""
        if isinstance(listed.place, str):
            return self._transcripts.read(listed, include)
        return super().read(listed, include)

    def deleted(self, listed: Listed) -> bool:
        """Return False: the session may have been a transcript."""
        return False

    def version(self) -> list[object]:
        """Return a value that changes when a database or a transcript is written."""
        return [*super().version(), self._transcripts.version()]

    def watched(self) -> Sequence[Path]:
        """Return the folders of databases and transcripts."""
        return [*super().watched(), *self._transcripts.watched()]


def _entry(bubble: Json, id_: str, model: str, reading: Reading) -> Entry:
    """Convert a bubble, which holds a call together with its result."""
    kind, tool = bubble.get("type"), object_of(bubble, "toolFormerData")
    if kind not in (1, 2):
        reading.report(f"messages of type {kind!r}")
    thought = text_of(bubble, "thinking", "text") or text_of(bubble, "thinking")
    texts = {"thinking": thought}, {"text": text_of(bubble, "text")}
    parts = reading.parts(list(texts), _BLOCKS)
    status = text_of(tool, "status") or "completed"
    if name := text_of(tool, "name"):
        given = object_from(text_of(tool, "params")) | object_from(text_of(tool, "rawArgs"))
        result = object_from(text_of(tool, "result"))
        held: dict[str, Any] = {
            "status": status,
            "exit": millis_of(result, "exitCodeV2"),
            "output": text_of(result, "output") or text_of(result, "contents"),
        }
        parts.append(Call(id_, name, _named(given), held))
    return Entry(
        id=id_,
        speaker="user" if kind == 1 else "assistant",
        time=time_of(bubble, "createdAt") or 0,
        parts=parts,
        model=model if kind == 2 else "",
        tokens=tokens_of(object_of(bubble, "tokenCount"), "inputTokens", "", "outputTokens"),
        finished=status not in ("loading", "running"),
    )


def _named(given: Json) -> Json:
    """Return the arguments of a tool with its file as `path`."""
    return {**given, "path": next(filter(None, (text_of(given, key) for key in _FILES)), "")}


def _range(prefix: str, id_: str, *begin: int) -> tuple[Any, ...]:
    """Return the bounds of the keys of all sessions, or of one."""
    low = f"{prefix}{id_}"
    return low, f"{low};" if id_ else f"{prefix[:-1]};", *begin
