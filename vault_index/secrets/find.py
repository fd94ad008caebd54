"""Find what looks like a credential, and where.

A table of our own, because maintained rules find less. The 221 patterns of gitleaks (July 2026), run by RE2 with its
allowlists, left 104 of 150 samples and read 3.4 MB/s; detect-secrets 1.5 read 2 MB/s. This leaves none of the samples
that it was tuned with and reads 13 MB/s. docs/privacy.md says what is found, docs/reliability.md how often it errs.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vault_index.secrets.assignments import WEAK, assignments
from vault_index.secrets.decoding import decoded
from vault_index.secrets.placeholders import Found, is_random, occurrences, pattern
from vault_index.secrets.places import placed
from vault_index.secrets.tokens import private_keys, tokens

# What has an attribute begins, wherever its mark ends: what is missed here is read by others. Pages and tools write `<`
# as an entity or an escape.
_LESS, _MORE = (
    rf"(?:{sign}|&(?:amp;)?(?:{name}|#0*{ord(sign)}|#x0*{ord(sign):x});|\\u00{ord(sign):x}|%{ord(sign):x})"
    for sign, name in (("<", "lt"), (">", "gt"))
)
_PRIVATE = re.compile(
    rf"(?P<close>{_LESS}\s{{0,9}}/\s{{0,9}}private(?:\s(?:(?!{_LESS})[^>]){{0,999}}?)?{_MORE})"
    rf"|{_LESS}\s{{0,9}}private(?:{_MORE}|\s(?:(?!{_LESS})[^>]){{0,999}}?{_MORE}|\s{{1,99}}[\w:-]{{1,99}}\s{{0,99}}=)",
    re.IGNORECASE,
)
_LONG = 16
"""Characters of a token that is wrapped, at least."""
_LINE_BREAKS = re.compile(r"[^\r\n]+")


@dataclass(frozen=True, slots=True)
class Secret:
    """Where a credential stands, never the credential itself."""

    kind: str
    """In plain words, with its article: `an AWS access key`."""
    line: int
    """1-based."""
    start: int
    end: int

    @property
    def weak(self) -> bool:
        """Whether only its name says that it is one."""
        return self.kind.startswith(WEAK)


def find_secrets(text: str) -> tuple[Secret, ...]:
    """What looks like a credential, in order and not overlapping.

    Of a name and its value the value is the secret, of a URL the password.
    """
    found = _found(text)
    if other := decoded(text):
        found += [(kind, *other.span(start, end)) for kind, start, end in _found(other.text)]
    return _told(text, found)


def _told(text: str, found: list[Found]) -> tuple[Secret, ...]:
    secrets: list[Secret] = []
    line, counted = 1, 0
    for _, kind, start, end in _united(found):
        line += text.count("\n", counted, start)
        counted = start
        secrets.append(Secret(kind, line, start, end))
    return tuple(secrets)


def _found(text: str) -> list[Found]:
    # Forms are ASCII, and ASCII is fastest to search. Every character keeps its position; `İ` is longer in lower case.
    plain = text.encode("ascii", "replace").decode("ascii")
    folded = text.lower()
    folded = folded if len(folded) == len(text) else plain.lower()
    hits = [*occurrences(folded)]
    found = [
        *private_keys(plain),
        *tokens(plain),
        *assignments(text, folded, hits),
        *placed(text, hits),
    ]
    return [*found, *_continued(text, found)]


def _continued(text: str, found: list[Found]) -> Iterator[Found]:
    """Each token with the next lines that it goes on in, as terminals and mail programs wrap it."""
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
    """Those that overlap as one, with the number and kind of the one found first: a form says more than a name."""
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
    """The text with `[redacted: KIND]` for each credential, in as many lines as before, and the number of them."""
    secrets = find_secrets(text)
    pieces, end = [], 0
    for secret in secrets:
        breaks = _LINE_BREAKS.sub("", text[secret.start : secret.end])
        pieces += [text[end : secret.start], f"[redacted: {secret.kind}]", breaks]
        end = secret.end
    return "".join((*pieces, text[end:])), len(secrets)


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
