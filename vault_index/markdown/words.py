"""Convert inline markdown, such as a heading, to plain words."""

import html
import re

from vault_index.markdown.code import code_spans

MAX_CHARACTERS = 500
"""Longest result, because every chunk repeats its headings and a heading may be a paragraph."""

_SHORT = 200
"""Longest text from which emphasis is removed: matching hundreds of stars is slow."""

_MARKS = re.compile(r"[\[\]*_`=~^\\<&]")
_BLOCK_ID = re.compile(r"(?:^| )\^[A-Za-z0-9-]+$")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
_LINK = re.compile(
    r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?(?:\s[^()]*)?\)|\[[^\[\]]*\])"
)
_FOOTNOTE = re.compile(r"\[\^[^\[\]]*\]")
_HTML = re.compile(
    r"</?(?:a|b|br|center|code|del|div|em|font|i|img|ins|kbd|mark|p|s|small|span|strong|sub|sup|u)(?:\s[^<>]*)?/?>"
    r"|<!--(?:[^<]|<(?!!))*?-->",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(
    r"(\*{1,3}|==|~~)(?=[^\s*=~])(.+?)(?<=\S)\1|(?<!\w)(_{1,3})(?=[^\s_])(.+?)(?<=\S)\3(?!\w|\.\w)"
)
_KEPT = re.compile("\0([0-9]+)\0")


def plain_words(text: str) -> str:
    """Return a text without markup and a trailing `^block-id`; links become their shown text."""
    text = _BLOCK_ID.sub("", " ".join(text.replace("\0", " ").split()))
    if len(text) > MAX_CHARACTERS:
        return text[:MAX_CHARACTERS].rsplit(" ", 1)[0]
    if not _MARKS.search(text):
        return text
    kept: list[str] = []
    text = ESCAPE.sub(lambda match: _keep(match[1], kept), _without_code(text, kept))
    text = _LINK.sub(r"\1", _WIKILINK.sub(_shown, _FOOTNOTE.sub("", text)))
    text = _LINK.sub(r"\1", text)  # an image that is a link
    text = html.unescape(_HTML.sub("", text))
    for _ in range(3 if len(text) <= _SHORT else 0):  # marks within marks
        text = _EMPHASIS.sub(lambda match: match[2] or match[4], text)
    return " ".join(_KEPT.sub(lambda match: kept[int(match[1])], text).split())


def _without_code(text: str, kept: list[str]) -> str:
    """Replace inline code with placeholders, because it contains no markup."""
    for start, end in reversed(code_spans(text)):
        words = text[start:end].strip("`")
        text = text[:start] + _keep(words.strip() or words, kept) + text[end:]
    return text


def _keep(words: str, kept: list[str]) -> str:
    kept.append(words)
    return f"\0{len(kept) - 1}\0"


def _shown(match: re.Match[str]) -> str:
    text: str | None = match[2]
    return text or " > ".join(part for part in match[1].rstrip("\\").split("#") if part)
