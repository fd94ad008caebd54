"""Parse one line of a Claude Code session: a prompt, a block of an answer, or a tool result."""

import re
from collections.abc import Collection, Generator

from vault_index.sources.sessions.context import words_in_prompt
from vault_index.sources.sessions.json_access import (
    Json,
    between,
    list_of,
    millis_of,
    object_of,
    objects_of,
    text_of,
    tool_call,
)
from vault_index.sources.sessions.model import Attachment, Part, Reasoning, Speaker, Text, ToolCall
from vault_index.unicode import mended

_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
_KINDS = {
    "text": "text",
    "thinking": "thinking",
    **dict.fromkeys((*_CALLS, "redacted_thinking", "image", "document"), ""),
}
"""Known block types, with the key of their text."""
SYNTHETIC = "<synthetic>"
"""Model name of the client's own messages, such as a failed request."""
LONGEST_TYPE = 40
_REFUSED = "To tell you how to proceed, the user said:\n"
_SUMMARY = re.compile(
    r"(?:This session is being continued.*?\nSummary:\s)?(.*?)(?:\n\nIf you need specific.*)?",
    re.DOTALL,
)
_EXIT = re.compile(r"Exit code (\d{1,9})\b")
_AGENT = re.compile(r"[A-Za-z0-9_-]+")


def message_parts(value: Json) -> tuple[Speaker, tuple[Part, ...]]:
    """Return speaker and parts of a prompt, a choice or a compaction summary; else no parts."""
    speaker: Speaker = "summary" if value.get("isCompactSummary") is True else "user"
    content = _content_by_user(value)
    if speaker == "summary":
        found = (
            _SUMMARY.fullmatch(words_in_prompt("claude-code", text)) for text in _texts(content)
        )
        return speaker, tuple(
            Text(match[1].strip()) for match in found if match and match[1].strip()
        )
    parts: list[Part] = []
    for block in _blocks(content):
        if block.get("type") == "tool_result":
            _, refused, why = "\n".join(_texts(block.get("content"))).partition(_REFUSED)
            parts += [Text(why)] if refused and block.get("is_error") is True else _choices(value)
        elif block.get("type") == "text":
            parts += _typed_parts(text_of(block, "text"))
        else:
            parts += _attachment_parts(block)
    return speaker, tuple(parts)


def _content_by_user(value: Json) -> object:
    """Return the content of a prompt, also of one that was typed during an answer."""
    typed, content = value.get("type") == "user", object_of(value, "message").get("content")
    if value.get("type") == "attachment":
        value = object_of(value, "attachment")
        typed = value.get("type") == "queued_command"
        typed = typed and text_of(value, "commandMode") in ("", "prompt")
        content = value.get("prompt")
    return content if typed and value.get("isMeta") is not True else ""


def answer_parts(
    value: Json, include: Collection[str]
) -> tuple[tuple[Part, ...], str, dict[str, tuple[int, Json]]]:
    """Return the model's texts and tool calls, and the error, if any.

    Also return the part's index and the block of each call that gets a result, by id.
    """
    content = object_of(value, "message").get("content")
    parts, calls = list[Part](), dict[str, tuple[int, Json]]()
    if text_of(value, "message", "model") == SYNTHETIC:
        return (), " ".join(_texts(content)) if value.get("isApiErrorMessage") is True else "", {}
    for block in _blocks(content):
        kind = block.get("type")
        if kind == "text":
            parts.append(Text(text_of(block, "text")))
        elif kind == "thinking" and "reasoning" in include:
            parts.append(Reasoning(text_of(block, "thinking")))
        elif kind in _CALLS:
            if plan := text_of(block, "input", "plan"):
                parts.append(Text(plan))
            if kind == "tool_use":
                calls[text_of(block, "id")] = len(parts), block
            parts.append(call_in(block, {}, {}, include))
        else:
            parts += _attachment_parts(block)
    return tuple(parts), "", calls


def results_in(value: Json) -> list[Json]:
    """Return the results of tool calls in a line."""
    blocks = objects_of(value, "message", "content")
    return [block for block in blocks if block.get("type") == "tool_result"]


def unknown_in(value: Json) -> Generator[str]:
    """Yield descriptions of unknown content in a user's or assistant's line."""
    content = object_of(value, "message").get("content")
    if value.get("type") not in ("user", "assistant"):
        return
    if not isinstance(content, str | list):
        yield f"lines of type {value.get('type')!r} without content"
    elif isinstance(content, list) and not all(isinstance(block, dict) for block in content):
        yield "blocks that are not objects"
    for block in _blocks(content):
        kind = text_of(block, "type")[:LONGEST_TYPE]
        if kind not in _KINDS and not kind.endswith("tool_result"):
            yield f"blocks of type {kind!r}"
        elif (key := _KINDS.get(kind)) and not isinstance(block.get(key), str):
            yield f"blocks of type {kind!r} without {key!r}"


def tokens_in(value: Json) -> int:
    """Return the uncached input tokens plus output tokens of an answer."""
    keys = ("input_tokens", "cache_creation_input_tokens", "output_tokens")
    return sum(max(0, millis_of(value, "message", "usage", name) or 0) for name in keys)


def call_in(block: Json, result: Json, details: Json, include: Collection[str]) -> ToolCall:
    """Return a tool call with its result, which may be empty."""
    tool, output = text_of(block, "name"), "\n".join(_texts(result.get("content")))
    failed, agent = result.get("is_error") is True, text_of(details, "agentId")
    # Only calls of type `tool_use` get a result.
    status = "completed" if result or block.get("type") != "tool_use" else ""
    ended = (
        result
        and not failed
        and not details.get("backgroundTaskId")
        and not details.get("interrupted")
    )
    exit_code = 0 if ended and tool == "Bash" else None
    if failed and (code := _EXIT.match(output)):
        exit_code = int(code[1])
    error = output.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    return tool_call(
        tool,
        object_of(block, "input"),
        include,
        status="error" if failed else status,
        exit=exit_code,
        error=error if failed else "",
        child=f"agent-{agent}" if _AGENT.fullmatch(agent) else "",
        output=output,
        diff="\n".join(_hunks(details)),
    )


def _hunks(details: Json) -> Generator[str]:
    for hunk in objects_of(details, "structuredPatch"):
        old, new = (
            [millis_of(hunk, f"{side}{what}") for what in ("Start", "Lines")]
            for side in ("old", "new")
        )
        yield f"@@ -{old[0]},{old[1]} +{new[0]},{new[1]} @@"
        yield from (line for line in list_of(hunk, "lines") if isinstance(line, str))


def _blocks(content: object) -> list[Json]:
    return (
        [{"type": "text", "text": content}]
        if isinstance(content, str)
        else objects_of({"": content}, "")
    )


def _texts(content: object) -> list[str]:
    return [text_of(block, "text") for block in _blocks(content) if block.get("type") == "text"]


def _typed_parts(text: str) -> list[Part]:
    text = words_in_prompt("claude-code", text)
    if text.startswith(("<bash-input>", "<command-message>")):
        command, name, given = (
            between(text, f"<{tag}>", f"</{tag}>")
            for tag in ("bash-input", "command-name", "command-args")
        )
        if command:  # the user ran it, in the client
            return [tool_call("Bash", {"command": command}, (), status="completed")]
        # A slash command.
        text = f"/{name.strip().lstrip('/')} {given}".strip()
    return [Text(text)] if text else []


def _choices(value: Json) -> Generator[Part]:
    """Yield the user's answers to the model's questions."""
    for question, answer in object_of(value, "toolUseResult", "answers").items():
        if isinstance(answer, str):
            yield Text(f"{mended(question)}: {mended(answer)}")


def _attachment_parts(block: Json) -> list[Part]:
    name = text_of(block, "title") or text_of(block, "source", "media_type")
    return [Attachment(name)] if block.get("type") in ("image", "document") else []
