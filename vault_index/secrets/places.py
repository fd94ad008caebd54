"""Credentials that stand in a certain place: headers of HTTP, and options of programs, as `mysql -p…`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from vault_index.secrets.placeholders import (
    Found,
    compiled,
    is_chosen,
    is_words,
    occurrences,
    positions,
    stands_for_another,
)

_SCHEMES = "basic|bearer|token|bot|key|apikey|api-key|negotiate|geniekey|ssws|splunk|oauth|sso-key|bearer token"


class Place(NamedTuple):
    kind: str
    option: str
    """The letter of the option it needs; a text that has none like it is not searched."""
    literals: tuple[str, ...]
    """In lower case."""
    expression: str
    """Matched behind the literal, anywhere up to `end`, or `before` it; its group is the secret."""
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
_BEFORE = "before"
_PIPED = (
    r"""(?:echo|printf)[ \t]{1,4}(?:-[ne]{1,2}[ \t])?["']?(?:[^\s:"'|]{1,40}:)?([^\s"'$<>|:]{4,100}"""
    r"""|[^\s"'$<>|]{4,100})["']?"""
    r"""[ \t]{0,4}\|[^\n|]{0,80}"""
)
_CUES = (
    "log in", "login", "logged in", "log on", "ssh in", "sign in", "credential", "creds", "account:", "test account",
    "demo account", "with user", "as user", "user:", "username", "zugang", "anmeld", "connexion",
)  # fmt: skip
_WIFI = ("wi-fi", "wifi", "wlan", "ssid", "hotspot")
_CODE = (
    r"(?:[-*\u2022][ \t])?(?:\d{1,2}[.)][ \t]{0,2})?(?=[A-Za-z]{0,9}\d"
    r"|[A-Za-z]{4,6}-[A-Za-z0-9]{4,6})[A-Za-z0-9]{4,10}(?:-[A-Za-z0-9]{4,10}){0,5}(?![A-Za-z0-9])"
)
_PAIR = (
    r"""(?:\A|[\s"'`:(])(?!sha\d|md5)[\w.@+-]{2,40}["'`]{0,2}"""
    r"""(?:[ \t]{0,2}[/:|,][ \t]{0,2}|[ \t]{1,2}(?:and|und|with|mit|et|avec|y|con|e|com|en|met|i"""
    r"""|pw)[ \t]{1,2})["'`(*]{0,3}"""
    r"""(?=[^\s\d]{0,40}\d)(?=[^\sA-Za-z]{0,40}[A-Za-z])((?![\w.-]{1,60}[/:@]"""
    r"""|[0-9a-f]{6,15}\b)[^\s"'`<>,;|()=/*][^\s"'`<>,;|()=/]{4,99}[^\s"'`<>,;|()=/*_.])"""
)
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
        r"""(?i)(?:(?<=cookie)\\?["'\]]{0,2}(?:[ \t]{0,9}[:=]|[ \t])[ \t]{0,9}\\?["'`\[]{0,3}|;[ \t]{0,4})"""
        r"""(?!(?:path|domain|expires|max-age|samesite|version|priority)=)"""
        r"""[\w.%!#$&*+^~-]{1,100}=\\?"?([\w.~+/:=%!-]{12,8000})""",
        _END_OF_LINE,
    ),
    Place(
        "a password",
        "",
        ("identified ",),
        r"(?i)(?:WITH[ \t]{1,4}\S{1,40}[ \t]{1,4})?BY[ \t]{1,4}(?:PASSWORD[ \t]{1,4})?['\"]([^'\"\s]{4,200})['\"]",
        chosen=True,
    ),
    Place(
        "a password",
        "",
        ("insert into ",),
        r"(?i)[^\n()]{0,80}\([^()\n]{0,200}(?:pass|pwd|secret|token)[^()\n]{0,100}\)\s{0,9}VALUES\s{0,9}"
        r"\((?=[^\n?%$:]{0,80}['\"])([^\n]{4,300})",
        chosen=True,
    ),
    Place("a password", "", ("sudo -s", "chpasswd", "stdin", "passwd", "kinit", "cryptsetup"), _PIPED, _BEFORE, True),
    Place(
        "a password", "", ("chpasswd",), r"[^\n]{0,40}<<[^\n]{0,20}\n((?:[^\s:]{1,40}:[^\s]{4,200}\n){1,50})", "", True
    ),
    Place(
        "a password",
        "",
        ("convertto-securestring",),
        r"""[ \t]{1,4}(?:-(?:String|AsPlainText|Force)[ \t]{1,4}){0,3}(?:["']([^"'\n$]{4,200})["']"""
        r"""|([^\s"'$()-][^\s"'()]{3,200}))""",
        chosen=True,
    ),
    Place(
        "a password",
        "",
        ("convertto-securestring",),
        r"""["']([^"'\n$]{4,200})["'][ \t]{0,4}\|[ \t]{0,4}""",
        _BEFORE,
        True,
    ),
    Place(
        "a password",
        "",
        ("networkcredential(", "auth(", "auth=(", "auth = (", "login(", "credentials(", "createuser(", "connect("),
        r"""[ \t]{0,2}(?:\\?["'][^"'\n]{0,80}["'][ \t]{0,2},[ \t]{0,2}){1,3}\\?["']([^"'\s]{6,200})["']""",
    ),
    Place(
        "a password",
        "",
        ("net user ",),
        rf"(?:/add[ \t]{{1,4}})?[^\s/]{{1,60}}[ \t]{{1,4}}\"?(?=\S*\d|\S+[ \t]+/){_SECRET}",
        chosen=True,
    ),
    Place(
        "a password",
        "",
        ("rabbitmqctl ", "mosquitto_passwd ", "samba-tool user "),
        rf"[^\n]{{0,40}}?(?:add_user|change_password|create"
        rf"|-b[ \t]+\S{{1,80}})[ \t]{{1,4}}\S{{1,60}}[ \t]{{1,4}}{_SECRET}",
        chosen=True,
    ),
    # A user and a password beside each other: `log in as demo / x`, `credentials: admin:x`, `Wi-Fi: guest / x`.
    Place(
        "a password",
        "",
        (*_CUES, *_WIFI),
        _PAIR,
        _END_OF_LINE,
    ),
    Place("a password", "", ("login", "log in", "test account"), _PAIR + r"[^\n.]{0,40}", _BEFORE),
    Place(
        "a password",
        "",
        ("password", "passwort", "passphrase", "mot de passe", "contraseña", "senha", "api key", "token"),
        r"""(?<!\S)["'`(]{0,2}(?=\S*\d)([^\s"'`(=/]{6,100})["'`)]{0,2} (?:is|was|as|ist|als|war|est|es|é|è) """
        r"""(?:[\w'-]{1,12} ){0,4}""",
        _BEFORE,
    ),
    Place(
        "a password",
        "",
        _WIFI,
        r"""(?i)[^\n]{0,60}(?:\n[^\n]{0,20}?)?(?:key|schlüssel|code|clé)["'*`]{0,3}"""
        r"""(?:[ \t]{0,3}[:=|][ \t*`"']{0,4}|[ \t]{1,3}(?:is |ist )?["'`]?(?=\S{0,60}\d))([^\s"'`|]{8,63})""",
        chosen=True,
    ),
    Place(
        "recovery codes",
        "",
        (
            "recovery code",
            "backup code",
            "scratch code",
            "emergency code",
            "one-time code",
            "2fa code",
            "ersatzcode",
            "wiederherstellungscode",
        ),
        rf"[^\n]{{0,60}}?(?:[:\n][\s`]{{0,9}})({_CODE}(?:(?:[ \t]|[`,;]|\n(?!\n\n)){{1,9}}{_CODE}){{0,30}})",
        chosen=True,
    ),
    Place(
        "a recovery phrase",
        "",
        ("seed", "mnemonic", "recovery phrase", "recovery words"),
        r"[^\n]{0,40}[:\n=][\s\"'`]{0,9}((?:(?:\d{1,2}[.)] ?)?[a-z]{3,8}[ \n,]{1,3}){11,23}[a-z]{3,8})",
        chosen=True,
    ),
    Place("a one-time secret", "", ("oathtool",), r"[^\n]{0,60}[ \t]([A-Za-z2-7]{16,200})", chosen=True),
    Place(
        "a one-time secret",
        "",
        ("2fa", "totp", "otp", "authenticator", "setup key", "mfa"),
        r"[^\n]{0,60}?[ :`]((?:[A-Z2-7]{4}[ -]){3,7}[A-Z2-7]{4}|(?=[a-z ]{0,30}[2-7])"
        r"(?:[a-z2-7]{4} ){3,7}[a-z2-7]{4})(?![A-Za-z0-9])",
        chosen=True,
    ),
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
    _option(
        "htpasswd", "", rf"[a-zA-Z]{{0,3}}b[a-zA-Z]{{0,3}}(?:[ \t]{{1,4}}\S{{1,100}})?[ \t]{{1,4}}\S{{1,60}}{_BLANKS}"
    ),
    _option("useradd,usermod,adduser", "p", rf"p{_BLANKS}"),
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
    Place("a password", "", ("wifi",), r";P:([^;\n]{4,100});", _END_OF_LINE, chosen=True),
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
_FAR = 200
_BY_LITERAL: dict[str, list[Place]] = {}
for _place in PLACES:
    for _literal in _place.literals:
        _BY_LITERAL.setdefault(_literal, []).append(_place)
_LITERALS = tuple(_BY_LITERAL)


def placed(text: str, folded: str) -> Iterator[Found]:
    """Each credential in a known place; not in order. `folded` is the text in lower case."""
    options = {text[position + 2 : position + 3] for position in positions(" -", text)}
    options |= {text[position + 1 : position + 3] for position in positions(" /", text)} | {""}
    done: dict[Place, int] = {}
    for literal, position in occurrences(_LITERALS, folded):
        begin = position + len(literal)
        for place in _BY_LITERAL[literal]:
            if place.option in options and begin >= done.get(place, 0):
                for match in _matches(place, position, begin, text, done):
                    if _is_secret(place, match[match.lastindex or 0]):
                        yield place.kind, *match.span(match.lastindex or 0)


def _matches(place: Place, start: int, begin: int, text: str, done: dict[Place, int]) -> Iterable[re.Match[str]]:
    """Each match around the literal between `start` and `begin`."""
    if place.end == _BEFORE:
        line = max(text.rfind("\n", max(start - _FAR, 0), start), start - _FAR, 0)
        found = compiled(place.expression + r"\Z").search(text, line, start)
    elif place.end:
        end = compiled(place.end).search(text, begin, begin + _LONGEST)
        done[place] = end.start() if end else min(begin + _LONGEST, len(text))
        return compiled(place.expression).finditer(text, begin, done[place])
    else:
        found = compiled(place.expression).match(text, begin)
    return [found] if found else []


def _is_secret(place: Place, value: str) -> bool:
    if stands_for_another(value):
        return False
    return place.chosen or (
        bool(compiled("[A-Za-z]").search(value))
        and ((place.kind == "a password" and is_chosen(value)) or not is_words(value))
    )
