"""Convert the memories of other programs: LLMemory, agmem, mem0 and OpenCodeKit."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import as_uuid, string_list
from vault_index.markdown.normalize import normalize_tag
from vault_index.memories.file.document import CONFIDENCES, OLD_ID, TYPES, without_blank_edges
from vault_index.memories.transfer.import_record import ImportRecord, count_of, in_order, is_nothing
from vault_index.unicode import mended

CONTENTS = ("content", "memory", "text", "narrative", "body")
"""The keys that may have the text of a memory."""
_MILLISECONDS_FROM = 1e11
"""Larger times are no seconds, which would be after the year 5138, but a smaller unit."""
_HIGH, _MEDIUM = 0.75, 0.4
# Keys that only matter to the other program, or are derived.
_DROPPED = frozenset(
    {"hash", "content_hash", "embedding", "vector", "score", "distance", "created_at_epoch"}
)
_ACCESSES = ("accessCount", "access_count", "accesses")


def to_memory(values: Mapping[str, Any], position: str) -> ImportRecord:
    """Convert the fields of a memory; fields without a counterpart keep their names.

    Raises UsageError if the memory is empty or a time is invalid.
    """
    rest = dict(values)

    def take(*keys: str) -> Any:
        return next((rest.pop(key) for key in keys if rest.get(key) is not None), None)

    content = take(*CONTENTS)
    if not isinstance(content, str | None):
        raise UsageError("the content is not text", "`content` is the text of the memory")
    body, old = without_blank_edges(content or ""), take("id", "memory_id", "uuid")
    old_name, file = text_of(old), text_of(take("markdown_file"))
    count, accessed = take(*_ACCESSES), time_of(take(*_ACCESSED), _ACCESSED[0])
    head = {
        "id": as_uuid(old),
        **type_of(take("type")),
        **confidence_of(take("confidence")),
        **{ours: convert(take(*theirs)) for ours, (convert, *theirs) in _FIELDS.items()},
        **{ours: time_of(take(*theirs), theirs[0]) for ours, theirs in _TIMES.items()},
    }
    if head["digest"] == body:
        del head["digest"]
    if not body and not any(map(head.get, ("title", "digest", "facts"))):
        raise UsageError("the memory has no content", "give it a text or a title, or delete it")
    if not head["id"]:
        head[OLD_ID] = old if isinstance(old, int) else old_name or file.removesuffix(".md")
    unknown = {key: value for key, value in rest.items() if key not in _DROPPED}
    names = (old_name, f"#{old_name}", file, file.removesuffix(".md"))
    return ImportRecord(
        position,
        in_order(unknown | head),
        body,
        names=tuple(name for name in names if name.strip("#")),
        accesses=count_of(count),
        accessed=accessed,
    )


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
        while abs(number) >= _MILLISECONDS_FROM:
            number /= 1000
        moment = datetime.fromtimestamp(number, UTC)
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
    if not (text := text_of(value).lower()):
        return {}
    if text in CONFIDENCES:
        return {"confidence": text}
    try:
        number = float(text)
    except ValueError:
        return {"imported_confidence": text_of(value)}
    level = ("low", "medium", "high")[(number >= _MEDIUM) + (number >= _HIGH)]
    return {"confidence": level, "imported_confidence": number}


_FIELDS: Mapping[str, tuple[Any, ...]] = {
    "title": (text_of, "title"),
    "subtitle": (text_of, "subtitle"),
    "digest": (text_of, "digest", "summary"),
    "tags": (tags_of, "tags", "categories"),
    "project": (text_of, "project"),
    "entered_by": (text_of, "entered_by", "enteredBy", "agent_id", "author"),
    "supersedes": (strings, "supersedes"),
    "superseded_by": (text_of, "superseded_by", "supersededBy"),
    "facts": (sentences, "facts"),
    "concepts": (strings, "concepts"),
    "files_read": (strings, "files_read", "filesRead"),
    "files_modified": (strings, "files_modified", "filesModified", "files"),
    "bead_id": (text_of, "bead_id", "beadId", "bead"),
}
"""For each of our keys, the converter and the keys of other programs, the first one wins."""
_TIMES = {
    "created": (
        "created_at", "createdAt", "created", "timestamp", "date", "created_at_epoch",
    ),
    "updated": ("updated_at", "updatedAt", "updated", "last_updated", "updated_at_epoch"),
    "expires": ("expires_at", "expiresAt", "expires", "expiration_date"),
    "valid_until": ("valid_until", "validUntil"),
}  # fmt: skip
_ACCESSED = ("last_accessed", "lastAccessed", "last_accessed_at", "lastAccessedAt", "accessed")
