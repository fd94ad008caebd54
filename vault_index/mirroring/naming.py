"""What the files of sessions are called: by the day they began, and their title."""

import re
from collections.abc import Collection

from vault_index.secrets.find import drop_private, redact
from vault_index.sources.names import is_document_name
from vault_index.sources.opencode.model import Session, moment_of

_LONGEST = 80
_LONGEST_BYTES = 200
# What Obsidian, Windows or links cannot have in a name, and control characters.
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]\ud800-\udfff]+')
_UNTITLED = re.compile(r"((?:New|Child) session) - \d{4}-.*")


def is_untitled(session: Session) -> bool:
    """Whether OpenCode has not found a title for it yet."""
    return _UNTITLED.fullmatch(session.title) is not None


def name_of(session: Session) -> str:
    """`2026-11-21 Fix the login`, without the ending of a file. Titles are redacted as texts are."""
    day = moment_of(session.created).astimezone().strftime("%Y-%m-%d")
    title = _NOT_IN_NAMES.sub(" ", redact(drop_private(_UNTITLED.sub(r"\1", session.title))).text)
    title = " ".join(title.split())[:_LONGEST]
    while len(title.encode()) > _LONGEST_BYTES:
        title = title[:-1]
    name = f"{day} {title.strip(' .')}".strip()
    return name if title and is_document_name(f"{name}.md") else f"{day} Session"


def free_name(name: str, taken: Collection[str]) -> str:
    """The name, or with a number: `taken` are those in lower case that others have."""
    number, free = 1, name
    while free.lower() in taken:
        number += 1
        free = f"{name} {number}"
    return free
