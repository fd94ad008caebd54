"""What Obsidian adds to markdown inside a line: comments, tags, links."""

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from vault_index.models import Link

_LONG_LINE = 100_000  # inline syntax is looked for in so many characters of a line
_FENCE = re.compile(r"^[\s>]*(?:[-*+]\s+|\d+[.)]\s+)?(`{3,}|~{3,})")
_CODE_OR_MARK = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)|%%")
_MARK = re.compile("%%")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.*?)(?<!`)\1(?!`)")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(
    r"(!?)\[([^\[\]\n]*)\]\((?:<([^<>\n]*)>|([^()\s]*(?:\([^()\s]*\)[^()\s]*)*))(?:\s+[^()\n]*)?\)"
)
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//)", re.IGNORECASE)
_NOT_TAGS = re.compile(r"\[\[[^\[\]\n]*\]\]|\]\([^()\s]*\)|<[^<>\s][^<>\n]*>|\$[^$\n]+\$|\w+://\S+")
_TAG = re.compile(r"(?<!\S)#([\w/\-\u2600-\u27bf\ufe0f\u200d\U0001f000-\U0001faff]+)")
_SAYS_MORE_THAN_A_NUMBER = re.compile(r"[^\d/\-_]")


def without_comments(lines: Sequence[str]) -> list[str]:
    """The lines with `%%comments%%` taken out, over several lines too; not in code, and an unclosed one is text."""
    result = list(lines)
    for (first, start), (last, end) in reversed(list(_comments(lines))):
        if first == last:
            result[first] = result[first][:start] + result[first][end:]
        else:
            result[last] = result[last][end:]
            result[first + 1 : last] = [""] * (last - first - 1)
            result[first] = result[first][:start]
    return result


def _comments(lines: Sequence[str]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Line and column where each comment begins and where it has ended."""
    fence = ""
    opened: tuple[int, int] | None = None
    for number, line in enumerate(lines):
        mark = _FENCE.match(line) if opened is None else None
        if fence:
            if mark and mark[1].startswith(fence) and not line.strip("`~> \t"):
                fence = ""
        elif mark:
            fence = mark[1]
        elif "%%" in line:
            position = 0
            while found := (_MARK if opened else _CODE_OR_MARK).search(line, position):
                position = found.end()
                if found.group() != "%%":
                    continue
                if opened:
                    yield opened, (number, position)
                opened = None if opened else (number, found.start())


def inline_tags(lines: Iterable[str]) -> Iterator[str]:
    """Tags as written, without `#`, from lines that are no code."""
    for line in lines:
        if "#" not in line:
            continue
        plain = _NOT_TAGS.sub("x", _CODE_SPAN.sub("x", line[:_LONG_LINE]))
        for tag in _TAG.findall(plain):
            if _SAYS_MORE_THAN_A_NUMBER.search(tag):
                yield tag


def inline_links(lines: Iterable[tuple[int, str]]) -> Iterator[Link]:
    """Links of numbered lines that are no code, in the order they stand in."""
    for number, line in lines:
        if "[" not in line:
            continue
        plain = _CODE_SPAN.sub("", line[:_LONG_LINE]) if "`" in line else line[:_LONG_LINE]
        found = [(m.start(), _wikilink(m, number)) for m in _WIKILINK.finditer(plain)]
        found += [(m.start(), link) for m in _MARKDOWN_LINK.finditer(plain) if (link := _relative_link(m, number))]
        yield from (link for _, link in sorted(found, key=lambda pair: pair[0]))


def plain_words(text: str) -> str:
    """A heading's words: links reduced to what they show, marks of emphasis and block ids dropped."""
    text = re.sub(r"\s+\^[\w-]+$", "", text)
    text = _WIKILINK.sub(lambda m: m[4] or " > ".join(part for part in (m[2], m[3]) if part), text)
    text = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)", r"\1", text)
    text = re.sub(r"\*\*|__|==|~~|`", "", text)
    text = re.sub(r"(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])", "", text)
    return text.strip()


def _wikilink(match: re.Match[str], line: int) -> Link:
    embed, target, heading, text = match.groups()
    return Link(target.strip().removesuffix(".md"), (heading or "").strip(), (text or "").strip(), line, bool(embed))


def _relative_link(match: re.Match[str], line: int) -> Link | None:
    embed, text, bracketed, bare = match.groups()
    address = bracketed if bracketed is not None else bare
    if not address or _SCHEME.match(address):
        return None
    path, _, heading = address.partition("#")
    return Link(unquote(path).removesuffix(".md"), unquote(heading), text.strip(), line, bool(embed))
