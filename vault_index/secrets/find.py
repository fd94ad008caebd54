"""Find and redact credentials.

The table is our own, because maintained rules find less. The 221 patterns of gitleaks (July 2026)
with RE2 and its allowlists missed 104 of 150 samples at 3.4 MB/s; detect-secrets 1.5 reads 2 MB/s.
docs/privacy.md lists what is found, docs/reliability.md the error rates.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault_index.secrets.assignments import WEAK, assignments
from vault_index.secrets.decoding import decoded
from vault_index.secrets.placeholders import Found, is_random, occurrences, pattern
from vault_index.secrets.places import placed
from vault_index.secrets.tokens import private_keys, tokens

# A mark with an attribute begins a private part even if the mark does not end, because a missed
# mark would publish it. Pages and tools write `<` as an entity or an escape.
_LESS, _MORE = (
    rf"(?:{sign}|&(?:amp;)?(?:{name}|#0*{ord(sign)}|#x0*{ord(sign):x});"
    rf"|\\u00{ord(sign):x}|%{ord(sign):x})"
    for sign, name in (("<", "lt"), (">", "gt"))
)
_PRIVATE = re.compile(
    rf"(?P<close>{_LESS}\s{{0,9}}/\s{{0,9}}private(?:\s(?:(?!{_LESS})[^>]){{0,999}}?)?{_MORE})"
    rf"|{_LESS}\s{{0,9}}private(?:{_MORE}|\s(?:(?!{_LESS})[^>]){{0,999}}?{_MORE}"
    r"|\s{1,99}[\w:-]{1,99}\s{0,99}=)",
    re.IGNORECASE,
)
_LONG = 16
"""Minimum length of the first line of a wrapped token, in characters."""


@dataclass(frozen=True, slots=True)
class Secret:
    """The position of a credential, without the credential itself."""

    kind: str
    """Plain words with an article: `an AWS access key`."""
    line: int
    """Line number, from 1."""
    start: int
    end: int

    @property
    def weak(self) -> bool:
        """Whether only its name shows that it is a credential."""
        return self.kind.startswith(WEAK)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Return the credentials of a text, in order and without overlaps.

    A position covers the value behind a name, and the password in a URL.
    """
    found = _found(text)
    if other := decoded(text):
        found += [(kind, *other.span(start, end)) for kind, start, end in _found(other.text)]
    secrets: list[Secret] = []
    line, counted = 1, 0
    for _, kind, start, end in _united(found):
        line += text.count("\n", counted, start)
        counted = start
        secrets.append(Secret(kind, line, start, end))
    return tuple(secrets)


def _found(text: str) -> list[Found]:
    # Tokens are ASCII, which is fastest to search. Each character keeps its position: only `İ` has
    # two characters in lower case.
    plain = text.encode("ascii", "replace").decode("ascii")
    folded = text.replace("İ", "i").lower()
    hits = [*occurrences(folded)]
    found = [
        *private_keys(plain),
        *tokens(plain),
        *assignments(text, folded, hits),
        *placed(text, hits),
    ]
    return [*found, *_continued(text, found)]


def _continued(text: str, found: list[Found]) -> Iterator[Found]:
    """Yield each token that a terminal or mail program wrapped, with its other lines."""
    for kind, start, end in found:
        ends_line = end - start >= _LONG and text[end : end + 1] in ("\r", "\n")
        rest = (
            pattern("<CONTINUED>").match(text, end)
            if ends_line and is_random(text[start:end])
            else None
        )
        if rest and is_random("".join(rest[0].split())):
            yield kind, start, rest.end()


def _united(found: list[Found]) -> list[tuple[int, str, int, int]]:
    """Join overlapping credentials. The first found, a form before a name, gives the kind."""
    united: list[tuple[int, str, int, int]] = []
    for order, (kind, start, end) in sorted(enumerate(found), key=lambda item: item[1][1]):
        if united and start < united[-1][3]:
            rank, known, start, until = united.pop()
            end = max(end, until)
            (_, order), kind = min(
                ((one[1].startswith(WEAK), one[0]), one[1])
                for one in ((order, kind), (rank, known))
            )
        united.append((order, kind, start, end))
    return united


def redact(text: str) -> tuple[str, int]:
    """Replace each credential by `[redacted: KIND]`, keep all lines, and count them."""
    secrets = find_secrets(text)
    pieces, end = [], 0
    for secret in secrets:
        breaks = pattern(r"[^\r\n]+").sub("", text[secret.start : secret.end])
        pieces += [text[end : secret.start], f"[redacted: {secret.kind}]", breaks]
        end = secret.end
    return "".join((*pieces, text[end:])), len(secrets)


def drop_private(text: str) -> str:
    """Drop `<private>…</private>`, also nested. A mark without an end drops the rest."""
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
