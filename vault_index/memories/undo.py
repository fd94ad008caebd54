"""Revert the file changes of the last writing command (`undo`)."""

from collections.abc import Sequence
from shlex import quote

from vault_index.errors import ConflictError, NotFoundError
from vault_index.memories.journal import digest_at
from vault_index.memories.store import MemoryStore, writing
from vault_index.results.memories import MemoryOutcome, MemoryOutcomes
from vault_index.runtime import Runtime
from vault_index.store.revisions import REMOVED, Change, Revision
from vault_index.times import iso_time


def undo_change(
    runtime: Runtime, *, only: int | None = None, sources: Sequence[str]
) -> MemoryOutcomes:
    """Revert the last change, or only the change with the number `only`.

    Raises NotFoundError if there is nothing to undo, and ConflictError if a file changed since.
    """
    with writing(runtime, "undo", sources) as memories:
        revisions = runtime.write.revisions
        if (change := revisions.last_change(sources, only)) is None:
            raise NotFoundError(
                "there is nothing to undo", "older versions of a memory: vault-index history REF"
            )
        to_undo = _to_undo(memories, change, revisions.by_change(change.id))
        details = {"work": change.work, "at": iso_time(change.at)}
        outcomes = [_undone(memories, *one, dict(details)) for one in to_undo]
        for uid in revisions.decided(change.id):
            if (document := memories.known(uid)) is not None:
                outcomes.append(
                    MemoryOutcome(document.uid, document.path, document.title, "undone", details)
                )
        memories.flush()
        revisions.end(change.id)
    # An empty outcome stands for a change that touched no file.
    return MemoryOutcomes(tuple(outcomes) or (MemoryOutcome("", "", "", "undone", details),))


def _to_undo(
    memories: MemoryStore, change: Change, rows: Sequence[Revision]
) -> list[tuple[Revision, Revision]]:
    """Return the revisions to undo, newest first, each with one that has the bytes before it.

    Revisions that never happened, or are undone already, are left out: a process may have been
    killed. Raises ConflictError, before any file is changed, if a file is not as the change left
    it, or if the bytes before are no longer in the log.
    """
    by_file: dict[tuple[str, str], list[Revision]] = {}
    for row in rows:
        by_file[row.source, row.last_path] = [*by_file.pop((row.source, row.path), []), row]
    to_undo: list[Revision] = []
    known = {REMOVED: Revision("", "", "")}
    for own in by_file.values():
        memories.must_be_there(own[0].source)
        log = memories.runtime.write.revisions.of(own[0].uid, -1)
        known |= {row.digest: row for row in log if row.digest}
        present = [_is_present(memories, row) for row in own]
        if True in present:
            to_undo += own[present.index(True) :]
        elif not _is_undone(memories, own, log):
            raise _conflict(change, own[0], "changed")
    to_undo.sort(key=lambda row: row.id, reverse=True)
    if lost := [row for row in to_undo if row.before not in known]:
        raise _conflict(change, lost[0], "has changed too often")
    return [(row, known[row.before]) for row in to_undo]


def _is_present(memories: MemoryStore, row: Revision) -> bool:
    """Return whether the file is as this revision left it."""
    files = memories.files(row.source)
    is_moved = not row.moved_from or digest_at(files, row.moved_from) == REMOVED
    return is_moved and digest_at(files, row.path) == row.digest


def _is_undone(memories: MemoryStore, own: Sequence[Revision], log: Sequence[Revision]) -> bool:
    """Return whether a file is as before its revisions in a change.

    A new file that was renamed since is not.
    """
    first, newest = own[-1], log[0]
    if first.before == REMOVED and newest.id > own[0].id and newest.digest != REMOVED:
        return False
    return digest_at(memories.files(first.source), first.last_path) == first.before


def _conflict(change: Change, row: Revision, what: str) -> ConflictError:
    name = quote(row.path)
    return ConflictError(
        f"{row.path} {what} since `{change.work}`; nothing was undone",
        f"list its versions: vault-index history {name}; restore one: vault-index revert {name}",
    )


def _undone(
    memories: MemoryStore, row: Revision, before: Revision, details: dict[str, str]
) -> MemoryOutcome:
    source, path, files = row.source, row.last_path, memories.files(row.source)
    data = before.data() or b""
    if row.digest == REMOVED:
        memories.restore(source, path, row.uid, data)
        files.remove_from_trash(path, data)
    elif row.moved_from:
        memories.move(source, row.path, path)
    file = files.read(path, any_bytes=True)
    if row.before == REMOVED:
        details["trash"] = memories.trash(source, path)
    elif row.digest != REMOVED and not row.moved_from:
        if file.digest != row.digest:
            raise ConflictError(f"{path} changed during the undo", "run the same command again")
        memories.replace(file, data)
        file = files.read(path, any_bytes=True)
    return MemoryOutcome(file.uid, path, file.title, "undone", details)
