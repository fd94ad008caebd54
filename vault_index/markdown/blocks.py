"""Block structure by markdown-it's block rules alone: its inline parser would cost as much again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

from vault_index.markdown.obsidian import plain_words
from vault_index.models import Block

_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_CODE = frozenset({"fence", "code_block"})


@dataclass(frozen=True, slots=True)
class Structure:
    blocks: tuple[Block, ...]
    first_h1: str
    code_lines: frozenset[int]
    """Numbers of the lines that are code, where neither tags nor links count."""


@dataclass(frozen=True, slots=True)
class _Span:
    """Lines `start` to `end` (1-based, inclusive); `level` of a heading, else 0."""

    start: int
    end: int
    level: int = 0
    title: str = ""


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


_PARSER = _parser()


def read_structure(lines: Sequence[str]) -> Structure:
    """Blocks of a document whose frontmatter and comments are blanked out, so that line numbers are the file's."""
    tokens = _PARSER.parse("\n".join(lines))
    spans = _with_gaps(list(_spans(tokens, lines)), lines)
    blocks: list[Block] = []
    path: list[tuple[int, str]] = []
    for span in spans:
        if span.level:
            while path and path[-1][0] >= span.level:
                path.pop()
            path.append((span.level, span.title))
        blocks.append(
            Block(
                span.start,
                span.end,
                "\n".join(lines[span.start - 1 : span.end]),
                tuple(title for _, title in path if title),
                bool(span.level),
            )
        )
    first_h1 = next((span.title for span in spans if span.level == 1 and span.title), "")
    return Structure(tuple(blocks), first_h1, frozenset(_code_lines(tokens)))


def _spans(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[_Span]:
    in_list = False
    for position, token in enumerate(tokens):
        if token.map is None:
            in_list = in_list and not (token.level == 0 and token.type.endswith("list_close"))
            continue
        if token.level == 0 and token.type in _LISTS:
            in_list = True
        elif token.level == 0 and token.type == "heading_open":
            title = plain_words(tokens[position + 1].content)
            yield from _trimmed(token.map, lines, int(token.tag[1:]), title)
        elif (token.level == 0 and token.nesting >= 0 and token.type != "inline") or (
            in_list and token.level == 1 and token.type == "list_item_open"
        ):
            yield from _trimmed(token.map, lines)


def _trimmed(span: Sequence[int], lines: Sequence[str], level: int = 0, title: str = "") -> Iterator[_Span]:
    start, end = span[0], min(span[1], len(lines))
    while end > start and not lines[end - 1].strip():
        end -= 1
    while start < end and not lines[start].strip():
        start += 1
    if start < end:
        yield _Span(start + 1, end, level, title)


def _with_gaps(spans: Sequence[_Span], lines: Sequence[str]) -> list[_Span]:
    """The spans, and the lines no token stands for (link definitions), so that nothing that is said gets lost."""
    result: list[_Span] = []
    position = 0
    for span in (*spans, _Span(len(lines) + 1, len(lines))):
        start: int | None = None
        for number in range(position + 1, span.start + 1):
            says = number < span.start and bool(lines[number - 1].strip())
            if says and start is None:
                start = number
            elif not says and start is not None:
                result.append(_Span(start, number - 1))
                start = None
        if span.start <= span.end and span.start > position:
            result.append(span)
        position = max(position, span.end)
    return result


def _code_lines(tokens: Sequence[Token]) -> Iterator[int]:
    for token in tokens:
        if token.type in _CODE and token.map is not None:
            yield from range(token.map[0] + 1, token.map[1] + 1)
