"""Data that stands in a text and is no text: pictures, keys and files in base64."""

import re

_LONG = 60
"""Characters of a word that may be data."""
_DATA_URI = re.compile(r"(data:[\w.+/-]{0,200}(?:;[\w.=+-]{1,200}){0,5},)[A-Za-z0-9+/=%_-]{64,}")
_ARMOUR = re.compile(r"^([ \t>]*-----BEGIN [^\n-]{1,80}-----[ \t]*\n)((?:(?![^\n]*-----)[^\n]*\n)+)", re.MULTILINE)
_BASE64 = re.compile(r"^([ \t>]*)([A-Za-z0-9+/]{60,}={0,2})[ \t]*$|([A-Za-z0-9+/]{400,}={0,2})", re.MULTILINE)
_LINE = re.compile(r"[^\n]+")


def without_data(text: str) -> str:
    """The text with `…` in place of data: data URIs, what stands between `-----BEGIN …` and `-----END …`, lines of
    base64, and long runs of it. It has as many lines as before."""
    if max(map(len, text.split()), default=0) < _LONG:
        return text
    text = _DATA_URI.sub(r"\1…", text)
    if "-----BEGIN " in text:
        text = _ARMOUR.sub(lambda match: match[1] + _LINE.sub("…", match[2]), text)
    return _BASE64.sub(lambda match: f"{match[1] or ''}…" if _is_mixed(match[2] or match[3]) else match[0], text)


def _is_mixed(run: str) -> bool:
    """Whether it has digits and letters in both cases, as no word, path or hexadecimal number does."""
    return any(map(str.isdigit, run)) and run.lower() != run != run.upper()
