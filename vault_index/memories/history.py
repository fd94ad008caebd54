"""Show, compare and restore the versions of a memory and the commits of its file."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import unified_diff
from functools import partial
from shlex import quote
from typing import NamedTuple

from vault_index.errors import NotFoundError, UsageError
from vault_index.markdown.frontmatter import project_in
from vault_index.memories.create import with_details
from vault_index.memories.file.document import MemoryFile, read_text
from vault_index.memories.store import MemoryStore, writing
from vault_index.results.memories import Diff, History, StoredMemory, Version
from vault_index.runtime import Runtime
from vault_index.sources.git import blob, commits_of
from vault_index.store.documents import documents_by_id
from vault_index.store.pool import Connections
from vault_index.store.records import StoredDocument
from vault_index.store.revisions import REMOVED, Revision, Revisions
from vault_index.times import iso_time

_ID = re.compile(r"[0-9a-f][0-9a-f-]{3,35}")
_LINES = 20_000
"""The most lines of two versions that are compared; more would take too long."""


class Entry(NamedTuple):
    """A version of a memory's file, or a commit of it."""

    shown: Version
    time: float
    source: str
    digest: bytes
    """Empty if the file was removed, and for a commit."""
    read: Callable[[], bytes | None]
    """Return the bytes of the file; None if it was removed."""

    @property
    def name(self) -> int | str:
        """The number of the version, or the hash of the commit."""
        return self.shown.commit or self.shown.number or 0

    @property
    def text(self) -> str:
        """The text of the file; empty if it was removed."""
        return (self.read() or b"").decode("utf-8", "replace")


class Past(NamedTuple):
    """A memory, which may be deleted, with its versions and commits, the newest first."""

    uid: str
    source: str
    path: str
    document: StoredDocument | None
    versions: Sequence[Entry]
    commits: Sequence[Entry]

    @property
    def title(self) -> str:
        """The title of the memory or, if it was deleted, of its last version."""
        if self.document:
            return self.document.title
        return next((read_text(one.text).title for one in self.versions if one.digest), "")

    def find(self, named: int | str) -> Entry:
        """Return a version by its number, or a commit by the beginning of its hash.

        Raises NotFoundError if none or several commits match.
        """
        name = str(named).strip().lower().removeprefix("v")
        found = [one for one in self.versions if str(one.name) == name]
        if not found and len(name) > 3:
            found = [one for one in self.commits if str(one.name).startswith(name)]
        if len(found) != 1:
            raise NotFoundError(
                f"{self.path} has no version {named!r}",
                f"list its versions: vault-index history {quote(self.path)}",
            )
        return found[0]

    def before(self, entry: Entry) -> Entry | None:
        """Return the version before a version, or the commit before a commit."""
        entries = self.versions if entry in self.versions else self.commits
        return next(iter(entries[entries.index(entry) + 1 :]), None)


def memory_history(
    runtime: Runtime, ref: str, *, limit: int, offset: int, sources: Sequence[str]
) -> History:
    """Return a page of the versions and commits of a memory, the newest first."""
    with runtime.pool.lend() as connections:
        past = past_of(runtime, connections, ref, sources)
        rows = Revisions(connections.state).of(past.uid)
    entries = sorted((*past.versions, *past.commits), key=lambda one: one.time, reverse=True)
    shown = tuple(one.shown for one in entries[offset : offset + limit])
    # The number of dropped versions would reveal how many a scope hides.
    forgotten = rows[-1].number - 1 if rows and len(rows) == len(past.versions) else 0
    return History(past.uid, past.path, past.title, shown, len(entries), forgotten)


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
        if after is None and not past.versions:
            raise NotFoundError(f"{past.path} has no recorded versions", "run: vault-index sync")
        new = past.versions[0] if after is None else past.find(after)
        old = past.before(new) if before is None else past.find(before)
        one, other = (entry.text.split("\n") if entry else [""] for entry in (old, new))
        old_name = old.name if old else None
    if len(one) + len(other) > _LINES:
        raise UsageError(
            "the versions are too long to compare",
            "restore one with vault-index revert, then undo it",
        )
    diff = unified_diff(
        one,
        other,
        f"{past.path} ({old_name or 'nothing'})",
        f"{past.path} ({new.name})",
        lineterm="",
    )
    return Diff(past.uid, past.path, old_name, new.name, "\n".join(diff))


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
        data = _version_to_restore(past, to, now.digest if now else b"").read()
        if data is None:
            raise UsageError(
                "this version deleted the file", "choose another one, or: vault-index delete"
            )
        stored = _put_back(memories, past, now, data)
    return with_details(runtime, stored, past.source, (), news=False)


def _version_to_restore(past: Past, to: int | str | None, now: bytes) -> Entry:
    """Return the version that was given, or else the last one that differs from the file."""
    if to is not None:
        return past.find(to)
    for version in past.versions:
        if version.digest not in (REMOVED, now):
            return version
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
        memories.restore(past.source, path, past.uid, data)
    warnings = () if now is None or data != now.data else ("nothing was changed",)
    return StoredMemory(files.read(path, any_bytes=True).uid, path, now is None, warnings=warnings)


def past_of(runtime: Runtime, connections: Connections, ref: str, sources: Sequence[str]) -> Past:
    """Return the memory that a reference names, or the deleted one with this id or path.

    Raises NotFoundError, and UsageError for a note or if several memories match.
    """
    revisions, ref = Revisions(connections.state), runtime.inside(ref)
    try:
        document = runtime.resolve(connections, ref, sources).document
    except NotFoundError:
        return _find_deleted(runtime, revisions, ref, sources)
    if document.kind != "memory":
        raise UsageError(
            f"{document.path} is a {document.kind}, not a memory",
            "only memories have versions",
        )
    rows = revisions.of(document.uid)
    if len(documents_by_id(connections.reader, document.uid)) > 1:  # several files have this id
        rows = _of_path(rows, document.source, document.path)
    return _past(
        runtime, document.uid, document.source, document.path, document, _visible(runtime, rows)
    )


def _find_deleted(runtime: Runtime, revisions: Revisions, ref: str, sources: Sequence[str]) -> Past:
    name, folder = ref.strip(), runtime.config.memory.dir
    paths = [name, f"{name}.md", f"{folder}/{name}", f"{folder}/{name}.md"]
    beginning = name.lower() if _ID.fullmatch(name.lower()) else ""
    found = {}
    for uid in revisions.uids(beginning, paths):
        rows = [row for row in revisions.of(uid) if not sources or row.source in sources]
        entries = _visible(runtime, rows)
        named = beginning and uid.startswith(beginning)
        named = named or any(entry.shown.path in paths for entry in entries)
        if entries and (named or not runtime.hides):
            found[uid] = entries
    if not found:
        raise NotFoundError(
            f"memory not found, neither current nor deleted: {ref!r}",
            f"search for it: vault-index search {ref!r}",
        )
    if len(found) > 1:
        latest = [f"{uid[:13]} ({entries[0].shown.path})" for uid, entries in found.items()]
        raise UsageError(
            f"{len(found)} deleted memories match {ref!r}",
            f"choose one by its id: {', '.join(latest[:5])}",
        )
    [(uid, entries)] = found.items()
    return _past(runtime, uid, entries[0].source, entries[0].shown.path, None, entries)


def _past(
    runtime: Runtime,
    uid: str,
    source: str,
    path: str,
    document: StoredDocument | None,
    versions: Sequence[Entry],
) -> Past:
    vault = runtime.vaults.get(source)
    commits: list[Entry] = []
    # A commit message may be about files outside the scope of a token.
    if vault and runtime.sees_all:
        root = str(vault.config.path)
        commits = [
            Entry(
                Version(
                    None, iso_time(one.time), one.author, one.subject, one.path, None, one.hash
                ),
                one.time,
                source,
                digest=b"",
                read=partial(blob, root, one),
            )
            for one in commits_of(root, path)
        ]
    return Past(uid, source, path, document, versions, commits)


def _visible(runtime: Runtime, rows: Sequence[Revision]) -> list[Entry]:
    """Return the versions that the caller may see.

    If some are hidden, the others are numbered from 1, so that no gap reveals them.
    """
    entries = [
        Entry(
            Version(
                row.number,
                iso_time(row.seen),
                row.who,
                row.action,
                row.path,
                len(row.data() or b"") or None,
            ),
            row.seen,
            row.source,
            row.digest,
            row.data,
        )
        for row in rows
    ]
    scope = runtime.scope
    if scope is None or not runtime.hides:
        return entries
    shown: list[Entry] = []
    inside: dict[tuple[str, str], bool] = {}
    for entry in reversed(entries):
        place = entry.source, entry.shown.path
        if entry.digest:
            inside[place] = scope.holds(*place, project_in(read_text(entry.text).front))
        if inside.get(place):
            shown.append(entry)
    if len(shown) == len(rows):
        return entries
    renumbered = [replace(entry.shown, number=at) for at, entry in enumerate(shown, start=1)]
    renumbered[:1] = [replace(first, action="added") for first in renumbered[:1]]
    return [
        entry._replace(shown=version) for entry, version in zip(shown, renumbered, strict=True)
    ][::-1]


def _of_path(rows: Sequence[Revision], source: str, path: str) -> list[Revision]:
    """Return the versions of one path and its earlier paths, if several files have the same id."""
    found, names = [], {path}
    for row in rows:
        if row.source == source and row.path in names:
            found.append(row)
            names |= {row.moved_from}
    return found
