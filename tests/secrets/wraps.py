"""The samples of fixtures/secrets, and changes by programs to the line of a credential.

A wrapper (wrappers.toml) changes a sample and gives the new spelling of its secret. It names the kinds of samples that
remain recognizable: a bare word in a table is no visible password.
"""

import html
import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

FILE = Path(__file__).parents[2] / "fixtures" / "secrets" / "samples.json"
KINDS = {
    "all": "token named url header command file block",
    "line": "token named url header command",
    "assigned": "token named header",
}


class Sample(NamedTuple):
    form: str
    kind: str
    strength: str
    source: str
    text: str
    """With `{secret}` in place of the secret."""
    secret: str

    @property
    def whole(self) -> str:
        return self.text.replace("{secret}", self.secret)


class Wrapper(NamedTuple):
    name: str
    kinds: str
    framed: str
    frame: str
    spelling: str

    def wrap(self, sample: Sample) -> tuple[str, str]:
        """The text, and the spelling of the secret in it."""
        spell = SPELLINGS[self.spelling]
        framed = {"text": sample.whole, "secret": sample.secret}
        if self.framed == "lines":
            lines = (self.frame.replace("@@", line) for line in sample.whole.split("\n"))
            return "\n".join(lines), sample.secret
        if self.framed == "around":
            return sample.text.replace("{secret}", self.frame.replace("@@", sample.secret)), sample.secret
        return self.frame.replace("@@", spell(framed[self.framed])), spell(sample.secret)


def samples(file: Path = FILE) -> list[Sample]:
    return [
        Sample(one["form"], one["kind"], one["strength"], one["source"], one["text"], "".join(one["parts"]))
        for one in json.loads(file.read_text("utf-8"))
    ]


def leaks(secret: str, text: str) -> bool:
    """Whether the secret stands there whole; for several lines, whether one does."""
    lines = [line for line in secret.split("\n") if len(line) >= 16] or [secret]
    return any(line in text for line in lines)


def spelt(**signs: str) -> Callable[[str], str]:
    """Replace some characters, also in a secret that contains them."""
    names = {"equals": "=", "space": " ", "quote": '"', "apostrophe": "'", "colon": ":", "ampersand": "&"}
    table = str.maketrans({names[name]: to for name, to in signs.items()})
    return lambda text: text.translate(table)


def json_inside(text: str) -> str:
    return json.dumps(text)[1:-1]


def json_twice(text: str) -> str:
    return json_inside(json_inside(text))


def json_escaped(text: str) -> str:
    """As written by PHP, Go and .NET, which escape every character of HTML."""
    for sign in "=&'<>+":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def json_cautious(text: str) -> str:
    return json_escaped(json.dumps(text).replace('\\"', "\\u0022"))[1:-1]


def shell_inside(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "html": html.escape,
    "json": json_inside,
    "json twice": json_twice,
    "json cautious": json_cautious,
    "yaml": lambda text: text.replace("'", "''"),
    "shell": shell_inside,
    "shell, single quotes": lambda text: text.replace("'", "'\\''"),
    "carriage returns": lambda text: text.replace("\n", "\r\n"),
    "url": lambda text: quote(text, safe=""),
    "quoted-printable": spelt(equals="=3D"),
    "percent": spelt(equals="%3D", space="%20", quote="%22", apostrophe="%27", ampersand="%26"),
    "plus": spelt(equals="%3D", space="+", quote="%22", ampersand="%26"),
    "hexadecimal": spelt(equals=r"\x3d", space=r"\x20", quote=r"\x22", apostrophe=r"\x27"),
    "entities": spelt(equals="&#61;", quote="&quot;", apostrophe="&#x27;", ampersand="&amp;"),
}
WRAPPERS = [
    Wrapper(name, KINDS.get(kinds, kinds), framed, frame, spelling)
    for name, kinds, framed, frame, spelling in tomllib.loads(
        Path(__file__).with_name("wrappers.toml").read_text("utf-8")
    )["wrappers"]
]
WEAK = ("as it is", "JSON text", "added lines", "fence", "log line", "coloured line", "list", "table", "quoted lines")
"""Wrappers for weak samples, which need their name in plain sight next to them."""


def wrapped(sample: Sample) -> Iterator[tuple[str, str, str]]:
    """Yield name, text and secret for every wrapper that fits the sample."""
    for wrapper in WRAPPERS:
        if sample.kind in wrapper.kinds.split() and (sample.strength == "strong" or wrapper.name in WEAK):
            text, secret = wrapper.wrap(sample)
            yield wrapper.name, text, secret
