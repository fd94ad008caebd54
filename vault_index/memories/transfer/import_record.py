"""Define the common form of an imported memory, and its text as a memory file."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from vault_index.errors import UsageError
from vault_index.markdown.frontmatter import as_uuid
from vault_index.markdown.parse import title_of
from vault_index.memories.file.document import read_text
from vault_index.memories.file.frontmatter_edit import KEYS, entry
from vault_index.results.memories import FailedItem

_NOTHING = frozenset({"", "null", "none", "n/a", "-", "undefined"})


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One memory to import: its frontmatter, in order, and its text.

    A memory with a whole file was exported by this program. It is restored unchanged, with its id,
    under its `path` (relative to the memory folder). Other memories get an id here; their
    `supersedes` and `superseded_by` have the ids of the other program.
    """

    position: str
    """For messages: `record 3`, or a file."""
    head: Mapping[str, Any]
    body: str
    path: str = ""
    file: str | None = None
    """The text of the whole file; None for a memory of another program."""
    names: tuple[str, ...] = ()
    """Names that other memories of the same import use for this one."""
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


def from_file(text: str, path: str) -> ImportRecord:
    """Return the memory of a file, which keeps its path."""
    file = read_text(text)
    unread = tuple(
        f"{path}:{fault.line}: {fault.message}; to keep a value as text, quote it"
        for fault in file.faults
    )
    return ImportRecord(path, file.front, file.body, path, text, warnings=unread)


def compose(head: Mapping[str, Any], body: str) -> str:
    """Return a memory file with these keys and this body, without a title that the body yields."""
    derived = title_of(body)
    entries = "".join(
        entry(key, value, "\n") for key, value in head.items() if key != "title" or value != derived
    )
    return f"---\n{entries}---\n{body}" if entries else body


def count_of(value: object) -> int:
    """Return a number of accesses; 0 for any other value."""
    return value if isinstance(value, int) and value > 0 else 0


def is_nothing(value: object) -> bool:
    """Return whether a value is empty, or a word for that."""
    if isinstance(value, str):
        return value.strip().lower() in _NOTHING
    return value is None or (isinstance(value, list | tuple | dict) and not value)


def in_order(values: Mapping[str, Any]) -> dict[str, Any]:
    """Remove empty values, and put our own keys first."""
    filled = {key: value for key, value in values.items() if not is_nothing(value)}
    return {key: filled[key] for key in KEYS if key in filled} | filled
