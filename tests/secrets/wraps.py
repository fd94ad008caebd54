"""The samples of fixtures/secrets, and what programs do to the line a credential stands in before we read it.

A wrapper changes a sample and says in which spellings its secret stands there. It names the kinds of samples that it
leaves what they are: nobody could know a bare word in a table for a password.
"""

import html
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

FILE = Path(__file__).parents[2] / "fixtures" / "secrets" / "samples.json"

ALL = "token named url header command file block"
LINE = "token named url header command"
"""Kinds that are one line."""
ASSIGNED = "token named header"


class Sample(NamedTuple):
    form: str
    kind: str
    strength: str
    source: str
    text: str
    """With `{secret}` where the secret stands."""
    secret: str

    @property
    def whole(self) -> str:
        return self.text.replace("{secret}", self.secret)


class Wrapper(NamedTuple):
    name: str
    kinds: str
    wrap: Callable[[Sample], tuple[str, str]]
    """The text, and the secret as it is spelt there."""


def samples(file: Path = FILE) -> list[Sample]:
    return [
        Sample(one["form"], one["kind"], one["strength"], one["source"], one["text"], "".join(one["parts"]))
        for one in json.loads(file.read_text("utf-8"))
    ]


def leaks(secret: str, text: str) -> bool:
    """Whether it stands there whole; of several lines, whether one does."""
    lines = [line for line in secret.split("\n") if len(line) >= 16] or [secret]
    return any(line in text for line in lines)


def around(before: str, after: str = "") -> Callable[[Sample], tuple[str, str]]:
    """Something stands right before the secret, and right after."""
    return lambda sample: (sample.text.replace("{secret}", before + sample.secret + after), sample.secret)


def framed(frame: str, encode: Callable[[str], str] = str) -> Callable[[Sample], tuple[str, str]]:
    """The whole text, spelt otherwise and put for `@@`."""
    return lambda sample: (frame.replace("@@", encode(sample.whole)), encode(sample.secret))


def alone(frame: str, encode: Callable[[str], str] = str) -> Callable[[Sample], tuple[str, str]]:
    """Nothing but the secret, spelt otherwise and put for `@@`."""
    return lambda sample: (frame.replace("@@", encode(sample.secret)), encode(sample.secret))


def lines(prefix: str) -> Callable[[Sample], tuple[str, str]]:
    """Every line with something before it."""

    def wrap(sample: Sample) -> tuple[str, str]:
        return "\n".join(prefix + line for line in sample.whole.split("\n")), sample.secret

    return wrap


def spelt(**signs: str) -> Callable[[str], str]:
    """Some signs replaced; a secret that holds one is spelt with it, too."""
    names = {"equals": "=", "space": " ", "quote": '"', "apostrophe": "'", "colon": ":", "ampersand": "&"}
    table = str.maketrans({names[name]: to for name, to in signs.items()})
    return lambda text: text.translate(table)


def json_inside(text: str) -> str:
    return json.dumps(text)[1:-1]


def json_twice(text: str) -> str:
    return json_inside(json_inside(text))


def json_escaped(text: str) -> str:
    """As PHP, Go and .NET write it, which trust no sign of HTML."""
    for sign in "=&'<>+":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def json_cautious(text: str) -> str:
    return json_escaped(json.dumps(text).replace('\\"', "\\u0022"))[1:-1]


def yaml_inside(text: str) -> str:
    return text.replace("'", "''")


def shell_inside(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def added(sample: Sample) -> tuple[str, str]:
    return "@@ -1,2 +1,9 @@\n" + lines("+")(sample)[0] + "\n other", sample.secret


def all_quoted(text: str) -> str:
    return quote(text, safe="")


QUOTED_PRINTABLE = spelt(equals="=3D")
PERCENT = spelt(equals="%3D", space="%20", quote="%22", apostrophe="%27", ampersand="%26")
PLUS = spelt(equals="%3D", space="+", quote="%22", ampersand="%26")
HEX = spelt(equals=r"\x3d", space=r"\x20", quote=r"\x22", apostrophe=r"\x27")
ENTITIES = spelt(equals="&#61;", quote="&quot;", apostrophe="&#x27;", ampersand="&amp;")

WRAPPERS = (
    Wrapper("as it is", ALL, framed("@@")),
    # colours, as bytes and as their spellings in logs and sources
    Wrapper("colour before", ASSIGNED, around("\x1b[31m", "\x1b[0m")),
    Wrapper("colour of 256 before", ASSIGNED, around("\x1b[38;5;196m", "\x1b[39m")),
    Wrapper("colour of 16 million before", ASSIGNED, around("\x1b[38;2;255;0;10m", "\x1b[m")),
    Wrapper("grep's colour before", LINE, around("\x1b[01;31m\x1b[K", "\x1b[m\x1b[K")),
    Wrapper("octal colour before", ASSIGNED, around(r"\033[31m", r"\033[0m")),
    Wrapper("hexadecimal colour before", ASSIGNED, around(r"\x1b[1;31m", r"\x1b[0m")),
    Wrapper("JSON's colour before", ASSIGNED, around(r"\u001b[31m", r"\u001b[0m")),
    Wrapper("bash's colour before", ASSIGNED, around(r"\e[31m", r"\e[0m")),
    Wrapper("colour without escape before", ASSIGNED, around("[31m", "[0m")),
    Wrapper("coloured line", ALL, framed("\x1b[38;5;196m@@\x1b[0m")),
    Wrapper("coloured line in JSON", ALL, framed('{"out": "\\u001b[32m@@\\u001b[0m"}', json_inside)),
    Wrapper("link of a terminal", "token", alone("\x1b]8;;https://api.example.org/?key=@@\x1b\\here\x1b]8;;\x1b\\")),
    # escapes right before
    Wrapper("written line break before", "token", around(r"\n", r"\n")),
    Wrapper("written tab before", "token", around(r"\t", r"\r\n")),
    Wrapper("no-break space before", ASSIGNED, around("\u00a0")),
    Wrapper("zero-width space before", "token", around("\u200b", "\u200b")),
    Wrapper("Chinese around", "token", alone("令牌是@@请勿外传")),
    # encodings
    Wrapper("percent-encoded signs", ASSIGNED, framed("@@", PERCENT)),
    Wrapper("form-encoded signs", ASSIGNED, framed("@@", PLUS)),
    Wrapper("percent-encoded whole", "token named url", framed("https://log.example.org/?line=@@&n=1", all_quoted)),
    Wrapper("percent-encoded twice", "token", alone("https://a.example.org/?u=%2Fb%253Fkey%253D@@", all_quoted)),
    Wrapper("quoted-printable", ASSIGNED, framed("@@", QUOTED_PRINTABLE)),
    Wrapper("quoted-printable link", "token", alone('<a href=3D"https://a.org/?key=3D@@&n=3D1">', QUOTED_PRINTABLE)),
    Wrapper("hexadecimal escapes", ASSIGNED, framed('"@@"', HEX)),
    Wrapper("entities", ASSIGNED, framed("<pre>@@</pre>", ENTITIES)),
    Wrapper("HTML text", ALL, framed("<pre><code>@@</code></pre>", html.escape)),
    # JSON
    Wrapper("JSON text", ALL, framed('{"role": "user", "text": "@@"}', json_inside)),
    Wrapper("JSON text, cautious", ALL, framed('{"text":"@@"}', json_cautious)),
    Wrapper("JSON in JSON", ALL, framed('{"arguments": "{\\"text\\": \\"@@\\"}"}', json_twice)),
    Wrapper("JSON value", LINE, alone('{"id": 7, "token": "@@", "ok": true}', json_inside)),
    Wrapper("JSON value, dense", LINE, alone('[{"n":1,"password":"@@"},{"n":2}]', json_inside)),
    Wrapper("JSON value in JSON", LINE, alone(r'"{\"api_key\":\"@@\",\"n\":1}"', json_twice)),
    Wrapper("JSON value, escaped quotes", LINE, alone(r"{\u0022access_token\u0022:\u0022@@\u0022}", json_cautious)),
    Wrapper("JSON log", "token named", framed('{"level":"info","ts":1771000000.1,"msg":"env: @@","n":3}', json_inside)),
    # YAML, XML, CSV, code
    Wrapper("YAML value", "token named", alone("auth:\n  user: ann\n  password: '@@'\n  port: 22", yaml_inside)),
    Wrapper("YAML list", "token", alone("keys:\n  - @@\n  - other")),
    Wrapper("YAML block", ALL, lambda sample: ("config: |\n" + lines("  ")(sample)[0], sample.secret)),
    Wrapper("environment of a container", "token named", alone('env:\n- name: API_TOKEN\n  value: "@@"', json_inside)),
    Wrapper("XML element", "token named", alone("<server><password>@@</password></server>", html.escape)),
    Wrapper("XML attribute", "token named", alone("<login user='ann' password=\"@@\" />", html.escape)),
    Wrapper("HTML input", "token named", alone('<input type="hidden" name="access_token" value="@@">', html.escape)),
    Wrapper("HTML data", "token", alone("<div data-key='@@' class=x></div>")),
    Wrapper("CSV", "token", alone("7,ann,@@,2026-03-01")),
    Wrapper("Python bytes", "token", alone("b'x-key: @@\\r\\n'")),
    Wrapper("template string", "token", alone("`${base}/v1?key=@@&n=${n}`")),
    Wrapper("concatenated", "token", alone("'Bearer ' + '@@' + ';'")),
    Wrapper("list of arguments", "token", alone("[\"--key\" \"@@\"]")),
    # shells
    Wrapper("shell, single quotes", "token named url", framed("sh -c '@@'", lambda text: text.replace("'", "'\\''"))),
    Wrapper("shell, double quotes", LINE, framed('sh -c "@@"', shell_inside)),
    Wrapper("shell, option", "token", alone("deploy --api-key @@ --region eu")),
    Wrapper("shell, option with sign", "token", alone("deploy --api-key=@@ --region eu")),
    Wrapper("trace of a shell", LINE, framed("+ @@")),
    # URLs
    Wrapper("query", LINE, alone("https://api.example.org/v1/items?page=2&access_token=@@&limit=5", all_quoted)),
    Wrapper("first in the query", LINE, alone("GET /v1/items?api_key=@@ HTTP/1.1", all_quoted)),
    Wrapper("fragment", "token", alone("https://a.org/#access_token=@@&token_type=bearer", all_quoted)),
    Wrapper("query in a query", "token", alone("https://a.org/?to=http%3A%2F%2Fb.org%2F%3Ftoken%3D@@%26n", all_quoted)),
    Wrapper("password of a URL", LINE, alone("git clone https://deploy:@@@git.example.org/acme/api.git", all_quoted)),
    Wrapper("user of a URL", "token", alone("https://@@@github.com/acme/api.git", all_quoted)),
    Wrapper("path", "token", alone("https://hooks.example.org/in/@@/send", all_quoted)),
    Wrapper("Markdown link", "token", alone("[dashboard](https://grafana.example.org/?auth_token=@@)", all_quoted)),
    # diffs, Markdown, logs
    Wrapper("added lines", ALL, added),
    Wrapper("removed lines", ALL, lines("-")),
    Wrapper("numbered lines", ALL, lines("     7\t")),
    Wrapper("numbers and bars", ALL, lines("00012| ")),
    Wrapper("grep's lines", ALL, lines("src/.env:12:")),
    Wrapper("quoted lines", ALL, lines("> ")),
    Wrapper("fence", ALL, framed("Like this:\n\n```sh\n@@\n```\n\nDone.")),
    Wrapper("list", LINE, framed("- first\n- @@\n- last")),
    Wrapper("task", LINE, framed("- [ ] @@")),
    Wrapper("inline code", LINE, framed("set `@@` and restart")),
    Wrapper("secret in backticks", "token", around("`", "`")),
    Wrapper("bold secret", "token", alone("the key is **@@**.")),
    Wrapper("emphasized secret", "token", alone("the key is _@@_, and no other")),
    Wrapper("table", LINE, framed("| what | value |\n|---|---|\n| it | @@ |")),
    Wrapper("secret in a table", "token", alone("| key | @@ | 2026 |")),
    Wrapper("named in a table", "token named", alone("| password | @@ |")),
    Wrapper("end of a sentence", "token", alone("Use @@.")),
    Wrapper("in brackets", "token", alone("the key (@@) is old")),
    Wrapper("in angle brackets", "token", alone("the key <@@> is old")),
    Wrapper("log line", ALL, lines("2026-03-02T10:11:12.345Z INFO app[123]: ")),
    Wrapper("log of a service", ALL, lines("Mar  2 10:11:12 host app[123]: ")),
    Wrapper("log of a container", ALL, lines("web_1  | ")),
    Wrapper("log of a job", ALL, lines("2026-03-02T10:11:12.3456789Z ##[debug]")),
    Wrapper("fields of a log", "token named", alone('time=10:11 level=info msg="sent" token="@@" n=3', json_inside)),
    Wrapper("carriage returns", ALL, framed("@@\r\nnext\r\n", lambda text: text.replace("\n", "\r\n"))),
)  # fmt: skip
WEAK = ("as it is", "JSON text", "added lines", "fence", "log line", "coloured line", "list", "table", "quoted lines")
"""What a weak one is looked for in: its name must stand beside it, in plain sight."""


def wrapped(sample: Sample) -> Iterator[tuple[str, str, str]]:
    """The wrapper's name, the text, and the secret in it: of every wrapper that makes sense."""
    for wrapper in WRAPPERS:
        if sample.kind in wrapper.kinds.split() and (sample.strength == "strong" or wrapper.name in WEAK):
            text, secret = wrapper.wrap(sample)
            yield wrapper.name, text, secret
