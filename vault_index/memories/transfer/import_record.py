"""One memory that is to be imported, the same for every format, its values as other programs write them, and its id."""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import string_list
from vault_index.markdown.memory import as_uuid
from vault_index.markdown.normalize import normalize_tag
from vault_index.memories.file.fields import CONFIDENCES, TYPES
from vault_index.memories.file.frontmatter_edit import KEYS
from vault_index.results.memories import FailedItem
from vault_index.unicode import mended

_NOTHING = frozenset({"", "null", "none", "n/a", "-", "undefined"})
_MILLISECONDS_FROM = 1e11  # as seconds this is the year 5138
_MICROSECONDS_FROM = 1e14
_HIGH, _MEDIUM = 0.75, 0.4

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
    warnings: tuple[str, ...] = ()
    """What of its file could not be read."""

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
            failed.append(FailedItem(position, error.message, error.hint))
    return Batch(tuple(memories), tuple(failed))


def assign_ids(
    memories: Sequence[ImportRecord], known: Mapping[str, str] | None = None
) -> list[ImportRecord]:
    """Give every memory that is not our own an id, and replace the old ids in what they supersede.

    The new ids are derived from what the origin said, so that the same data gives the same ids again: importing it
    twice changes nothing. `known` are the ids of memories imported earlier, by their old ids.
    """
    foreign = [
        replace(memory, head={**memory.head, "id": memory.uid or _derived_id(memory)})
        for memory in memories
        if not memory.own
    ]
    ids = dict(known or {})
    for memory in reversed(foreign):  # of two with one name the first is meant
        ids.update(dict.fromkeys(memory.names, memory.head["id"]))
    linked = iter(_linked_both_ways([_with_new_ids(memory, ids) for memory in foreign]))
    return [memory if memory.own else next(linked) for memory in memories]


def _derived_id(memory: ImportRecord) -> str:
    """A UUID that has the form of version 4 and the bits of a hash: the same for the same data."""
    parts = (
        *memory.names[:1],
        str(memory.head.get("created", "")),
        str(memory.head.get("title")),
        memory.body,
    )
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


# --- values ----------------------------------------------------------------------------------------------------


def is_nothing(value: object) -> bool:
    """Whether a value says nothing: empty, or a word for that."""
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, list | tuple | dict) and not value)


def time_of(value: object, name: str) -> str | None:
    """A time as ISO 8601: given so, or in seconds, milliseconds or microseconds since the epoch.

    A day stays a day. `2026-01-09 04:37:20` is how SQLite writes UTC; any other time without a zone is local and
    stays without. Raises UsageError for what is no time.
    """
    if is_nothing(value):
        return None
    try:
        return _iso_moment(value)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        hint = "write it as 2026-11-21T10:00:00Z, or in seconds since 1970"
        raise UsageError(f"{name} is no time: {value!r}", hint) from error


def _iso_moment(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise TypeError(value)
    text = str(value).strip()
    try:
        number = float(text)
    except ValueError:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-01-09"):
            return moment.date().isoformat()
        if moment.tzinfo is None and " " in text and not moment.microsecond:
            moment = moment.replace(tzinfo=UTC)
    else:
        unit = (
            1e6
            if abs(number) >= _MICROSECONDS_FROM
            else 1e3
            if abs(number) >= _MILLISECONDS_FROM
            else 1
        )
        moment = datetime.fromtimestamp(number / unit, UTC)
    return moment.isoformat(timespec="seconds")


def strings(value: object) -> list[str]:
    """A list of texts: as a list, a list in JSON, or between commas; marks of code around each are dropped."""
    if is_nothing(value):
        return []
    listed: Any = value
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            listed = mended(json.loads(value))
        except ValueError:
            listed = value.strip().strip("[]")
    found = list(map(str, listed)) if isinstance(listed, Mapping) else string_list(listed)
    return [text for item in found if not is_nothing(text := item.strip().strip("`\"'").strip())]


def sentences(value: object) -> list[str]:
    """As `strings`, for texts that may hold commas: one text alone is one."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [] if is_nothing(value) else [value.strip()]
    return strings(value)


def tags_of(value: object) -> list[str]:
    return list(dict.fromkeys(tag for text in strings(value) if (tag := normalize_tag(text))))


def text_of(value: object) -> str:
    """A short text; empty for what says nothing or is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or is_nothing(value):
        return ""
    return str(value).strip()


def type_of(value: object) -> dict[str, Any]:
    """The type, as keys of the frontmatter: one we do not have is a note, and remembered."""
    text = text_of(value).lower()
    if not text or text in TYPES:
        return {"type": text or "note"}
    return {"type": "note", "imported_type": text_of(value)}


def confidence_of(value: object) -> dict[str, Any]:
    """The confidence, as keys of the frontmatter; numbers are from 0 to 1."""
    text = text_of(value).lower()
    if not text:
        return {}
    if text in CONFIDENCES:
        return {"confidence": text}
    try:
        number = float(text)
    except ValueError:
        return {"imported_confidence": text_of(value)}
    level = "high" if number >= _HIGH else "medium" if number >= _MEDIUM else "low"
    return {"confidence": level, "imported_confidence": number}


def in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """What says something, ours first."""
    told = {key: value for key, value in values.items() if not is_nothing(value)}
    return {key: told[key] for key in KEYS if key in told} | told
