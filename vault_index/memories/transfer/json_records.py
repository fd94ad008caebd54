"""Convert memories to and from JSON: our exports, and arrays of other programs.

Other programs are LLMemory, agmem, mem0 and OpenCodeKit (its table of observations).
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.memory import as_uuid
from vault_index.markdown.parse import title_of
from vault_index.memories.file.document import OLD_ID, read_text, without_blank_edges
from vault_index.memories.file.frontmatter_edit import entry
from vault_index.memories.transfer.import_record import (
    Batch,
    ImportRecord,
    confidence_of,
    gather,
    in_order,
    sentences,
    strings,
    tags_of,
    text_of,
    time_of,
    type_of,
)
from vault_index.unicode import has_surrogates, mended

_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED = "path", "content", "raw", "accesses", "accessed"
_RESERVED = frozenset({_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED})


def to_record(
    path: str, text: str, *, accesses: int = 0, accessed: str | None = None
) -> dict[str, Any]:
    """Return a memory file as a record.

    It has `path` (relative to the memory folder), the frontmatter keys, a `title`, derived from the
    text if necessary, and `content`. If these would not reproduce the file byte for byte (because
    of comments, other quotes, other line endings or invalid frontmatter), `raw` has the whole text.
    Import then uses `raw`; the rest is for readers.
    """
    file = read_text(text)
    head = {key: value for key, value in file.front.items() if key not in _RESERVED}
    title = {"title": derived} if "title" not in head and (derived := title_of(file.body)) else {}
    record: dict[str, Any] = {_PATH: path, **head, **title, _CONTENT: file.body}
    if (
        file.faults
        or len(head) < len(file.front)
        or compose(without_derived(head, file.body), file.body) != text
    ):
        record[_RAW] = text
    if accesses:
        record |= {_ACCESSES: accesses, _ACCESSED: accessed}
    return record


def is_own(record: Mapping[str, Any]) -> bool:
    """Return whether a record has a path, like the records that we export."""
    return isinstance(record.get(_PATH), str) and (_CONTENT in record or _RAW in record)


def from_record(record: Mapping[str, Any], position: str) -> ImportRecord:
    """Convert a record that we exported. Raises UsageError if its content is not a text."""
    raw, body = record.get(_RAW), record.get(_CONTENT)
    if not isinstance(body if raw is None else raw, str):
        raise UsageError("`content` is not text", "`content` is the text of the memory")
    count, accessed = record.get(_ACCESSES), record.get(_ACCESSED)
    head = {key: value for key, value in record.items() if key not in _RESERVED}
    memory = (
        from_file(raw, record[_PATH])
        if raw is not None
        else ImportRecord(position, head, body or "", own=True)
    )
    return replace(
        memory,
        position=position,
        path=record[_PATH],
        accesses=count if isinstance(count, int) and count > 0 else 0,
        accessed=accessed if isinstance(accessed, str) else None,
    )


def from_file(text: str, path: str) -> ImportRecord:
    """Convert a memory file, which keeps its path."""
    file = read_text(text)
    unread = tuple(
        f"{path}:{fault.line}: {fault.message}; to keep a value as text, quote it"
        for fault in file.faults
    )
    return ImportRecord(path, file.front, file.body, path=path, raw=text, own=True, warnings=unread)


def file_of(memory: ImportRecord) -> str:
    """Return the text of the file for a complete record."""
    return (
        memory.raw
        if memory.raw is not None
        else compose(without_derived(memory.head, memory.body), memory.body)
    )


def without_derived(head: Mapping[str, Any], body: str) -> dict[str, Any]:
    """Remove a title that the text yields: it is derived when the file is read."""
    derived = title_of(body)
    return {key: value for key, value in head.items() if key != "title" or value != derived}


def compose(head: Mapping[str, Any], body: str) -> str:
    """Return a memory file with these keys and this body."""
    entries = "".join(entry(key, value, "\n") for key, value in head.items())
    return f"---\n{entries}---\n{body}" if entries else body


# Keys that contain the array: `results` in mem0's API, `data` in its command line.
_WRAPPERS = ("results", "memories", "observations", "data")
_CONTENTS = ("content", "memory", "text", "narrative", "body")
# Keys that only matter to the other program, or are derived.
_DROPPED = frozenset(
    {"hash", "content_hash", "embedding", "vector", "score", "distance", "created_at_epoch"}
)
_HINT = "give an array of records, each with `content`"


def read_json(text: str, name: str) -> Batch:
    """Read the memories in a JSON file. Raises UsageError if it is not JSON or has no records."""
    try:
        data = json.loads(text.removeprefix("\ufeff"))
        if not has_surrogates(text):  # surrogates stand for bytes that are not UTF-8
            data = mended(data)
    except ValueError as error:
        raise UsageError(f"{name} is not valid JSON: {error}", _HINT) from error
    except RecursionError as error:
        raise UsageError(f"{name} is nested too deeply", _HINT) from error
    records = _records(data, name)
    return gather(
        (f"record {number}", partial(_read, record, number))
        for number, record in enumerate(records, 1)
    )


def _records(data: object, name: str) -> list[Any]:
    values = data if isinstance(data, dict) else {}
    for found in (data, *map(values.get, _WRAPPERS)):
        if isinstance(found, list):
            return found
    if any(key in values for key in _CONTENTS):
        return [data]
    raise UsageError(f"{name} has no records", _HINT)


def _read(record: object, number: int) -> ImportRecord:
    position = f"record {number}"
    if not isinstance(record, dict):
        raise UsageError(f"this is not an object but {type(record).__name__}", _HINT)
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the record is not valid UTF-8", _HINT) from error
    return from_record(record, position) if is_own(record) else _foreign(record, position)


def _foreign(record: Mapping[str, Any], position: str) -> ImportRecord:
    rest = dict(record)
    take = partial(_take, rest)
    content = take(*_CONTENTS)
    if content is not None and not isinstance(content, str):
        raise UsageError("the content is not text", _HINT)
    body = without_blank_edges(content or "")
    old, file = take("id", "memory_id", "uuid"), text_of(take("markdown_file"))
    digest = text_of(take("digest", "summary"))
    head = {
        "id": as_uuid(old),
        **type_of(take("type")),
        "title": text_of(take("title")),
        "subtitle": text_of(take("subtitle")),
        "digest": digest if digest != body else "",
        "tags": tags_of(take("tags", "categories")),
        "project": text_of(take("project")),
        "created": _time(
            take, "created_at", "createdAt", "created", "timestamp", "created_at_epoch"
        ),
        "updated": _time(take, "updated_at", "updatedAt", "updated", "updated_at_epoch"),
        "entered_by": text_of(take("entered_by", "enteredBy", "agent_id", "author")),
        "expires": _time(take, "expires_at", "expiresAt", "expires", "expiration_date"),
        "valid_until": _time(take, "valid_until", "validUntil"),
        **confidence_of(take("confidence")),
        "supersedes": strings(take("supersedes")),
        "superseded_by": text_of(take("superseded_by", "supersededBy")),
        "facts": sentences(take("facts")),
        "concepts": strings(take("concepts")),
        "files_read": strings(take("files_read", "filesRead")),
        "files_modified": strings(take("files_modified", "filesModified", "files")),
        "bead_id": text_of(take("bead_id", "beadId", "bead")),
    }
    if not body and not any(head[key] for key in ("title", "digest", "facts")):
        raise UsageError("the record has no content", _HINT)
    count = take("accessCount", "access_count", "accesses")
    accessed = _time(
        take, "last_accessed", "lastAccessed", "last_accessed_at", "lastAccessedAt", "accessed"
    )
    called = text_of(old)
    if old is not None and not head["id"]:
        head[OLD_ID] = old if isinstance(old, int) else called
    unknown = {key: value for key, value in rest.items() if key not in _DROPPED}
    return ImportRecord(
        position,
        in_order(head | {key: value for key, value in unknown.items() if key not in head}),
        body,
        names=(
            *((called, f"#{called}") if called else ()),
            *((file, file.removesuffix(".md")) if file else ()),
        ),
        accesses=count if isinstance(count, int) and count > 0 else 0,
        accessed=accessed,
    )


def _take(record: dict[str, Any], *keys: str) -> Any:
    """Remove the keys from the record and return the first value that is not None."""
    found = next((key for key in keys if record.get(key) is not None), None)
    value = record.pop(found) if found else None
    for key in keys:
        if record.get(key, 0) is None:
            del record[key]
    return value


def _time(take: Callable[..., Any], *keys: str) -> str | None:
    return time_of(take(*keys), keys[0])
