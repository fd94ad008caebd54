"""Create, change, review, capture, import and export memories."""

from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names

if TYPE_CHECKING:
    from vault_index.memories.capture.capture import capture_memories as capture_memories
    from vault_index.memories.create import add_memory as add_memory
    from vault_index.memories.decide import decide_memories as decide_memories
    from vault_index.memories.edit import (
        archive_memories as archive_memories,
        delete_memories as delete_memories,
        prune_memories as prune_memories,
        run_maintenance as run_maintenance,
        update_memory as update_memory,
    )
    from vault_index.memories.forget import forget_sessions as forget_sessions
    from vault_index.memories.history import (
        memory_diff as memory_diff,
        memory_history as memory_history,
        revert_memory as revert_memory,
    )
    from vault_index.memories.review import review_memories as review_memories
    from vault_index.memories.transfer.export import (
        export_memories as export_memories,
        export_text as export_text,
    )
    from vault_index.memories.transfer.importer import (
        import_chats as import_chats,
        import_memories as import_memories,
    )
    from vault_index.memories.undo import undo_change as undo_change

# Modules are imported on first use, because a search needs none of them.
__getattr__ = lazy_names(
    __name__,
    {
        "create": ("add_memory",),
        "edit": (
            "update_memory",
            "archive_memories",
            "run_maintenance",
            "delete_memories",
            "prune_memories",
        ),
        "decide": ("decide_memories",),
        "forget": ("forget_sessions",),
        "history": (
            "memory_history",
            "memory_diff",
            "revert_memory",
        ),
        "review": ("review_memories",),
        "capture.capture": ("capture_memories",),
        "transfer.export": (
            "export_memories",
            "export_text",
        ),
        "transfer.importer": ("import_chats", "import_memories"),
        "undo": ("undo_change",),
    },
)
