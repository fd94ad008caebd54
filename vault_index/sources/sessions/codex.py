"""Codex CLI: a "rollout" of JSON lines for each session, which is only appended to.

`<folder>/sessions/<year>/<month>/<day>/rollout-<time>-<uuid>.jsonl`; `codex archive` moves it to `archived_sessions`,
and newer ones may pack it (`.zst`). One that is taken back goes on in another, `…-<uuid>_<uuid of the file>.jsonl`.
What was said stands in lines of the type `response_item`; `event_msg` repeats it, and is asked for what stands nowhere
else: calls that a call made, exit codes, tokens.
(openai/codex: codex-rs/protocol/src/protocol.rs, models.rs and items.rs, codex-rs/rollout)
"""

import os
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import IO, Any
from zlib import crc32

from vault_index.disk import os_errors_as
from vault_index.models import FileStamp
from vault_index.sources.reading import stamp_of
from vault_index.sources.sessions.client import RewoundError
from vault_index.sources.sessions.codex_turns import Rollback, Turns, kept_prompts, left_of
from vault_index.sources.sessions.files import FileClient, is_file, is_folder
from vault_index.sources.sessions.lines import objects_before, objects_in, plain
from vault_index.sources.sessions.model import Listed, Message, Session, Text
from vault_index.sources.sessions.values import Json, millis_of, object_of, text_of, time_of, title_of

_zstd: Any = None
with suppress(ImportError):
    _zstd = import_module("compression.zstd")
_PACKED: tuple[type[Exception], ...] = (EOFError, _zstd.ZstdError) if _zstd else (EOFError,)
_NAME = re.compile(r"rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-([A-Za-z0-9_-]+)\.jsonl(?:\.zst)?")
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TIME = re.compile(rb'\{"timestamp":\s*"([^"]{10,40})"')
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}")
"""Version 7: it begins with the milliseconds of its time (RFC 9562)."""
_TURN = re.compile(rb'"turn_id":\s*"([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21})"')
_HEAD = 20
"""In lines: the first says whose session it is, or else one soon behind it."""
_DEPTH = 4
_BACK = 2000
"""Lines in which the model of a turn is looked for."""
_REVERTS = 50
_NO_ZSTD = (
    "sessions that Codex CLI packed (.jsonl.zst) are left out: this Python cannot unpack them, 3.14 can;"
    " or unpack them beside, with `zstd -d`"
)
_OURSELVES = ("guardian", "memory_consolidation", "compact")
"""Agents that Codex asks for its own ends: nobody spoke with them."""


class Codex(FileClient):
    name = "codex"
    title = "Codex CLI"

    def __init__(self, folder: Path, cache: Path | None = None) -> None:
        super().__init__(folder, cache)
        self._names: tuple[FileStamp | None, dict[str, str]] = None, {}
        """What sessions were called by the user, with the stamp of the file that says so."""

    def watched(self) -> Sequence[Path]:
        return [self.folder / "sessions", self.folder / "archived_sessions"]

    def concerns(self, path: str) -> bool:
        return _NAME.fullmatch(os.path.basename(path)) is not None

    def resume(self, session: str) -> Sequence[str]:
        return ["codex", "resume", session]

    def deleted(self, listed: Listed) -> bool:
        """Its user's delete takes a thread out of the list of all threads. It sweeps nothing."""
        import apsw  # late: no other question needs a database

        from vault_index.sources.sessions.client_database import ClientDatabase

        ids = set[str]()
        for file in filter(Path.is_file, self.folder.glob("state_*.sqlite")):
            with suppress(apsw.Error, OSError), closing(ClientDatabase(file, busy_ms=0)) as database:
                ids.update(id_ for (id_,) in database.rows("SELECT id FROM threads"))
        return bool(ids) and listed.session.id not in ids

    def files(self) -> Iterator[os.DirEntry[str]]:
        self._named()
        found: dict[str, os.DirEntry[str]] = {}
        faults: list[OSError] = []
        for folder in self.watched():
            for entry in _rollouts(os.fspath(folder), faults):
                name = entry.name.removesuffix(".zst")
                if name == entry.name or name not in found:  # both are there while one is packed
                    found[name] = entry
        yield from (found[name] for name in sorted(found))
        if faults:
            raise faults[0]

    def head(self, file: Path, problems: list[str]) -> Session | None:
        if file.suffix == ".zst" and _zstd is None:
            if _NO_ZSTD not in problems:
                problems.append(_NO_ZSTD)
            return None
        meta: Json = {}
        said: list[Json] = []
        for _, _, line in islice(_objects(file, problems), _HEAD):
            said.append(line)
            if line.get("type") == "session_meta" or "type" not in line:  # of the first versions
                meta = object_of(line, "payload") or line
                break
        ids = (text_of(meta, "id"), _rollout_of(file, 0))
        id_ = next((one for one in ids if _ID.fullmatch(one)), "")
        if not said or not id_:
            return None
        if (mode := text_of(meta, "history_mode")) not in ("", "legacy", "paginated"):
            problems.append(f"{self.title}: the way {mode!r} of keeping a session is not known, parts may be missing")
        spawned = object_of(meta, "source", "subagent")
        if object_of(meta, "source").get("internal") or any(
            one in _OURSELVES for one in (text_of(meta, "source", "subagent"), text_of(spawned, "other"))
        ):
            return None
        times = (time_of(meta, "timestamp"), *(time_of(line, "timestamp") for line in said))
        parents = (text_of(meta, "parent_thread_id"), text_of(spawned, "thread_spawn", "parent_thread_id"))
        created = next((one for one in times if one), 0)
        if "history_base" in meta and _UUID.fullmatch(id_):  # the file is younger
            created = int(id_[:13].replace("-", ""), 16)
        return Session(
            id=id_,
            title="",
            directory=text_of(meta, "cwd") or next(filter(None, (text_of(one, "payload", "cwd") for one in said)), ""),
            worktree="",
            parent=next((one for one in parents if _ID.fullmatch(one)), ""),
            version=text_of(meta, "cli_version"),
            created=created,
            updated=created,
            forked_from=fork if _ID.fullmatch(fork := text_of(meta, "forked_from_id")) else "",
        )

    def read(
        self, listed: Listed, include: Collection[str], problems: list[str], offset: int = 0
    ) -> tuple[Session, Generator[Message]]:
        file, session = Path(listed.place), listed.session
        if offset and file.suffix == ".zst":
            raise RewoundError
        copied = bool(session.forked_from or session.parent)
        unread = f"{file} cannot be read", "check its permissions"
        with os_errors_as(*unread):
            taken_back, updated, own_turn = _scan(file, offset, session.id if copied else "")
        if offset and taken_back:
            raise RewoundError
        # What a fork begins with is left to its original, where that is still there.
        copies = own_turn and any(one in self.listing().sessions for one in (session.forked_from, session.parent))

        def messages(problems: list[str], offset: int = 0) -> Iterator[Message | Rollback]:
            lines = _objects(file, problems, offset) if offset else self._whole(file, session.id, problems)
            with os_errors_as(*unread):
                turns = Turns(session, include, problems, skips_copies=copies)
                turns.go_on(islice(objects_before(file, offset), _BACK if offset else 0))
                yield from turns.messages(lines, offset)

        prompts = (one.parts for one in messages([]) if isinstance(one, Message) and one.speaker == "user")
        said = next((part.text for parts in prompts for part in parts if isinstance(part, Text)), "")
        title = self._named().get(session.id) or title_of(said)
        kept = kept_prompts(messages([])) if taken_back else None
        return replace(session, title=title, updated=max(updated, session.created)), left_of(
            messages(problems, offset), kept, problems
        )

    def _whole(self, file: Path, id_: str, problems: list[str], depth: int = 0) -> Iterator[tuple[int, int, Json]]:
        """The lines of a session, whose first ones stand in another file of the same session where it was taken back
        (`history_base`); those have no place in this one."""
        lines = _objects(file, problems)
        for first in islice(lines, 1):
            base = object_of(first[2], "payload", "history_base")
            other = self._file_of(text_of(base, "thread_id"), id_) if base and depth < _REVERTS else None
            for _, end, line in self._whole(other, id_, problems, depth + 1) if other else ():
                if end <= (millis_of(base, "end_byte_offset") or 0):
                    yield 0, 0, line
            yield first
        yield from lines

    def _file_of(self, rollout: str, id_: str) -> Path | None:
        """The file of a rollout, if it is one of the session."""
        for path, (_, session) in (self._heads or {}).items():
            if rollout and session and session.id == id_ and _rollout_of(Path(path)) == rollout:
                return Path(path)
        return None

    def _now(self, known: Listed) -> Listed | None:
        self._named()
        return super()._now(known)

    def _listed(self, session: Session, file: str, stamp: FileStamp) -> Listed:
        """Another name is a change, too."""
        if name := self._names[1].get(session.id):
            stamp = stamp._replace(ctime_ns=stamp.ctime_ns ^ crc32(name.encode()))
        return super()._listed(session, file, stamp)

    def _named(self) -> dict[str, str]:
        """The file is appended to with each new name."""
        index = self.folder / "session_index.jsonl"
        with suppress(OSError):
            stamp = stamp_of(index.stat())
            if stamp != self._names[0]:
                rows = [row for _, _, row in objects_in(index, [])]
                self._names = stamp, {text_of(row, "id"): text_of(row, "thread_name").strip() for row in rows}
        return self._names[1]


def _rollouts(folder: str, faults: list[OSError], depth: int = 0) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_folder(entry):
                    if depth < _DEPTH:
                        yield from _rollouts(entry.path, faults, depth + 1)
                elif _NAME.fullmatch(entry.name) and is_file(entry):
                    yield entry
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        faults.append(error)


def _rollout_of(file: Path, part: int = -1) -> str:
    """The id of a file, or, for 0, that of its session: both are the same at first."""
    name = _NAME.fullmatch(file.name)
    return name[1].split("_")[part] if name else ""


def _objects(file: Path, problems: list[str], offset: int = 0) -> Iterator[tuple[int, int, Json]]:
    try:
        yield from objects_in(file, problems, offset, opened=_opened)
    except _PACKED as error:
        problems.append(f"{file} cannot be unpacked ({error}); what stands behind it is missing")


def _opened(file: Path) -> IO[bytes]:
    return _zstd.open(file) if file.suffix == ".zst" else plain(file)


def _scan(file: Path, offset: int, fork: str) -> tuple[bool, int, bool]:
    """Whether turns were taken back, when the last line was written, and whether a fork has a turn of its own: the ids
    of turns and sessions begin with their time. Of the bytes alone, because all of a file is asked."""
    taken_back = own = False
    last = b""
    with suppress(*_PACKED), _opened(file) as lines:
        if offset:
            lines.seek(offset - 1)
            if lines.read(1) != b"\n":
                raise RewoundError
        for line in lines:
            taken_back = taken_back or b'"thread_rolled_back"' in line
            last = time[1] if (time := _TIME.match(line)) else last
            own = own or bool(fork and any(turn.decode() > fork for turn in _TURN.findall(line)))
    return taken_back, time_of({"time": last.decode("ascii", "replace")}, "time") or 0, own
