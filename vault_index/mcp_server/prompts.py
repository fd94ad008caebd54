"""MCP prompts: recall memories for a task, and remember what a session decided or learned."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vault_index.errors import NotFoundError

if TYPE_CHECKING:  # the tokenizer and renderer wait for the first call
    from vault_index.mcp_server.toolbox import Toolbox

_PROJECT = {"name": "project", "description": "folder or name"}
_RECALL = {
    "name": "recall",
    "description": "Recall memories for a task before it begins",
    "arguments": [{"name": "task", "description": "the task"}, _PROJECT],
}
_REMEMBER = {
    "name": "remember",
    "description": "Store decisions and lessons for the next session",
    "arguments": [
        {"name": "fact", "description": "what to store (default: from all of this session)"},
        _PROJECT,
    ],
}
_KEEP = (
    "Search for each with memory_search first. If a memory is wrong or incomplete, correct it with "
    "memory_update. Store the rest with memory_store: one fact per memory, understandable alone, "
    "with the reason. Then list what you stored, one line each."
)
_SESSION = (
    "Remember what the next session must know about this one: decisions and their reasons, "
    "causes of problems, fixes, my preferences, open tasks. Leave out what the code shows."
)


def listed(*, read_only: bool) -> list[dict[str, Any]]:
    """Return the prompts for `prompts/list`."""
    return [_RECALL] if read_only else [_RECALL, _REMEMBER]


def prompt(
    toolbox: "Toolbox", name: str, given: Mapping[str, str], folders: Sequence[str]
) -> dict[str, Any]:
    """Return the message that a client sends for its user.

    Raises NotFoundError, and the errors of `memory_recall`.
    """
    project = given.get("project", "").strip()
    if name == "recall":
        task = given.get("task", "").strip()
        recalled = toolbox.call(
            "memory_recall", {"query": task, "project": project}, folders=folders
        ).text
        parts = [
            f"My task: {task}" if task else "",
            recalled.strip() or "My memory has nothing about it.",
        ]
    elif name == "remember" and toolbox.writes:
        fact = given.get("fact", "").strip()
        parts = [
            f"Remember this: {fact}" if fact else _SESSION,
            _KEEP,
            f"The project is {project}." if project else "",
        ]
    else:
        raise NotFoundError(f"there is no prompt {name[:40]!r}", "see prompts/list")
    text = "\n\n".join(part for part in parts if part)
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
