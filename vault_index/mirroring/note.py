"""A session as a note: what is said otherwise than in the index, and what a file tells of itself."""

import re
from collections.abc import Mapping

_SESSION = re.compile(r'^session: *"?(ses_\w+)"? *$', re.MULTILINE)
_LINK = re.compile(r"\[\[(ses_\w+)\]\]")
_CHANGING = re.compile(r"^(agent|model|updated|opencode|turns):.*$", re.MULTILINE)
_END = "\n---\n"


def as_note(text: str, session: str, names: Mapping[str, str]) -> str:
    """Links by the names of files, as Obsidian follows them; the id as an alias, by which notes may link to it."""
    linked = _LINK.sub(lambda link: f"[[{names[link[1]]}]]" if link[1] in names else link[0], text)
    return linked.replace(_END, f'\naliases: ["{session}"]{_END}', 1)


def session_in(text: str) -> str:
    """The session that a file says it is, or nothing."""
    front = text.partition(_END)[0] if text.startswith("---\n") else ""
    found = _SESSION.search(front)
    return found[1] if found else ""


def turns_of(text: str) -> str:
    return text.partition(_END)[2]


def is_earlier(old: str, new: str) -> bool:
    """Whether a text is that of the session some turns before, with nothing in it that anybody else wrote."""
    fronts = [_CHANGING.sub(r"\1:", text.partition(_END)[0]) for text in (old, new)]
    return fronts[0] == fronts[1] and turns_of(new).startswith(turns_of(old).rstrip("\n"))
