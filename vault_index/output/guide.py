"""Return the guide that agents read, as a text or as a skill."""

from pathlib import Path

_FILE = Path(__file__).parent.parent / "data" / "agent-context.md"
_HEAD = """\
---
name: vault-index
description: Search and store long-term memory (the user's notes, earlier decisions, past \
sessions). Use before answering about earlier work or preferences, and when something was decided, \
learned or fixed that later sessions need.
---

"""


def guide() -> str:
    """Return the guide as markdown."""
    return _FILE.read_text(encoding="utf-8")


def skill() -> str:
    """Return the guide as a SKILL.md.

    Its head says when to use it: agents see only the head until they need the rest.
    """
    return _HEAD + guide()
