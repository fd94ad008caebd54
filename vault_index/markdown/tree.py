"""Convert markdown to a tree that a page can draw safely: fixed tags, safe addresses, no HTML.

A node is a string or `[tag, attributes, *children]`. The tags are p h1 to h6 ul ol li blockquote
pre code em strong del mark sup hr br table thead tbody tr th td a img callout input math tag embed.
Blocks, items and rows have `line` and `end`, their first and last line in the file (from 1).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from markdown_it.token import Token

from vault_index.markdown.blocks import DOLLARS, MATH, VERBATIM, plain_spans
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.grammar import (
    FOOTNOTE,
    TOO_DEEP,
    Env,
    MarkdownTooLarge,
    blocks_of,
    inline_of,
)
from vault_index.markdown.inline import BLOCK_ID, SCHEME, plain_words, wikilink
from vault_index.markdown.normalize import split_lines
from vault_index.unicode import mended

Node: TypeAlias = str | list[Any]
Attributes: TypeAlias = dict[str, str | int | bool]

IMAGES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg")
_DEEPEST = 90
_LONGEST = 2000
"""Longest address in characters; titles and image texts have a quarter."""
_SHOWN = 200
"""Characters of an address shown instead of an image, which may be a base64 data URI."""
_ROOM = 1_000_000
"""Maximum characters of all addresses, in addition to the length of the text.

A link definition may be used many times.
"""
_LANGUAGE = re.compile(r"[A-Za-z0-9+#-]{1,32}(?![A-Za-z0-9+#-])")
_CALLOUT = re.compile(r"\[!([^\]\n]{1,100})\]([+-]?)[ \t]*([^\n]*)\n?")
_NOT_KIND = re.compile(r"[^a-z-]")
_TASK = re.compile(r"\[(.)\](?:[ \t]+|$)")
_NOT_WORD = re.compile(r"\W+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WEB = re.compile(r"(?:https?(?=://[^\s/?#\\])|mailto(?=:[^\s/?#\\]))", re.IGNORECASE)
_SIZED = re.compile(r"(?:(.*)\|)?[ \t]*(\d{1,4})(?:x\d{1,4})?[ \t]*", re.DOTALL)
_SPACE = re.compile(r"\s")


class Rendered(NamedTuple):
    """The tree of a document, and its outline."""

    nodes: list[Any]
    outline: list[Attributes]
    """`level`, `text`, `id` and `line` of the top-level headings."""


def tree(text: str) -> Rendered:
    """Convert a file without its frontmatter. Never raises."""
    written = split_lines(mended(text.removeprefix("\ufeff")))
    front = read_frontmatter(written).lines
    written[:front] = [""] * front
    try:
        drawing = _Drawing(*blocks_of(written))
    except MarkdownTooLarge:
        return plain_tree(text)
    return Rendered(drawing.nodes, drawing.outline)


def plain_tree(text: str) -> Rendered:
    """Return unparsed paragraphs below a warning, for a text that takes `tree` too long."""
    lines = split_lines(mended(text))
    warning = {
        "kind": "warning",
        "title": "This text takes too long to render, so its source is shown",
        "line": 1,
        "end": 1,
    }
    paragraphs = ((one.start, one.end) for one in plain_spans(lines)[0])
    shown = (
        ["p", {"line": start, "end": end}, "\n".join(lines[start - 1 : end])]
        for start, end in paragraphs
    )
    return Rendered([["callout", warning], *shown], [])


class _Drawing:
    """Draws the tokens of a document: `nodes`, and its `outline`."""

    def __init__(self, lines: Sequence[str], tokens: Sequence[Token], env: Env) -> None:
        self._env = env
        self._last_nonblank = list(
            accumulate((n if line.strip() else 0 for n, line in enumerate(lines, start=1)), max)
        )
        self._room = sum(map(len, lines)) + _ROOM
        self.outline: list[Attributes] = []
        tokens = sorted(tokens, key=lambda token: token.type == FOOTNOTE)  # these go to the end
        self._annotate(tokens)
        self.nodes = self._nodes(iter(tokens))

    def _annotate(self, tokens: Sequence[Token]) -> None:
        """Add ids of headings, callouts and tasks to the tokens, and fill the outline."""
        used: dict[str, int] = {}
        for token, first, inline in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if token.type == "heading_open":
                words = plain_words(first.content)
                name = key = "h-" + _NOT_WORD.sub("-", words.lower()).strip("-")[:80]
                while key in used:
                    used[name] += 1
                    key = f"{name}-{used[name]}"
                used[key], token.meta["id"] = 1, key
                if token.level == 0 and words:
                    line = self._place(token)["line"]
                    self.outline.append(
                        {"level": int(token.tag[1:]), "text": words, "id": key, "line": line}
                    )
            elif first.type == "paragraph_open" and token.type == "blockquote_open":
                _mark_callout(token, first, inline)
            elif first.type == "paragraph_open" and token.type == "list_item_open":
                _mark_task(inline)
            elif token.type == "paragraph_open":
                first.content = BLOCK_ID.sub("", first.content)
                token.hidden = token.hidden or not first.content

    def _nodes(
        self, tokens: Iterator[Token], depth: int = 0, *, in_link: bool = False
    ) -> list[Node]:
        """Return the nodes up to the end of the open token.

        An unsafe link, a link in a link, or a token nested too deeply keeps only its content.
        """
        found: list[Node] = []
        left_out = 0
        for token in tokens:
            if token.nesting > 0:
                attributes = self._attributes(token, in_link) if depth <= _DEEPEST else None
                if attributes is None:
                    left_out += 1
                    continue
                inside = self._nodes(tokens, depth + 1, in_link=in_link or token.tag == "a")
                found.append(["del" if token.tag == "s" else token.tag, attributes, *inside])
            elif token.nesting == 0:
                found += self._block(token, depth) if token.block else self._leaf(token, in_link)
            elif left_out:
                left_out -= 1
            else:
                break
        return _with_joined_texts(found)

    def _attributes(self, token: Token, in_link: bool) -> Attributes | None:
        """Return the attributes of an opening token; None to leave it out."""
        if token.tag == "a":
            target = None if in_link else self._target(str(token.attrs["href"]))
            return target and target | self._title(token)
        if token.tag in ("th", "td"):
            align = str(token.attrs.get("style", "")).partition(":")[2]
            return {"align": align} if align else {}
        if not token.block or token.tag in ("thead", "tbody"):
            return {}
        start = {"start": int(token.attrs["start"])} if "start" in token.attrs else {}
        return None if token.hidden else {**self._place(token), **token.meta, **start}

    def _place(self, token: Token) -> Attributes:
        """Return the lines of a token, without the trailing blank lines of markdown-it."""
        first, end = token.map or (0, 1)
        return {
            "line": first + 1,
            "end": max(self._last_nonblank[min(end, len(self._last_nonblank)) - 1], first + 1),
        }

    def _block(self, token: Token, depth: int) -> list[Node]:
        content, place = token.content, self._place(token)
        inside: list[Node] = []
        if token.type in ("inline", FOOTNOTE):
            inside = self._nodes(iter(inline_of(content, self._env)), depth + 1)
        if token.type == "inline":
            return [["input", token.meta], *inside] if token.meta else inside
        if token.type == FOOTNOTE:
            return [["p", place, *_with_joined_texts([["sup", {}, token.info], *inside])]]
        if token.type == MATH:
            source = content.strip().removeprefix(DOLLARS).removesuffix(DOLLARS)
            return [_node("math", {"display": True, **place}, source.strip("\n"))]
        if token.type in VERBATIM:
            language = _LANGUAGE.match(token.info.strip())
            code = _node("code", {}, content.removesuffix("\n"))
            return [["pre", {**({"lang": language[0]} if language else {}), **place}, code]]
        return [["p", place, content] if token.type == TOO_DEEP else ["hr", place]]

    def _leaf(self, token: Token, in_link: bool) -> list[Node]:
        kind, content = token.type, token.content
        match kind:
            case "text" | "text_special":
                return [content]
            case "softbreak":
                return ["\n"]
            case "image":
                shown, width = _sized(plain_words(content))
                return self._image(str(token.attrs["src"]), "", shown, width, token, in_link)
            case "wiki" | "embed":
                return self._wiki(_CONTROL.sub("", content), token, in_link)
            case "tag":
                return [["tag", {"name": content}, f"#{content}"]]
            case "math" | "display":
                return [_node("math", {"display": kind == "display"}, content.strip())]
        tag = {"hardbreak": "br", "code_inline": "code"}.get(kind, "sup")
        return [_node(tag, {}, content)]

    def _wiki(self, inner: str, token: Token, in_link: bool) -> list[Node]:
        embed = token.type == "embed"
        if (link := wikilink(inner, embed)) is None:
            return [f"{'!' * embed}[[{inner}]]"]
        place = f"{link.target}#{link.heading}" if link.heading else link.target
        alias, width = _sized(inner.partition("|")[2]) if embed else (link.text, 0)
        shown = alias or " > ".join(part for part in place.split("#") if part)
        if embed:
            return self._image(link.target, f"[[{place}]]", shown, width, token, in_link)
        return [shown if in_link else ["a", {"ref": f"[[{place}]]"}, shown]]

    def _image(
        self, address: str, wiki: str, shown: str, width: int, token: Token, in_link: bool
    ) -> list[Node]:
        """Return an image of the vault or an embedded note; for other addresses, a link."""
        target = self._target(address)
        if target is None or "ref" not in target:
            words = shown or address[:_SHOWN]
            return [words if in_link or target is None else ["a", target, words]]
        path = address if wiki else str(target["ref"]).partition("#")[0]
        if path.lower().endswith(IMAGES):
            attributes: Attributes = {"src": path, "alt": shown or path.rpartition("/")[2]}
            attributes |= {"width": width} if width else {}
            return [["img", attributes | self._title(token)]]
        return [shown if in_link else ["embed", {"ref": wiki or target["ref"]}, shown or path]]

    def _target(self, address: str) -> Attributes | None:
        target = destination(address)
        self._room -= sum(map(len, map(str, target.values()))) if target else 0
        return target if self._room > 0 else None

    def _title(self, token: Token) -> Attributes:
        title = str(token.attrs.get("title", ""))[: _LONGEST // 4]
        self._room -= len(title)
        return {"title": title} if title and self._room > 0 else {}


def _mark_callout(token: Token, paragraph: Token, inline: Token) -> None:
    """Make a blockquote with the marker of a callout one; remove the marker."""
    if match := _CALLOUT.match(inline.content):
        kind = _NOT_KIND.sub("", match[1].partition("|")[0].strip().lower())[:32] or "note"
        title = plain_words(match[3]) or kind.replace("-", " ").capitalize()
        fold = {"fold": match[2]} if match[2] else {}
        token.tag, token.meta = "callout", {"kind": kind, "title": title, **fold}
        inline.content = inline.content[match.end() :]
        first, end = paragraph.map or (0, 0)
        paragraph.hidden, paragraph.map = not inline.content, [first + 1, end]


def _mark_task(inline: Token) -> None:
    """Remove the box of a task from the text of its item; keep whether it is checked."""
    if match := _TASK.match(inline.content):
        inline.content = inline.content[match.end() :]
        inline.meta["checked"] = match[1] != " "


def _node(tag: str, attributes: Attributes, text: str) -> Node:
    return [tag, attributes, text] if text else [tag, attributes]


def _with_joined_texts(nodes: Iterable[Node]) -> list[Node]:
    joined: list[Node] = []
    for is_text, group in groupby(filter(None, nodes), key=lambda node: isinstance(node, str)):
        run = list(group)
        joined += ["".join(map(str, run))] if is_text else run  # type: ignore[arg-type]
    return joined


def destination(address: str) -> Attributes | None:
    """Return `href` for a web or mail address, `ref` (decoded, without query) for one in the vault.

    None for any other address.
    """
    bare = _CONTROL.sub("", address).strip()
    if len(bare) > _LONGEST:
        return None
    if web := _WEB.match(bare):
        return {"href": web[0].lower() + _SPACE.sub("%20", bare[web.end() :])}
    path, mark, heading = bare.partition("#")
    ref = _CONTROL.sub("", unquote(path.partition("?")[0] + mark + heading)).strip()
    return (
        {"ref": ref}
        if ref.strip("#") and not SCHEME.match(bare) and not SCHEME.match(ref)
        else None
    )


def _sized(words: str) -> tuple[str, int]:
    """Split Obsidian's `words|200` into words and image width in pixels, or 0."""
    match = _SIZED.fullmatch(words)
    return (match[1] or "", int(match[2])) if match else (words, 0)
