"""Define the common form of an imported memory, and convert values of other programs."""

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
"""The frontmatter key for superseded memories that do not exist here."""


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One memory to import: its frontmatter, in order, and its text.

    An `own` memory was exported by this program. It is restored unchanged, with its id, under its
    `path` (relative to the memory folder). Other memories get an id here; their `supersedes` and
    `superseded_by` have the ids of the other program.
    """

    position: str
    """For messages: `record 3`, or a file."""
    head: Mapping[str, Any]
    body: str
    path: str | None = None
    raw: str | None = None
    """The whole file, if head and body would not reproduce it byte for byte."""
    names: tuple[str, ...] = ()
    """Names that other memories of the same import use for this one."""
    own: bool = False
    accesses: int = 0
    accessed: str | None = None
    warnings: tuple[str, ...] = ()
    """Parts of the file that could not be read."""

    @property
    def uid(self) -> str | None:
        """The id, or None for a memory that only has a name."""
        return as_uuid(self.head.get("id"))


@dataclass(frozen=True, slots=True)
class Batch:
    """The memories in a file or folder, and the failures."""

    memories: tuple[ImportRecord, ...]
    failed: tuple[FailedItem, ...] = ()


def gather(parts: Iterable[tuple[str, Callable[[], ImportRecord]]]) -> Batch:
    """Read every memory; return those that can be read, and the failures."""
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
    """Give an id to each memory of another program, and replace old ids in references.

    New ids are derived from the data, so that importing it twice changes nothing. `known` has the
    ids of earlier imports by their old ids.
    """
    foreign = [
        replace(memory, head={**memory.head, "id": memory.uid or _derived_id(memory)})
        for memory in memories
        if not memory.own
    ]
    ids = dict(known or {})
    for memory in reversed(foreign):  # of two equal names, the first wins
        ids.update(dict.fromkeys(memory.names, memory.head["id"]))
    linked = iter(_linked_both_ways([_with_new_ids(memory, ids) for memory in foreign]))
    return [memory if memory.own else next(linked) for memory in memories]


def _derived_id(memory: ImportRecord) -> str:
    """Return a UUID (version 4) from a hash of the data: equal data gives equal ids."""
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
    """If a memory supersedes another or is superseded by it, record that in both."""
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


# --- values ---------------------------------------------------------------------------------------


def is_nothing(value: object) -> bool:
    """Return whether a value is empty, or a word for that."""
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, list | tuple | dict) and not value)


def time_of(value: object, name: str) -> str | None:
    """Convert a time to ISO 8601; None if the value is empty.

    The value may be ISO 8601, or seconds, milliseconds or microseconds since the epoch. A day stays
    a day. `2026-01-09 04:37:20` is UTC, as SQLite writes it; any other time without a zone is local
    and stays without one. Raises UsageError for other values.
    """
    if is_nothing(value):
        return None
    try:
        return _iso_moment(value)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        hint = "write it as 2026-11-21T10:00:00Z, or in seconds since 1970"
        raise UsageError(f"{name} is not a valid time: {value!r}", hint) from error


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
    """Convert a list, a JSON array or a comma-separated string to a list of texts.

    Quotes and backticks around each text are removed.
    """
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
    """Convert like `strings`, but keep a string with commas as one text."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [] if is_nothing(value) else [value.strip()]
    return strings(value)


def tags_of(value: object) -> list[str]:
    """Convert like `strings`, to normalized tags, each once."""
    return list(dict.fromkeys(tag for text in strings(value) if (tag := normalize_tag(text))))


def text_of(value: object) -> str:
    """Return a short text; empty for an empty value or another type."""
    if isinstance(value, bool) or not isinstance(value, str | int | float) or is_nothing(value):
        return ""
    return str(value).strip()


def type_of(value: object) -> dict[str, Any]:
    """Return the type as frontmatter keys; an unknown type becomes `note` and `imported_type`."""
    text = text_of(value).lower()
    if not text or text in TYPES:
        return {"type": text or "note"}
    return {"type": "note", "imported_type": text_of(value)}


def confidence_of(value: object) -> dict[str, Any]:
    """Return the confidence as frontmatter keys; numbers are from 0 to 1."""
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
    """Remove empty values, and put our own keys first."""
    filled = {key: value for key, value in values.items() if not is_nothing(value)}
    return {key: filled[key] for key in KEYS if key in filled} | filled
