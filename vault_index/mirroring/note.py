"""Convert a session to a note's name and text, and read the session id of a file."""

import re
from collections.abc import Collection, Mapping
from itertools import chain, count

from vault_index.secrets.find import drop_private, redact
from vault_index.sources.names import is_document_name
from vault_index.sources.sessions.model import Session, moment_of

_SESSION = re.compile(r'^session: *"?([A-Za-z0-9_-]+)"? *$', re.MULTILINE)
_LINK = re.compile(r"\[\[([A-Za-z0-9_-]+)\]\]")
_CHANGING = re.compile(r"^(agent|model|updated|client|version|turns|tokens):.*\n", re.MULTILINE)
_END = "\n---\n"
_LONGEST = 80
_LONGEST_BYTES = 200
# Characters that Obsidian, Windows or links forbid in names, and control characters.
_NOT_IN_NAMES = re.compile(r'[\x00-\x1f\x7f\\/:*?"<>|#^\[\]\ud800-\udfff]+')
_UNTITLED = re.compile(r"((?:New|Child) session) - \d{4}-.*")
UNTITLED = ("New session - 0000-", "")
"""Titles that clients give untitled sessions."""


def as_note(text: str, session: str, names: Mapping[str, str]) -> str:
    """Replace session ids in links by file names, and add the id as an alias."""
    linked = _LINK.sub(lambda link: f"[[{names[link[1]]}]]" if link[1] in names else link[0], text)
    return linked.replace(_END, f'\naliases: ["{session}"]{_END}', 1)


def session_in(text: str) -> str:
    """Return the session id in a file's frontmatter, or ""."""
    front = text.partition(_END)[0] if text.startswith("---\n") else ""
    found = _SESSION.search(front)
    return found[1] if found else ""


def turns_of(text: str) -> str:
    """Return the text below the frontmatter."""
    return text.partition(_END)[2]


def is_earlier(old: str, new: str) -> bool:
    """Return whether `old` is an earlier version of the session without edits by the user."""
    fronts = [_CHANGING.sub("", text.partition(_END)[0]) for text in (old, new)]
    return fronts[0] == fronts[1] and turns_of(new).startswith(turns_of(old).rstrip("\n"))


def is_untitled(session: Session) -> bool:
    """Return whether the client has given the session no title yet."""
    return not session.title.strip() or _UNTITLED.fullmatch(session.title) is not None


def name_of(session: Session) -> str:
    """Return a name such as `2026-11-21 Fix the login`, without suffix and secrets."""
    day = moment_of(session.created).astimezone().strftime("%Y-%m-%d")
    title = _NOT_IN_NAMES.sub(" ", redact(drop_private(_UNTITLED.sub(r"\1", session.title)))[0])
    title = " ".join(title.split())[:_LONGEST]
    while len(title.encode()) > _LONGEST_BYTES:
        title = title[:-1]
    name = f"{day} {title.strip(' .')}".strip()
    return name if title and is_document_name(f"{name}.md") else f"{day} Session"


def free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, with a number if it is in `taken` (lower case)."""
    names = chain([name], (f"{name} {number}" for number in count(2)))
    return next(free for free in names if free.lower() not in taken)
