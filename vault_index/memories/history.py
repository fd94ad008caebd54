"""Show, compare and restore the versions of a memory and the commits of its file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from shlex import quote

from vault_index.errors import NotFoundError, UsageError
from vault_index.markdown.memory import project_in
from vault_index.memories.create import embedded
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.memories.store import MemoryStore, writing
from vault_index.results.history import Diff, History, Version
from vault_index.results.memories import StoredMemory
from vault_index.runtime import Runtime
from vault_index.sources.git import Commit, blob, commits_of
from vault_index.store.documents import documents_by_id
from vault_index.store.pool import Connections
from vault_index.store.records import StoredDocument
from vault_index.store.versions import Version as Row, Versions
from vault_index.times import iso_time

_ID = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
_LINES = 20_000
"""The most lines of two versions that are compared; more would take too long."""


@dataclass(frozen=True, slots=True)
class Past:
    """A memory, which may be deleted, with its versions and commits, the newest first."""

    uid: str
    source: str
    path: str
    document: StoredDocument | None
    versions: Versions
    rows: Sequence[Row]
    commits: Sequence[Commit]
    root: str
    """The folder of its vault; empty if the vault no longer exists."""
    numbers: Mapping[int, int]
    """The stored numbers of versions by the numbers that are shown; empty if they are the same."""

    @property
    def title(self) -> str:
        """The title of the memory or, if it was deleted, of its last version."""
        last = next((row.number for row in self.rows if row.digest), None)
        return (
            self.document.title if self.document else _title(self.data(last) or b"") if last else ""
        )

    def find(self, named: int | str) -> int | str:
        """Return the number of a version, or the full hash of a commit.

        Raises NotFoundError if none or several commits match.
        """
        name = str(named).strip().lower().removeprefix("v")
        if any(str(row.number) == name for row in self.rows):
            return int(name)
        found = [
            commit.hash for commit in self.commits if len(name) > 3 and commit.hash.startswith(name)
        ]
        if len(found) != 1:
            raise NotFoundError(
                f"{self.path} has no version {named!r}",
                f"list its versions: vault-index history {quote(self.path)}",
            )
        return found[0]

    def older(self, than: int | str) -> int | str | None:
        """Return the version before a version, or the commit before a commit."""
        numbers: list[int | str] = [row.number for row in self.rows]
        hashes: list[int | str] = [commit.hash for commit in self.commits]
        names = numbers if than in numbers else hashes
        return next(iter(names[names.index(than) + 1 :]), None)

    def data(self, name: int | str | None) -> bytes | None:
        """Return the bytes of a version or commit; None if it deleted the file."""
        if isinstance(name, str):
            commit = next(one for one in self.commits if one.hash == name)
            return blob(self.root, commit)
        return None if name is None else self.versions.text(self.uid, self.numbers.get(name, name))


def memory_history(
    runtime: Runtime, ref: str, *, limit: int, offset: int, sources: Sequence[str]
) -> History:
    """Return a page of the versions and commits of a memory, the newest first."""
    with runtime.pool.lend() as connections:
        past = past_of(runtime, connections, ref, sources)
        found = [
            (
                row.seen,
                Version(
                    row.number, iso_time(row.seen), row.who, row.action, row.path, row.size or None
                ),
            )
            for row in past.rows
        ]
        for commit in past.commits:
            version = Version(
                None,
                iso_time(commit.time),
                commit.author,
                commit.subject,
                commit.path,
                None,
                commit.hash,
            )
            found.append((commit.time, version))
        found.sort(key=lambda one: one[0], reverse=True)
        forgotten = (
            0
            if past.numbers
            else min((row.number for row in past.versions.of(past.uid)), default=1) - 1
        )
        shown = tuple(one for _, one in found[offset : offset + limit])
        return History(past.uid, past.path, past.title, shown, len(found), forgotten)


def memory_diff(
    runtime: Runtime,
    ref: str,
    *,
    before: int | str | None,
    after: int | str | None,
    sources: Sequence[str],
) -> Diff:
    """Compare two versions of a memory as a unified diff.

    The default for `after` is the newest version, for `before` the one before `after`.
    """
    with runtime.pool.lend() as connections:
        past = past_of(runtime, connections, ref, sources)
        if after is None and not past.rows:
            raise NotFoundError(f"{past.path} has no recorded versions", "run: vault-index sync")
        new = past.rows[0].number if after is None else past.find(after)
        old = past.older(new) if before is None else past.find(before)
        one, other = (
            (past.data(name) or b"").decode("utf-8", "replace").split("\n") for name in (old, new)
        )
    if len(one) + len(other) > _LINES:
        raise UsageError(
            "the versions are too long to compare",
            "restore one with vault-index revert, then undo it",
        )
    diff = unified_diff(
        one, other, f"{past.path} ({old or 'nothing'})", f"{past.path} ({new})", lineterm=""
    )
    return Diff(past.uid, past.path, old, new, "\n".join(diff))


def revert_memory(
    runtime: Runtime, ref: str, *, to: int | str | None, sources: Sequence[str]
) -> StoredMemory:
    """Restore a memory to a version, even after it was deleted.

    The default is the last version with another text than the file.
    """
    with writing(runtime, "revert", sources) as memories:
        past = past_of(runtime, memories.connections, ref, sources)
        memories.must_be_there(past.source)
        now = memories.files(past.source).read(past.path, any_bytes=True) if past.document else None
        data = past.data(_version_to_restore(past, to, now.digest if now else b""))
        if data is None:
            raise UsageError(
                "this version deleted the file", "choose another one, or: vault-index delete"
            )
        stored = _put_back(memories, past, now, data)
    return embedded(runtime, stored, past.source, (), news=False)


def _version_to_restore(past: Past, to: int | str | None, now: bytes) -> int | str:
    """Return the version that was given, or else the last one that differs from the file."""
    if to is not None:
        return past.find(to)
    for row in past.rows:
        if row.digest not in (b"", now):
            return row.number
    raise NotFoundError(
        f"{past.path} has no other recorded version",
        f"list its versions: vault-index history {quote(past.path)}",
    )


def _put_back(
    memories: MemoryStore, past: Past, now: MemoryFile | None, data: bytes
) -> StoredMemory:
    """Write a version to the file.

    A deleted file is created again under its last name, with a number if that is taken.
    """
    path, files = past.path, memories.files(past.source)
    if now is not None:
        memories.replace(now, data)
    else:
        path = files.free(files.resolve(path))
        memories.journal.restore(files, path, data, None)
        memories.note(past.source, path)
    warnings = () if now is None or data != now.data else ("nothing was changed",)
    return StoredMemory(files.read(path, any_bytes=True).uid, path, now is None, warnings=warnings)


def past_of(runtime: Runtime, connections: Connections, ref: str, sources: Sequence[str]) -> Past:
    """Return the memory that a reference names, or the deleted one with this id or path.

    Raises NotFoundError, and UsageError for a note or if several memories match.
    """
    versions, ref = Versions(connections.state), runtime.inside(ref)
    try:
        document = runtime.resolve(connections, ref, sources).document
    except NotFoundError:
        return _find_deleted(runtime, versions, ref, sources)
    if document.kind != "memory":
        raise UsageError(
            f"{document.path} is a {document.kind}, not a memory",
            "only memories have versions",
        )
    rows = versions.of(document.uid)
    if len(documents_by_id(connections.reader, document.uid)) > 1:  # several files have this id
        rows = _of_path(rows, document.source, document.path)
    return _past(runtime, versions, document.uid, document.source, document.path, rows, document)


def _find_deleted(runtime: Runtime, versions: Versions, ref: str, sources: Sequence[str]) -> Past:
    name, folder = ref.strip(), runtime.config.memory.dir
    paths = [f"{above}{name}{ending}" for above in ("", f"{folder}/") for ending in ("", ".md")]
    beginning = name.lower() if _ID.fullmatch(name.lower()) else ""
    found = {}
    for uid in versions.uids(beginning, paths):
        rows = [row for row in versions.of(uid) if not sources or row.source in sources]
        shown = _visible(runtime, versions, rows)
        named = (beginning and uid.startswith(beginning)) or any(
            row.path in paths for _, row in shown
        )
        if shown and (named or not runtime.hides):
            found[uid] = rows
    if not found:
        raise NotFoundError(
            f"memory not found, neither current nor deleted: {ref!r}",
            f"search for it: vault-index search {ref!r}",
        )
    if len(found) > 1:
        latest = {
            uid: _visible(runtime, versions, rows)[0][1].path
            for uid, rows in list(found.items())[:5]
        }
        choices = ", ".join(f"{uid[:13]} ({path})" for uid, path in latest.items())
        raise UsageError(
            f"{len(found)} deleted memories match {ref!r}", f"choose one by its id: {choices}"
        )
    ((uid, rows),) = found.items()
    [(_, last), *_] = _visible(runtime, versions, rows)
    return _past(runtime, versions, uid, last.source, last.path, rows, None)


def _past(
    runtime: Runtime,
    versions: Versions,
    uid: str,
    source: str,
    path: str,
    rows: Sequence[Row],
    document: StoredDocument | None,
) -> Past:
    vault = runtime.vaults.get(source)
    root = str(vault.config.path) if vault else ""
    # A commit message may be about files outside the scope of a token.
    commits = commits_of(root, path) if root and runtime.sees_all else ()
    shown = _visible(runtime, versions, rows)
    numbers = {row.number: number for number, row in shown} if len(shown) < len(rows) else {}
    return Past(
        uid, source, path, document, versions, [row for _, row in shown], commits, root, numbers
    )


def _visible(runtime: Runtime, versions: Versions, rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Return the versions that the caller may see, each with its stored number.

    If some are hidden, the others are numbered from 1, so that no gap reveals them.
    """
    scope = runtime.scope
    if scope is None or not runtime.hides:
        return [(row.number, row) for row in rows]
    shown: list[tuple[int, Row]] = []
    inside: dict[tuple[str, str], bool] = {}
    for row in reversed(rows):
        place = row.source, row.path
        if row.digest:
            text = (versions.text(row.uid, row.number) or b"").decode("utf-8", "replace")
            inside[place] = scope.holds(*place, project_in(read_text(text).front))
        if inside.get(place):
            shown.append((row.number, row))
    if len(shown) < len(rows):
        shown = [
            (number, row._replace(number=place, action="added" if place == 1 else row.action))
            for place, (number, row) in enumerate(shown, start=1)
        ]
    return shown[::-1]


def _of_path(rows: Sequence[Row], source: str, path: str) -> list[Row]:
    """Return the versions of one path and its earlier paths, if several files have the same id."""
    found, names = [], {path}
    for row in rows:
        if row.source == source and row.path in names:
            found.append(row)
            names |= {row.moved_from}
    return found


def _title(data: bytes) -> str:
    return read_text(data.decode("utf-8", "replace")).title
