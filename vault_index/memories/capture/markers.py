"""Extract `*Remember*: …` from the text of an agent, with the tags and expiry in its words."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.resources import files

from vault_index.dates import leading_date
from vault_index.markdown.blocks import plain_spans
from vault_index.markdown.inline import code_spans, masked
from vault_index.markdown.normalize import normalize_tag, split_lines
from vault_index.memories.file.document import TYPES

TEMPORARY = timedelta(days=90)
"""How long a memory that is called temporary is kept."""
MOST_DATES = 20
"""The most dates to look for in one text; a memory has one or two."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A memory found in a text; `line` (1-based) is where it begins."""

    text: str
    line: int
    title: str | None = None
    type: str | None = None
    tags: tuple[str, ...] = ()
    expires: str | None = None
    guessed: bool = False
    """Whether it has no marker, but reads like a decision or a preference."""


TagWords = Mapping[str, tuple[str, ...]]
"""The tags for each word; words are in lower case."""


_LINE = re.compile(r"[^\n]+")
_MARKER = re.compile(
    r"(?:^|(?<=[\s>(]))(?P<mark>\*{1,3}|_{1,3})remember"
    r"(?:(?P=mark)\s*(?::|[-–—](?=\s))|\s*:\s*(?P=mark)"
    r"|:(?=[^\n]{0,300}?[^\s*_](?P<around>(?P=mark))(?![*_\w])))"
    # Without a colon, only at the start of a line or sentence; `*Remember* to …` is a request.
    r"|(?:^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ x]\]\s+)?)?|(?<=[.!?] ))"
    r"(?P<bold>\*{1,3}|_{1,3})remember(?P=bold) "
    r"(?:that )?(?=[^\W_]|`)(?=\S{1,300}\s{1,9}\S)(?![^?]{0,500}\?)"
    r"(?!(?:to|not|me|us|how|when|what|why|where|who|you|your|and|or|if|is|was|also)\b)",
    re.IGNORECASE,
)
_QUOTE = re.compile(r"\A(?:[ \t]*>)*")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_BEFORE_FENCE = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,9}[.)])\s+)?")
_HEADING = re.compile(r" {0,3}#{1,6}\s")
_PLACEHOLDER = re.compile(r"<[^<>]*>|\[[^\[\]]*\]|\{[^{}]*\}|[\W_]*")
_LABEL = re.compile(rf"[*_]*\(?({'|'.join(TYPES)})\)?[*_]*\s*[:\-–—]\s+(?=\S)", re.IGNORECASE)

_UNTIL = re.compile(
    r"\b(?:until|till|expir(?:es?|ing|y|ation)(?: date)?(?: on)?"
    # Not `Monday through Friday`, nor `run it through Friday's script`.
    r"|(?<!day )(?<!(?:mon|tue|wed|thu|fri|sat|sun) )(?:through|thru)(?! \w{2,12}['’]s))\b:? ",
    re.IGNORECASE,
)
_LASTS = re.compile(
    r"(?:^|[.;:!?(\[—–\n][^\S\n]*)(?:this )?(?:is )?(?:only )?"
    r"(?:expires?|expiry|valid(?: for)?|keep for)\b:? ",
    re.IGNORECASE,
)
_DURATION = re.compile(
    r"(?:in )?(?:(?:\d+|[a-z]+) (?:minute|hour|day|week|fortnight|month|year)s?|\d+ ?[hdwy])\b",
    re.IGNORECASE,
)
_TEMPORARY = re.compile(
    r"(?<!not )(?<!no longer )(?<!non-)\b(?:temporarily|temp(?:orary)?(?! (?:\w+ )?"
    r"(?:files?|director(?:y|ies)|folders?|dirs?|paths?|tables?|storage|credentials?|tokens?"
    r"|variables?|names?|branch(?:es)?|redirects?|objects?|keys?|buffers?|sensors?|readings?|is)\b))\b(?![./\\])",
    re.IGNORECASE,
)


def built_in_tags() -> dict[str, str]:
    """Return the words of each built-in tag, separated by commas."""
    lines = files("vault_index").joinpath("data/capture_tags.txt").read_text("utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def tag_words(more: Iterable[str] = ()) -> TagWords:
    """Return the built-in tag words combined with those of the setting `memory.capture_tags`.

    An entry is `tag: word, word` and replaces the built-in words of its tag. Without words, it
    disables the tag.
    """
    table = built_in_tags()
    for entry in more:
        tag, _, words = entry.partition(":")
        table[normalize_tag(tag)] = words
    tags_of: dict[str, tuple[str, ...]] = {}
    for tag, words in table.items():
        for word in filter(None, (" ".join(word.lower().split()) for word in words.split(","))):
            tags_of[word] = (*tags_of.get(word, ()), tag)
    return tags_of


def captures(text: str, *, now: datetime, tag_words: TagWords) -> tuple[Captured, ...]:
    """Return every `*Remember*: …` in a text, each fact once.

    A memory ends at a blank line, at the next marker or at the end of its list item. Emphasis may
    be `*`, `**` or `_`; the colon may be inside it, or be a dash. Markers in fenced or inline code
    are ignored, so that documentation can show the pattern. A fence after a marker belongs to its
    text.
    """
    lines = split_lines(text)
    if not re.search("remember", text, re.IGNORECASE):
        return ()
    shown, fenced = without_code(lines)
    found: dict[str, Captured] = {}
    for number, line in enumerate(shown):
        for match in _MARKER.finditer(line):
            body = _body(lines, shown, fenced, number, match)
            if not _PLACEHOLDER.fullmatch(body):
                found.setdefault(
                    " ".join(body.lower().split()),
                    _with_title(_with_label(Captured(body, number + 1))),
                )
    return tuple(
        with_tags_and_expiry(each, now=now, tag_words=tag_words) for each in found.values()
    )


def with_tags_and_expiry(captured: Captured, *, now: datetime, tag_words: TagWords) -> Captured:
    """Add the tags and the expiry that the words of a memory imply."""
    whole = f"{captured.title}. {captured.text}" if captured.title else captured.text
    return replace(captured, tags=_tags(whole, tag_words), expires=_expiry(whole, now))


def without_code(lines: Sequence[str]) -> tuple[list[str], frozenset[int]]:
    """Return the lines with code blanked out at equal offsets, and the numbers of fenced lines."""
    bare = [_BEFORE_FENCE.sub("", line, count=1) for line in lines]
    fenced = frozenset(number - 1 for number in plain_spans(bare)[1])
    text = "\n".join("" if number in fenced else line for number, line in enumerate(lines))
    # Spans are split at line ends, which must stay.
    spans = (
        match.span()
        for start, end in code_spans(text)
        for match in _LINE.finditer(text, start, end)
    )
    return masked(text, spans).split("\n"), fenced


def _body(
    lines: Sequence[str],
    shown: Sequence[str],
    fenced: frozenset[int],
    number: int,
    marker: re.Match[str],
) -> str:
    """Return the text after a marker, without quote marks and indentation."""
    first = lines[number]
    following = _MARKER.search(shown[number], marker.end())
    end = following.start() if following else len(first)
    closed, opened = marker.span("around") if marker["around"] else (end, end)
    words = first[marker.end() : closed] + first[opened:end]
    if following:
        return words.strip()
    quote = _quote_depth(first)
    item = _ITEM.match(_unquoted(first))
    indent = len(item[1]) if item else None
    body = [words]
    for later in range(number + 1, len(lines)):
        line = _unquoted(lines[later])
        if later not in fenced and (_quote_depth(lines[later]) != quote or _ends(line, indent)):
            break
        start = _MARKER.search(shown[later]) if later not in fenced else None
        if start:
            before = _unquoted(lines[later][: start.start()])
            body.append("" if _ITEM.fullmatch(before) else before)
            break
        body.append(line)
    margin = min((len(line) - len(line.lstrip()) for line in body[1:] if line.strip()), default=0)
    return "\n".join([body[0].strip(), *(line[margin:].rstrip() for line in body[1:])]).strip()


def _ends(line: str, indent: int | None) -> bool:
    """Return whether a text ends before this line.

    `indent` is the indentation of the list item that contains the text, if any.
    """
    if not line.strip() or _HEADING.match(line):
        return True
    item = _ITEM.match(line)
    return indent is not None and item is not None and len(item[1]) <= indent


def _quote_depth(line: str) -> int:
    """Return the number of block quotes that contain a line."""
    return line.count(">") - _unquoted(line).count(">")


def _unquoted(line: str) -> str:
    return _QUOTE.sub("", line, count=1)


def _with_label(captured: Captured) -> Captured:
    """Set the type from a label such as `Decision: …`."""
    match = _LABEL.match(captured.text)
    return (
        replace(captured, type=match[1].lower(), text=captured.text[match.end() :])
        if match
        else captured
    )


def _with_title(captured: Captured) -> Captured:
    """Use a short sentence alone on the first line as the title."""
    first, _, rest = captured.text.partition("\n")
    if not rest.strip() or len(first) > 80 or not re.fullmatch(r"[^.!?\w]*\w[^.!?]*[.!?]", first):
        return captured
    return replace(captured, title=first.rstrip("."), text=rest.strip())


def _tags(text: str, tag_words: TagWords) -> tuple[str, ...]:
    """Return the tags of the words in a text, in the order of the text."""
    if not tag_words:
        return ()
    longest_first = sorted(tag_words, key=len, reverse=True)
    pattern = r"(?<!\w)(?:" + "|".join(map(re.escape, longest_first)) + r")(?!\w)"
    words = re.findall(pattern, " ".join(text.lower().split()))
    return tuple(dict.fromkeys(tag for word in words for tag in tag_words[word]))


def _expiry(text: str, now: datetime) -> str | None:
    """Return the future day on which the text says that it expires.

    The duration of something else (`tokens expire in 7 days`) does not count: a duration must begin
    a sentence or a bracket.
    """
    plain = re.sub(r"[*_]+", "", masked(text, code_spans(text)))
    ends = [
        match.end() for match in _UNTIL.finditer(plain) if not _DURATION.match(plain, match.end())
    ]
    ends += [match.end() for match in _LASTS.finditer(plain)]
    days = [day for end in ends[:MOST_DATES] if (day := leading_date(plain[end : end + 80], now))]
    if days:
        return next((day for day in days if day >= now.date().isoformat()), None)
    return (now.date() + TEMPORARY).isoformat() if _TEMPORARY.search(plain) else None
