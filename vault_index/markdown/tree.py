"""Convert markdown to a tree that a page can draw safely: fixed tags, safe addresses, no HTML.

A node is a string or `[tag, attributes, *children]`. The tags are p h1 to h6 ul ol li blockquote
pre code em strong del mark sup hr br table thead tbody tr th td a img callout input math tag embed.
Blocks, items and rows have `line` and `end`, their first and last line in the file (from 1).
"""

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote

from markdown_it.token import Token

from vault_index.markdown.blocks import DOLLARS, MATH, VERBATIM, plain_spans
from vault_index.markdown.frontmatter import read_frontmatter
from vault_index.markdown.grammar import FOOTNOTE, TOO_DEEP, blocks_of, inline_of
from vault_index.markdown.normalize import split_lines
from vault_index.markdown.obsidian import SCHEME, wikilink
from vault_index.markdown.words import plain_words
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
_CALLOUT = re.compile(r"\[!([^\]\n]{1,100})\][+-]?[ \t]*([^\n]*)\n?")
_NOT_KIND = re.compile(r"[^a-z-]")
_TASK = re.compile(r"\[(.)\](?:[ \t]+|$)")
_NOT_WORD = re.compile(r"\W+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_WEB = re.compile(r"(?:https?(?=://[^\s/?#\\])|mailto(?=:[^\s/?#\\]))", re.IGNORECASE)
_SIZED = re.compile(r"(?:(.*)\|)?[ \t]*(\d{1,4})(?:x\d{1,4})?[ \t]*", re.DOTALL)
_SPACE = re.compile(r"\s")


class Rendered(NamedTuple):
    """The tree of a document, and its outline."""

    nodes: list[Node]
    outline: list[Attributes]
    """`level`, `text`, `id` and `line` of the top-level headings."""


def tree(text: str, *, lines: tuple[int, int] | None = None) -> Rendered:
    """Convert a file without its frontmatter. Never raises.

    `lines` (first and last, from 1) limits the nodes to blocks, items and rows that overlap; the
    outline is complete.
    """
    written = split_lines(mended(text.removeprefix("\ufeff")))
    front = read_frontmatter(written).lines
    written[:front] = [""] * front
    drawing = _Drawing(written, lines)
    return Rendered(drawing.draw(), drawing.outline)


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


class _Nodes:
    """Builds the tree. A node nested too deeply, or a link in a link, keeps only its content."""

    def __init__(self) -> None:
        self.all: list[Node] = []
        self._open: list[list[Any]] = [self.all]
        self._pending: list[str] = []

    def add_text(self, text: str) -> None:
        self._pending.append(text)

    def open(self, tag: str, attributes: Attributes | None) -> Attributes:
        """Open a node and return its attributes, which may change; None leaves the node out."""
        inside = self._open[-1]
        if attributes is None or len(self._open) > _DEEPEST or (tag == "a" and self.in_link):
            self._open.append(inside)
            return {}
        self._flush()
        inside.append([tag, attributes])
        self._open.append(inside[-1])
        return attributes

    def close(self) -> None:
        if self._open[-1] is not self._open[-2]:
            self._flush()
        self._open.pop()

    def add(self, tag: str, attributes: Attributes, text: str = "") -> None:
        self.open(tag, attributes)
        self.add_text(text)
        self.close()

    @property
    def in_link(self) -> bool:
        return any(node and node[0] == "a" for node in self._open)

    def _flush(self) -> None:
        if text := "".join(self._pending):
            self._open[-1].append(text)
        self._pending.clear()


class _Drawing:
    def __init__(self, lines: Sequence[str], window: tuple[int, int] | None) -> None:
        lines, tokens, self._env = blocks_of(lines)
        # Footnotes go to the end.
        self._tokens = sorted(tokens, key=lambda token: token.type == FOOTNOTE)
        self._window = window
        self._last_nonblank = list(
            accumulate((n if line.strip() else 0 for n, line in enumerate(lines, start=1)), max)
        )
        self._room = sum(map(len, lines)) + _ROOM
        self._out = _Nodes()
        self.outline: list[Attributes] = []
        self._ids = self._headings()

    def draw(self) -> list[Node]:
        at = 0
        while at < len(self._tokens):
            if self._is_left_out(at):
                at = self._end(at)
            else:
                self._block(at)
            at += 1
        return self._out.all

    # --- blocks -----------------------------------------------------------------------------------

    def _block(self, at: int) -> None:
        token, out = self._tokens[at], self._out
        if token.nesting < 0:
            out.close()
        elif token.nesting > 0:
            self._open_block(at)
        elif token.type == "inline":
            self._inline(token)
        elif token.type == MATH:
            source = token.content.strip().removeprefix(DOLLARS).removesuffix(DOLLARS)
            out.add("math", {"display": True, **self._place(token)}, source.strip("\n"))
        elif token.type in VERBATIM:
            language = _LANGUAGE.match(token.info.strip())
            out.open("pre", {**({"lang": language[0]} if language else {}), **self._place(token)})
            out.add("code", {}, token.content.removesuffix("\n"))
            out.close()
        elif token.type == FOOTNOTE:
            out.open("p", self._place(token))
            out.add("sup", {}, token.info)
            self._inline(token)
            out.close()
        else:
            out.add("p" if token.type == TOO_DEEP else "hr", self._place(token), token.content)

    def _open_block(self, at: int) -> None:
        token, tag = self._tokens[at], self._tokens[at].tag
        attributes = self._place(token) if tag not in ("thead", "tbody") else {}
        if tag in ("th", "td"):
            attributes = (
                {"align": align}
                if (align := str(token.attrs.get("style", "")).partition(":")[2])
                else {}
            )
        elif tag == "blockquote":
            tag = self._callout(at, attributes)
        elif tag == "li":
            self._task(at)
        elif tag == "ol" and (number := self._first_number(at)) != 1:
            attributes["start"] = number
        elif at in self._ids:
            attributes["id"] = self._ids[at]
        self._out.open(tag, None if token.hidden else attributes)

    def _callout(self, at: int, attributes: Attributes) -> str:
        """Return the tag of a blockquote; if it is a callout, remove its marker."""
        paragraph, inline = self._begins_with(at)
        match = _CALLOUT.match(inline.content) if paragraph.type == "paragraph_open" else None
        if match is None:
            return "blockquote"
        kind = _NOT_KIND.sub("", match[1].partition("|")[0].strip().lower())[:32] or "note"
        attributes["kind"] = kind
        attributes["title"] = plain_words(match[2]) or kind.replace("-", " ").capitalize()
        inline.content = inline.content[match.end() :]
        paragraph.hidden = not inline.content
        first, end = paragraph.map or (0, 0)
        paragraph.map = [first + 1, end]
        return "callout"

    def _task(self, at: int) -> None:
        paragraph, inline = self._begins_with(at)
        if paragraph.type == "paragraph_open" and (match := _TASK.match(inline.content)):
            inline.content = inline.content[match.end() :]
            inline.meta["checked"] = match[1] != " "

    def _begins_with(self, at: int) -> tuple[Token, Token]:
        """Return the next two tokens; for a paragraph, its opening and its text."""
        return self._tokens[at + 1], self._tokens[min(at + 2, len(self._tokens) - 1)]

    def _first_number(self, at: int) -> int:
        """Return the number of the first shown item of a list."""
        token, number = self._tokens[at], int(self._tokens[at].attrs.get("start", 1))
        while self._is_left_out(at + 1):
            number, at = number + 1, self._end(at + 1)
        return number if self._tokens[at + 1].nesting > 0 else int(token.attrs.get("start", 1))

    def _headings(self) -> dict[int, str]:
        """Return heading ids by token index, and fill the outline."""
        ids: dict[int, str] = {}
        used: dict[str, int] = {}
        for at, token in enumerate(self._tokens):
            if token.type == "heading_open":
                words = plain_words(self._tokens[at + 1].content)
                name = key = "h-" + _NOT_WORD.sub("-", words.lower()).strip("-")[:80]
                while key in used:
                    used[name] += 1
                    key = f"{name}-{used[name]}"
                used[key], ids[at] = 1, key
                if token.level == 0 and words:
                    line = self._place(token)["line"]
                    self.outline.append(
                        {"level": int(token.tag[1:]), "text": words, "id": key, "line": line}
                    )
        return ids

    def _place(self, token: Token) -> Attributes:
        """Return the lines of a token, without the trailing blank lines of markdown-it."""
        first, end = token.map or (0, 1)
        return {
            "line": first + 1,
            "end": max(self._last_nonblank[min(end, len(self._last_nonblank)) - 1], first + 1),
        }

    def _is_left_out(self, at: int) -> bool:
        token = self._tokens[at]
        if self._window is None or token.nesting < 0 or token.map is None:
            return False
        row = token.type == "tr_open" and self._tokens[at - 1].type != "thead_open"
        if token.level and not row and token.type not in ("list_item_open", FOOTNOTE):
            return False
        place = self._place(token)
        return int(place["end"]) < self._window[0] or int(place["line"]) > self._window[1]

    def _end(self, at: int) -> int:
        """Return the index of the last token of a block."""
        level, last = self._tokens[at].level, at
        while self._tokens[at].nesting > 0 and (
            self._tokens[last].nesting >= 0 or self._tokens[last].level != level
        ):
            last += 1
        return last

    # --- inline text ------------------------------------------------------------------------------

    def _inline(self, block: Token) -> None:
        out = self._out
        if "checked" in block.meta:
            out.add("input", {"checked": block.meta["checked"]})
        for token in inline_of(block.content, self._env):
            if token.nesting < 0:
                out.close()
            elif token.tag == "a":
                target = self._target(str(token.attrs["href"]))
                out.open("a", target and target | self._title(token))
            elif token.nesting > 0:
                out.open("del" if token.tag == "s" else token.tag, {})
            else:
                self._leaf(token)

    def _leaf(self, token: Token) -> None:
        out, content = self._out, token.content
        if token.type in ("text", "text_special", "softbreak"):
            out.add_text("\n" if token.type == "softbreak" else content)
        elif token.type == "image":
            shown, width = _sized(plain_words(content))
            self._image(str(token.attrs["src"]), "", shown, width, token)
        elif token.type in ("wiki", "embed"):
            self._wiki(_CONTROL.sub("", content), token)
        elif token.type == "tag":
            out.add("tag", {"name": content}, f"#{content}")
        elif token.type in ("math", "display"):
            out.add("math", {"display": token.type == "display"}, content.strip())
        else:
            out.add({"hardbreak": "br", "code_inline": "code"}.get(token.type, "sup"), {}, content)

    def _wiki(self, inner: str, token: Token) -> None:
        embed = token.type == "embed"
        link = wikilink(inner, embed)
        if link is None:
            self._out.add_text(f"{'!' * embed}[[{inner}]]")
            return
        place = f"{link.target}#{link.heading}" if link.heading else link.target
        alias, width = _sized(inner.partition("|")[2]) if embed else (link.text, 0)
        shown = alias or " > ".join(part for part in place.split("#") if part)
        if embed:
            self._image(link.target, f"[[{place}]]", shown, width, token)
        else:
            self._out.add("a", {"ref": f"[[{place}]]"}, shown)

    def _image(self, address: str, wiki: str, shown: str, width: int, token: Token) -> None:
        """Add an image of the vault or an embedded note; for other addresses, a link."""
        target = self._target(address)
        if target is None or "ref" not in target:
            self._out.open("a", target)
            self._out.add_text(shown or address[:_SHOWN])
            self._out.close()
            return
        path = address if wiki else str(target["ref"]).partition("#")[0]
        if path.lower().endswith(IMAGES):
            attributes: Attributes = {"src": path, "alt": shown or path.rpartition("/")[2]}
            attributes |= {"width": width} if width else {}
            self._out.add("img", attributes | self._title(token))
        elif self._out.in_link:
            self._out.add_text(shown)
        else:
            self._out.add("embed", {"ref": wiki or target["ref"]}, shown or path)

    def _target(self, address: str) -> Attributes | None:
        target = destination(address)
        self._room -= sum(map(len, map(str, target.values()))) if target else 0
        return target if self._room > 0 else None

    def _title(self, token: Token) -> Attributes:
        title = str(token.attrs.get("title", ""))[: _LONGEST // 4]
        self._room -= len(title)
        return {"title": title} if title and self._room > 0 else {}


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
