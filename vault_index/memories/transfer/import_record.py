"""One memory that is to be imported, the same for every format, and the ids it gets here."""

import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.memory import as_uuid
from vault_index.results import FailedItem

OLD_SUPERSEDES = "imported_supersedes"
"""What a memory superseded and nobody here knows."""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One memory as it was read: its frontmatter, in order, and its text.

    `own` is one that we exported: it is restored as it was, under its `path` (inside the memory folder) and with its
    id. Any other gets an id here; its `supersedes` and `superseded_by` hold the ids of its origin.
    """

    position: str
    """For people: `record 3`, or a file."""
    head: Mapping[str, Any]
    body: str
    path: str | None = None
    raw: str | None = None
    """The whole file, where head and body would not give it back byte for byte."""
    names: tuple[str, ...] = ()
    """What other memories of the same origin call it."""
    own: bool = False
    accesses: int = 0
    accessed: str | None = None

    @property
    def uid(self) -> str | None:
        """Its id; None for a memory by name."""
        return as_uuid(self.head.get("id"))


@dataclass(frozen=True, slots=True)
class Batch:
    """What a file or folder holds."""

    memories: tuple[ImportRecord, ...]
    failed: tuple[FailedItem, ...] = ()


def gather(parts: Iterable[tuple[str, Callable[[], ImportRecord]]]) -> Batch:
    """Every memory that can be read, and the positions of those that cannot."""
    memories: list[ImportRecord] = []
    failed: list[FailedItem] = []
    for position, read in parts:
        try:
            memories.append(read())
        except UsageError as error:
            failed.append(FailedItem(position, error.message))
    return Batch(tuple(memories), tuple(failed))


def assign_ids(memories: Sequence[ImportRecord], known: Mapping[str, str] | None = None) -> list[ImportRecord]:
    """Give every memory that is not our own an id, and replace the old ids in what they supersede.

    The new ids are derived from what the origin said, so that the same data gives the same ids again: importing it
    twice changes nothing. `known` are the ids of memories imported earlier, by their old ids.
    """
    foreign = [_with_id(memory) for memory in memories if not memory.own]
    ids = dict(known or {})
    for memory in reversed(foreign):  # of two with one name the first is meant
        ids.update(dict.fromkeys(memory.names, memory.head["id"]))
    linked = iter(_linked_both_ways([_with_new_ids(memory, ids) for memory in foreign]))
    return [memory if memory.own else next(linked) for memory in memories]


def _with_id(memory: ImportRecord) -> ImportRecord:
    rest = {key: value for key, value in memory.head.items() if key != "id"}
    return replace(memory, head={"id": memory.uid or _derived_id(memory), **rest})


def _derived_id(memory: ImportRecord) -> str:
    """A UUID that has the form of version 4 and the bits of a hash: the same for the same data."""
    parts = (*memory.names[:1], str(memory.head.get("created", "")), str(memory.head.get("title")), memory.body)
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def _with_new_ids(memory: ImportRecord, ids: Mapping[str, str]) -> ImportRecord:
    head = dict(memory.head)
    old = [str(name) for name in head.pop("supersedes", ())]
    if found := _known(old, ids):
        head["supersedes"] = found
    if unknown := [name for name in old if name not in ids and not as_uuid(name)]:
        head[OLD_SUPERSEDES] = unknown
    if newer := _known([str(head.pop("superseded_by", ""))], ids):
        head["superseded_by"] = newer[0]
    return replace(memory, head=head)


def _known(names: Iterable[str], ids: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(uid for name in names if (uid := ids.get(name) or as_uuid(name))))


def _linked_both_ways(memories: Sequence[ImportRecord]) -> Iterator[ImportRecord]:
    """Where one of two memories says that it replaced the other or was replaced by it, both say so."""
    older: dict[str, list[str]] = {}
    newer: dict[str, str] = {}
    for memory in memories:
        for uid in memory.head.get("supersedes", ()):
            newer.setdefault(uid, memory.head["id"])
        if by := memory.head.get("superseded_by"):
            older.setdefault(by, []).append(memory.head["id"])
    for memory in memories:
        head, uid = dict(memory.head), memory.head["id"]
        replaces = list(dict.fromkeys((*head.pop("supersedes", ()), *older.get(uid, ()))))
        replaced_by = head.pop("superseded_by", None) or newer.get(uid)
        if replaces:
            head["supersedes"] = replaces
        if replaced_by:
            head["superseded_by"] = replaced_by
        yield replace(memory, head=head)
