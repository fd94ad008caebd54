"""Takes memories out of a vault: into its `.trash/`, or for good."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from vault_index.errors import UsageError, VaultIndexError
from vault_index.markdown.memory import last_moment
from vault_index.memories.dates import read_date
from vault_index.memories.store import MemoryStore, writing
from vault_index.results import FailedItem, MemoryOutcome, MemoryOutcomes
from vault_index.runtime import Runtime
from vault_index.store.records import StoredDocument


def delete_memories(
    runtime: Runtime, refs: Sequence[str], *, permanent: bool, sources: Sequence[str]
) -> MemoryOutcomes:
    if not refs:
        raise UsageError("which memory?", "name it by its id or its path")
    done, failed = [], []
    with writing(runtime, "delete", sources) as memories:
        for ref in refs:
            try:
                document = memories.find(runtime.inside(ref), sources)
                done.append(_removed(memories, document, permanent=permanent))
            except VaultIndexError as error:
                if len(refs) == 1:
                    raise
                failed.append(FailedItem(ref, error.in_one_line))
    return MemoryOutcomes(tuple(done), tuple(failed))


def prune_memories(runtime: Runtime, *, before: str | None, dry_run: bool, sources: Sequence[str]) -> MemoryOutcomes:
    """Move what expired before now, and before that day, to the trash. The file decides, not the index."""
    now = datetime.now().astimezone()
    until = now.timestamp()
    if before is not None:
        day = datetime.fromisoformat(read_date(before, now.date(), option="before"))
        until = min(until, day.timestamp() - 0.001)
    done, failed = [], []
    with writing(runtime, "prune", sources, now) as memories:
        for document in memories.expired(until, sources):
            try:
                expires = memories.read(document).front.get("expires")
                if (last_moment(expires) or until + 1) <= until:
                    outcome = _removed(memories, document, dry_run=dry_run)
                    done.append(replace(outcome, details={**outcome.details, "expires": str(expires)}))
            except VaultIndexError as error:
                failed.append(FailedItem(document.path, error.message))
    return MemoryOutcomes(tuple(done), tuple(failed))


def _removed(
    memories: MemoryStore, document: StoredDocument, *, permanent: bool = False, dry_run: bool = False
) -> MemoryOutcome:
    if dry_run:
        return MemoryOutcome(document.uid, document.path, document.title, "would be trashed", {})
    trashed = memories.remove(document, permanent=permanent)
    if permanent:
        return MemoryOutcome(document.uid, document.path, document.title, "deleted", {})
    return MemoryOutcome(document.uid, document.path, document.title, "trashed", {"trash": trashed})
