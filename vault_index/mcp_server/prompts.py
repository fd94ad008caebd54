"""MCP prompts: recall memories for a task, and remember what a session decided or learned."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vault_index.errors import NotFoundError

if TYPE_CHECKING:  # the tokenizer and renderer wait for the first call
    from vault_index.mcp_server.toolbox import Toolbox

_PROJECT = {"name": "project", "description": "its folder or name"}
_RECALL = {
    "name": "recall",
    "description": "What the memory holds for a task, before it begins",
    "arguments": [{"name": "task", "description": "what is to be done"}, _PROJECT],
}
_REMEMBER = {
    "name": "remember",
    "description": "Keep what was decided and learned for the next session",
    "arguments": [{"name": "fact", "description": "what to keep; without it, all of this session"}, _PROJECT],
}
_KEEP = (
    "Look for each with memory_search first: what is there and wrong or incomplete is changed with memory_update. "
    "Store the rest with memory_store, one fact each, understandable alone, with the reason. Then tell me in a line "
    "each what you stored."
)
_SESSION = (
    "Remember what the next session must know of this one: decisions and their reasons, causes that were found, fixes, "
    "what I prefer, what is left to do. Nothing that the code says."
)


def listed(*, read_only: bool) -> list[dict[str, Any]]:
    return [_RECALL] if read_only else [_RECALL, _REMEMBER]


def prompt(toolbox: "Toolbox", name: str, given: Mapping[str, str], folders: Sequence[str]) -> dict[str, Any]:
    """Return the message that a client sends for its user.

    Raises NotFoundError, and the errors of `memory_recall`.
    """
    project = given.get("project", "").strip()
    if name == "recall":
        task = given.get("task", "").strip()
        recalled = toolbox.call("memory_recall", {"query": task, "project": project}, folders=folders).text
        parts = [f"My task: {task}" if task else "", recalled.strip() or "My memory holds nothing for it."]
    elif name == "remember" and toolbox.writes:
        fact = given.get("fact", "").strip()
        parts = [f"Remember this: {fact}" if fact else _SESSION, _KEEP, f"The project is {project}." if project else ""]
    else:
        raise NotFoundError(f"there is no prompt {name[:40]!r}", "see prompts/list")
    text = "\n\n".join(part for part in parts if part)
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
