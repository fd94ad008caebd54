"""Export memories to files that only their owner can read.

Files are written atomically and overwritten only with `force`.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from vault_index import disk
from vault_index.errors import NotSetUpError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import document_uid
from vault_index.memories.file.document import read_text
from vault_index.memories.store import home_of_memories
from vault_index.memories.transfer.json_records import to_record
from vault_index.output import render_json
from vault_index.results.memories import ExportReport
from vault_index.runtime import Runtime


def export_memories(
    runtime: Runtime,
    path: str | Path,
    *,
    folder: bool,
    force: bool,
    sources: Sequence[str],
) -> ExportReport:
    """Export the memories of one vault to a JSON file, or to a folder of markdown files.

    Raises UsageError if the target exists, unless `force` is set.
    """
    place = Path(path).expanduser().absolute()
    memories = _memories(runtime, sources)
    with disk.os_errors_as(f"{place} cannot be written", "check its folder and the space on disk"):
        if folder:
            size = _write_folder(place, memories, force=force)
        else:
            size = _write_file(place, _as_json(memories), force=force)
    return ExportReport(str(place), home_of_memories(runtime, sources), len(memories), size)


def export_text(runtime: Runtime, sources: Sequence[str]) -> str:
    """Return the memories of one vault as a JSON array."""
    return _as_json(_memories(runtime, sources))


class _Memory(NamedTuple):
    """A memory to export, with its usage counts."""

    path: str
    """Relative to the memory folder."""
    text: str
    accesses: int
    accessed: str | None


def _as_json(memories: Sequence[_Memory]) -> str:
    """Return all memories as a JSON array with a record per line, so exports can be diffed."""
    records = (
        to_record(path, text, accesses=count, accessed=last) for path, text, count, last in memories
    )
    lines = ",\n".join(map(render_json, records))
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def _memories(runtime: Runtime, sources: Sequence[str]) -> list[_Memory]:
    """Return the memories of one vault, sorted by path."""
    source = home_of_memories(runtime, sources)
    usage: Mapping[str, tuple[int, float]] = {}
    # Without an index, there are no usage counts.
    with suppress(NotSetUpError), runtime.pool.lend() as connections:
        usage = connections.state.usage()
    memories = []
    for path, text in _files(runtime, source):
        uid = document_uid(
            read_text(text).front.get("id"), source, f"{runtime.config.memory.dir}/{path}"
        )
        accesses, accessed = usage.get(uid, (0, 0.0))
        last = datetime.fromtimestamp(accessed, UTC).isoformat() if accesses else None
        memories.append(_Memory(path, text, accesses, last))
    return memories


def _files(runtime: Runtime, source: str) -> Iterator[tuple[str, str]]:
    """Yield the path (relative to the memory folder) and the text of every memory.

    Raises VaultIndexError if one cannot be read.
    """
    vault, folder = runtime.vaults[source], runtime.config.memory.dir
    scan = vault.scan(folder)
    if scan.vanished:
        raise VaultIndexError(
            f"source {vault.config.name!r}: {scan.reason}", "is its disk mounted?"
        )
    for path in (ref.path for ref in scan.refs if ref.path.endswith(".md")):
        try:
            data, _ = vault.read_bytes(path, sys.maxsize)
            yield path.removeprefix(f"{folder}/"), data.decode("utf-8", "surrogateescape")
        except OSError as error:
            raise VaultIndexError(
                f"{path} cannot be read ({error.strerror}), and an export must be complete",
                "check its permissions, and run the same command again",
            ) from error


def _write_file(path: Path, text: str, *, force: bool) -> int:
    """Write one file with mode 0600 and return its size in bytes."""
    if path.is_dir():
        raise UsageError(
            f"{path} is a folder",
            "end its name with / to export a folder of markdown, or give a file in it",
        )
    disk.tidy(str(path.parent))
    if not force and os.path.lexists(path):
        raise UsageError(
            f"{path} exists already", "choose another name, or overwrite the file with --force"
        )
    return _write(path, text, force=force)


def _write_folder(folder: Path, memories: Sequence[_Memory], *, force: bool) -> int:
    """Write the files of memories and return their size in bytes."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(
            f"{folder} is a file", "give a folder, or a file name without / at its end"
        )
    disk.tidy(str(folder))
    if not force and folder.is_dir() and next(folder.iterdir(), None):
        raise UsageError(
            f"{folder} is not empty", "choose another folder, or overwrite its files with --force"
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for used in {(folder / memory.path).parent for memory in memories}:
        used.mkdir(mode=0o700, parents=True, exist_ok=True)
        disk.tidy(str(used))
    return sum(_write(folder / memory.path, memory.text, force=force) for memory in memories)


def _write(path: Path, text: str, *, force: bool) -> int:
    data = text.encode("utf-8", "surrogateescape")
    with disk.draft(str(path.parent), data, mode=0o600) as draft:
        if force:
            os.replace(draft, path)
        else:
            disk.move_without_overwriting(draft, str(path))
    return len(data)
