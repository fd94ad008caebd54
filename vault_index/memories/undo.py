"""Revert the file changes of the last writing command (`undo`)."""

from collections.abc import Sequence
from shlex import quote

from vault_index.errors import ConflictError, NotFoundError
from vault_index.memories.journal import digest_at
from vault_index.memories.store import MemoryStore, writing
from vault_index.results.memories import MemoryOutcome, MemoryOutcomes
from vault_index.runtime import Runtime
from vault_index.store.documents import has_content
from vault_index.store.versions import Change, Step, unpacked
from vault_index.times import iso_time


def undo_change(
    runtime: Runtime, *, only: int | None = None, sources: Sequence[str]
) -> MemoryOutcomes:
    """Revert the last change, or only the change with the number `only`.

    Raises NotFoundError if there is nothing to undo, and ConflictError if a file changed since.
    """
    with writing(runtime, "undo", sources) as memories:
        versions = runtime.write.versions
        change = versions.last_change(sources, only)
        if change is None:
            raise NotFoundError(
                "there is nothing to undo", "older versions of a memory: vault-index history REF"
            )
        steps = _steps_to_undo(memories, change, versions.steps(change.id)[::-1])
        outcomes = [_undone(memories, change, step) for step in steps]
        details = {"work": change.work, "at": iso_time(change.at)}
        for uid in versions.decided(change.id):
            if (document := memories.known(uid)) is not None:
                outcomes.append(
                    MemoryOutcome(document.uid, document.path, document.title, "undone", details)
                )
        memories.flush()
        versions.mark_undone(change.id)
    nothing = MemoryOutcome("", "", "", "undone", details)
    return MemoryOutcomes(tuple(outcomes) or (nothing,))  # a change that touched no file


def _steps_to_undo(memories: MemoryStore, change: Change, steps: Sequence[Step]) -> list[Step]:
    """Return the steps to undo.

    Steps that were never done, or are undone already, are left out: a process may have been killed.
    Raises ConflictError, before any file is changed, if a file is not as the change left it.
    """
    digests: dict[tuple[str, str], bytes | None] = {}

    def at(source: str, path: str) -> bytes | None:
        if (source, path) not in digests:
            memories.must_be_there(source)
            digests[source, path] = digest_at(memories.files(source), path)
        return digests[source, path]

    # An undo that was killed may have restored an earlier state.
    earlier = [(step.source, step.path, step.before) for step in steps]
    found = []
    for number, step in enumerate(steps):
        source, path = step.source, step.path
        here = at(source, path)
        moved_to = step.place if step.after and step.place else None
        at_target = at(source, moved_to) if moved_to else here
        if at_target == step.after and (moved_to is None or here is None):
            found.append(step)
            digests[source, path] = step.before
            if moved_to:
                digests[source, moved_to] = None
        elif (source, path, here) not in earlier[number:] or (
            step.before is None and _was_moved(memories, step)
        ):
            place = moved_to or path
            name = quote(place)
            raise ConflictError(
                f"{place} changed since `{change.work}`; nothing was undone",
                f"list its versions: vault-index history {name};"
                f" restore one: vault-index revert {name}",
            )
    return found


def _was_moved(memories: MemoryStore, step: Step) -> bool:
    """Return whether a created file has been moved."""
    return step.after is not None and has_content(
        memories.connections.reader, step.source, step.after
    )


def _undone(memories: MemoryStore, change: Change, step: Step) -> MemoryOutcome:
    source, path, files = step.source, step.path, memories.files(step.source)
    details = {"work": change.work, "at": iso_time(change.at)}
    file = None
    if step.after is None:
        memories.restore(source, path, unpacked(step.text or b""), step.place)
    elif step.place:
        memories.move(source, step.place, path)
    else:
        file = files.read(path, any_bytes=True)
        if step.before is None:
            details["trash"] = memories.trash(source, path)
        elif file.digest != step.after:
            raise ConflictError(f"{path} changed during the undo", "run the same command again")
        else:
            memories.replace(file, unpacked(step.text or b""))
    file = file if file and step.before is None else files.read(path, any_bytes=True)
    return MemoryOutcome(file.uid, path, file.title, "undone", details)
