"""Credentials that are known by their name: `password = …`, `API_KEY=…`, `token: …`, `Authorization: Bearer …`.

A name says that something is a credential, but most of what stands behind such a name in prose and code is none: a
type, a call, a variable, a word. So the value must look like a secret too: a key or token is long and mixes letters
with digits; a password may be short, but after a colon it is no plain word.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from vault_index.secrets.placeholders import compiled, is_words, positions, stands_for_another


class Name(NamedTuple):
    kind: str
    literal: str
    """What the name is looked for with, in lower case."""
    expression: str
    """Matched where the literal begins."""
    before: str = ""


_KEY_OF = "api|access|secret|private|account|master|encryption|signing|session|service|auth|client|shared"
_NAMES = (
    Name("a password", "passw", r"passw(?:or[dt]|d)"),
    Name("a password", "passphrase", r"passphrase"),
    Name("a password", "pwd", r"pwd"),
    Name("a secret", "secret", r"secret(?:[-_ ]?(?:access)?[-_ ]?key)?"),
    Name("a token", "token", r"token"),
    Name("a key", "key", r"key", before=rf"(?:{_KEY_OF})[-_ ]?"),
)
_PASSWORD = "a password"
# How far back is looked for what belongs to a name, and for the `login x` before a password; when a value is long.
_NEAR = 20
_FAR = 130
_LONG = 100
_AWS_SECRET = r"aws.{0,12}secret.{0,12}|secret[-_ ]?access[-_ ]?key"
_ENVIRONMENT = r"(?:[-_](?:prod|production|staging|stage|dev|test|live|value|\d{1,2}))?"
# Marks that are passed to and fro openly.
_OPEN = r"(?:next|page|continuation|cancellation|sync|csrf|xsrf|public)[-_ ]?(?:signing|encryption|api)?[-_ ]?"

# Also in JSON within JSON (`\"token\": \"…\"`), in bold, in code, and in a table of markdown.
_SIGN = r"""\\?["'`\]*]{0,3}[ \t]{0,9}(?::=|=>|==?|:|\||>)[*"'`]{0,2}[ \t]{0,9}"""
_VALUE = r"""(?:\\?["'`](?P<quoted>[^"'`\\\n]{1,4000})(?:["'`]|\\["'])|(?P<bare>[^\s"'`<>,;|\\]{1,4000}))"""
_ASSIGNED = _SIGN + _VALUE
# `--password x`, and `login y password x` of a .netrc, have nothing between name and value.
_SPACED = r"(?:^|\s)--[a-z-]{0,20}\Z|\blogin[ \t]{1,9}\S{1,100}\s{1,9}\Z"
_BESIDE = r"[ \t]{1,9}" + _VALUE
_HEADER = (
    r"""authorization\\?["']?[ \t]{0,9}[:=][ \t]{0,9}\\?["']?"""
    r"""(?:basic|bearer|token|bot|apikey)[ \t]{1,9}([\w.~+/=-]{8,8000})"""
    r"""|bearer[ \t]{1,9}([\w.~+/=-]{16,8000})"""
)

_DIGIT = r"[0-9]"
_LETTER = r"[^\W\d_]"
_BLANK_OR_URL = r"\s|://"
_CALL = r"[(\[{]"
_DATE_OR_TYPE = (
    r"(?i)\d{1,4}[-./:]\d{1,2}(?:[-./:T].*)?"
    r"|(?:base|sha|utf|md|u?int|float|string|varchar|aes|hs|rs|es|ed|oauth|pkcs)-?\d{1,5}"
)
_REFERENCE = r"(?i)[/.~@&\\=+:-]|(?:arn|op|env|file|vault|ssm|secretref):"
_MEMBER = r"[A-Za-z_]\w{0,60}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,60}){1,9}"


def assignments(text: str, folded: str) -> Iterator[tuple[str, int, int]]:
    """Kind, start and end of each value that is assigned to the name of a credential; not in order.

    `folded` is the text in lower case, as long as the text itself.
    """
    for name in _NAMES:
        done = 0
        for position in positions(name.literal, folded):
            match = _assigned(name, position, text, folded) if position >= done else None
            if match:
                start, value = match.start(match.lastindex or 0), _trimmed(match)
                likely = _is_password(value, text[position:start]) if name.kind == _PASSWORD else _is_key(value)
                if likely and not _is_code(value, bare=not match["quoted"]):
                    aws = compiled(_AWS_SECRET).search(folded[max(position - _NEAR, 0) : start])
                    yield "an AWS secret key" if aws else name.kind, start, start + len(value)
                # What stands in a long value is not read again for every name in it.
                done = match.end() if len(value) > _LONG else 0
    for literal in ("authorization", "bearer"):
        for position in positions(literal, folded):
            if match := compiled(_HEADER).match(folded, position):
                start, end = match.span(match.lastindex or 0)
                value = text[start:end]
                if compiled(_LETTER).search(value) and not stands_for_another(value) and not is_words(value):
                    yield "an authorization header", start, end


def _assigned(name: Name, position: int, text: str, folded: str) -> re.Match[str] | None:
    said = compiled(name.expression + _ENVIRONMENT).match(folded, position)
    match = _value(text, folded, said) if said else None
    if not match or _ends(_OPEN, folded, position) or (name.before and not _ends(name.before, folded, position)):
        return None
    return match


def _value(text: str, folded: str, said: re.Match[str]) -> re.Match[str] | None:
    match = compiled(_ASSIGNED).match(text, said.end())
    if match or text[said.end() : said.end() + 1] not in (" ", "\t"):
        return match
    before = folded[max(said.start() - _FAR, 0) : said.start()]
    spaced = ("--" in before or "login" in before) and compiled(_SPACED).search(before)
    return compiled(_BESIDE).match(text, said.end()) if spaced else None


def _trimmed(match: re.Match[str]) -> str:
    """The value, without what closes the sentence or the brackets around it."""
    quoted: str | None = match["quoted"]
    return quoted or match["bare"].rstrip(")]}*_").removesuffix(".")


def _is_password(value: str, sign: str) -> bool:
    if compiled(_DIGIT).search(value):
        compound = ":" in sign and not value.isalnum() and is_words(value)
        return len(value) >= 6 and not compound
    return "=" in sign and len(value) >= 8 and not is_words(value)


def _is_key(value: str) -> bool:
    return (
        len(value) >= 12
        and bool(compiled(_DIGIT).search(value) and compiled(_LETTER).search(value))
        and not is_words(value)
    )


def _is_code(value: str, *, bare: bool) -> bool:
    """Whether a value is a reference, a type, a call, or something to be filled in."""
    return bool(
        compiled(_REFERENCE).match(value)
        or compiled(_BLANK_OR_URL).search(value)
        or (bare and compiled(_CALL).search(value))
        or compiled(_DATE_OR_TYPE).fullmatch(value)
        or compiled(_MEMBER).fullmatch(value)
        or stands_for_another(value)
    )


def _ends(expression: str, text: str, end: int) -> bool:
    return compiled(rf"(?:{expression})\Z").search(text, max(end - _NEAR, 0), end) is not None
