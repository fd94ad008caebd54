"""A folder of markdown: one that we exported, or OpenCodeKit's memory with its observations and files by name."""

from collections.abc import Sequence
from functools import partial

from vault_index.memories.carried import Batch, Carried, gather
from vault_index.memories.imports.observations import is_observation, read_observation
from vault_index.memories.records import from_file

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
    return gather((memory.position, partial(_read, memory, folder)) for memory in wanted)


def _read(memory: Carried, folder: str) -> Carried:
    path, text = memory.position, memory.raw or ""
    return read_observation(text, path) if is_observation(text, f"{folder}/{path}") else memory
