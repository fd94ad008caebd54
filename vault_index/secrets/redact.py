"""Take out of a text what shall not be kept: credentials, and what its writer marked as private."""

import re
from dataclasses import dataclass

from vault_index.secrets.find import find_secrets

_PRIVATE = re.compile(r"<(?P<close>/?)private\s{0,9}>", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Redacted:
    text: str
    count: int
    """How many credentials were taken out."""


def redact(text: str) -> Redacted:
    """The text with `[redacted: KIND]` for each credential, in as many lines as before."""
    secrets = find_secrets(text)
    pieces, end = [], 0
    for secret in secrets:
        breaks = _LINE_BREAKS.sub("", text[secret.start : secret.end])
        pieces += [text[end : secret.start], f"[redacted: {secret.kind}]", breaks]
        end = secret.end
    return Redacted("".join((*pieces, text[end:])), len(secrets))


def drop_private(text: str) -> str:
    """The text without what stands in `<private>…</private>`, marks within marks too; one left open drops the rest."""
    pieces, end, depth = [], 0, 0
    for mark in _PRIVATE.finditer(text):
        if not mark["close"]:
            if depth == 0:
                pieces.append(text[end : mark.start()])
            depth += 1
        elif depth:
            depth -= 1
            end = mark.end()
    return "".join((*pieces, text[end:] if depth == 0 else ""))
