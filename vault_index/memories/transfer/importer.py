"""Decide for each memory of a batch whether it is new, and import it (`import`)."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from vault_index.cancel import CancelToken
from vault_index.errors import VaultIndexError
from vault_index.markdown.frontmatter import string_list
from vault_index.markdown.memory import document_uid, last_moment
from vault_index.memories.create import refuse_secrets
from vault_index.memories.file.document import OLD_ID, MemoryFile, is_over, read_text
from vault_index.memories.file.frontmatter_edit import with_changes
from vault_index.memories.store import MemoryStore, identity_of, planned, writing
from vault_index.memories.transfer.import_record import Batch, ImportRecord, assign_ids, in_order
from vault_index.memories.transfer.json_records import compose, file_of, without_derived
from vault_index.memories.transfer.reading import read_path
from vault_index.models import Filters, Origin, Progress
from vault_index.results.memories import FailedItem, MemoryOutcome, MemoryOutcomes
from vault_index.runtime import Runtime
from vault_index.store.documents import memories_by_identity
from vault_index.store.records import StoredDocument

_NUMBER = re.compile(r"(\d+)")
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
        return replace(outcomes, results=tuple(map(planned, outcomes.results)))
    if importer.usage:
        with runtime.pool.lend() as connections:
            connections.state.raise_usage(importer.usage)
    if embed and any(outcome.outcome == "created" for outcome in outcomes.results):
        runtime.write.embed(rebuild=False, progress=progress, cancel=cancel)
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
    _new: set[str] = field(default_factory=set)

    def run(self, batch: Batch, progress: Progress, cancel: CancelToken) -> MemoryOutcomes:
        """Import the batch and return the outcome of each memory; the index is updated later."""
        given = assign_ids(batch.memories, self._earlier_names())
        settled = self._with_merged_references([self._complete(memory) for memory in given])
        self._new = {memory.uid for memory in settled if memory.uid}
        results: list[MemoryOutcome] = []
        failed = list(batch.failed)
        finished = True
        for done, memory in enumerate(settled, start=1):
            if done > 1 and cancel.cancelled:
                finished = False
                break
            try:
                outcome = self._import_own(memory) if memory.own else self._import_foreign(memory)
            except VaultIndexError as error:
                failed.append(FailedItem(memory.position, error.message, error.hint))
            else:
                results.append(_with_warnings(outcome, memory.warnings))
                self._note_usage(memory, outcome)
            progress("import", done, len(settled))
        return MemoryOutcomes(tuple(results), tuple(sorted(failed, key=_by_position)), finished)

    # --- before -----------------------------------------------------------------------------------

    def _earlier_names(self) -> dict[str, str]:
        """Return the ids of memories imported earlier, by their old ids."""
        names: dict[str, str] = {}
        for document in self.memories.listed(_IMPORTED, "created"):
            for old in string_list(document.frontmatter.get(OLD_ID)):
                names |= {old: document.uid, f"#{old}": document.uid}
        return names

    def _complete(self, memory: ImportRecord) -> ImportRecord:
        """Add the required times, and remove a title that the text yields."""
        if memory.own:
            return memory
        now = self.memories.now.isoformat(timespec="seconds")
        head = without_derived(memory.head, memory.body)
        head["created"] = head.get("created") or head.get("updated") or now
        head["updated"] = head.get("updated") or head["created"]
        return replace(memory, head=in_order(head))

    def _with_merged_references(self, memories: Sequence[ImportRecord]) -> list[ImportRecord]:
        """Redirect references to memories that will be merged into others.

        The memory that stays gets the old ids of both.
        """
        first: dict[bytes, str] = {}
        instead: dict[str, str] = {}
        old_ids: dict[str, list[Any]] = {}
        for memory in memories:
            if memory.own or is_over(memory.head, self.memories.now.timestamp()):
                continue
            uid = memory.head["id"]
            key = identity_of(read_text(compose(memory.head, memory.body)))
            target = first.setdefault(key, uid)
            if target == uid and (here := self._duplicate_of(key, uid)):
                target = first[key] = here
            if target != uid:
                instead[uid] = target
            old_ids.setdefault(target, []).extend(_as_list(memory.head.get(OLD_ID)))
        return [
            memory if memory.own else _with_references(memory, instead, old_ids)
            for memory in memories
        ]

    def _duplicate_of(self, key: bytes, uid: str) -> str | None:
        """Return the id of another valid memory with this content, outside the inbox."""
        known = memories_by_identity(self.memories.connections.reader, key, self.memories.home)
        return next(
            (
                one.uid
                for one in known
                if one.uid != uid
                and not one.unreviewed
                and not is_over(one.frontmatter, self.memories.now.timestamp())
            ),
            None,
        )

    # --- one memory -------------------------------------------------------------------------------

    def _import_foreign(self, memory: ImportRecord) -> MemoryOutcome:
        uid = memory.head["id"]
        if known := self.memories.known(uid):
            return MemoryOutcome(uid, known.path, known.title, "known", {})
        new = read_text(compose(memory.head, f"{memory.body}\n" if memory.body else ""))
        title = new.title
        weak = self._check(new.text)
        if is_over(
            new.front, self.memories.now.timestamp()
        ):  # merging would make another one expire
            return MemoryOutcome(
                uid, self.memories.put(new), title, "created", {"warnings": weak} if weak else {}
            )
        stored = self.memories.store(new, self._replaced_memories(memory))
        details = {"warnings": [*stored.warnings, *weak]}
        if stored.duplicate_of is None:
            return MemoryOutcome(uid, stored.path, title, "created", details)
        self._keep_old_id(stored.path, memory.head.get(OLD_ID))
        return MemoryOutcome(stored.id, stored.path, title, "duplicate", details)

    def _import_own(self, memory: ImportRecord) -> MemoryOutcome:
        """Restore a memory with its id, under its name unless that is taken."""
        new = read_text(file_of(memory), memory.path or "")
        title = new.title or new.path
        here = self.memories.at(new.path) if memory.uid is None else self._by_id(memory.uid)
        if here is not None:
            # The second form is that of earlier exports.
            same = here.text in (new.text, compose(memory.head, memory.body))
            why = (
                {}
                if same
                else {"reason": "the vault has another text with this id or name, which was kept"}
            )
            return MemoryOutcome(here.uid, here.path, title, "known" if same else "kept", why)
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
        return MemoryOutcome(uid, path, title, "created", {"warnings": weak} if weak else {})

    def _by_id(self, uid: str) -> MemoryFile | None:
        known = self.memories.known(uid)
        return self.memories.read(known) if known else None

    def _replaced_memories(self, memory: ImportRecord) -> list[StoredDocument]:
        """Return the memories of the vault that it supersedes, except those in the same batch."""
        known = (self.memories.known(uid) for uid in memory.head.get("supersedes", ()))
        return [document for document in known if document and document.uid not in self._new]

    def _keep_old_id(self, path: str, old: Any) -> None:
        """Add the id of an imported duplicate to an existing memory, so that `get` finds it."""
        here = self.memories.at(path)
        if here is None or old is None:
            return
        was = _as_list(here.front.get(OLD_ID))
        more = [name for name in _as_list(old) if name not in was]
        if more:
            ids = [*was, *more] if was or len(more) > 1 else more[0]
            self.memories.replace(here, with_changes(here.text, {OLD_ID: ids}))

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


def _by_position(failed: FailedItem) -> list[tuple[int, str]]:
    """Sort record 2 before record 10."""
    parts = _NUMBER.split(failed.position)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _with_references(
    memory: ImportRecord, instead: Mapping[str, str], old_ids: Mapping[str, Sequence[Any]]
) -> ImportRecord:
    head = dict(memory.head)
    uid = head["id"]
    replaces = dict.fromkeys(instead.get(other, other) for other in head.get("supersedes", ()))
    if replaces:
        head["supersedes"] = [other for other in replaces if other != uid]
    if by := head.get("superseded_by"):
        head["superseded_by"] = instead.get(by, by)
    if len(ids := list(dict.fromkeys(old_ids.get(uid, ())))) > 1:
        head[OLD_ID] = ids
    return replace(memory, head=head)
