"""Memories on their way in from elsewhere: one shape for every format, and how they get ids of ours."""

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
    """One memory as it comes: what its frontmatter says, in order, and its text.

    `own` is one that we exported: it comes back as it was, under its `path` (inside the memory folder) and with its
    id. Any other gets an id, and of `supersedes` and `superseded_by` holds what its origin called them.
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


def settle(memories: Sequence[ImportRecord], known: Mapping[str, str] | None = None) -> list[ImportRecord]:
    """Give every memory that is not our own an id, and let what they supersede be called by ids.

    The ids follow from what the origin said, so that the same data gives the same ids again: importing it twice
    changes nothing. `known` are the ids of what was imported earlier, by its old names.
    """
    named = [_with_id(memory) for memory in memories]
    ids = dict(known or {})
    for memory in reversed(named):  # of two with one name the first is meant
        ids.update({name: memory.head["id"] for name in memory.names if not memory.own})
    remapped = [memory if memory.own else _remapped(memory, ids) for memory in named]
    return _mirrored(remapped)


def _with_id(memory: ImportRecord) -> ImportRecord:
    if memory.own:
        return memory
    return replace(memory, head={"id": memory.uid or _derived_id(memory), **_without(memory.head, "id")})


def _derived_id(memory: ImportRecord) -> str:
    """A UUID of version 4 by its form, with the bits of a hash: like any other here, but the same every time."""
    said = "\0".join(
        (*memory.names[:1], str(memory.head.get("created", "")), str(memory.head.get("title")), memory.body)
    )
    return str(uuid.UUID(bytes=hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest()[:16], version=4))


def _remapped(memory: ImportRecord, ids: Mapping[str, str]) -> ImportRecord:
    head = dict(memory.head)
    old = [str(name) for name in head.pop("supersedes", ())]
    unknown = [name for name in old if name not in ids and not as_uuid(name)]
    if found := _known(old, ids):
        head["supersedes"] = found
    if unknown:
        head[OLD_SUPERSEDES] = unknown
    if newer := _known([str(head.pop("superseded_by", ""))], ids):
        head["superseded_by"] = newer[0]
    return replace(memory, head=head)


def _known(names: Iterable[str], ids: Mapping[str, str]) -> list[str]:
    return list(dict.fromkeys(uid for name in names if (uid := ids.get(name) or as_uuid(name))))


def _mirrored(memories: Sequence[ImportRecord]) -> list[ImportRecord]:
    """Where only one side says which memory replaced which, the other says so, too."""
    older: dict[str, list[str]] = {}
    newer: dict[str, str] = {}
    for memory in memories:
        for uid in memory.head.get("supersedes") or () if not memory.own else ():
            newer.setdefault(uid, memory.head["id"])
        if not memory.own and (by := memory.head.get("superseded_by")):
            older.setdefault(by, []).append(memory.head["id"])
    return [
        memory if memory.own else replace(memory, head=dict(_both_sides(memory, older, newer))) for memory in memories
    ]


def _both_sides(
    memory: ImportRecord, older: Mapping[str, Sequence[str]], newer: Mapping[str, str]
) -> Iterator[tuple[str, Any]]:
    uid = memory.head["id"]
    replaces = list(dict.fromkeys((*memory.head.get("supersedes", ()), *older.get(uid, ()))))
    replaced_by = memory.head.get("superseded_by") or newer.get(uid)
    for key, value in memory.head.items():
        if key not in ("supersedes", "superseded_by"):
            yield key, value
    if replaces:
        yield "supersedes", replaces
    if replaced_by:
        yield "superseded_by", replaced_by


def _without(values: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key not in keys}
