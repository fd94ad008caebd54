"""Parse tool calls and results in Codex rollouts.

A `Call` is a tool's name, its arguments, and keyword arguments for `tool_call`.
"""

import re
from typing import Any

from vault_index.markdown.recalled import is_own_tool
from vault_index.sources.sessions.json_access import (
    Json,
    list_of,
    millis_of,
    object_from,
    object_of,
    objects_of,
    text_of,
)

Call = tuple[str, Json, dict[str, Any]]

_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)
_OUTPUT = re.compile(r"(?:[^\n]*\n){0,8}?Output:\n")
_PATCH = re.compile(r"\*\*\* Begin Patch.*", re.DOTALL)
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_WORD = re.compile(r"\w+")
_TITLES = ("task_name", "message", "chars", "explanation", "target", "revised_prompt")


def parse_call(item: Json) -> Call:
    """Parse a call that the model requested."""
    kind = text_of(item, "type")
    tool = text_of(item, "name") or kind.removesuffix("_call")
    given = {**_arguments(item), **object_of(item, "action")}
    whole = text_of(item, "input") or _command(
        given.get("command") or given.get("cmd") or given.get("input")
    )
    title = next(filter(None, (text_of(one, key) for one in (given, item) for key in _TITLES)), "")
    fields = {"status": "running", "title": title}
    if tool != "exec" and (patch := _PATCH.search(whole)):
        paths = dict.fromkeys(_PATCHED.findall(patch[0]))
        return "apply_patch", {"filePath": ", ".join(paths)}, {**fields, "diff": patch[0]}
    if kind == "custom_tool_call":  # a script may call our own tool
        tool = next(filter(is_own_tool, _WORD.findall(whole)), tool)
    return tool, {**given, "command": whole} if whole else given, fields


def parse_nested_call(item: Json) -> Call | None:
    """Parse an event that records a nested call: one by a script of the model."""
    kind = text_of(item, "type")
    fields: dict[str, Any] = {
        "status": "error" if text_of(item, "status") in ("failed", "declined") else "completed"
    }
    if kind == "CommandExecution" and text_of(item, "source") != "user_shell":
        fields |= {
            "exit": millis_of(item, "exit_code"),
            "output": text_of(item, "aggregated_output"),
        }
        return "exec_command", {"command": _command(item.get("command"))}, fields
    if kind == "FileChange":
        changes = object_of(item, "changes")
        fields["diff"] = "\n".join(
            filter(None, (text_of(changes, path, "unified_diff") for path in changes))
        )
        return "apply_patch", {"filePath": ", ".join(changes)}, fields
    if kind in ("McpToolCall", "WebSearch"):
        return (
            text_of(item, "tool") or "web_search",
            _arguments(item) or {"query": text_of(item, "query")},
            fields,
        )
    return None


def parse_event(item: Json) -> dict[str, Any]:
    """Return the fields that an event adds to a call: the id of a subagent, an exit code."""
    first = next(iter(list_of(item, "receiver_thread_ids")), "")
    child = text_of(item, "agent_thread_id") or (first if isinstance(first, str) else "")
    exit_code = millis_of(item, "exit_code")
    return {
        **({"child": child} if child else {}),
        **({"exit": exit_code} if exit_code is not None else {}),
    }


def parse_result(item: Json) -> dict[str, Any]:
    """Parse the `output` of a call: status, exit code, output.

    Results were plain text at first, then JSON in a string, and now are text with a header.
    """
    parts = (text_of(one, "text") for one in objects_of(item, "output"))
    plain = text_of(item, "output") or "\n".join(parts)
    value = object_of(item, "output") or object_from(plain)
    text = text_of(value, "content") or text_of(value, "output") or plain
    head = _OUTPUT.match(text)
    fields: dict[str, Any] = {
        "status": "interrupted" if text.startswith("aborted") else "completed",
        "output": text[head.end() :] if head else text,
        "exit": millis_of(value, "metadata", "exit_code"),
        "child": text_of(value, "agent_id"),
    }
    if value.get("success") is False:
        fields |= {"status": "error", "error": text}
    exit_code = _EXIT.search(head[0]) if head else None
    if exit_code and fields["exit"] is None:
        fields["exit"] = int(exit_code[1])
    return {key: value for key, value in fields.items() if value not in (None, "")}


def _arguments(item: Json) -> Json:
    return object_of(item, "arguments") or object_from(text_of(item, "arguments"))


def _command(value: Any) -> str:
    """Return a shell command without the shell itself."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = value[2] if len(value) == 3 and value[1] in ("-lc", "-c") else " ".join(value)
    return text_of({"command": value}, "command")
