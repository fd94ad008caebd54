"""The text of a memory file: a new one, its body, and changes of the body. Changes of the head are in `splice`."""

import re
from collections.abc import Iterator

from vault_index.markdown.normalize import split_lines
from vault_index.markdown.parse import read_body
from vault_index.markdown.words import plain_words
from vault_index.memories.file.fields import Fields, changes_of
from vault_index.memories.file.file_parts import ended, lay_out, lines_with_ends, with_line_ends, without_blank_edges
from vault_index.memories.file.frontmatter_edit import with_changes as with_changes
from vault_index.memories.file.sections import with_section as with_section
from vault_index.memories.file.yaml_values import KEYS, entry

_TITLE_CHARACTERS = 80
_MARKS = re.compile(r"^[ \t]*(?:(?:>|[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[.\][ \t]+|\[![^\]\n]*\][+-]?[ \t]*)?")
_SENTENCE = re.compile(r".+?(?:[.!?](?=\s|$)|[。！？]|$)", re.DOTALL)


def new_document(fields: Fields, body: str, *, uid: str, created: str) -> str:
    """The file of a new memory. Keys that were not given, or given empty, are left out; lines end with LF."""
    values = {**changes_of(fields), "id": uid, "created": created, "updated": created}
    head = "".join(entry(key, values[key], "\n") for key in KEYS if values.get(key) is not None)
    return f"---\n{head}---\n{ended(without_blank_edges(with_line_ends(body, chr(10))), chr(10))}"


def body_of(text: str) -> str:
    """What follows the frontmatter, without blank lines around it; lines end with LF."""
    return without_blank_edges("\n".join(split_lines(lay_out(text).body)))


def title_of(body: str) -> str:
    """What to call a memory that was given no title: its first heading or first sentence, without marks.

    At most 80 characters, cut between words; empty where the body says nothing.
    """
    for text in _candidates(split_lines(body)):
        words = plain_words(text)
        if words:
            return _shortened(words)
    return ""


def with_body(text: str, body: str) -> str:
    """The file with another body. Blank lines under the frontmatter and the end of the last line stay as they are."""
    layout = lay_out(text)
    head = layout.opening + ended(layout.inside + layout.closing, layout.newline)
    new = with_line_ends(without_blank_edges(body), layout.newline)
    if not layout.body.strip():
        return head + layout.body + ended(new, layout.newline)
    gap = "".join(_leading_blank(layout.body)) if new else ""
    return head + gap + (new if _open_ended(layout.body) else ended(new, layout.newline))


def appended(text: str, addition: str) -> str:
    """The file with a paragraph more at its end, after a blank line. What was there stays as it is."""
    layout = lay_out(text)
    new = with_line_ends(without_blank_edges(addition), layout.newline)
    if not new:
        return text
    whole = ended(text, layout.newline)
    lines = lines_with_ends(layout.body)
    gap = layout.newline if layout.body.strip() and lines[-1].strip() else ""
    return whole + gap + (new if _open_ended(layout.body) else new + layout.newline)


def _leading_blank(body: str) -> Iterator[str]:
    for line in lines_with_ends(body):
        if line.strip():
            return
        yield line


def _open_ended(body: str) -> bool:
    """Whether its last line has no end, as some editors leave it."""
    return bool(body.strip()) and not body.endswith(("\n", "\r"))


def _candidates(lines: list[str]) -> Iterator[str]:
    structure, _ = read_body(lines)
    blocks = [block for block in structure.blocks if block.start_line not in structure.code_lines]
    if blocks and blocks[0].is_heading and blocks[0].headings:
        yield blocks[0].headings[-1]
    yield structure.first_h1
    for block in blocks or structure.blocks:
        if not block.is_heading:
            prose = "\n".join(_MARKS.sub("", line) for line in split_lines(block.text)).strip()
            yield from _SENTENCE.findall(prose)[:1]
    yield from (line for line in lines if line.strip("`~# \t"))


def _shortened(words: str) -> str:
    if len(words) <= _TITLE_CHARACTERS:
        return words if words.endswith("..") else words.removesuffix(".")  # a title is no sentence
    start = words[:_TITLE_CHARACTERS]
    cut = start.rpartition(" ")[0] or start
    return f"{cut[: _TITLE_CHARACTERS - 1].rstrip(' ,;:-')}…"
