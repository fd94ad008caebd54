"""The guide that agents read, as it is and as a skill."""

from pathlib import Path

_FILE = Path(__file__).parent.parent / "data" / "agent-context.md"
_HEAD = """\
---
name: vault-index
description: Searches and stores long-term memory (the user's notes, earlier decisions, past sessions). Use before \
answering about earlier work or preferences, and when something was decided, learned or fixed that later sessions need.
---

"""


def guide() -> str:
    return _FILE.read_text(encoding="utf-8")


def skill() -> str:
    """A SKILL.md: what it is for stands in its head, which is all an agent sees until it needs the rest."""
    return _HEAD + guide()
