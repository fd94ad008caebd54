"""Convert memories to and from JSON: our exports, and arrays of other programs."""

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.parse import title_of
from vault_index.memories.file.document import read_text
from vault_index.memories.transfer.foreign import CONTENTS, to_memory
from vault_index.memories.transfer.import_record import (
    Batch,
    ImportRecord,
    compose,
    count_of,
    from_file,
    gather,
)
from vault_index.unicode import has_surrogates, mended

_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED = "path", "content", "raw", "accesses", "accessed"
_RESERVED = frozenset({_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED})
# Keys that contain the array: `results` in mem0's API, `data` in its command line.
_WRAPPERS = ("results", "memories", "observations", "data")
_HINT = "give an array of records, each with `content`"


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
    if file.faults or len(head) < len(file.front) or compose(head, file.body) != text:
        record[_RAW] = text
    if accesses:
        record |= {_ACCESSES: accesses, _ACCESSED: accessed}
    return record


def from_record(record: Mapping[str, Any], position: str) -> ImportRecord:
    """Convert a record that we exported. Raises UsageError if its content is not a text."""
    text, body = record.get(_RAW), record.get(_CONTENT)
    if not isinstance(body if text is None else text, str):
        raise UsageError("`content` is not text", "`content` is the text of the memory")
    if text is None:
        head = {key: value for key, value in record.items() if key not in _RESERVED}
        text = compose(head, body or "")
    count, accessed = record.get(_ACCESSES), record.get(_ACCESSED)
    return replace(
        from_file(text, record[_PATH]),
        position=position,
        accesses=count_of(count),
        accessed=accessed if isinstance(accessed, str) else None,
    )


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
    return gather(
        (position, partial(_read, record, position))
        for number, record in enumerate(_records(data, name), 1)
        for position in (f"record {number}",)
    )


def _records(data: object, name: str) -> list[Any]:
    values = data if isinstance(data, dict) else {}
    for found in (data, *map(values.get, _WRAPPERS)):
        if isinstance(found, list):
            return found
    if any(key in values for key in CONTENTS):
        return [data]
    raise UsageError(f"{name} has no records", _HINT)


def _read(record: object, position: str) -> ImportRecord:
    if not isinstance(record, dict):
        raise UsageError(f"this is not an object but {type(record).__name__}", _HINT)
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise UsageError("the record is not valid UTF-8", _HINT) from error
    is_own = isinstance(record.get(_PATH), str) and (_CONTENT in record or _RAW in record)
    return from_record(record, position) if is_own else to_memory(record, position)
