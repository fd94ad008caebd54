"""Credentials that are known by their name: `password = …`, `API_KEY=…`, `token: …`, `the password is …`.

A name says that something is a credential, but most of what stands behind such a name in prose and code is none: a
type, a call, a variable, a word. So the value must look like a secret too: a key or token is long and mixes letters
with digits; a password may be short, but after a colon it is no plain word. A value that a name calls a credential, and
that does not look like one, is a weak one.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from vault_index.secrets.placeholders import (
    WORDS as _WORDS,
    Found,
    compiled,
    is_chosen,
    is_jumbled,
    is_passphrase,
    is_random,
    is_words,
    occurrences,
    stands_for_another,
)
from vault_index.secrets.tables import Column, column


class Name(NamedTuple):
    kind: str
    literals: tuple[str, ...]
    """What the name is looked for with, in lower case."""
    expression: str
    """Matched where the literal begins."""
    before: tuple[str, ...] = ()
    """One of them stands before it."""


def _joined(words: str) -> tuple[str, ...]:
    return tuple("".join(parts) for parts in product(words.split(), ("", "-", "_", " ")))


_KEY_OF = _joined(
    "api app application access secret private account master encryption encrypt signing session service auth client "
    "shared admin license deploy storage subscription consumer developer webhook write ssh ssl tls jwt hmac aes wallet "
    "registry integration ingest server user root project team bot mfa 2fa totp otp wpa wpa2 "
    "wifi wi-fi wlan network recovery"
)
_PASS_OF = (
    "db user smtp mail email ftp ssh admin root redis mysql postgres pg rabbitmq amqp ldap http proxy key store "
    "require master"
)
_CODE_OF = _joined("door gate alarm entry entrance garage lock safe keypad building unlock zugangs tür tor")
_PASSWORDS = (
    "mot de passe", "mots de passe", "mdp", "contraseña", "contrasena", "clave", "senha", "palavra-passe",
    "wachtwoord", "kennwort", "parola", "hasło", "hasło to", "haslo", "hasła", "heslo", "passord", "lösenord",
    "adgangskode", "salasana", "jelszó", "şifre", "парол", "密码", "密碼", "口令", "パスワード", "비밀번호", "κωδικός",
    "mật khẩu", "סיסמה",
)  # fmt: skip
_KEYS = (
    "schlüssel", "clé", "chave", "chiave", "sleutel", "klucz", "ключ", "キー", "密钥", "密鑰",
    "токен", "令牌", "トークン", "jeton",
)  # fmt: skip
_NAMES = (
    Name("a password", ("pass",), r"pass(?:w(?:or[dt]|r?d)s?|phrase|code)"),
    Name("a password", ("pw",), r"pwd|(?<![a-z])pw(?![a-z])"),
    Name("a password", ("pass",), r"pass(?![a-z])", ("_", "-", '"', "'", *_PASS_OF.split())),
    Name("a password", ("pass",), r"(?<![a-z])pass(?=[ \t]{0,9}[:=|])"),
    Name("a password", ("psk",), r"psk(?![a-z])"),
    Name("a password", _PASSWORDS, rf"(?<![a-zà-ÿ])(?:{'|'.join(sorted(_PASSWORDS, reverse=True))})[а-я]{{0,2}}"),
    Name("a secret", ("secret",), r"secret(?:[-_ ]?(?:access|key|base|token|value|text|string)){0,3}"),
    Name("a token", ("token",), r"token(?:[-_ ]?(?:value|secret|key))?"),
    Name("a secret", ("credential",), r"credentials?"),
    Name("a secret", ("_auth", '"auth', "'auth", "masterauth"), r"[_\"']?(?:master)?auth(?![a-z])"),
    Name("a key", ("key",), r"key(?:[-_ ]?(?:value|secret|base64|hex|data))?", _KEY_OF),
    Name("a key", _KEYS, rf"(?:{'|'.join(_KEYS)})[а-я]{{0,2}}"),
    Name(
        "a weak PIN",
        ("pin", "puk", "cvv", "cvc"),
        r"(?<![a-z0-9_.-])(?:pin|puk|cv[vc])[12]?(?:[- ]?code)?(?![a-z0-9_-])",
    ),
    Name("a cookie", ("phpsessid", "jsessionid", "connect.sid", "asp.net_sessionid", "laravel_session"), r"[\w.]+"),
    Name("a weak PIN", tuple(f"{of}code" for of in _CODE_OF), r"[^\W\d_]+[-_ ]?code(?![a-z])"),
)
_BY_LITERAL = {
    literal: [name for name in _NAMES if literal in name.literals] for name in _NAMES for literal in name.literals
}
_PASSWORD = "a password"
WEAK = "a weak "
# How far back is looked for what belongs to a name, and for the `login x` before a password; when a value is long.
_NEAR = 20
_FAR = 130
_LONG = 100
_AWS_SECRET = r"aws.{0,12}secret.{0,12}|secret[-_ ]?access[-_ ]?key"
# A name goes on as names do, unless that says that its value is something else.
_SUFFIX = (
    r"(?:[-_](?!(?:ids?|name|file|path|url|uri|type|ref|len|length|count|class|re|regex|mgr)"
    r"(?![a-z]))[a-z0-9]{1,20}){0,2}"
)
_OPEN_KEY = r"(?<![a-z])(?:primary|foreign|cache|partition|sort|unique|index)_\Z"
# A public key is known by its value.
_PUBLIC = r"pk_(?:live|test)_|pk\.eyJ|age1|ssh-[a-z0-9]+|AAAA[BCE][23]N|sb_publishable_|M(?:FkwE|IIB[Ij]AN|CowBQ)"

_BREAK = r"(?:\r?\n|\\{1,3}n)"
# Before a line of its own: indents, and what diffs, quotes, lists and listings put there.
_MARGIN = r"[ \t]{0,40}(?:(?:[>+|-]|\d{1,5}[:|\u2192\t])[ \t]{0,40})?"
_ALONE = rf"(?=[`\"'*]{{0,3}}[^\s`]{{3,4000}}[^\s`:{{(\[,]`?[ \t]{{0,9}}(?:\\|{_BREAK}|\Z))"
# Also in JSON within JSON (`\"token\": \"…\"`), in bold, in code, in a table of markdown, in a call, beside `value:`,
# in the next element of HTML; on a line of its own below the name, below `|` or `>-` of YAML, and below three quotes.
_SIGN = (
    r"""(?:\\?["'`\]*]{0,3}[ \t]{0,9}(?::=|=>|==?|[:：]|\||>)(?:\*\*|["'`](?=[\s"'`]))?[ \t+]{0,9}"""
    r"""(?:""(?=")|''(?=')|[Nbruf@$](?=["'])|<!\[CDATA\[)?"""
    r"""|\\?["'][ \t]{0,4},[ \t+]{0,4}(?=\\?["'])|[ \t+]{1,4}(?:is|was)[ \t+]{1,4}"""
    r"""|(?:\\?["'][ \t]?\)[ \t]{0,2}\.\w{2,20}|\\?["']?)\([ \t]{0,4}(?=\\?["'])|[ \t]{1,4}(?='[^'\n]{4,100}')"""
    rf"""|(?:[ \t][^\n:=.!?;]{{1,50}}(?=[:：]))?\\?["'`*:：>]{{0,4}}[ \t]{{0,9}}(?:=[ \t]{{0,9}})?"""
    rf"""(?:[|>][-+]?\d?|\"\"\"\\?|''')?[ \t]{{0,9}}{_BREAK}(?:{_MARGIN}"""
    rf"""(?:```\w{{0,10}})?{_BREAK}){{0,3}}{_MARGIN}{_ALONE}"""
    r"""|[ \t:]{0,3}(?:<[/a-z][^<>\n]{0,60}>\s{0,20}){2,4})"""
)
_VALUE = (
    r"""(?:"(?P<double>(?:[^"\\\n]|\\[^"\n]){1,4000})"|'(?P<single>(?:[^'\\\n]|\\[^'\n]){1,4000})'"""
    r"""|\\?["'`](?P<quoted>[^"'`\\\n]{1,4000})(?:["'`]|\\["']|$)"""
    r"""|(?P<bare>(?:[^\s\x00-\x1f"'`<>,;|\\]|\|(?=[A-Za-z0-9])|,(?=[^\s"'`<>,;|\\]))"""
    r"""(?:[^\s\x00-\x1f"'`<>,;|\\]|<(?=\w)(?![A-Za-z][\w-]{0,15}[\s>/])|>(?=\w)|\|(?=[A-Za-z0-9])|,"""
    r"""(?![\w.-]{0,40}[ \t]{0,2}[=:)])(?=[^\s"'`<>,;|\\])){0,3999}))"""
)
_ASSIGNED = _SIGN + _VALUE
# As `"name": "DB_PASSWORD", "value": "…"`, `- name: …` with `value: …` below it, `variable "…" { default = "…" }`. A
# line may have anything before it, as those of diffs and logs have.
_BELOW = r"(?:\r?\n|\\{1,3}n)[^\n]{0,60}?"
_NAMED_VALUE = (
    rf"""(?:\\{{0,3}}["']?[ \t,]{{0,9}}(?:{_BELOW})?\bvalue\\{{0,3}}["']?[ \t]{{0,9}}[:=][ \t]{{0,9}}"""
    rf"""|\\{{0,3}}["'][ \t]{{0,4}}\{{(?:{_BELOW}|(?:[^\n{{}}]{{0,80}}\n){{1,5}}[^\n]{{0,60}}?)"""
    rf"""\bdefault[ \t]{{0,20}}=[ \t]{{0,9}}){_VALUE}"""
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
_CALL = r"(?:[A-Za-z_$][\w.:]{2,}|[a-z]{1,2})?[(\[{]"
_REFERENCE = (
    r"(?i)/[a-z._~-]*(?:/|\Z)|[.~]/|\.\.|~\Z|[.&][a-z_]|@[a-z_]*\Z|\\|[=+:-](?:[=:-]|[a-z]*\Z|\d*\Z)"
    r"|(?:arn|op|env|file|vault|ssm|secretref):"
)
_MEMBER = r"[A-Za-z_]\w{0,60}(?:(?:\.|->|::|\?\.)[A-Za-z_]\w{0,60}){1,9}"
_SET = r"[A-Z]=[\"']?\Z"
_SIGNED = r"(?=[^a-z]*[a-z])(?=[^A-Z]*[A-Z])[A-Za-z]{2,}[!#$%&*+@^~][A-Za-z!#$%&*+@^~]{2,}"
_PIN = r"\d{4,8}[#*]?"

# The rest of the sentence: that of one part of a longer name says nothing.
_SENTENCE = r"(?![a-z0-9_])(?:[^\n.!?]|[.!?](?!\s)){0,120}"
_TELLING = rf"[0-9]|[A-Za-z][!#$%&*+@^~][A-Za-z]|[\"'`\u201c\u201e\u00ab]{_WORDS}[\"'`\u201c\u201d\u00bb]"
_CHANGED = r"chang|set|reset|updat|rotat|switch|ge[aä]nder|gesetzt|cambi|alter|gewijzigd|zmieni|измен|смен|поменя"
# What joins a credential to its value, in the languages that names are known in.
_LINKED = (
    r"(?:\A(?=[\s:：])|(?<![^\W\d_])(?:(?P<to>to|auf|into|in|a|à|en|naar|na|para|por|su|par|на)|is|are|was|be|being|as"
    r"|from|now|still|of|type|enter|use|ist|war|lautet?|hei(?:ß|ss)t|est|était|è|é|era|es|sera|são|jest|brzmi"
    r"|это|zijn|luidt|är|er|on"
    r"|je)(?![^\W\d_])|[:：=→は은는이가是为為が成了をに]|[-=]>|[\u2013\u2014])(?:[ \t]*[:：=])?"
    r"(?:[ \t]+(?:now|still|currently"
    r"|just|simply|again|jetzt|noch|nun|maintenant|toujours|ahora|agora|adesso|nu|teraz|теперь)(?![^\W\d_]))?"
    rf"[ \t]*[*\"'`\u201c\u201e\u00ab\u300c(]{{0,3}}(?P<value>(?<=[\"'`\u201c\u201e\u00ab]){_WORDS}"
    rf"(?=[\"'`\u201d\u00bb])|(?![-/])(?=\S{{0,40}}[0-9!#$%&*+@^~])(?:(?!&\w+=)[!#-&(-{{}}~]){{4,200}})"
)
_NO_SECRET = (
    r"(?i)\A(?:[\d.,]+[a-z]{1,12}|v?\d+(?:[.:]\d+)+|[\w.+-]+@[\w-]+\.[\w.-]+|\W+|\d+-\w+|0x[0-9a-f]+"
    r"|(?:rfc|iso|cve|http|python|utf|base|sha|aes|ed|p|x)-?\d[\w.-]*)\Z"
    r"|\.(?:py|js|ts|md|json|ya?ml|toml|txt|lan|local|com|org|net|io|de)\b"
)

# A weak one stands alone behind its name, at the end of its line or in quotes; what is said of a credential is none.
_WEAK_END = r"""\\{0,3}["'`]?[ \t]{0,9}(?:[]},;)|#<\x1b]|\\{1,3}[nr"]|\r?\n|$)"""
_WEAK_PASSWORD = r"[A-Z]?[a-z]+\d{0,4}|[A-Z]+\d{0,4}|\d+"
_WEAK_SET = _WEAK_PASSWORD + r"|(?:[A-Z][a-z]{2,}){2,4}"
_WEAK_KEY = r"[a-z]{0,8}\d{3,16}"
_LISTED = r"""["'][ \t]{0,4},[ \t+]{0,4}\\?["']?\Z|\(|\n|\A(?![^\n]*[\s+](?:is|was)[\s+])[^:=|>]*\Z"""
_IDENTIFIER = "[A-Z]+|[A-Z0-9]*_[A-Z0-9_]*|[a-z0-9]+_[a-z0-9_]+"
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
    done: dict[Name, int] = {}
    table = Column(0, 0, [])
    for literal, position in occurrences(tuple(_BY_LITERAL), folded):
        for name in _BY_LITERAL[literal]:
            label = _label(name, position, text, folded) if position >= done.get(name, 0) else None
            if label and not table.rows <= position < table.end and (below := column(text, *label.span())):
                table = below
                for start, end in table.cells:
                    if _is_listed(name, text[start:end]):
                        yield name.kind, start, end
            match = _value(text, folded, label) if label else None
            kind = _kind(name, match, text[position : match.start(match.lastgroup or 0)]) if match else ""
            if match and kind:
                start, value = match.start(match.lastgroup or 0), _trimmed(match)
                aws = compiled(_AWS_SECRET).search(folded[max(position - _NEAR, 0) : start])
                yield "an AWS secret key" if aws else kind, start, start + len(value)
                # What stands in a long value is not read again for every name in it.
                done[name] = match.end() if len(value) > _LONG else 0
            if label and (not kind or text[label.end() : label.end() + 1] == " "):
                yield from _said(name, label, text, folded)


def _label(name: Name, position: int, text: str, folded: str) -> re.Match[str] | None:
    # As a variable a key has the name of its service: `MAILGUN_KEY`.
    variable = text[position - 1 : position + 3] == "_KEY" and not compiled(_OPEN_KEY).search(folded, 0, position)
    if name.before and not variable and not folded.endswith(name.before, 0, position):
        return None
    return compiled(name.expression + _SUFFIX).match(folded, position)


def _value(text: str, folded: str, label: re.Match[str]) -> re.Match[str] | None:
    match = compiled(_ASSIGNED).match(text, label.end())
    if match:
        return match
    if text[label.end() : label.end() + 1] not in (" ", "\t", "+"):
        return compiled(_NAMED_VALUE).match(text, label.end())
    before = folded[max(label.start() - _FAR, 0) : label.start()]
    spaced = any(word in before for word in _SPACED_BY) and compiled(_SPACED).search(before)
    return compiled(_BESIDE).match(text, label.end()) if spaced else None


def _kind(name: Name, match: re.Match[str], sign: str) -> str:
    """What a value is, or nothing."""
    kind, value, bare = name.kind, _trimmed(match), match.lastgroup == "bare"
    if kind == _PASSWORD and not bare and is_passphrase(value):
        return kind
    if _is_code(value, bare=bare):
        return ""
    if kind.startswith(WEAK):
        return kind if compiled(_PIN).fullmatch(value) else ""
    listed = compiled(_LISTED).search(sign) is not None
    if listed and compiled(_IDENTIFIER).fullmatch(value):
        return ""
    chosen = kind == "a secret" and compiled(_SET).search(sign) and is_chosen(value)
    strong = _is_password(value, sign) if kind == _PASSWORD else bool(chosen) or is_random(value)
    if strong and not (kind == _PASSWORD and compiled(_WEAK_PASSWORD).fullmatch(value)):
        return kind
    weak = strong or (
        not listed and (not name.before or name.literals == ("key",)) and _is_weak(kind, match, value, sign)
    )
    return WEAK + kind.removeprefix("a ") if weak else ""


def _trimmed(match: re.Match[str]) -> str:
    """The value, without what closes the sentence or the brackets around it."""
    value = str(match[match.lastgroup or 0])
    return value.rstrip(")]}*_").removesuffix(".") if match.lastgroup == "bare" else value


def _said(name: Name, label: re.Match[str], text: str, folded: str) -> Iterator[Found]:
    """What the sentence that names a credential says it is: `the password of the camera is now …`."""
    sentence = compiled(_SENTENCE).match(text, label.end())
    said = sentence[0] if sentence else ""
    if not compiled(_TELLING).search(said):
        return
    changed = compiled(_CHANGED).search(folded, max(label.start() - _FAR, 0), label.end() + len(said))
    for match in compiled(_LINKED).finditer(said):
        value, start = match["value"].rstrip(")]}*_.,!?`\"'"), label.end() + match.start("value")
        if (changed or not match["to"]) and _is_said(name, value):
            yield name.kind, start, start + len(value)


def _is_listed(name: Name, value: str) -> bool:
    """Whether a cell of a column with this name holds a credential."""
    return _is_said(name, value) or (
        name.kind == _PASSWORD and not _is_code(value, bare=False) and _is_password(value, "=")
    )


def _is_said(name: Name, value: str) -> bool:
    if name.kind.startswith(WEAK):
        return compiled(_PIN).fullmatch(value) is not None
    password = name.kind == _PASSWORD
    if password and is_passphrase(value):
        return True
    return (
        (is_random(value) or (password and (is_chosen(value) or compiled(_SIGNED).fullmatch(value) is not None)))
        and not compiled(_NO_SECRET).search(value)
        and not _is_code(value, bare=True)
    )


def _is_password(value: str, sign: str) -> bool:
    words = is_words(value)
    if compiled(_DIGIT).search(value):
        named = not value.isalnum() and words and "=" not in sign
        return len(value) >= 6 and (not named or is_chosen(value))
    return len(value) >= 8 and not words and ("=" in sign or is_jumbled(value))


def _is_weak(kind: str, match: re.Match[str], value: str, sign: str) -> bool:
    """Whether a value is meant as a credential, though it is none that anybody should have."""
    code = match.lastgroup == "bare" and compiled(r"\s(?:=|:=|=>|==)\s{0,9}\Z|==|\|").search(sign)
    return bool(
        4 <= len(value) <= _LONG
        and not code
        and compiled(
            (_WEAK_SET if "=" in sign or ":" in sign else _WEAK_PASSWORD) if kind == _PASSWORD else _WEAK_KEY
        ).fullmatch(value)
        and not compiled(_SAID).fullmatch(value)
        and compiled(_WEAK_END).match(match.string, match.start(match.lastgroup or 0) + len(value))
    )


def _is_code(value: str, *, bare: bool) -> bool:
    """Whether a value is public, a reference, a type, a call, or something to be filled in."""
    return bool(
        compiled(_REFERENCE).match(value)
        or compiled(_PUBLIC).match(value)
        or compiled(_BLANK_OR_URL).search(value)
        or (bare and compiled(_CALL).match(value))
        or compiled(_MEMBER).fullmatch(value)
        or stands_for_another(value)
    )
