"""Parse full markdown with Obsidian's syntax by markdown-it; HTML is text.

Blocks are parsed for the whole text, inline text only in shown blocks, because it takes most of the
time. There are two parsers, because their nesting limits differ.
"""

import re
from collections.abc import MutableMapping, Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.state_inline import Delimiter
from markdown_it.token import Token

from vault_index.markdown.blocks import MATH, MAX_LINES, math_block, read_structure
from vault_index.markdown.inline import WIKI, tag_at, without_comments

Env = MutableMapping[str, Any]
"""Link definitions, and counters of the rules."""

TOO_DEEP = "too_deep"
FOOTNOTE = "footnote"
_DEEPEST = 60
"""Deepest token level; a list takes two levels.

Deeper blocks become text, because the parser would drop them.
"""
_CELLS = 20_000
"""Maximum number of table tokens, plus two per character of the text.

The parser fills short rows, so 2 kB can become 65,000 cells.
"""

_DEFINITION = re.compile(r"\[\^([^\s\[\]^]{1,64})\]:")
_MARKUP = re.compile(
    rf"(?P<embed>!?){WIKI}|\[\^(?P<footnote>[^\s\[\]^]{{1,64}})\]"
    r"|\$\$(?P<display>[^$]+)\$\$|\$(?![\s$])(?P<math>[^$\n]*)(?<!\s)\$(?!\w)"
)
_SCHEME = re.compile(r"(?<![^\W_])https?\Z", re.IGNORECASE)
_ADDRESS = re.compile(r"://(?!\))[^\s<>\"'`|\\^{}\[\]()]*(?:\([^\s<>\"'`|\\^{}\[\]]*)?")
"""Ends before an unmatched `)`. Takes linear time for a line of addresses."""
_AFTER_ADDRESS = ".,;:!?*_~"
_EQUALS = ord("=")


class MarkdownTooLarge(Exception):
    """A text is too long or nested too deeply for markdown-it."""


def blocks_of(lines: Sequence[str]) -> tuple[Sequence[str], list[Token], Env]:
    """Parse lines without frontmatter; return them without comments, with tokens and environment.

    Raises MarkdownTooLarge.
    """
    if len(lines) > MAX_LINES:
        raise MarkdownTooLarge
    if any("%%" in line for line in lines):
        lines = without_comments(lines, read_structure(lines).code_lines)
    env: Env = {}
    try:
        return lines, _block_parser().parse("\n".join(lines), env), env
    except RecursionError as error:
        raise MarkdownTooLarge from error


def inline_of(content: str, env: Env) -> list[Token]:
    """Parse the inline tokens of a paragraph, heading or cell."""
    tokens: list[Token] = []
    try:
        _inline_parser().inline.parse(content, _inline_parser(), env, tokens)
    except RecursionError:
        tokens = [Token("text", "", 0, content=content)]
    return tokens


class _Parser(MarkdownIt):
    """Leaves addresses as written; the caller decides which of them are links."""

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return link

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return True


@cache
def _block_parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False, "maxNesting": 2 * _DEEPEST})
    parser.core.ruler.enableOnly(["normalize", "block"])
    rules = parser.block.ruler
    rules.enable("table")
    rules.disable("html_block")
    rules.at("table", _table, {"alt": ["paragraph", "reference"]})
    rules.before("table", TOO_DEEP, _too_deep)
    rules.before(
        "fence", MATH, math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    rules.before("reference", FOOTNOTE, _footnote, {"alt": ["paragraph", "reference"]})
    return parser


@cache
def _inline_parser() -> MarkdownIt:
    parser = _Parser("commonmark", {"html": False}).enable("strikethrough")
    parser.inline.ruler.before("link", "markup", _markup)
    parser.inline.ruler.before("link", "highlight", _highlight)
    parser.inline.ruler.after("autolink", "address", _address)
    parser.inline.ruler2.before("emphasis", "highlight", _highlighted)
    return parser


# --- blocks ---------------------------------------------------------------------------------------


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    if state.level < _DEEPEST:
        return False
    last = start + 1
    while last < end and (state.isEmpty(last) or state.sCount[last] >= state.blkIndent):
        last += 1
    return _push_block(state, TOO_DEEP, start, last)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a table; only its first rows if it exceeds the cell limit."""
    before, used = len(state.tokens), state.env.get("cells", 0)
    columns = state.src.count("|", state.bMarks[start], state.eMarks[start]) + 1
    rows = (2 * len(state.src) + _CELLS - used) // (3 * columns)
    if rows < 1 or not table(state, start, min(end, start + 2 + rows), silent):
        return False
    state.env["cells"] = used + len(state.tokens) - before
    return True


def _footnote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a footnote definition, which is one paragraph."""
    match = _DEFINITION.match(
        state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start]
    )
    if match is None or silent or state.is_code_block(start):
        return match is not None and not state.is_code_block(start)
    last, endings = start + 1, state.md.block.ruler.getRules("paragraph")
    while (
        last < end
        and not state.isEmpty(last)
        and not any(rule(state, last, end, True) for rule in endings)
    ):
        last += 1
    return _push_block(state, FOOTNOTE, start, last, match[1])


def _push_block(state: StateBlock, kind: str, start: int, last: int, info: str = "") -> bool:
    token = state.push(kind, "p", 0)
    token.map, token.info = [start, last], info
    token.content = (
        state.getLines(start, last, state.blkIndent, False).strip().removeprefix(f"[^{info}]:")
    )
    state.line = last
    return True


# --- inline text ----------------------------------------------------------------------------------


def _markup(state: StateInline, silent: bool) -> bool:
    """Parse a tag, wikilink, embed, footnote reference or formula to a token with its source."""
    at, sign = state.pos, state.src[state.pos]
    if sign == "#" and not state.linkLevel and (tag := tag_at(state.src, at)):
        kind, content, end = "tag", tag, at + 1 + len(tag)
    elif sign in "[!$" and (match := _MARKUP.match(state.src, at, state.posMax)):
        kind, end = str(match.lastgroup), match.end()
        content = match[kind]
        kind = "embed" if match["embed"] else kind
    else:
        return False
    if not silent:
        state.push(kind, "", 0).content = content
    state.pos = end
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """Parse a bare web address as a link."""
    at = state.pos
    if silent or state.linkLevel or not state.src.startswith("://", at):
        return False
    scheme = _SCHEME.search(state.src, max(at - 6, 0), at)
    match = (
        _ADDRESS.match(state.src, at, state.posMax)
        if scheme and state.pending.endswith(scheme[0])
        else None
    )
    if not scheme or not match:
        return False
    rest = match[0].rstrip(_AFTER_ADDRESS)
    written = scheme[0] + rest
    state.pending = state.pending.removesuffix(scheme[0])
    state.push("link_open", "a", 1).attrs = {"href": written}
    state.push("text", "", 0).content = written
    state.push("link_close", "a", -1)
    state.pos = at + len(rest)
    return True


def _highlight(state: StateInline, silent: bool) -> bool:
    """Parse `==`, which is a highlight if paired, but an operator between ASCII characters."""
    at = state.pos
    if silent or not state.src.startswith("==", at):
        return False
    around = state.src[max(at - 1, 0) : at] + state.src[at + 2 : at + 3]
    can_open, can_close, length = state.scanDelims(at, not around.isascii())
    state.push("text", "", 0).content = "=" * length
    if length == 2:
        state.delimiters.append(
            Delimiter(_EQUALS, 0, len(state.tokens) - 1, -1, can_open, can_close)
        )
    state.pos += length
    return True


def _highlighted(state: StateInline) -> None:
    for delimiters in (
        state.delimiters,
        *(meta["delimiters"] for meta in state.tokens_meta if meta),
    ):
        for one in delimiters:
            if one.marker == _EQUALS and one.end >= 0:
                for at, nesting in ((one.token, 1), (delimiters[one.end].token, -1)):
                    state.tokens[at] = Token("mark", "mark", nesting)  # type: ignore[arg-type]
