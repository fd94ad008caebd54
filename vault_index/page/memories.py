"""Read whole memory files for their review; this does not count as opening them."""

from collections.abc import Mapping
from typing import Any

from vault_index.config import Config
from vault_index.errors import NotFoundError, UsageError
from vault_index.memories.file.document import MemoryFile, body_of
from vault_index.memories.file.files import MemoryFiles
from vault_index.memories.merge import merge_texts


def read_memories(config: Config, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of each file, and `seen` for `decide`; with `merge`, the merged text too."""
    asked = params.get("files")
    if not isinstance(asked, list) or not all(isinstance(one, dict) for one in asked):
        raise UsageError("files must be a list of objects", "send source and path of each memory")
    files = [_read(config, str(one.get("source", "")), str(one.get("path", ""))) for one in asked]
    merge = {"merged": merge_texts(files)} if params.get("merge") is True and len(files) > 1 else {}
    return {"results": [_shown(file) for file in files], **merge}


def _read(config: Config, source: str, path: str) -> MemoryFile:
    vault = next((one for one in config.sources if one.name == source), None)
    if vault is None:
        raise NotFoundError(
            f"there is no vault {source!r}", "list the vaults: vault-index source list"
        )
    return MemoryFiles(vault.path, config.memory.dir, source).read(path)


def _shown(file: MemoryFile) -> dict[str, Any]:
    text, seen = file.text, file.digest.hex()
    return {"path": file.path, "text": text, "body": body_of(text), "seen": seen}
