"""Read Codex CLI's sessions: an append-only JSONL file ("rollout") each.

The path is `<folder>/sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl`. `codex archive`
moves it to `archived_sessions`; newer versions may compress it (`.zst`). A rewound session
continues in another file, `…-<uuid>_<uuid of the file>.jsonl`. Lines of type `response_item` hold
the messages. `event_msg` repeats them, and adds nested calls, exit codes and tokens. (openai/codex:
codex-rs/protocol/src/protocol.rs, models.rs and items.rs, codex-rs/rollout)
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from vault_index.models import FileStamp
from vault_index.sources.files import stamp_of
from vault_index.sources.sessions.client import Conversation
from vault_index.sources.sessions.codex_conversation import CodexConversation
from vault_index.sources.sessions.files import FileClient, Layout
from vault_index.sources.sessions.json_access import (
    Json,
    id_in,
    millis_of,
    object_of,
    text_of,
    time_of,
)
from vault_index.sources.sessions.jsonl import objects_in, plain
from vault_index.sources.sessions.model import Listed, Session

_zstd: Any = None
with suppress(ImportError):
    _zstd = import_module("compression.zstd")
_PACKED: tuple[type[Exception], ...] = (EOFError, _zstd.ZstdError) if _zstd else (EOFError,)
_ROLLOUT = r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([A-Za-z0-9_-]+)\.jsonl(?:\.zst)?"
_NAME = re.compile(_ROLLOUT)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}")
"""UUID version 7, which begins with its time in milliseconds (RFC 9562)."""
_HEAD = 20
"""Lines that may contain the session's metadata."""
_REVERTS = 50
_NO_ZSTD = "skipped compressed Codex CLI sessions: use Python 3.14, or run `zstd -d *.jsonl.zst`"
_OURSELVES = ("guardian", "memory_consolidation", "compact")
"""Internal agents of Codex, without a conversation."""


class Codex(FileClient):
    """The client for Codex CLI."""

    name = "codex"
    layout = Layout(
        ("sessions", "archived_sessions"),
        re.compile("[^/]+(/[^/]+){0,3}"),
        re.compile(f"^([^/]+/){{0,4}}{_ROLLOUT}"),
    )

    def __init__(self, *folders: Path, cache: Path | None = None) -> None:
        super().__init__(*folders, cache=cache)
        self._names: dict[Path, tuple[FileStamp, dict[str, str]]] = {}
        """Session names given by the user, with the stamp of their file."""

    def deleted(self, listed: Listed) -> bool:
        """Return whether the list of threads lacks the session; Codex removes no thread by age."""
        return all(_lacks_thread(folder, listed.session.id) for folder in self.folders)

    def files(self, folder: Path, errors: list[OSError]) -> Iterable[os.DirEntry[str]]:
        """Return the rollouts by name; an uncompressed file hides its compressed copy."""
        self._read_names(folder)
        found = {entry.name: entry for entry in super().files(folder, errors)}
        # Both exist during compression.
        hidden = {f"{name}.zst" for name in found}
        return [entry for name, entry in found.items() if name not in hidden]

    def head(self, file: Path, problems: list[str]) -> Session | None:
        """Read the session from the first lines; None without an id, and for Codex's own agents."""
        if file.suffix == ".zst" and _zstd is None:
            if _NO_ZSTD not in problems:
                problems.append(_NO_ZSTD)
            return None
        if not (lines := list(_until_metadata(file, problems))):
            return None
        last = lines[-1]
        meta = (object_of(last, "payload") or last) if _is_metadata(last) else {}
        ids = (text_of(meta, "id"), _rollout_of(file, 0))
        if not (id_ := next(filter(None, map(id_in, ids)), "")):
            return None
        if (mode := text_of(meta, "history_mode")) not in ("", "legacy", "paginated"):
            problems.append(f"{self.title}: unknown history_mode {mode!r}, parts may be missing")
        spawned = object_of(meta, "source", "subagent")
        kinds = {text_of(meta, "source", "subagent"), text_of(spawned, "other")}
        if object_of(meta, "source").get("internal") or not kinds.isdisjoint(_OURSELVES):
            return None
        times = (time_of(meta, "timestamp"), *(time_of(line, "timestamp") for line in lines))
        folders = (text_of(meta, "cwd"), *(text_of(one, "payload", "cwd") for one in lines))
        parents = (
            text_of(meta, "parent_thread_id"),
            text_of(spawned, "thread_spawn", "parent_thread_id"),
        )
        created = next(filter(None, times), 0)
        if "history_base" in meta and _UUID.fullmatch(id_):  # the file is newer than the session
            created = int(id_[:13].replace("-", ""), 16)
        return Session(
            id=id_,
            title="",
            directory=next(filter(None, folders), ""),
            worktree="",
            parent=next(filter(None, map(id_in, parents)), ""),
            version=text_of(meta, "cli_version"),
            created=created,
            updated=created,
            forked_from=id_in(text_of(meta, "forked_from_id")),
        )

    def read(
        self, listed: Listed, include: Collection[str], earlier: Conversation | None = None
    ) -> Conversation:
        """Read a session, without rolled-back turns and a fork's copies.

        Copies stay if the original is gone, and as long as a fork has no turn of its own.
        """
        file, session = Path(listed.place), listed.session
        sessions = self.listing().sessions if session.forked_from or session.parent else {}
        skips_copies = session.forked_from in sessions or session.parent in sessions
        if not (
            isinstance(earlier, CodexConversation)
            and earlier.skips_copies == skips_copies
            and earlier.continues(file)
        ):
            earlier = CodexConversation(session, file, include, self._lines, skips_copies)
        earlier.extend(session)
        if skips_copies and not earlier.has_own_turn:
            earlier = CodexConversation(session, file, include, self._lines)
            earlier.extend(session)
        if name := self._name_of(session.id):
            earlier.session = replace(earlier.session, title=name)
        return earlier

    def _lines(
        self, file: Path, id_: str, problems: list[str], offset: int = 0, depth: int = 0
    ) -> Iterator[tuple[int, int, Json]]:
        """Yield the lines of a session, beginning in the file before a rewind (`history_base`).

        Lines of earlier files have offset 0.
        """
        lines = _objects(file, problems, offset)
        for first in islice(lines, 0 if offset else 1):
            base = object_of(first[2], "payload", "history_base")
            other = (
                self._file_of(text_of(base, "thread_id"), id_)
                if base and depth < _REVERTS
                else None
            )
            for _, end, line in self._lines(other, id_, problems, 0, depth + 1) if other else ():
                if end <= (millis_of(base, "end_byte_offset") or 0):
                    yield 0, 0, line
            yield first
        yield from lines

    def _file_of(self, rollout: str, id_: str) -> Path | None:
        """Return the file of a rollout id, if it belongs to the session."""
        for path, (_, session) in (self._heads or {}).items():
            if rollout and session and session.id == id_ and _rollout_of(Path(path)) == rollout:
                return Path(path)
        return None

    def _listed(self, session: Session, file: str, stamp: FileStamp) -> Listed:
        """Include the session's name in the stamp."""
        if name := self._name_of(session.id):
            stamp = stamp._replace(ctime_ns=stamp.ctime_ns ^ crc32(name.encode()))
        return super()._listed(session, file, stamp)

    def _now(self, known: Listed) -> Listed | None:
        for folder in self.folders:
            self._read_names(folder)
        return super()._now(known)

    def _name_of(self, id_: str) -> str:
        return next(filter(None, (names.get(id_) for _, names in self._names.values())), "")

    def _read_names(self, folder: Path) -> None:
        """Read the names of sessions if they changed; a later line replaces an earlier one."""
        with suppress(OSError):
            stamp = stamp_of((folder / "session_index.jsonl").stat())
            if folder not in self._names or stamp != self._names[folder][0]:
                rows = [row for _, _, row in objects_in(folder / "session_index.jsonl", [])]
                names = {text_of(one, "id"): text_of(one, "thread_name").strip() for one in rows}
                self._names[folder] = stamp, names


def _lacks_thread(folder: Path, id_: str) -> bool:
    """Return whether the client lists threads, but not this one."""
    import apsw  # late: nothing else needs a database

    from vault_index.sources.sessions.client_database import ClientDatabase

    ids = set[str]()
    for file in filter(Path.is_file, folder.glob("state_*.sqlite")):
        with suppress(apsw.Error, OSError), closing(ClientDatabase(file, busy_ms=0)) as database:
            ids.update(id_ for (id_,) in database.rows("SELECT id FROM threads"))
    return bool(ids) and id_ not in ids


def _is_metadata(line: Json) -> bool:
    """Return whether a line describes the session; in the first versions it has no type."""
    return line.get("type") == "session_meta" or "type" not in line


def _until_metadata(file: Path, problems: list[str]) -> Iterator[Json]:
    for _, _, line in islice(_objects(file, problems), _HEAD):
        yield line
        if _is_metadata(line):
            return


def _rollout_of(file: Path, part: int = -1) -> str:
    """Return the rollout id in a file name, or the session id if `part` is 0."""
    name = _NAME.fullmatch(file.name)
    return name[1].split("_")[part] if name else ""


def _objects(file: Path, problems: list[str], offset: int = 0) -> Iterator[tuple[int, int, Json]]:
    try:
        yield from objects_in(file, problems, offset, opened=_opened)
    except _PACKED as error:
        problems.append(f"cannot decompress {file} ({error}); the rest is missing")


def _opened(file: Path) -> IO[bytes]:
    return _zstd.open(file) if file.suffix == ".zst" else plain(file)
