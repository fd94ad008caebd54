"""Memories: created, edited, removed, captured from texts, exported and imported, under the write lock of the index."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.memories.capture.capture import capture_memories as capture_memories
    from vault_index.memories.create import add_memory as add_memory
    from vault_index.memories.edit import (
        delete_memories as delete_memories,
        prune_memories as prune_memories,
        update_memory as update_memory,
    )
    from vault_index.memories.transfer.export import export_json as export_json, export_memories as export_memories
    from vault_index.memories.transfer.importer import import_memories as import_memories

_MODULES = {
    "add_memory": "create",
    "update_memory": "edit",
    "delete_memories": "edit",
    "prune_memories": "edit",
    "capture_memories": "capture.capture",
    "export_memories": "transfer.export",
    "export_json": "transfer.export",
    "import_memories": "transfer.importer",
}


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): each call imports its own module, for a question needs none of them.
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
