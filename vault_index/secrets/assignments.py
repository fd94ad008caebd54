"""Credentials that are known by their name: `password = …`, `API_KEY=…`, `token: …`.

A name says that something is a credential, but most of what stands behind such a name in prose and code is none: a
type, a call, a variable, a word. So the value must look like a secret too: a key or token is long and mixes letters
with digits; a password may be short, but after a colon it is no plain word. A value that a name calls a credential, and
that does not look like one, is a weak one.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from vault_index.secrets.placeholders import Found, compiled, is_words, positions, stands_for_another


class Name(NamedTuple):
    kind: str
    literal: str
    """What the name is looked for with, in lower case."""
    expression: str
    """Matched where the literal begins."""
    before: tuple[str, ...] = ()
    """One of them stands before it."""


_SEPARATORS = ("", "-", "_", " ")
_KEY_OF = (
    "api app application access secret private account master encryption encrypt signing session service auth client "
    "shared admin license deploy storage subscription consumer developer webhook write ssh ssl tls jwt hmac aes wallet "
    "registry integration ingest server user root project team bot"
)
_PASS_OF = "db user smtp mail email ftp ssh admin root redis mysql postgres pg rabbitmq amqp ldap http proxy key store"
_NAMES = (
    Name("a password", "pass", r"pass(?:w(?:or[dt]|d)s?|phrase|code)"),
    Name("a password", "pwd", r"pwd"),
    Name("a password", "pass", r"pass(?![a-z])", ("_", "-", '"', "'", *_PASS_OF.split())),
    Name("a password", "psk", r"psk(?![a-z])"),
    Name("a secret", "secret", r"secret(?:[-_ ]?(?:access|key|base|token|value|text|string)){0,3}"),
    Name("a token", "token", r"token(?:[-_ ]?(?:value|secret|key))?"),
    Name("a secret", "credential", r"credentials?"),
    Name("a secret", "auth", r"auth(?![a-z])", ("_", '"', "'", "master")),
    Name(
        "a key",
        "key",
        r"key(?:[-_ ]?(?:value|secret|base64|hex|data))?",
        tuple("".join(parts) for parts in product(_KEY_OF.split(), _SEPARATORS)),
    ),
)
_PASSWORD = "a password"
WEAK = "a weak "
# How far back is looked for what belongs to a name, and for the `login x` before a password; when a value is long.
_NEAR = 20
_FAR = 130
_LONG = 100
_AWS_SECRET = r"aws.{0,12}secret.{0,12}|secret[-_ ]?access[-_ ]?key"
_ENVIRONMENT = r"(?:[-_](?:prod|production|staging|stage|dev|test|live|value|default|\d{1,2}))?"
# Marks that are passed to and fro openly.
_OPEN = tuple(
    "".join(parts)
    for parts in product(
        (
            "next",
            "page",
            "continuation",
            "cancellation",
            "sync",
            "csrf",
            "xsrf",
            "public",
            "publishable",
            "anon",
            "recall",
        ),
        ("", "-", "_", " "),
        ("", "signing", "encryption", "api"),
        ("", "-", "_", " "),
    )
)
_OPEN_KEY = ("primary", "foreign", "cache", "partition", "sort", "public", "publishable", "site", "unique", "index")

# Also in JSON within JSON (`\"token\": \"…\"`), in bold, in code, in a table of markdown, and beside `value:`.
_SIGN = (
    r"""(?:\\?["'`\]*]{0,3}[ \t]{0,9}(?::=|=>|==?|:|\||>)[*"'`]{0,2}[ \t+]{0,9}"""
    r"""|\\?["'][ \t]{0,4},[ \t+]{0,4}(?=\\?["'])|[ \t+]{1,4}(?:is|was)[ \t+]{1,4})"""
)
_VALUE = (
    r"""(?:"(?P<double>(?:[^"\\\n]|\\[^"\n]){1,4000})"|'(?P<single>(?:[^'\\\n]|\\[^'\n]){1,4000})'"""
    r"""|\\?["'`](?P<quoted>[^"'`\\\n]{1,4000})(?:["'`]|\\["']|$)"""
    r"""|(?P<bare>(?:[^\s\x00-\x1f"'`<>,;|\\]|\|(?=[A-Za-z0-9])|,(?=[^\s"'`<>,;|\\]))"""
    r"""(?:[^\s\x00-\x1f"'`<>,;|\\]|\|(?=[A-Za-z0-9])|,(?![\w.-]{0,40}[ \t]{0,2}[=:)])(?=[^\s"'`<>,;|\\])){0,3999}))"""
)
_ASSIGNED = _SIGN + _VALUE
# As `"name": "DB_PASSWORD", "value": "…"`, `- name: …` with `value: …` below it, `variable "…" { default = "…" }`. A
# line may have anything before it, as those of diffs and logs have.
_BELOW = r"(?:\r?\n|\\{1,3}n)[^\n]{0,60}?"
_NAMED_VALUE = (
    rf"""(?:\\{{0,3}}["']?[ \t,]{{0,9}}(?:{_BELOW})?\bvalue\\{{0,3}}["']?[ \t]{{0,9}}[:=][ \t]{{0,9}}"""
    rf"""|\\{{0,3}}["'][ \t]{{0,4}}\{{{_BELOW}\bdefault[ \t]{{0,20}}=[ \t]{{0,9}}){_VALUE}"""
)
# `--password x`, and `login y password x` of a .netrc, have nothing between name and value.
_SPACED = (
    r"(?:^|[\s+])--?[a-z-]{0,20}\Z|\blogin[ \t]{1,9}\S{1,100}(?:[ \t]{1,9}|[ \t]{0,9}\r?\n[^\n]{0,60})\Z"
    r"|^\s{0,9}(?:require|master)\Z"
    r"|\b(?:env|arg|setx|set|with|user)[ \t]{1,9}(?:-[a-z]{1,3}[ \t]{1,9})?[a-z0-9_-]{0,60}\Z"
)
_BESIDE = r"[ \t+]{1,9}" + _VALUE
_SPACED_BY = ("-", "login", "env", "arg", "set", "require", "master", "with", "user")

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

# A weak one stands alone behind its name, at the end of its line or in quotes; what is said of a credential is none.
_WEAK_END = r"""\\{0,3}["'`]?[ \t]{0,9}(?:[]},;)|#<\x1b]|\\{1,3}[nr"]|\r?\n|$)"""
_WEAK_PASSWORD = r"[A-Z]?[a-z]+\d{0,4}|[A-Z]+\d{0,4}|\d+"
_WEAK_KEY = r"[a-z]{0,8}\d{3,16}"
_LISTED = r"""["'][ \t]{0,4},[ \t+]{0,4}\\?["']?\Z"""
_IDENTIFIER = "[A-Z0-9_]+|[a-z0-9]+_[a-z0-9_]+"
_SAID = (
    r"(?i)(?:required|optional|string|number|integer|boolean|bytes|object|hidden|needed|missing|invalid|wrong|empty"
    r"|unset|expired|encrypted|hashed|masked|forgotten|reset|changed|stored|plain|text|plaintext|field|input|value"
    r"|default|prompt|config|self|this|any|char|varchar|type|random|generated|unknown|word|here|there"
    r"|disabled|enabled|auto|public|private|internal|external|strict|varies|various|used|unused|failed|incorrect"
    r"|correct|valid|keyword|identifier|operator|bearer|basic|digest|cookie|session|header|query|none|null|nil|true"
    r"|false|undefined|password|secret|token|same|different|long|short|weak|strong|safe|good|old|new|now|not|only)"
    r"|[a-z]{2,}(?:ed|en|ing|ble|ly|ion|ent|ant|ive|ous)"
)


def assignments(text: str, folded: str) -> Iterator[Found]:
    """Each value that is assigned to the name of a credential; not in order. Kinds of weak ones begin with `WEAK`.

    `folded` is the text in lower case, as long as the text itself.
    """
    for name in _NAMES:
        done = 0
        for position in positions(name.literal, folded):
            match = _assigned(name, position, text, folded) if position >= done else None
            if match:
                start, value = match.start(match.lastgroup or 0), _trimmed(match)
                if kind := _kind(name, match, value, text[position:start]):
                    aws = compiled(_AWS_SECRET).search(folded[max(position - _NEAR, 0) : start])
                    yield "an AWS secret key" if aws else kind, start, start + len(value)
                # What stands in a long value is not read again for every name in it.
                done = match.end() if len(value) > _LONG else 0


def _kind(name: Name, match: re.Match[str], value: str, sign: str) -> str:
    """What a value is, or nothing."""
    kind, bare = name.kind, match.lastgroup == "bare"
    if _is_code(value, bare=bare):
        return ""
    said = compiled(r"[\s+](?:is|was)[\s+]{1,4}[\"'`]?\Z").search(sign) is not None
    listed = compiled(_LISTED).search(sign) is not None
    if listed and compiled(_IDENTIFIER).fullmatch(value):
        return ""
    strong = _is_password(value, sign, said=said) if kind == _PASSWORD else _is_key(value) and not said
    if strong and not (kind == _PASSWORD and compiled(_WEAK_PASSWORD).fullmatch(value)):
        return kind
    weak = strong or (not listed and (not name.before or name.literal == "key") and _is_weak(kind, match, value, sign))
    return WEAK + kind.removeprefix("a ") if weak else ""


def _assigned(name: Name, position: int, text: str, folded: str) -> re.Match[str] | None:
    # As a variable a key has the name of its service: `MAILGUN_KEY`.
    variable = text[position - 1 : position + 3] == "_KEY" and not folded.endswith(_OPEN_KEY, 0, position - 1)
    if folded.endswith(_OPEN, 0, position) or (
        name.before and not variable and not folded.endswith(name.before, 0, position)
    ):
        return None
    said = compiled(name.expression + _ENVIRONMENT).match(folded, position)
    return _value(text, folded, said) if said else None


def _value(text: str, folded: str, said: re.Match[str]) -> re.Match[str] | None:
    match = compiled(_ASSIGNED).match(text, said.end())
    if match:
        return match
    if text[said.end() : said.end() + 1] not in (" ", "\t", "+"):
        return compiled(_NAMED_VALUE).match(text, said.end())
    before = folded[max(said.start() - _FAR, 0) : said.start()]
    spaced = any(word in before for word in _SPACED_BY) and compiled(_SPACED).search(before)
    return compiled(_BESIDE).match(text, said.end()) if spaced else None


def _trimmed(match: re.Match[str]) -> str:
    """The value, without what closes the sentence or the brackets around it."""
    value = str(match[match.lastgroup or 0])
    return value.rstrip(")]}*_").removesuffix(".") if match.lastgroup == "bare" else value


def _is_password(value: str, sign: str, *, said: bool) -> bool:
    if compiled(_DIGIT).search(value):
        compound = (said or ":" in sign) and not value.isalnum() and is_words(value)
        return len(value) >= 6 and not compound and not (said and not compiled(_LETTER).search(value))
    return "=" in sign and len(value) >= 8 and not is_words(value)


def _is_key(value: str) -> bool:
    return (
        len(value) >= 12
        and bool(compiled(_DIGIT).search(value) and compiled(_LETTER).search(value))
        and not is_words(value)
    )


def _is_weak(kind: str, match: re.Match[str], value: str, sign: str) -> bool:
    """Whether a value is meant as a credential, though it is none that anybody should have."""
    code = match.lastgroup == "bare" and compiled(r"\s(?:=|:=|=>|==)\s{0,9}\Z|==|\|").search(sign)
    return bool(
        4 <= len(value) <= _LONG
        and not code
        and compiled(_WEAK_PASSWORD if kind == _PASSWORD else _WEAK_KEY).fullmatch(value)
        and not compiled(_SAID).fullmatch(value)
        and compiled(_WEAK_END).match(match.string, match.start(match.lastgroup or 0) + len(value))
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
