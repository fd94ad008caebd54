"""What makes two memories the same one: what they say, however it is spaced and encoded."""

import hashlib
import json
import unicodedata
from collections.abc import Sequence


def identity(title: str, subtitle: str, facts: Sequence[str], body: str) -> bytes:
    """SHA-256 of all four, each in NFC with runs of whitespace as one space. The order of facts counts."""
    said = (_normal(title), _normal(subtitle), [_normal(fact) for fact in facts], _normal(body))
    # As JSON, so that no text can pass for the end of one field and the beginning of the next.
    return hashlib.sha256(json.dumps(said).encode()).digest()


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
