"""Lists and summarizes agent sessions without a language model."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice, pairwise
from operator import attrgetter
from typing import Any

from vault_index.markdown.calls import Call, calls_in, program_of
from vault_index.query.reader import Reader
from vault_index.query.resume import client_of
from vault_index.results.sessions import (
    FailedCommand,
    HeldSession,
    ProjectWork,
    RunProgram,
    SessionCount,
    SessionDay,
    SessionDays,
    SessionList,
    SessionRecord,
    SessionSummary,
    WrittenFile,
)
from vault_index.store.documents import documents_by_key
from vault_index.store.records import StoredDocument
from vault_index.store.sessions import (
    TurnText,
    Wanted,
    sessions_by_day,
    sessions_page,
    sessions_with,
    turns_of,
)
from vault_index.times import iso_time, iso_time_or_none, local_day

_IDLE = 30 * 60
"""Maximum pause in seconds that still counts as work."""
_TURN = re.compile(r"(?:User|Assistant|Compaction summary) · (\d{4}-\d\d-\d\d \d\d:\d\d)")
_LOOKING = frozenset(
    {
        "ls", "cat", "head", "tail", "sed", "awk", "grep", "egrep", "rg", "find", "fd", "echo",
        "printf", "pwd", "cd", "wc", "nl", "tree", "which", "stat", "file", "true", "sleep", "jq",
        "sort", "vault-index", "vx", "git status", "git diff", "git log", "git show", "git branch",
    }
)  # fmt: skip
"""Programs that only inspect; a summary omits them."""
_NAMED = 12
"""Maximum number of files, programs and failed commands that a summary lists per project."""
_AT_ONCE = 64


@dataclass(slots=True)
class _Work:
    """The work in sessions of one project."""

    times: list[float] = field(default_factory=list)
    """Times of turns and of the ends of sessions."""
    written: Counter[str] = field(default_factory=Counter)
    calls: list[Call] = field(default_factory=list)

    def add(self, other: "_Work") -> None:
        self.times += other.times
        self.written += other.written
        self.calls += other.calls

    @property
    def duration(self) -> int:
        gaps = (after - before for before, after in pairwise(sorted(self.times)))
        return int(sum(gap for gap in gaps if gap <= _IDLE))


def list_sessions(
    reader: Reader, wanted: Wanted, file: str | None, limit: int, offset: int
) -> SessionList:
    """Return one page of sessions, most recent first; with `file` those that touched it."""
    with reader.snapshot():
        if file is None:
            documents, total = sessions_page(reader, wanted, limit, offset)
            return SessionList(tuple(_record(reader, document) for document in documents), total)
        found = list(islice(_with_file(reader, wanted, file), offset + limit + 1))
        shown = found[offset : offset + limit]
        records = tuple(_record(reader, document, *touched) for document, touched in shown)
        return SessionList(records, len(found) if len(found) <= offset + limit else None)


def count_by_day(reader: Reader, wanted: Wanted) -> SessionDays:
    """Count the sessions that began or ended on each day.

    The days in between are unknown unless the sessions are read.
    """
    days, projects, clients = Counter[str](), Counter[str | None](), Counter[str | None]()
    for began, ended, project, client, count in sessions_by_day(reader, wanted):
        days.update(dict.fromkeys((began, ended), count))
        projects[project] += count
        clients[client] += count
    first = local_day(wanted.since) if wanted.since is not None else "0"
    last = local_day(wanted.until - 1) if wanted.until is not None else "9"
    return SessionDays(
        results=tuple(SessionDay(day, days[day]) for day in sorted(days) if first <= day <= last),
        projects=tuple(SessionCount(*one) for one in projects.most_common()),
        clients=tuple(SessionCount(*one) for one in clients.most_common()),
        total=clients.total(),
    )


def summarize(
    reader: Reader, wanted: Wanted, file: str | None, limit: int, offset: int
) -> SessionSummary:
    """Summarize the work since `wanted.since` and return one page of projects.

    With `file`, only sessions that touched it count.
    """
    since = wanted.since or 0.0
    projects: dict[str, list[tuple[StoredDocument, _Work]]] = {}
    with reader.snapshot():
        wanted = wanted._replace(subagents=True)
        chosen: Iterable[StoredDocument] = (
            sessions_page(reader, wanted)[0]
            if file is None
            else (one for one, _ in _with_file(reader, wanted, file))
        )
        for document in chosen:
            work = _work_in(document, turns_of(reader, document.id), since, wanted.until)
            if work.times:
                projects.setdefault(document.project or "", []).append((document, work))
    results = [_project(name or None, held, since) for name, held in projects.items()]
    everything = _Work(
        [time for held in projects.values() for _, work in held for time in work.times]
    )
    results.sort(key=lambda one: (-one.duration, one.project or ""))
    return SessionSummary(
        since=iso_time(since),
        until=iso_time_or_none(wanted.until),
        sessions=sum(len(one.sessions) for one in results),
        duration=everything.duration,
        tokens=_sum(one.tokens for one in results),
        results=tuple(results[offset : offset + limit]),
        total=len(results),
    )


# --- sessions that touched a file ---------------------------------------------------------------


def _with_file(
    reader: Reader, wanted: Wanted, file: str
) -> Iterator[tuple[StoredDocument, tuple[int, int]]]:
    """Yield the sessions that touched a file, newest first, with the numbers of edits and reads.

    The words of the file's name find the texts that may name it; only these are read.
    """
    from vault_index.terms import query_phrase  # late: only needed with a file

    file = os.path.normpath(file.replace("\\", "/"))
    name = os.path.basename(file)
    # Text without spaces is not a phrase in the index, which contains its pieces and others.
    words = [name] if name.isascii() else query_phrase(name).split()
    match = " AND ".join('body : "{}"'.format(word.replace('"', '""')) for word in words)
    found = list(sessions_with(reader, match, wanted._replace(subagents=True)).items())
    for start in range(0, len(found), _AT_ONCE):
        several = dict(found[start : start + _AT_ONCE])
        documents = documents_by_key(reader, several)
        for document_id, chunk_ids in several.items():
            document = documents[document_id]
            turns = turns_of(reader, document_id, chunk_ids)
            touched = _touched(_calls(turns), file, _directory(document.frontmatter))
            if any(touched):
                yield document, touched


def _touched(calls: Iterable[Call], file: str, directory: str) -> tuple[int, int]:
    """Return how often a session wrote a file, and how often it read it."""
    edits = reads = 0
    name = os.path.basename(file)
    for call in calls:
        if name in call.target:
            wrote = call.done and any(_is_file(one, file, directory) for one in call.edited())
            edits += wrote
            reads += not wrote and any(_is_file(one, file, directory) for one in call.named())
    return edits, reads


def _is_file(named: str, wanted: str, directory: str) -> bool:
    """Return whether a call named the wanted file or folder. A relative path may be anywhere."""
    place = f"{_place(named, directory)}/"
    return (
        place.startswith(f"{wanted}/") if wanted.startswith("/") else f"/{wanted}/" in f"/{place}"
    )


def _place(named: str, directory: str) -> str:
    return os.path.normpath(os.path.join(directory, named.replace("\\", "/")))


def _shown(place: str, directory: str) -> str:
    return place.removeprefix(f"{directory.rstrip('/')}/") if directory else place


def _directory(front: Mapping[str, Any]) -> str:
    return str(front.get("directory") or "").replace("\\", "/")


# --- work in sessions ---------------------------------------------------------------------------


def _calls(turns: Iterable[TurnText]) -> Iterator[Call]:
    last = 0
    for turn in turns:
        for call in calls_in(turn.text, turn.start_line):
            if call.line > last:  # texts overlap
                last = call.line
                yield call


def _work_in(
    document: StoredDocument,
    turns: Iterable[TurnText],
    since: float = 0.0,
    until: float | None = None,
) -> _Work:
    """Return the work of a session within this period."""
    end, directory = float("inf") if until is None else until, _directory(document.frontmatter)
    within = [(turn, time) for turn in turns if since <= (time := _time_of(turn)) < end]
    work = _Work(
        sorted({time for _, time in within}), calls=list(_calls(turn for turn, _ in within))
    )
    if within and since <= document.updated < end:
        work.times.append(document.updated)
    for call in work.calls:
        if call.done:
            work.written.update(
                _shown(_place(name, directory), directory) for name in call.edited()
            )
    return work


def _time_of(turn: TurnText) -> float:
    """Return the time of a turn; -1 for text outside of turns."""
    found = _TURN.match(turn.headings[0]) if turn.headings else None
    try:
        return datetime.fromisoformat(found[1]).timestamp() if found else -1.0
    except (ValueError, OverflowError):
        return -1.0


def _record(
    reader: Reader,
    document: StoredDocument,
    edits: int | None = None,
    reads: int | None = None,
) -> SessionRecord:
    front, work = document.frontmatter, _work_in(document, turns_of(reader, document.id))
    return SessionRecord(
        id=document.uid,
        session=str(front.get("session") or ""),
        client=client_of(document),
        title=document.title,
        project=document.project,
        directory=_text(front, "directory"),
        model=_text(front, "model"),
        parent=str(front.get("parent") or "").strip("[]") or None,
        created=iso_time(document.created),
        updated=iso_time(document.updated),
        turns=_number(front, "turns"),
        tokens=_number(front, "tokens"),
        duration=work.duration,
        files=len(work.written),
        commands=sum(bool(call.command) for call in work.calls),
        edits=edits,
        reads=reads,
    )


def _project(
    name: str | None, held: Sequence[tuple[StoredDocument, _Work]], since: float
) -> ProjectWork:
    work = _Work()
    for _, one in held:
        work.add(one)
    own = [(document, one) for document, one in held if not document.frontmatter.get("parent")]
    runs = [call for call in work.calls if call.command]
    written = sorted((-edits, path) for path, edits in work.written.items())
    failing = _failing(call for _, one in reversed(held) for call in one.calls if call.command)
    return ProjectWork(
        project=name,
        duration=work.duration,
        tokens=_sum(_number(one.frontmatter, "tokens") for one, _ in held if one.created >= since),
        subagents=len(held) - len(own),
        files=len(work.written),
        commands=len(runs),
        failed=len(failing),
        sessions=tuple(sorted((_held(*one) for one in own), key=attrgetter("began"))),
        written=tuple(WrittenFile(path, -edits) for edits, path in written[:_NAMED]),
        programs=tuple(islice(_programs(runs), _NAMED)),
        failing=tuple(failing[:_NAMED]),
    )


def _programs(runs: Sequence[Call]) -> Iterator[RunProgram]:
    """Yield the programs by the number of runs, without those that only look."""
    ran = Counter(program_of(call.command) for call in runs)
    failed = Counter(program_of(call.command) for call in runs if call.failed)
    for program, count in ran.most_common():
        if not _looks(program):
            yield RunProgram(program, count, failed[program])


def _looks(program: str) -> bool:
    return program in _LOOKING or program.partition(" ")[0] in _LOOKING


def _failing(runs: Iterable[Call]) -> list[FailedCommand]:
    """Return the commands that failed, from runs in order.

    Commands that failed in their last run come first, then those with the most failures.
    """
    by_command: dict[str, list[Call]] = {}
    for call in runs:
        by_command.setdefault(call.command, []).append(call)
    found = [
        FailedCommand(command, len(calls), failed, calls[-1].outcome if calls[-1].failed else "ok")
        for command, calls in by_command.items()
        if (failed := sum(call.failed for call in calls)) and not _looks(program_of(command))
    ]
    return sorted(found, key=lambda one: (one.outcome == "ok", -one.failed))


def _held(document: StoredDocument, work: _Work) -> HeldSession:
    client = client_of(document)
    began, ended = iso_time(work.times[0]), iso_time(max(work.times))
    return HeldSession(document.uid, client, document.title, began, ended, work.duration)


def _text(front: Mapping[str, Any], key: str) -> str | None:
    return str(front[key]) if front.get(key) else None


def _number(front: Mapping[str, Any], key: str) -> int | None:
    found = front.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None
