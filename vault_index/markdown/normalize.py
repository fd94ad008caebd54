"""Normal and harmless forms of text: lines, tags, project names, identities of memories."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from vault_index.unicode import same_form

_FENCE = "---"
_PROJECT = re.compile(r"^project:\s*")
_SPACES = re.compile(r"\s+")
_GAPS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_IN_TAG = re.compile(r"(?:#\s*|project[:/]\s*)+")
_LINKED = re.compile(r"\[\[([^\[\]|#]*)")
_LONG_WORD = 60
"""Shortest word, in characters, that may be encoded data."""
_DATA_URI = re.compile(r"(data:[\w.+/-]{0,200}(?:;[\w.=+-]{1,200}){0,5},)[A-Za-z0-9+/=%_-]{64,}")
_ARMOUR = re.compile(
    r"^([ \t>]*-----BEGIN [^\n-]{1,80}-----[ \t]*\n)((?:(?![^\n]*-----)[^\n]*\n)+)", re.MULTILINE
)
_BASE64 = re.compile(
    r"^([ \t>]*)([A-Za-z0-9+/]{60,}={0,2})[ \t]*$|([A-Za-z0-9+/]{400,}={0,2})", re.MULTILINE
)
_LINE_TEXT = re.compile(r"[^\n]+")
SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)
"""Matches each sentence of a paragraph."""
_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])"  # OSC
    r"[^\x07\x1b\x90\x98\x9c-\x9f\n]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"
)
_LINE_END = re.compile("\r\n|[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
# Emoji, and letters of scripts where a joiner changes a word: Arabic (Persian) to Tibetan and
# Burmese, Khmer, Mongolian.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u27bf\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297"
    "\u3299\U0001f000-\U0001faff"
)
_JOINED = "\u0620-\u109f\u1780-\u17b3\u17b6-\u17ff\u1820-\u18af\ufb50-\ufdff\ufe70-\ufefc"
# Unicode's Default_Ignorable_Code_Point, and interlinear annotation characters.
_BLANK = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_INVISIBLE = re.compile(f"[{_BLANK}\u200c\u200d\ufe0e\ufe0f]")
# All except a joiner between such letters or emoji, and a variation selector of an emoji or keycap.
_IGNORABLE = (
    rf"[{_BLANK}]|[\ufe0e\ufe0f](?<![{_EMOJI}].)(?!(?<=[0-9#*].)\u20e3)|[\u200c\u200d](?!(?<=[{_JOINED}].)[{_JOINED}]"
    rf"|(?<=[{_EMOJI}]\u200d)[{_EMOJI}]|(?<=[{_EMOJI}]\ufe0f\u200d)[{_EMOJI}])"
)
_OPENING = re.compile(
    "[<\u02c2\u1438\u16b2\u2039\u2329\u226e\u227a\u22d6\u2770\u276c\u276e\u27e8\u2991\u29fc\u3008\ufe3f\ufe64\uff1c\U0001f780]"
)
_HALF = re.compile("[\ud800-\udfff]")


def split_lines(text: str) -> list[str]:
    """Split at LF, CRLF and CR; a final line end adds no empty line.

    `str.splitlines` would also split at form feeds, U+2028 and others, unlike editors.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def fenced_lines(lines: Sequence[str]) -> int:
    """Return the number of lines of the `---` block at the top, with its fences; 0 without one.

    Whether the block is frontmatter depends on its content.
    """
    if not lines or lines[0].rstrip() != _FENCE:
        return 0
    return next(
        (number for number, line in enumerate(lines[1:], start=2) if line.rstrip() == _FENCE), 0
    )


def normalize_tag(text: str) -> str:
    """Return a tag in lower case (NFKC), without `#`, spaces as `-`, `project:x` as `project/x`.

    Idempotent, so that stored tags and queried ones compare equal. May be empty.
    """
    tag = unicodedata.normalize("NFKC", without_invisible(text)).replace("İ", "i")
    tag = unicodedata.normalize("NFKC", tag.lower())
    tag = _PROJECT.sub("project/", tag.strip().lstrip("# \t").strip())
    parts = (part.strip() for part in tag.split("/"))
    return _SPACES.sub("-", "/".join(part for part in parts if part).strip("/# \t\n"))


@lru_cache(4096)
def project_form(name: str) -> str:
    """Return a project name for comparison: lower case, `-` for blanks, hyphens and underscores.

    A tag (`#project/x`) becomes its project, a link the name of its note; a folder keeps its path.
    """
    text = same_form(name).strip()
    if link := _LINKED.match(text):
        text = link[1].strip().rpartition("/")[2].removesuffix(".md")
    text = text[tag.end() :] if (tag := _IN_TAG.match(text)) else text
    return "/".join(_GAPS.sub("-", part).strip("-") for part in text.split("/"))


def project_forms(projects: str) -> set[str]:
    """Return the forms of the whole text, and of its comma-separated parts."""
    return set(map(project_form, (projects, *projects.split(","))))


def identity(title: str, subtitle: str, facts: Sequence[str], body: str) -> bytes:
    """Return the SHA-256 of the four values, in NFC with whitespace collapsed.

    The order of facts matters.
    """
    fields = (
        normal_text(title),
        normal_text(subtitle),
        [normal_text(fact) for fact in facts],
        normal_text(body),
    )
    import hashlib  # takes 3 ms, and no search needs it

    # JSON keeps the boundaries between fields unambiguous.
    return hashlib.sha256(json.dumps(fields).encode()).digest()


def normal_text(text: str) -> str:
    """Return a text in NFC, with each run of whitespace replaced by one space."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def without_data(text: str) -> str:
    """Replace encoded data with `…`: data URIs, PEM blocks, lines and long runs of base64.

    The number of lines stays the same.
    """
    if max(map(len, text.split()), default=0) < _LONG_WORD:
        return text
    text = _DATA_URI.sub(r"\1…", text)
    if "-----BEGIN " in text:
        text = _ARMOUR.sub(lambda match: match[1] + _LINE_TEXT.sub("…", match[2]), text)
    return _BASE64.sub(
        lambda match: f"{match[1] or ''}…" if _is_mixed(match[2] or match[3]) else match[0], text
    )


def _is_mixed(run: str) -> bool:
    """Return whether a run has digits and both cases, unlike words, paths and hex numbers."""
    return any(map(str.isdigit, run)) and run.lower() != run != run.upper()


def harmless(text: str) -> str:
    """Sanitize a text of a note for an agent; keep its lines, with LF line ends.

    Removes terminal sequences, control characters, and characters that Unicode calls ignorable
    (zero-width characters, bidirectional controls, tags, variation selectors), because they can
    hide text from people. Joiners that emoji and scripts need stay. `<` and its look-alikes become
    `&lt;`, so that no note can write a tag or one of our markers.
    """
    text = _LINE_END.sub("\n", _TERMINAL.sub("", text)).replace("\t", " ")
    text = _HALF.sub("\ufffd", without_invisible(_CONTROL.sub("", text)))
    return _OPENING.sub("&lt;", text)


def without_invisible(text: str) -> str:
    """Remove invisible characters, which could hide instructions from people."""
    return _ignorable().sub("", text) if _INVISIBLE.search(text) else text


@cache
def _ignorable() -> re.Pattern[str]:
    return re.compile(_IGNORABLE)  # takes 3 ms, and few texts need it


def harmless_line(text: str, longest: int) -> str:
    """Sanitize a text to one line of at most `longest` characters, truncated with `…`."""
    line = " ".join(harmless(text[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


def scalars(value: Any) -> Iterator[str]:
    """Yield the texts and numbers in a frontmatter value."""
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from scalars(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value).strip()
