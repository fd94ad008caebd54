"""Export memories to files that only their owner can read.

Files are written atomically and overwritten only with `force`.
"""

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from vault_index import disk
from vault_index.errors import NotSetUpError, UsageError, VaultIndexError
from vault_index.markdown.frontmatter import document_uid
from vault_index.memories.file.document import read_text
from vault_index.memories.store import home_of_memories
from vault_index.memories.transfer.json_records import to_record
from vault_index.memories.transfer.reading import USAGE_FILE, one_of_several
from vault_index.output import render_json
from vault_index.results.memories import ExportReport
from vault_index.runtime import Runtime

_TAKEN = "choose another name, or overwrite the file with --force"


def export_memories(
    runtime: Runtime,
    path: str | Path,
    *,
    folder: bool,
    markdown: bool,
    force: bool,
    sources: Sequence[str],
) -> ExportReport:
    """Export the memories of one vault to a file, or with `folder` to a folder of markdown files.

    The file is JSON, or with `markdown` one markdown text. Raises UsageError if the target exists,
    unless `force` is set.
    """
    place = Path(path).expanduser().absolute()
    memories = _memories(runtime, sources)
    with _translate_os_errors(place):
        if folder:
            size = _write_folder(place, _as_files(memories), force=force)
        else:
            size = _write_file(place, _as_text(memories, markdown=markdown), force=force)
    return ExportReport(str(place), home_of_memories(runtime, sources), len(memories), size)


def export_text(runtime: Runtime, sources: Sequence[str], *, markdown: bool) -> str:
    """Return the memories of one vault as a JSON array or as one markdown text."""
    return _as_text(_memories(runtime, sources), markdown=markdown)


class _Memory(NamedTuple):
    """A memory to export, with its usage counts."""

    path: str
    """Relative to the memory folder."""
    text: str
    accesses: int
    accessed: str | None


def _as_text(memories: Sequence[_Memory], *, markdown: bool) -> str:
    """Return all memories as one text; JSON has a record per line, so exports can be diffed."""
    if markdown:
        return "".join(one_of_several(path, text) for path, text in _as_files(memories))
    records = (
        to_record(path, text, accesses=count, accessed=last) for path, text, count, last in memories
    )
    lines = ",\n".join(map(render_json, records))
    return f"[\n{lines}\n]\n" if lines else "[]\n"


def _as_files(memories: Sequence[_Memory]) -> list[tuple[str, str]]:
    """Return path and text of every file to export, including the file with the usage counts."""
    usage = {one.path: [one.accesses, one.accessed] for one in memories if one.accesses}
    files = [(one.path, one.text) for one in memories]
    return [*files, *([(USAGE_FILE, render_json(usage) + "\n")] if usage else [])]


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
        raise FileExistsError(path)
    return _write(path, text, force=force)


def _write_folder(folder: Path, files: Sequence[tuple[str, str]], *, force: bool) -> int:
    """Write files, given as relative paths and texts, and return their size in bytes."""
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
    for used in {(folder / path).parent for path, _ in files}:
        used.mkdir(mode=0o700, parents=True, exist_ok=True)
        disk.tidy(str(used))
    return sum(_write(folder / path, text, force=force) for path, text in files)


def _write(path: Path, text: str, *, force: bool) -> int:
    data = text.encode("utf-8", "surrogateescape")
    with disk.draft(str(path.parent), data, mode=0o600) as draft:
        if force:
            os.replace(draft, path)
        else:
            disk.move_without_overwriting(draft, str(path))
    return len(data)


@contextmanager
def _translate_os_errors(path: Path) -> Iterator[None]:
    """Translate errors of the system."""
    try:
        yield
    except FileExistsError as error:
        raise UsageError(f"{path} exists already", _TAKEN) from error
    except FileNotFoundError as error:
        raise UsageError(f"there is no folder {path.parent}", "create it first") from error
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        hint = "free some space on its disk" if full else "check the permissions of its folder"
        raise VaultIndexError(f"{path} cannot be written: {error.strerror}", hint) from error
