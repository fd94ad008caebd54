"""Normalise Unicode text for comparison, and replace lone surrogates.

Texts that look the same may have different code points: `é` as one or two, ligatures, full-width
letters, soft hyphens, HTML entities. The stored and shown text is always the original.
"""

import re
import unicodedata
from functools import cache
from typing import Any

IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
)
"""The code points below U+10000 with the Unicode property Default_Ignorable_Code_Point."""
SYMBOLS = (
    "\u00bc-\u00be\u2100\u2101\u2103\u2105\u2106\u2109\u2116\u2120-\u2122\u213b"
    "\u2150-\u215f\u2189\u3200-\u33ff"
)
"""Signs that count as separate words: fractions, units, `№` and `™`."""
ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
_ENTITY = re.compile(ENTITY)
_SURROGATE = re.compile("[\ud800-\udfff]")
_DOTS = str.maketrans({"İ": "i", "ı": "i", "\u0307": ""})


def decoded(text: str) -> str:
    """Return `text` with HTML entities decoded; the line breaks stay the same."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    import html  # 2 ms, and only few texts need it
    from html.entities import html5

    name = entity[0]
    return html.unescape(name).replace("\n", " ") if name[1] == "#" or name[1:] in html5 else name


def composed(text: str) -> str:
    """Return `text` in NFKC without ignorable code points, with spaces around `SYMBOLS`."""
    if text.isascii():
        return text
    text = unicodedata.normalize("NFKC", _odd().sub(_set_apart, text))
    # NFKC splits the Thai and Lao vowel am into a mark and the vowel a: `น้ำ` (water) and `น้า`
    # (aunt) must differ.
    return text.replace("\u0e4d\u0e32", "\u0e33").replace("\u0ecd\u0eb2", "\u0eb3")


@cache
def _odd() -> re.Pattern[str]:
    return re.compile(
        f"[{SYMBOLS}{IGNORABLE}\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    )


def _set_apart(sign: re.Match[str]) -> str:
    return f" {sign[0]} " if unicodedata.category(sign[0]) in ("No", "So") else ""


def same_form(text: str) -> str:
    """Return the form for comparing names, headings, paths and values.

    NFKC, case-folded, with decoded entities and the Turkish letters i as one.
    """
    return composed(decoded(text)).translate(_DOTS).casefold()


def has_surrogates(text: str) -> bool:
    """Return whether the text has a lone surrogate."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def mended(value: Any) -> Any:
    """Return a JSON value with each lone surrogate replaced by U+FFFD, and each pair joined."""
    if isinstance(value, str):
        whole = not has_surrogates(value)
        return (
            value
            if whole
            else value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        )
    if isinstance(value, dict):
        return {mended(key): mended(item) for key, item in value.items()}
    return [mended(item) for item in value] if isinstance(value, list) else value
