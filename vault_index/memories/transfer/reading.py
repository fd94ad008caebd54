"""What an import is given, a file or a folder, from the disk into `Batch`."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from vault_index.errors import NotFoundError, UsageError, VaultIndexError
from vault_index.memories.file.files import MAX_BYTES
from vault_index.memories.transfer.export_files import USAGE_FILE
from vault_index.memories.transfer.import_record import Batch, Carried, gather
from vault_index.memories.transfer.json_files import read_json
from vault_index.memories.transfer.json_record import from_file
from vault_index.memories.transfer.observations import is_observation, read_observation
from vault_index.results import FailedItem
from vault_index.sources.reading import read_regular
from vault_index.surrogates import mended

_OPENCODE = ("memory", ".opencode/memory")
"""Where OpenCodeKit has its memory, in `.opencode` and in a project."""


def read_path(path: Path) -> Batch:
    """The memories of a JSON file, of a markdown file, or of a folder of these, hidden ones aside.

    Raises NotFoundError for nothing, UsageError for what holds none, VaultIndexError for what cannot be read.
    """
    try:
        if path.is_dir():
            return _read_folder(path)
        text = _read(path)
    except FileNotFoundError as error:
        raise NotFoundError(f"there is no {path}", "name a JSON file, or a folder of markdown files") from error
    except OSError as error:
        raise VaultIndexError(f"{path} cannot be read: {error.strerror}", "check its permissions") from error
    if path.suffix.lower() == ".md":
        return read_files([(path.name, text)], path.resolve().parent.name)
    return read_json(text, path.name)


def _read_folder(folder: Path) -> Batch:
    inner = next((folder / place for place in _OPENCODE if _is_opencode(folder, place)), folder)
    files: list[tuple[str, str]] = []
    failed: list[FailedItem] = []
    for place in sorted(_markdown(inner)):
        try:
            data, _ = read_regular(str(inner / place), MAX_BYTES)
        except VaultIndexError as error:
            failed.append(FailedItem(place, error.message))
        except OSError as error:
            failed.append(FailedItem(place, f"it cannot be read: {error.strerror}"))
        else:
            files.append((place, _decoded(data)))
    if not files and not failed:
        raise UsageError(f"{folder} holds no markdown files", "name a folder of memories, or a JSON file")
    batch = read_files(files, inner.resolve().name)
    memories = tuple(_used(batch.memories, inner / USAGE_FILE))
    return Batch(memories, (*batch.failed, *failed))


def _used(memories: Sequence[Carried], file: Path) -> Iterator[Carried]:
    """With how often each was opened, where our export says so."""
    try:
        usage = mended(json.loads(_read(file)))
    except (OSError, ValueError):
        usage = {}
    for memory in memories:
        match usage.get(memory.path) if isinstance(usage, dict) and memory.own else None:
            case [int() as accesses, str() as accessed]:
                yield replace(memory, accesses=accesses, accessed=accessed)
            case _:
                yield memory


def _is_opencode(folder: Path, place: str) -> bool:
    return (folder.name == ".opencode") == (place == "memory") and (folder / place).is_dir()


def _markdown(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        inside = os.path.relpath(root, folder)
        for name in names:
            if name.lower().endswith(".md") and not name.startswith("."):
                yield name if inside == "." else f"{inside}/{name}".replace(os.sep, "/")


def _read(path: Path) -> str:
    return _decoded(path.read_bytes())


def _decoded(data: bytes) -> str:
    """Bytes that are no UTF-8 are kept apart from all others, so that whoever stores the text can say so."""
    return data.decode("utf-8", "surrogateescape")


_TEMPLATES = "_templates"


def read_files(files: Sequence[tuple[str, str]], folder: str = "") -> Batch:
    """The memories of a folder, given as paths inside it and texts; `folder` is what itself is called.

    Where one file has an id of ours, all are taken as they are. Otherwise observations become memories with an id,
    other files keep their name (`handoffs/2026-01-01`), and templates stay behind.
    """
    as_they_are = [from_file(text, path) for path, text in files]
    if any(memory.uid for memory in as_they_are):
        return Batch(tuple(as_they_are))
    wanted = [memory for memory in as_they_are if _TEMPLATES not in memory.position.split("/")]
    return gather((memory.position, partial(_read_markdown, memory, folder)) for memory in wanted)


def _read_markdown(memory: Carried, folder: str) -> Carried:
    path, text = memory.position, memory.raw or ""
    return read_observation(text, path) if is_observation(text, f"{folder}/{path}") else memory
