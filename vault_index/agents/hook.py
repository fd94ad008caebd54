"""Handle the hooks of a client: recall at the first prompt, and capture of prompts and answers.

The client waits for its hooks, so only the recall runs in the foreground.
"""

import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from vault_index.agents.clients import WIRED
from vault_index.config.home import private_folder
from vault_index.disk import open_own

Ask = Callable[[str, dict[str, Any]], Mapping[str, Any]]
"""Calls a method, in the daemon if it runs."""
Start = Callable[[Sequence[str], str, str], None]
"""Starts one of our commands with a text on stdin, in a folder, without waiting for it."""

_KEPT_SECONDS = 30 * 86_400.0
_LONGEST_QUERY = 2000
_LONGEST_TEXT = 1_000_000
_TOPIC_MESSAGES = 6
_TAIL = 4 << 20
"""Bytes at the end of a transcript in which the last messages of the user are searched."""
_SESSION = re.compile(r"[A-Za-z0-9_-]{1,128}")
_NOT_TYPED = re.compile(
    r"\s*(?:<(?:task-notification|system-reminder|(?:command|local-command|bash)-)|[/!?]\S*\s*$|\Z)"
)
"""Prompts that the user did not type, such as a finished task, and commands of the client."""


def answer(
    client: str, event_data: Mapping[str, Any], folder: Path, ask: Ask, start: Start
) -> dict[str, Any] | None:
    """Return the hook output for the client, or None.

    `event_data` is the input of the hook. `folder` has a file for each session, which records what
    was recalled and captured, so that each text is captured once.
    """
    name, session, place = (
        _text(event_data, key) for key in ("hook_event_name", "session_id", "cwd")
    )
    if not _SESSION.fullmatch(session):
        return None
    event, text = WIRED[client].events.get(name), ""
    if event == "start":
        _forget_old(folder)
        start(["opencode", "wake"], "", place)
        if event_data.get("source") == "compact":  # compaction removed the recalled text
            topic = _last_messages(client, _text(event_data, "transcript_path"))
            text = _recall(ask, "\n\n".join(topic), session, place)
    elif event == "prompt" and not _NOT_TYPED.match(prompt := _text(event_data, "prompt")):
        _capture(start, folder, "user", prompt, session, place)
        if _is_first(folder, session, "told"):
            text = _recall(ask, prompt, session, place)
    elif event == "stop":
        message = _text(event_data, "last_assistant_message") or _text(
            event_data, "prompt_response"
        )
        if "remember" in message.lower():
            _capture(start, folder, client, message, session, place)
    return (
        {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}} if text else None
    )


def _text(event_data: Mapping[str, Any], key: str) -> str:
    return str(event_data.get(key) or "")


def _last_messages(client: str, transcript: str) -> list[str]:
    """Return the last messages of the user, the newest first; empty if the file is unreadable."""
    # Imported late, because only a compaction needs a transcript.
    from vault_index.sources.sessions.json_access import read_object

    try:
        with open(transcript, "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - _TAIL, 0))
            lines = file.read(_TAIL).split(b"\n")
    except (OSError, ValueError):
        return []
    texts = (_typed_text(client, read_object(line, "", []) or {}) for line in reversed(lines))
    return list(islice((text for text in texts if not _NOT_TYPED.match(text)), _TOPIC_MESSAGES))


def _typed_text(client: str, line: dict[str, Any]) -> str:
    """Return the text that the user typed in one line of a transcript."""
    from vault_index.sources.sessions.claude_blocks import message_parts
    from vault_index.sources.sessions.claude_conversation import is_chained
    from vault_index.sources.sessions.context import words_in_prompt
    from vault_index.sources.sessions.json_access import object_of, objects_of, text_of
    from vault_index.sources.sessions.model import Text

    if client == "claude-code":
        speaker, parts = message_parts(line) if is_chained(line, False) else ("", ())
        texts = [part.text for part in parts if speaker == "user" and isinstance(part, Text)]
    else:
        item = object_of(line, "payload")
        texts = [
            text_of(one, "text")
            for one in objects_of(item, "content")
            if item.get("role") == "user"
        ]
    return "\n".join(filter(None, (words_in_prompt(client, text) for text in texts)))


def _recall(ask: Ask, query: str, session: str, place: str) -> str:
    params = {"query": query[:_LONGEST_QUERY], "session": session}
    return str(
        ask("recall", params | ({"project": place, "directory": place} if place else {}))["text"]
    ).strip()


def _capture(start: Start, folder: Path, by: str, text: str, session: str, place: str) -> None:
    if not _is_first(folder, session, _digest(text)):
        return
    words = ["capture", "--auto", f"--by={by}", f"--session={session}"]
    project = [f"--project={place}"] if place else []
    start(
        [*words, *project, *(["--statements"] if by == "user" else [])], text[:_LONGEST_TEXT], place
    )


def _is_first(folder: Path, session: str, what: str) -> bool:
    """Record that a session has `what`; return whether that is new.

    The hooks of a user and of a project may run at the same time.
    """
    private_folder(folder)
    with open(open_own(folder / _digest(session), os.O_RDWR), "r+", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if what in file.read().split("\n"):
            return False
        file.write(f"{what}\n")
    return True


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _forget_old(folder: Path) -> None:
    """Delete the files of sessions that were not used for 30 days."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if time.time() - entry.stat().st_mtime > _KEPT_SECONDS:
                os.unlink(entry)
