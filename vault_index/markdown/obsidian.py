"""Parse comments, tags, links and Dataview fields in text."""

import re
from bisect import bisect
from collections import deque
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from urllib.parse import unquote

from vault_index.markdown.code import BREAK, Span, code_spans, masked
from vault_index.markdown.words import ESCAPE, plain_words
from vault_index.models import Link

_OPEN_BRACKETS = 64  # maximum nesting of brackets
# Linear without possessive quantifiers, which Python 3.11.0 to 3.11.4 miscompiles: consecutive
# parts begin with different characters, and `(?!\s)` ends runs of spaces.
WIKI = r"\[\[(?!\[)(?P<wiki>[^\[\]\n]*(?:(?:\](?!\])|\[(?!\[))[^\[\]\n]*)*)\]\]"
_IN_PARENTHESES = r"\([^\s()\\]*(?:\\.[^\s()\\]*)*\)"
_ADDRESS = (
    rf"\(\s*(?!\s)(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s()\\]*(?:(?:\\.|{_IN_PARENTHESES})[^\s()\\]*)*))"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*\)"
)
_TOKEN = re.compile(
    rf"(?P<break>{BREAK})|\\[\\\[\]]|(?P<embed>!?){WIKI}|(?P<open>!?\[)|\](?P<link>{_ADDRESS})|(?P<close>\])"
)
_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<label>[^\^\[\]\n][^\[\]\n]{0,500})\]:[ \t]{0,99}(?:\n[ \t]{0,99})?"
    r"(?:<(?P<angled>[^<>\n]*)>|(?P<bare>\S+))",
    re.MULTILINE,
)
_WIKILINK = re.compile(rf"(?P<embed>!?){WIKI}")
SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_SIZE = re.compile(r"\d+(?:x\d+)?")
_HTML_OR_MATH = re.compile(r"<[a-z/!][^<>\n]*>|\$(?![\s$])[^$\n]*(?<!\s)\$(?!\d)", re.IGNORECASE)
# Obsidian's rule; in addition, Chinese and Japanese punctuation ends a tag.
_TAG = re.compile(
    r"(?<!\S)#([^\s\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\]+)"
)
# Dataview fields: a line or list item `key:: value`, or in brackets `[key:: value]`.
_KEY = r"(?P<key>[^\W\d_][\w \t./-]{0,60}?)"
_FIELDS = (
    re.compile(
        r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[.\][ \t]+)?)?[*_]{0,2}"
        rf"{_KEY}[*_]{{0,2}}::[*_]{{0,2}}[ \t]+(?P<value>\S.*)",
        re.MULTILINE,
    ),
    re.compile(rf"(?<!\[)\[{_KEY}::(?P<value>(?:[^\[\]\n]|\[\[[^\[\]\n]*\]\])+)\]"),
    re.compile(rf"\({_KEY}::(?P<value>[^()\n]+)\)"),
)
_LONGEST_VALUE = 500
_COMMENT = re.compile("%%")
_A_WORD = re.compile(r"[^\d]")
_NOT_A_RULE = re.compile(r"[^/\-_]")


@dataclass(frozen=True, slots=True)
class Inline:
    """Tags as written, without `#`; links in the order of their ends; the values of each field."""

    tags: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    fields: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_inline(lines: Sequence[str], *, tags: bool = True) -> Inline:
    """Read tags, links and fields from prose lines (code blanked out), numbered from 1.

    If `tags` is false, reads only links.
    """
    text = "\n".join(lines)
    brackets, hashes, colons = "[" in text, tags and "#" in text, tags and "::" in text
    if not brackets and not hashes and not colons:
        return Inline()
    plain = masked(text, code_spans(text))
    spans: list[Span] = []
    links: list[Link] = []
    if brackets:
        ends = list(accumulate(len(line) + 1 for line in lines))
        for span, link in _links(plain, text):
            spans.append(span)
            if link:
                links.append(link._replace(line=bisect(ends, span[0]) + 1))
    return Inline(
        tuple(_tags(plain, spans)) if hashes else (),
        tuple(links),
        _fields(plain, text) if colons else {},
    )


def _fields(plain: str, text: str) -> dict[str, list[str]]:
    """Return the values of each field: the whole value, and its comma-separated parts."""
    fields: dict[str, list[str]] = {}
    for match in chain.from_iterable(pattern.finditer(plain) for pattern in _FIELDS):
        value = text[slice(*match.span("value"))].strip()
        if value and len(value) <= _LONGEST_VALUE:
            values = fields.setdefault(match["key"].strip(), [])
            values += [
                one
                for one in dict.fromkeys((value, *map(str.strip, value.split(","))))
                if one not in values
            ]
    return fields


def wikilinks(lines: Sequence[str]) -> Iterator[Link]:
    """Yield the wikilinks of frontmatter lines, numbered from 1."""
    for number, line in enumerate(lines, start=1):
        for match in _WIKILINK.finditer(line):
            if link := wikilink(match["wiki"], bool(match["embed"])):
                yield link._replace(line=number)


def _links(plain: str, text: str) -> Iterator[tuple[Span, Link | None]]:
    """Yield the span of each link, and the link without its line, or None for an external link.

    One pass with a stack of open brackets, because links nest and a regular expression for both
    ends would be quadratic.
    """
    waiting: deque[tuple[int, int, bool]] = deque(maxlen=_OPEN_BRACKETS)
    defined = _definitions(plain) if "]:" in plain else {}
    before, before_end = (0, 0, False), -1  # the last closed brackets, `[text]` of `[text][label]`
    for match in _TOKEN.finditer(plain):
        if match["wiki"] is not None:
            span = match.span("wiki")
            yield match.span(), wikilink(text[span[0] : span[1]], bool(match["embed"]))
        elif match["open"] is not None:
            waiting.append((match.start(), match.end(), match["open"] == "!["))
        elif match["break"] is not None:
            waiting.clear()
        elif match["link"] is not None and waiting:
            start, words, embed = waiting.pop()
            address = match["angled"] if match["angled"] is not None else match["bare"]
            yield (start, match.end()), _relative(address, text[words : match.start()], embed)
        elif match["close"] is not None and waiting:
            opened = waiting.pop()
            label, of, end = text[opened[1] : match.start()], opened, match.start()
            if opened[0] == before_end:
                of, end = before, before_end - 1
                label = label or text[of[1] : end]
            stands_alone = opened[0] == before_end or not plain.startswith(("[", ":"), match.end())
            if stands_alone and (address := defined.get(_label(label))):
                yield (of[0], match.end()), _relative(address, text[of[1] : end], of[2])
            before, before_end = opened, match.end()


def _definitions(plain: str) -> dict[str, str]:
    """Return the address of each link label (`[label]: address`); the first definition wins."""
    found: dict[str, str] = {}
    for match in _DEFINITION.finditer(plain):
        found.setdefault(_label(match["label"]), match["bare"] or match["angled"])
    return found


def _label(text: str) -> str:
    return " ".join(text.casefold().split())


def wikilink(inner: str, embed: bool) -> Link | None:
    """Parse the text between `[[` and `]]` to a link without its line; None if empty."""
    place, _, text = inner.partition("|")
    target, _, heading = place.rstrip("\\").partition("#")  # in a table, the bar is `\|`
    target, heading, text = without_suffix(target.strip()), heading.strip(), text.strip()
    if not target and not heading:
        return None
    return Link(target, heading, "" if embed and _SIZE.fullmatch(text) else text, 0, embed)


def _relative(address: str, text: str, embed: bool) -> Link | None:
    if not address or SCHEME.match(address):
        return None
    path, _, heading = ESCAPE.sub(r"\1", address).partition("#")
    path = path.partition("?")[0]
    if not path and not heading:
        return None
    return Link(without_suffix(unquote(path)), unquote(heading), plain_words(text), 0, embed)


def without_suffix(target: str) -> str:
    """Remove `.md`, as links do."""
    return target[:-3] if target.lower().endswith(".md") else target


def _tags(plain: str, links: Sequence[Span]) -> Iterator[str]:
    if _TAG.search(plain):
        plain = _HTML_OR_MATH.sub("`", masked(plain, sorted(links)))
        yield from filter(_is_tag, _TAG.findall(plain))


def tag_at(text: str, position: int) -> str:
    """Return the tag at a position, without `#`, or ""."""
    match = _TAG.match(text, position)
    return match[1] if match and _is_tag(match[1]) else ""


def _is_tag(name: str) -> bool:
    return _A_WORD.search(name) is not None and _NOT_A_RULE.search(name) is not None


def without_comments(lines: Sequence[str], code_lines: Container[int]) -> list[str]:
    """Remove comments; the number of lines stays the same. An unclosed `%%` is text.

    `code_lines` are the numbers (from 1) of code lines, which hold no comments.
    """
    text = "\n".join(lines)
    prose = "\n".join(
        " " * len(line) if number in code_lines else line
        for number, line in enumerate(lines, start=1)
    )
    marks = [mark.start() for mark in _COMMENT.finditer(masked(prose, code_spans(prose)))]
    parts, position = [], 0
    for start, end in zip(marks[::2], marks[1::2], strict=False):
        parts += [text[position:start], "\n" * text.count("\n", start, end)]
        position = end + len("%%")
    return ("".join(parts) + text[position:]).split("\n")
