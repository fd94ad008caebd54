"""The words of the user in a prompt, apart from what the client and the editor add to it for the model."""

import re
from typing import NamedTuple


class _Marks(NamedTuple):
    """How one client marks what it adds. A mark inside a line is text: somebody writes about it."""

    blocks: str
    """Tags of blocks that are cut out, as a pattern."""
    before: str
    """What ends where the words of the user begin, as a pattern."""
    whole: str
    """The beginning of a text without a word of the user, as a pattern."""


_NEVER = r"(?!)"
_MARKS = {
    "opencode": _Marks(r"system-reminder", _NEVER, _NEVER),
    "claude-code": _Marks(
        r"system-reminder|ide_\w+",
        _NEVER,
        r"<(?:local-command-|command-name>|task-notification>|bash-std)|\[Request interrupted by user"
        r"|Caveat: The messages below",
    ),
    # Newer ones tell it apart themselves as well (`content_item_kinds`).
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
        r"<session_context>|Here is [^\n]*\beditor context\b[^\n]* for your information only\.|[/?]\w*\s*\Z",
    ),
}


def said_in_prompt(client: str, text: str) -> str:
    """Return the words of the user in a text of a prompt; empty if it has none."""
    blocks, before, whole = _MARKS[client]
    text = _without(text, blocks).strip()
    if added := re.match(before, text, re.DOTALL | re.MULTILINE):
        text = text[added.end() :].strip()
    return "" if re.match(whole, text) else text


def _without(text: str, tags: str) -> str:
    """The text without blocks that begin a line or follow another block. A block without an end is text."""
    kept, at, open_ended = list[str](), 0, set[str]()
    for begin in re.finditer(rf"(?<![^\n>])[ \t]*<({tags})(?: [^<>]*)?>", text):
        if begin.start() >= at and begin[1] not in open_ended:
            closing = f"</{begin[1]}>"
            if (end := text.find(closing, begin.end())) >= 0:
                kept.append(text[at : begin.start()])
                at = end + len(closing)
            else:
                open_ended.add(begin[1])  # looked for once: there may be thousands
    return "".join(kept) + text[at:]
