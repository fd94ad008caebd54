"""Decide for each memory of a batch whether it is new, and import it (`import`)."""

import hashlib
import os
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vault_index.errors import UsageError, VaultIndexError
from vault_index.markdown.frontmatter import as_uuid, document_uid, last_moment, string_list
from vault_index.memories.create import refuse_secrets
from vault_index.memories.file.document import OLD_ID, is_over, read_text
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.store import MemoryStore, as_planned, writing
from vault_index.memories.transfer.import_record import Batch, ImportRecord, compose, in_order
from vault_index.memories.transfer.reading import file_stem, read_path
from vault_index.models import Filters, Origin
from vault_index.progress import CancelToken, Progress
from vault_index.results.memories import FailedItem, MemoryOutcome, MemoryOutcomes, Outcome
from vault_index.runtime import Runtime

OLD_SUPERSEDES = "imported_supersedes"
"""The frontmatter key for superseded memories that do not exist here."""
_IMPORTED = Filters(properties=((OLD_ID, None),))


def import_memories(
    runtime: Runtime,
    path: str | Path,
    *,
    force: bool,
    dry_run: bool,
    embed: bool,
    sources: Sequence[str],
    progress: Progress,
    cancel: CancelToken,
) -> MemoryOutcomes:
    """Import the memories of a file or folder; with `embed`, also compute their vectors."""
    batch = read_path(Path(path).expanduser())
    typed_in = [Origin(folders=(os.path.abspath(os.path.expanduser(path)),))]
    with writing(runtime, "import", sources, dry_run=dry_run, typed_in=typed_in) as memories:
        importer = Importer(memories=memories, force=force)
        outcomes = importer.run(batch, progress, cancel)
        memories.flush(progress)
    if dry_run:
        return replace(outcomes, results=tuple(map(as_planned, outcomes.results)))
    if importer.usage:
        with runtime.pool.lend() as connections:
            connections.state.raise_usage(importer.usage)
    if embed and any(outcome.outcome == "created" for outcome in outcomes.results):
        runtime.write.embed(rebuild=False, progress=progress, cancel=cancel)
    return outcomes


def import_chats(
    runtime: Runtime, path: Path, *, dry_run: bool, embed: bool, progress: Progress
) -> MemoryOutcomes:
    """Store the conversations of an export of Claude or ChatGPT, and index them as sessions."""
    from vault_index.sources.sessions.chats import split, store
    from vault_index.sources.sessions.clients import data_of

    results, changed = list[MemoryOutcome](), set[str]()
    for client, id_, record in split(path):
        new = dry_run or store(data_of(client, runtime.config)[0], id_, record)
        changed |= {client} if new else set()
        outcome: Outcome = "created" if new else "known"
        results.append(
            MemoryOutcome(
                id_,
                f"{client}/{id_}",
                str(record.get("title") or record.get("name") or ""),
                outcome,
                {},
            )
        )
        progress("import", len(results), 0)
    if not results:
        raise UsageError(
            f"{path} has no conversations", "give the ZIP or `conversations.json` of an export"
        )
    outcomes = MemoryOutcomes(tuple(results))
    if dry_run:
        return replace(outcomes, results=tuple(map(as_planned, results)))
    places = {name: [""] for name in changed if name in runtime.by_name}
    if places:
        runtime.write.sync(places, dry_run=False, embed=embed, progress=progress)
    return outcomes


@dataclass(slots=True, kw_only=True)
class Importer:
    """Imports one batch.

    Memories of other programs are merged with memories of the same content. Memories that we
    exported are restored unchanged, duplicates included, unless the vault already has them.
    """

    memories: MemoryStore
    force: bool
    usage: dict[str, tuple[int, float]] = field(default_factory=dict)
    """By id, the number of accesses in the other program and the last access (epoch seconds)."""

    def run(self, batch: Batch, progress: Progress, cancel: CancelToken) -> MemoryOutcomes:
        """Import the batch and return the outcome of each memory; the index is updated later."""
        foreign = [
            replace(memory, head={**memory.head, "id": memory.uid or _derived_id(memory)})
            for memory in batch.memories
            if memory.file is None
        ]
        linked = iter(self._with_new_references(foreign))
        memories = [next(linked) if one.file is None else one for one in batch.memories]
        results: list[MemoryOutcome] = []
        failed = list(batch.failed)
        finished = True
        for done, memory in enumerate(memories, start=1):
            if done > 1 and cancel.cancelled:
                finished = False
                break
            try:
                if memory.file is None:
                    outcome = self._import_foreign(memory)
                else:
                    outcome = self._import_own(memory, memory.file)
            except VaultIndexError as error:
                failed.append(FailedItem(memory.position, error.message, error.hint))
            else:
                results.append(_with_warnings(outcome, memory.warnings))
                self._note_usage(memory, outcome)
            progress("import", done, len(memories))
        return MemoryOutcomes(tuple(results), tuple(failed), finished)

    # --- references -------------------------------------------------------------------------------

    def _with_new_references(self, memories: Sequence[ImportRecord]) -> list[ImportRecord]:
        """Add missing times, and replace old ids in `supersedes` and `superseded_by`.

        Each link is recorded in both memories.
        A reference to a memory that will be merged leads to the one that stays.
        """
        ids = self._ids_by_name(memories)
        older: dict[str, list[str]] = defaultdict(list)
        newer: dict[str, str] = {}
        for memory in memories:
            uid = ids[memory.head["id"]]
            replaced = _known(memory.head.get("supersedes", ()), ids)
            by = _known([memory.head.get("superseded_by", "")], ids)
            for new, old in (*((uid, one) for one in replaced), *((one, uid) for one in by)):
                if new != old:
                    older[new].append(old)
                    newer.setdefault(old, new)
        linked = []
        for memory in memories:
            uid, names = ids[memory.head["id"]], memory.head.get("supersedes", ())
            created, updated = map(memory.head.get, ("created", "updated"))
            created = created or updated or self.memories.now.isoformat(timespec="seconds")
            changes = {
                "created": created,
                "updated": updated or created,
                "supersedes": list(dict.fromkeys(older[uid])),
                "superseded_by": newer.get(uid),
                OLD_SUPERSEDES: [name for name in names if not _known([name], ids)],
            }
            linked.append(replace(memory, head=in_order({**memory.head, **changes})))
        return linked

    def _ids_by_name(self, memories: Sequence[ImportRecord]) -> dict[str, str]:
        """Return the ids to use for the ids and names of memories, also of earlier imports.

        Memories with the same content get the id of the one that stays.
        """
        ids: dict[str, str] = {}
        stays: dict[bytes, str] = {}
        for memory in memories:
            uid = target = memory.head["id"]
            if not is_over(memory.head, self.memories.now.timestamp()):
                new = read_text(compose(memory.head, memory.body))
                key = new.identity
                if key not in stays:
                    here = None if self.memories.known(uid) else self.memories.duplicate(new)
                    stays[key] = here.uid if here else uid
                target = stays[key]
            for name in (uid, *memory.names):
                ids.setdefault(name, target)
        for document in reversed(self.memories.listed(_IMPORTED, "created")):
            for name in string_list(document.frontmatter.get(OLD_ID)):
                ids.setdefault(name, document.uid)
                ids.setdefault(f"#{name}", document.uid)
        return ids

    # --- one memory -------------------------------------------------------------------------------

    def _import_foreign(self, memory: ImportRecord) -> MemoryOutcome:
        uid = memory.head["id"]
        if known := self.memories.known(uid):
            return MemoryOutcome(uid, known.path, known.title, "known", {})
        new = read_text(compose(memory.head, f"{memory.body}\n" if memory.body else ""))
        weak = self._check(new.text)
        if is_over(new.front, self.memories.now.timestamp()):  # it would end a duplicate, too
            return _created(uid, self.memories.put(new), new.title, weak)
        replaced = map(self.memories.known, memory.head.get("supersedes", ()))
        stored = self.memories.store(new, [document for document in replaced if document])
        warnings = [*stored.warnings, *weak]
        if stored.created:
            return _created(uid, stored.path, new.title, warnings)
        self._keep_old_id(stored.path, memory.head.get(OLD_ID))
        return MemoryOutcome(stored.id, stored.path, new.title, "duplicate", {"warnings": warnings})

    def _import_own(self, memory: ImportRecord, text: str) -> MemoryOutcome:
        """Restore a memory with its id, under its name unless that is taken."""
        new = read_text(text, memory.path)
        title = new.title or new.path
        if memory.uid is None:
            here = self.memories.at(new.path)
        else:
            known = self.memories.known(memory.uid)
            here = self.memories.read(known) if known else None
        if here is not None and here.text == text:
            return MemoryOutcome(here.uid, here.path, title, "known", {})
        if here is not None:
            why = "the vault has another text with this id or name, which was kept"
            return MemoryOutcome(here.uid, here.path, title, "kept", {"reason": why})
        weak = self._check(new.text)
        if (
            memory.uid
            and not is_over(memory.head, self.memories.now.timestamp())
            and (here := self.memories.duplicate(new))
        ):
            return MemoryOutcome(here.uid, here.path, title, "duplicate", {})
        if self.memories.at(new.path) is not None:
            new = replace(new, path="")
        path = self.memories.put(new)
        uid = document_uid(memory.head.get("id"), self.memories.home, path)
        return _created(uid, path, title, weak)

    def _keep_old_id(self, path: str, old: Any) -> None:
        """Add the id of an imported duplicate to an existing memory, so that `get` finds it."""
        here = self.memories.at(path)
        if here is None or old is None:
            return
        was = here.front.get(OLD_ID)
        names = was if isinstance(was, list) else [was]
        if old not in names:
            self.memories.replace(
                here, with_changes(here.text, {OLD_ID: old if was is None else [*names, old]})
            )

    def _check(self, text: str) -> list[str]:
        return [] if self.force else refuse_secrets("the memory", text)

    def _note_usage(self, memory: ImportRecord, outcome: MemoryOutcome) -> None:
        if memory.accesses and outcome.id:
            last = last_moment(memory.accessed or memory.head.get("updated")) or 0.0
            count, known = self.usage.get(outcome.id, (0, 0.0))
            self.usage[outcome.id] = max(count, memory.accesses), max(known, last)


def _with_warnings(outcome: MemoryOutcome, more: Sequence[str]) -> MemoryOutcome:
    warnings = [*outcome.details.get("warnings", ()), *more]
    return replace(outcome, details={**outcome.details, "warnings": warnings}) if more else outcome


def _created(uid: str, path: str, title: str, warnings: Sequence[str]) -> MemoryOutcome:
    return MemoryOutcome(uid, path, title, "created", {"warnings": [*warnings]} if warnings else {})


def _derived_id(memory: ImportRecord) -> str:
    """Return a UUID (version 4) from a hash of the data: equal data gives equal ids."""
    times = str(memory.head.get("created", ""))
    parts = (*memory.names[:1], times, str(memory.head.get("title")), memory.body)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _known(names: Iterable[str], ids: Mapping[str, str]) -> list[str]:
    """Return the ids that references mean; a reference may be a file or a link to it."""
    found = (
        ids.get(name) or ids.get(file_stem(name.strip("[]"))) or as_uuid(name) for name in names
    )
    return [uid for uid in found if uid]
