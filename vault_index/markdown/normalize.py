"""Text in the one form in which it is compared: lines, tags, and what a memory says."""

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_FENCE = "---"
_PROJECT = re.compile(r"^project:\s*")
_SPACES = re.compile(r"\s+")
_GAPS = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u2060\ufeff]")
_IN_TAG = re.compile(r"(?:#\s*|project[:/]\s*)+")
_LINKED = re.compile(r"\[\[([^\[\]|#]*)")
_LONG_WORD = 60
"""Characters of a word that may be data."""
_DATA_URI = re.compile(r"(data:[\w.+/-]{0,200}(?:;[\w.=+-]{1,200}){0,5},)[A-Za-z0-9+/=%_-]{64,}")
_ARMOUR = re.compile(r"^([ \t>]*-----BEGIN [^\n-]{1,80}-----[ \t]*\n)((?:(?![^\n]*-----)[^\n]*\n)+)", re.MULTILINE)
_BASE64 = re.compile(r"^([ \t>]*)([A-Za-z0-9+/]{60,}={0,2})[ \t]*$|([A-Za-z0-9+/]{400,}={0,2})", re.MULTILINE)
_LINE_TEXT = re.compile(r"[^\n]+")


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; a final line end opens no further line.

    `str.splitlines` would also split at form feeds, U+2028 and others, and lines would be counted as no editor does.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def fenced_lines(lines: Sequence[str]) -> int:
    """The number of lines in the fenced block at the top of a document, fences included; 0 without one. Whether it is
    frontmatter depends on its content."""
    if not lines or lines[0].rstrip() != _FENCE:
        return 0
    return next((number for number, line in enumerate(lines[1:], start=2) if line.rstrip() == _FENCE), 0)


def normalize_tag(text: str) -> str:
    """Lower case (NFC), without `#`, spaces as `-`, `project:x` as `project/x`; empty where nothing is left.

    Normalising twice changes nothing: stored tags and asked ones meet whichever side they come from.
    """
    tag = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).lower())
    tag = _PROJECT.sub("project/", tag.strip().lstrip("# \t").strip())
    parts = (part.strip() for part in tag.split("/"))
    return _SPACES.sub("-", "/".join(part for part in parts if part).strip("/# \t\n"))


@lru_cache(4096)
def project_form(name: str) -> str:
    """Return the form in which names of projects are compared: lower case, with one hyphen for blanks, hyphens and
    underscores. A tag (`#project/x`) counts as its project, a link as the name of its note; a folder keeps its path."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    text = _INVISIBLE.sub("", text).strip()
    if link := _LINKED.match(text):
        text = link[1].strip().rpartition("/")[2].removesuffix(".md")
    text = text[tag.end() :] if (tag := _IN_TAG.match(text)) else text
    return "/".join(_GAPS.sub("-", part).strip("-") for part in text.split("/"))


def project_forms(projects: str) -> set[str]:
    """The forms of the projects that a text names: of the whole, and of what its commas divide."""
    return set(map(project_form, (projects, *projects.split(","))))


def identity(title: str, subtitle: str, facts: Sequence[str], body: str) -> bytes:
    """SHA-256 of all four, each in NFC with runs of whitespace as one space. The order of facts counts."""
    said = (_normal(title), _normal(subtitle), [_normal(fact) for fact in facts], _normal(body))
    import hashlib  # 3 ms, which no search needs

    # As JSON, so that no text can pass for the end of one field and the beginning of the next.
    return hashlib.sha256(json.dumps(said).encode()).digest()


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def without_data(text: str) -> str:
    """The text with `…` in place of data: data URIs, what stands between `-----BEGIN …` and `-----END …`, lines of
    base64, and long runs of it. It has as many lines as before."""
    if max(map(len, text.split()), default=0) < _LONG_WORD:
        return text
    text = _DATA_URI.sub(r"\1…", text)
    if "-----BEGIN " in text:
        text = _ARMOUR.sub(lambda match: match[1] + _LINE_TEXT.sub("…", match[2]), text)
    return _BASE64.sub(lambda match: f"{match[1] or ''}…" if _is_mixed(match[2] or match[3]) else match[0], text)


def _is_mixed(run: str) -> bool:
    """Whether it has digits and letters in both cases, as no word, path or hexadecimal number does."""
    return any(map(str.isdigit, run)) and run.lower() != run != run.upper()
