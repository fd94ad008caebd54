"""Normal forms for comparison: lines, tags, project names, and the identity of memories."""

import json
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from vault_index.markdown.sanitize import without_invisible
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
