"""Credentials that stand in a certain place: headers of HTTP, and options of programs, as `mysql -p…`."""

from collections.abc import Iterator
from typing import NamedTuple

from vault_index.secrets.placeholders import Found, compiled, is_words, positions, stands_for_another

_SCHEMES = "basic|bearer|token|bot|key|apikey|api-key|negotiate|geniekey|ssws|splunk|oauth|sso-key|bearer token"


class Place(NamedTuple):
    kind: str
    option: str
    """The letter of the option it needs; a text that has none like it is not searched."""
    literals: tuple[str, ...]
    """In lower case."""
    expression: str
    """Matched behind the literal, or anywhere up to `end`; its group is the secret."""
    end: str = ""
    chosen: bool = False
    """Whether a person chose it: then it may be short, and of words."""


_QUOTED = r"""\\?["']?"""
_SECRET = r"""([^\s"'\\$<>|;&-][^\s"'\\<>|;]{3,199})"""
_USER = r"""[^\s:"'\\$<>]{1,100}:(?!//)"""
_END_OF_LINE = r"(?<!\\)\n"
_END_OF_COMMAND = r"(?<!\\)\n|\\n|[|;]\s|&&"


def _option(programs: str, option: str, expression: str, end: str = _END_OF_COMMAND) -> Place:
    return Place("a password", option, tuple(programs.split(",")), rf"[ \t]-{expression}{_SECRET}", end, chosen=True)


_BLANKS = r"[ \t]{1,4}\\?[\"']?"
_OR_NONE = r"[ \t]{0,4}\\?[\"']?"
_PIPED = r"""["']?([^\s"'$<>|]{4,100})["']?[ \t]{0,4}\|[ \t]{0,4}"""
PLACES = (
    Place(
        "an authorization header",
        "",
        ("authorization",),
        r"""(?i)\\?["'\]]{0,2}[ \t]{0,9}[:=,][\s+]{0,9}\\?[f"'`]{0,2}"""
        rf"(?:{_SCHEMES})[\s+]{{1,9}}([\w.~+/:=-]{{8,8000}})",
    ),
    Place("an authorization header", "", ("bearer",), r"[\s+]{1,9}([\w.~+/=-]{16,8000})"),
    Place(
        "a cookie",
        "",
        ("cookie",),
        r"""(?i)(?:\A\\?["'\]]{0,2}(?:[ \t]{0,9}[:=]|[ \t])[ \t]{0,9}\\?["'`\[]{0,3}|;[ \t]{0,4})"""
        r"""(?!(?:path|domain|expires|max-age|samesite|version|priority)=)"""
        r"""[\w.%!#$&*+^~-]{1,100}=\\?"?([\w.~+/:=%!-]{12,8000})""",
        _END_OF_LINE,
    ),
    Place(
        "a password",
        "",
        ("identified ",),
        r"BY[ \t]{1,4}(?:PASSWORD[ \t]{1,4})?['\"]([^'\"\s]{4,200})['\"]",
        chosen=True,
    ),
    Place(
        "a password",
        "S",
        ("echo ",),
        r"""["']?([^\s"'$<>|]{4,100})["']?[ \t]{0,4}\|[ \t]{0,4}sudo[ \t]{1,4}-S""",
        chosen=True,
    ),
    Place("a password", "S", ("echo ", "printf "), _PIPED + r"sudo[ \t]{1,4}-S", chosen=True),
    Place("a password", "-", ("echo ", "printf "), _PIPED + r"[^\n|]{0,80}--(?:password-)?stdin", chosen=True),
    Place(
        "a password",
        "",
        ("curl",),
        rf"[ \t]-(?:[A-Za-z#]{{0,8}}[uU]{_OR_NONE}|-(?:proxy-)?user(?:=|[ \t]{{1,4}}){_QUOTED}){_USER}{_SECRET}",
        _END_OF_LINE,
        chosen=True,
    ),
    Place(
        "a cookie", "", ("curl",), r"""[ \t+]-b[ \t+]{0,4}\\?["']?[\w.-]{1,60}=([\w.~+/:=%!-]{12,8000})""", _END_OF_LINE
    ),
    _option("wget,lftp", "u", rf"u{_OR_NONE}{_USER}", _END_OF_LINE),
    _option("secret set", "-", rf"-body(?:=|{_BLANKS})"),
    _option("htpasswd", "b", rf"[a-zA-Z]{{0,3}}b[a-zA-Z]{{0,3}}[ \t]{{1,4}}\S{{1,100}}[ \t]{{1,4}}\S{{1,60}}{_BLANKS}"),
    Place("a password", "/u", ("net use ",), rf"[^\n]{{1,100}}[ \t]{_SECRET}[ \t]{{1,4}}/user:", chosen=True),
    Place(
        "a password", "/p", ("cmdkey", "xfreerdp"), rf"[ \t]/p(?:ass)?:{_QUOTED}{_SECRET}", _END_OF_COMMAND, chosen=True
    ),
    Place(
        "a key",
        "",
        ("kty",),
        r"""\\{0,3}"(?:d|k|p|q|dp|dq|qi)\\{0,3}"[ \t]{0,4}:[ \t]{0,4}\\{0,3}"([\w-]{16,2000})""",
        r"\}",
    ),
    Place("a password", "", ("wifi:",), r";P:([^;\n]{4,100});", _END_OF_LINE, chosen=True),
    _option("http,xh", "a", rf"a{_BLANKS}{_USER}", _END_OF_LINE),
    _option("mysql,mariadb,7z,unrar", "p", r"p(?![a-z]{1,12}\b(?![\w!@#%^]))\\?[\"']?"),
    _option("sshpass", "p", rf"p{_OR_NONE}"),
    _option("mongo,login,cqlsh", "p", rf"p{_BLANKS}"),
    _option("redis-cli", "a", rf"a{_BLANKS}"),
    _option("ldap", "w", rf"w{_OR_NONE}"),
    _option("sqlcmd,bcp", "P", rf"P{_OR_NONE}"),
    _option("zip", "P", rf"P{_BLANKS}"),
    _option("smbclient,rpcclient", "U", rf"U{_OR_NONE}[^\s%\"']{{1,60}}%"),
    _option("openssl", "p", rf"pass(?:in|out)?[ \t]{{1,4}}{_QUOTED}pass:"),
    _option("openssl", "k", rf"k{_BLANKS}"),
    _option("keytool,jarsigner", "s", rf"storepass{_BLANKS}"),
    _option("keytool,jarsigner", "k", rf"keypass{_BLANKS}"),
)
_LONGEST = 8000


def placed(text: str, folded: str) -> Iterator[Found]:
    """Each credential in a known place; not in order. `folded` is the text in lower case."""
    options = {text[position + 2 : position + 3] for position in positions(" -", text)}
    options |= {text[position + 1 : position + 3] for position in positions(" /", text)} | {""}
    for place in PLACES:
        if place.option in options:
            for literal in place.literals:
                yield from _behind(place, literal, text, folded)


def _behind(place: Place, literal: str, text: str, folded: str) -> Iterator[Found]:
    expression, done = compiled(place.expression), 0
    for position in positions(literal, folded):
        begin = position + len(literal)
        if begin < done:
            continue
        if place.end:
            end = compiled(place.end).search(text, begin, begin + _LONGEST)
            done = end.start() if end else min(begin + _LONGEST, len(text))
            matches = expression.finditer(text[begin:done])
        else:
            found = expression.match(text, begin)
            matches, begin = iter([found] if found else ()), 0
        for match in matches:
            if _is_secret(match[1], chosen=place.chosen):
                yield place.kind, begin + match.start(1), begin + match.end(1)


def _is_secret(value: str, *, chosen: bool) -> bool:
    if stands_for_another(value):
        return False
    return chosen or bool(compiled("[A-Za-z]").search(value) and not is_words(value))
