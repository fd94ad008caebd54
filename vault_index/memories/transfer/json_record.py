"""One memory as a JSON record, and back, without loss: every key of its frontmatter, in order, then its text."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vault_index.errors import UsageError
from vault_index.memories.file.file_parts import lay_out
from vault_index.memories.file.yaml_values import entry
from vault_index.memories.transfer.import_record import Carried

_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED = "path", "content", "raw", "accesses", "accessed"
_RESERVED = frozenset({_PATH, _CONTENT, _RAW, _ACCESSES, _ACCESSED})


def to_record(path: str, text: str, *, accesses: int = 0, accessed: str | None = None) -> dict[str, Any]:
    """The record of a memory file: `path` inside the memory folder, `id`, the other keys, `content`.

    `raw` is there where the keys and the content alone would not give the same bytes: comments, quotes of another
    style, other line endings, broken frontmatter. It then counts, and the rest is for readers.
    """
    layout = lay_out(text)
    head = {key: value for key, value in layout.values.items() if key not in _RESERVED}
    record: dict[str, Any] = {_PATH: path, **head, _CONTENT: layout.body}
    if layout.faults or len(head) < len(layout.values) or compose(head, layout.body) != text:
        record[_RAW] = text
    if accesses:
        record |= {_ACCESSES: accesses, _ACCESSED: accessed}
    return record


def is_own(record: Mapping[str, Any]) -> bool:
    """Whether a record says where the memory lies, as ours do."""
    return isinstance(record.get(_PATH), str) and (_CONTENT in record or _RAW in record)


def from_record(record: Mapping[str, Any], position: str) -> Carried:
    """Raises UsageError for a text that is none."""
    raw, body = record.get(_RAW), record.get(_CONTENT)
    if not isinstance(body if raw is None else raw, str):
        raise UsageError("its content is no text", "`content` is the text of the memory")
    count, accessed = record.get(_ACCESSES), record.get(_ACCESSED)
    head = {key: value for key, value in record.items() if key not in _RESERVED}
    memory = from_file(raw, record[_PATH]) if raw is not None else Carried(position, head, body or "", own=True)
    return replace(
        memory,
        position=position,
        path=record[_PATH],
        accesses=count if isinstance(count, int) and count > 0 else 0,
        accessed=accessed if isinstance(accessed, str) else None,
    )


def from_file(text: str, path: str) -> Carried:
    """A memory file as it is, under its own name."""
    layout = lay_out(text)
    return Carried(path, layout.values, layout.body, path=path, raw=text, own=True)


def file_of(memory: Carried) -> str:
    """The text of the file of a memory that was settled."""
    return memory.raw if memory.raw is not None else compose(memory.head, memory.body)


def compose(head: Mapping[str, Any], body: str) -> str:
    """The file of these keys and this text."""
    entries = "".join(entry(key, value, "\n") for key, value in head.items())
    return f"---\n{entries}---\n{body}" if entries else body
