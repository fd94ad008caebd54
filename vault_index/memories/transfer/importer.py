"""An import under the write lock: which memories are new, which are here already, and what becomes of each."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from vault_index.cancel import CancelToken
from vault_index.errors import VaultIndexError
from vault_index.indexer.describe import document_uid, last_moment, memory_identity
from vault_index.markdown.frontmatter import string_list
from vault_index.memories.create import refuse_secrets
from vault_index.memories.file.document import title_of
from vault_index.memories.file.fields import Fields
from vault_index.memories.lookup import Standing
from vault_index.memories.store import MemoryWriter, NewMemory
from vault_index.memories.transfer.coerce import in_order
from vault_index.memories.transfer.import_record import OLD_ID, Batch, Carried, settle
from vault_index.memories.transfer.json_record import compose, file_of
from vault_index.models import Filters, Progress
from vault_index.results import FailedItem, MemoryOutcome, MemoryOutcomes
from vault_index.store.documents import Order, documents_by_id, documents_page, memories_by_identity
from vault_index.store.records import StoredDocument

_NUMBER = re.compile(r"(\d+)")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_ANYWHERE = Filters(kinds=("memory",), properties=((OLD_ID, None),))


class Importer:
    """Brings one batch in. Memories of other programs are merged with what says the same; our own come back as they
    were, twins and all, unless the vault had one of them before."""

    def __init__(self, memories: MemoryWriter, *, force: bool, dry_run: bool) -> None:
        self._memories = memories
        self._force = force
        self._dry_run = dry_run
        self._usage: dict[str, tuple[int, float]] = {}
        self._new: set[str] = set()

    def run(self, batch: Batch, progress: Progress, cancel: CancelToken) -> MemoryOutcomes:
        """What became of each memory; the index does not know of it yet."""
        settled = [self._complete(memory) for memory in settle(batch.memories, self._earlier_names())]
        settled = self._with_twins_known(settled)
        self._new = {memory.uid for memory in settled if memory.uid}
        results: list[MemoryOutcome] = []
        failed = list(batch.failed)
        finished = True
        for done, memory in enumerate(settled, start=1):
            if done > 1 and cancel.cancelled:
                finished = False
                break
            try:
                outcome = self._bring_own(memory) if memory.own else self._bring(memory)
            except VaultIndexError as error:
                failed.append(FailedItem(memory.position, error.in_one_line))
            else:
                results.append(outcome)
                self._note_usage(memory, outcome)
            progress("import", done, len(settled))
        return MemoryOutcomes(tuple(results), tuple(sorted(failed, key=_place)), finished)

    def usage(self) -> dict[str, tuple[int, float]]:
        """How often each memory was opened where it came from, and when last."""
        return self._usage

    # --- before ------------------------------------------------------------------------------------------------

    def _earlier_names(self) -> dict[str, str]:
        """Ids of what was imported before, by what it was called elsewhere."""
        documents, _ = documents_page(self._memories.reader, _ANYWHERE, Order("created", False), -1, 0)
        names: dict[str, str] = {}
        for document in documents:
            for old in string_list(document.frontmatter.get(OLD_ID)):
                names |= {old: document.uid, f"#{old}": document.uid}
        return names

    def _complete(self, memory: Carried) -> Carried:
        """With what every memory of ours has: a title, and times."""
        if memory.own:
            return memory
        now = self._memories.now.isoformat(timespec="seconds")
        head = dict(memory.head)
        head["title"] = head.get("title") or title_of(memory.body)
        head["created"] = head.get("created") or head.get("updated") or now
        head["updated"] = head.get("updated") or head["created"]
        return replace(memory, head=in_order(head))

    def _with_twins_known(self, memories: Sequence[Carried]) -> list[Carried]:
        """Where a memory will be merged into another one, the others speak of that one; and it remembers both ids."""
        first: dict[bytes, str] = {}
        instead: dict[str, str] = {}
        old_ids: dict[str, list[Any]] = {}
        for memory in memories:
            if memory.own or self._is_over(memory):
                continue
            uid = memory.head["id"]
            key = _identity(memory)
            twin = first.setdefault(key, uid)
            if twin == uid and (here := self._here_already(key, uid)):
                twin = first[key] = here
            if twin != uid:
                instead[uid] = twin
            old_ids.setdefault(twin, []).extend(_listed(memory.head.get(OLD_ID)))
        return [memory if memory.own else _speaking_of(memory, instead, old_ids) for memory in memories]

    def _here_already(self, key: bytes, uid: str) -> str | None:
        """The id of the memory in the vault that says this, and still counts."""
        now = self._memories.now.timestamp()
        for document in memories_by_identity(self._memories.reader, key, self._memories.home):
            over = document.frontmatter.get("superseded_by") or (document.expires or now + 1) <= now
            if document.uid != uid and not over:
                return document.uid
        return None

    def _is_over(self, memory: Carried) -> bool:
        expires = last_moment(memory.head.get("expires"))
        return bool(memory.head.get("superseded_by")) or (
            expires is not None and expires <= self._memories.now.timestamp()
        )

    # --- one memory --------------------------------------------------------------------------------------------

    def _bring(self, memory: Carried) -> MemoryOutcome:
        uid, title = memory.head["id"], memory.head["title"]
        if known := documents_by_id(self._memories.reader, uid):
            return MemoryOutcome(uid, known[0].path, known[0].title, "known", {})
        new = self._prepared(memory)
        self._check(new.text)
        over = self._is_over(memory)
        if self._dry_run:
            twin = None if over else self._memories.twin(new.text)
            if twin is not None:
                return MemoryOutcome(twin.uid, twin.path, title, "duplicate", {})
            return MemoryOutcome(uid, "", title, "would be created", {})
        if over:  # it must not make another one expire
            return MemoryOutcome(uid, self._memories.put(new), title, "created", {})
        stored = self._memories.store(new, self._replaced(memory))
        if stored.duplicate_of is None:
            return MemoryOutcome(uid, stored.path, title, "created", {"warnings": list(stored.warnings)})
        self._remember(stored.path, memory.head.get(OLD_ID))
        return MemoryOutcome(stored.id, stored.path, title, "duplicate", {"warnings": list(stored.warnings)})

    def _bring_own(self, memory: Carried) -> MemoryOutcome:
        """As it was: with its id, under its name unless that is taken."""
        text, title = file_of(memory), str(memory.head.get("title") or memory.path)
        here = self._standing(memory)
        if here is not None:
            same = here.seen.text == text
            why = {} if same else {"reason": "the vault has another text under this id or name, which stays"}
            return MemoryOutcome(here.uid, here.path, title, "known" if same else "kept", why)
        self._check(text)
        if memory.uid and not self._is_over(memory) and (twin := self._memories.twin(text)):
            return MemoryOutcome(twin.uid, twin.path, title, "duplicate", {})
        taken = self._memories.at(memory.path or "") is not None
        new = replace(self._prepared(memory), text=text, path=None if taken else memory.path)
        if self._dry_run:
            return MemoryOutcome(memory.uid or "", new.path or "", title, "would be created", {})
        path = self._memories.put(new)
        return MemoryOutcome(document_uid(memory.head.get("id"), self._memories.home, path), path, title, "created", {})

    def _prepared(self, memory: Carried) -> NewMemory:
        head = memory.head
        day = _DAY.match(str(head.get("created")))
        return NewMemory(
            text=compose(head, f"{memory.body}\n" if memory.body else ""),
            uid=memory.uid or "",
            title=str(head.get("title") or memory.path or ""),
            day=day[0] if day else self._memories.now.date().isoformat(),
            fields=Fields(
                type=str(head.get("type") or "note"),
                tags=tuple(string_list(head.get("tags"))),
                expires=head.get("expires"),
                valid_until=head.get("valid_until"),
            ),
        )

    def _standing(self, memory: Carried) -> Standing | None:
        """What the vault has under the id of a memory, or under its name where it has no id."""
        if memory.uid is None:
            return self._memories.at(memory.path or "")
        known = documents_by_id(self._memories.reader, memory.uid)
        return self._memories.look(known[0]) if known else None

    def _replaced(self, memory: Carried) -> list[StoredDocument]:
        """Memories of the vault that it supersedes; those that come along say so themselves."""
        found = (documents_by_id(self._memories.reader, uid) for uid in memory.head.get("supersedes", ()))
        return [documents[0] for documents in found if documents and documents[0].uid not in self._new]

    def _remember(self, path: str, old: Any) -> None:
        """Let a memory that was here before be found by what its twin was called elsewhere, too."""
        here = self._memories.at(path)
        if here is None or old is None:
            return
        was = _listed(here.front.get(OLD_ID))
        more = [name for name in _listed(old) if name not in was]
        if more:
            self._memories.set_keys(here, {OLD_ID: [*was, *more] if was or len(more) > 1 else more[0]})

    def _check(self, text: str) -> None:
        if not self._force:
            refuse_secrets("the memory", text)

    def _note_usage(self, memory: Carried, outcome: MemoryOutcome) -> None:
        if memory.accesses and outcome.id:
            last = last_moment(memory.accessed or memory.head.get("updated")) or 0.0
            count, known = self._usage.get(outcome.id, (0, 0.0))
            self._usage[outcome.id] = max(count, memory.accesses), max(known, last)


def _place(failed: FailedItem) -> list[tuple[int, str]]:
    """Where it stands: record 2 before record 10."""
    parts = _NUMBER.split(failed.position)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def _identity(memory: Carried) -> bytes:
    return memory_identity(f"---\n---\n{memory.body}", memory.head, memory.head["title"])


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _speaking_of(memory: Carried, instead: Mapping[str, str], old_ids: Mapping[str, Sequence[Any]]) -> Carried:
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
