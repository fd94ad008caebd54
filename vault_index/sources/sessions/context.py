"""Separate the user's words in a prompt from the context that clients and editors add."""

import re
from typing import NamedTuple


class _Marks(NamedTuple):
    """The marks of context that a client adds. A mark inside a line is a quotation, and stays."""

    blocks: str
    """Pattern of the tags of blocks to remove."""
    before: str
    """Pattern of the context before the user's words."""
    whole: str
    """Pattern of the beginning of a text that holds only context."""


_NEVER = r"(?!)"
_NOTHING = _Marks(_NEVER, _NEVER, _NEVER)
_MARKS = {
    "opencode": _Marks(r"system-reminder", _NEVER, _NEVER),
    "claude-code": _Marks(
        r"system-reminder|ide_\w+",
        _NEVER,
        r"<(?:local-command-|command-name>|task-notification>|bash-std)"
        r"|\[Request interrupted by user|Caveat: The messages below",
    ),
    # Newer versions also mark it in `content_item_kinds`.
    "codex": _Marks(
        r"image",
        r"[#<].*?^#+ My request for Codex:|Another language model started .*? your own analysis:",
        r"<(?:environment_context|user_instructions|turn_aborted|skill|permissions|subagent_notification|hook_prompt"
        r"|collaboration_mode|codex_internal_context|goal_context|recommended_plugins|plugins?|apps|INSTRUCTIONS"
        r"|/?image)[\s>_]|# (?:AGENTS\.md instructions|Context from my IDE setup:)",
    ),
    "gemini": _Marks(
        r"hook_context|system-reminder",
        r"Here is [^\n]*\beditor context\b[^\n]*\n```json\n.*?^```",
        r"<session_context>|Here is [^\n]*\beditor context\b[^\n]* for your information only\."
        r"|[/?]\w*\s*\Z",
    ),
    "pi": _Marks(r"(?:file|skill)(?= name=\")", _NEVER, _NEVER),
}
_MARKS["qwen"] = _MARKS["gemini"]


def words_in_prompt(client: str, text: str) -> str:
    """Return the user's words in a prompt text; empty if there are only additions.

    A client without marks stores prompts as they were typed.
    """
    blocks, before, whole = _MARKS.get(client, _NOTHING)
    text = _without(text, blocks).strip()
    if added := re.match(before, text, re.DOTALL | re.MULTILINE):
        text = text[added.end() :].strip()
    return "" if re.match(whole, text) else text


def _without(text: str, tags: str) -> str:
    """Remove blocks that begin a line or follow another block. An unclosed block stays."""
    kept, at, open_ended = list[str](), 0, set[str]()
    for begin in re.finditer(rf"(?<![^\n>])[ \t]*<({tags})(?: [^<>]*)?>", text):
        if begin.start() >= at and begin[1] not in open_ended:
            closing = f"</{begin[1]}>"
            if (end := text.find(closing, begin.end())) >= 0:
                kept.append(text[at : begin.start()])
                at = end + len(closing)
            else:
                open_ended.add(begin[1])  # search only once: there may be thousands
    return "".join(kept) + text[at:]
