"""Read inline markdown: code spans, comments, links and tags of Obsidian, and plain words."""

import html
import re
from bisect import bisect
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from urllib.parse import unquote

from vault_index.models import Link

_RUN = re.compile(r"`+")
# Inline code does not reach into another paragraph, list item, table row or heading.
BREAK = r"\n(?=[ \t>]*(?:\n|\Z|[-*+|#]|\d{1,9}[.)]))"
_BREAK = re.compile(BREAK)

Span = tuple[int, int]
_OPEN_BRACKETS = 64  # maximum nesting of brackets
# Linear without possessive quantifiers, which Python 3.11.0 to 3.11.4 miscompiles: consecutive
# parts begin with different characters, and `(?!\s)` ends runs of spaces.
WIKI = r"\[\[(?!\[)(?P<wiki>[^\[\]\n]*(?:(?:\](?!\])|\[(?!\[))[^\[\]\n]*)*)\]\]"
_IN_PARENTHESES = r"\([^\s()\\]*(?:\\.[^\s()\\]*)*\)"
_ADDRESS = (
    rf"\(\s*(?!\s)(?:<(?P<angled>[^<>\n]*)>|(?P<bare>[^\s()\\]*(?:(?:\\.|{_IN_PARENTHESES})[^\s()\\]*)*))"
    r"(?:\s+(?:\"[^\"\n]*\"|'[^'\n]*'|\([^()\n]*\)))?\s*\)"
)
# Each alternative begins with a literal, by which the search is several times faster.
_TOKEN = re.compile(
    rf"{BREAK}(?P<break>)|\\[\\\[\]]|{WIKI}|\[(?P<open>)|\](?P<link>{_ADDRESS})|\](?P<close>)"
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
    r"#(?<!\S#)([^\s\u2000-\u200c\u200e-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
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
MAX_CHARACTERS = 500
"""Longest plain words, because every chunk repeats its headings and one may be a paragraph."""

_SHORT = 200
"""Longest text from which emphasis is removed: matching hundreds of stars is slow."""

_MARKS = re.compile(r"[\[\]*_`=~^\\<&]")
BLOCK_ID = re.compile(r"(?:^| )\^[A-Za-z0-9-]+$")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_SHOWN_LINK = re.compile(r"!?\[\[([^\[\]|]*)(?:\|([^\[\]]*))?\]\]")
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


def code_spans(text: str) -> list[Span]:
    """Return the offsets of inline code in order, with its backticks; the end is exclusive.

    As in CommonMark, the next run of the same length closes a run of backticks; an unclosed run is
    text. A table, filled from the end of the text, gives the partner of each run in linear time.
    """
    runs = [match.span() for match in _RUN.finditer(text)]
    if len(runs) < 2:
        return []
    breaks = [match.start() for match in _BREAK.finditer(text)]
    partners: list[int | None] = [None] * len(runs)
    nearest: dict[tuple[int, int], int] = {}
    for number in range(len(runs) - 1, -1, -1):
        start, end = runs[number]
        paragraph = bisect(breaks, start)
        partners[number] = nearest.get((paragraph, end - start - _escaped(text, start)))
        nearest[paragraph, end - start] = number
    spans: list[Span] = []
    number = 0
    while number < len(runs):
        if (partner := partners[number]) is None:
            number += 1
        else:
            start = runs[number][0]
            spans.append((start + _escaped(text, start), runs[partner][1]))
            number = partner + 1
    return spans


def masked(text: str, spans: Iterable[Span], filler: str = "`") -> str:
    """Replace each character of the spans, so that offsets stay. Spans are sorted, and may nest."""
    parts: list[str] = []
    position = 0
    for start, end in spans:
        if end > position:
            start = max(start, position)
            parts += [text[position:start], filler * (end - start)]
            position = end
    parts.append(text[position:])
    return "".join(parts)


def _escaped(text: str, start: int) -> int:
    """Return 1 if a backslash escapes the first backtick of a run, else 0."""
    slashes = 0
    while slashes < start and text[start - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2


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
        ends = list(accumulate(map((1).__add__, map(len, lines))))
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
    defined = _definitions(plain)
    before, before_end = (0, 0, False), -1  # the last closed brackets, `[text]` of `[text][label]`
    for match in _TOKEN.finditer(plain):
        embed = plain[max(match.start() - 1, 0) : match.start()] == "!"
        start = match.start() - embed
        if match["wiki"] is not None:
            yield (start, match.end()), wikilink(text[slice(*match.span("wiki"))], embed)
        elif match["open"] is not None:
            waiting.append((start, match.end(), embed))
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
    for match in _DEFINITION.finditer(plain) if "]:" in plain else ():
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


def plain_words(text: str) -> str:
    """Return a text without markup and a trailing `^block-id`; links become their shown text."""
    text = BLOCK_ID.sub("", " ".join(text.replace("\0", " ").split()))
    if len(text) > MAX_CHARACTERS:
        return text[:MAX_CHARACTERS].rsplit(" ", 1)[0]
    if not _MARKS.search(text):
        return text
    kept: list[str] = []
    text = ESCAPE.sub(lambda match: _keep(match[1], kept), _without_code(text, kept))
    text = _LINK.sub(r"\1", _SHOWN_LINK.sub(_shown, _FOOTNOTE.sub("", text)))
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
