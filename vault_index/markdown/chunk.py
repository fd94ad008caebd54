"""Cut a document into chunks of whole blocks under one heading; edits elsewhere do not move cuts.

Packing from the top would shift all later cuts when a line is inserted, and embed the whole note
again. Two rules make cuts independent of the text above:

- A section is split into segments before each *anchor*, a block selected by a hash of its own text
  (about one in `_ANCHOR_RATE`). So a text appended to a long log changes nothing before the last
  anchor.
- A segment is packed from its end. So a line inserted at its top changes only its first chunk, or
  adds one.

A chunk may begin with the end of the previous one (`overlap`). Every chunk reserves room for it,
even the first, so that cuts do not depend on which chunk is the first.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from typing import NamedTuple

from vault_index import tokens
from vault_index.models import Block, Chunk, ParsedDocument

LONGEST_TOKEN = 128
"""Length of the longest cl100k_base token (a run of spaces), in characters."""

_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?=\s)|(?<=[。！？])(?![。！？」』”’）])|(?<=[。！？][」』”’）])"
)
_JOINER = "\u200d"
_VARIANTS = "\ufe0e\ufe0f"
_LONGEST_CHARACTER = 32  # a family emoji, or a letter with accents
_ANCHOR_TOKENS = 8
"""Smallest anchor in tokens, because shorter blocks (`- [ ] todo`) repeat too often."""
_ANCHOR_RATE = 48
_MOST_COUNTS = 40_000
_counts: dict[int, int] = {}
"""Token counts by 64-bit hash of the text."""
_MARKS = " \t\n-_*+>=|#"


class _Unit(NamedTuple):
    """The smallest part of a section."""

    start: int
    end: int
    text: str
    tokens: int
    glue: str
    """The line ends before this unit; empty within a line."""
    is_heading: bool = False


def chunk(document: ParsedDocument, budget: int, overlap: int) -> tuple[Chunk, ...]:
    """Return chunks of at most `budget` tokens (cl100k_base), with up to `overlap` repeated.

    The overlap consists of whole blocks of the same section, and is at most half the budget. Token
    counts are sums over blocks, each with its line end.
    """
    overlap = max(0, min(overlap, budget // 2))
    sections = [
        (headings, list(blocks))
        for headings, blocks in groupby(document.blocks, key=lambda b: b.headings)
    ]
    chunks: list[Chunk] = []
    for number, (headings, blocks) in enumerate(sections):
        deeper = number + 1 < len(sections) and sections[number + 1][0][: len(headings)] == headings
        if deeper and all(block.is_heading for block in blocks):
            continue  # only a heading, which is in the paths of the next sections
        chunks += _section_chunks(headings, list(_units(blocks, budget)), budget, overlap)
    return tuple([piece for piece in chunks if _has_words(piece.text)] or chunks)


def chunk_fields(document: ParsedDocument, budget: int) -> tuple[Chunk, ...]:
    """Return chunks of the frontmatter texts, as few as possible per group."""
    groups = (list(_units(blocks, budget)) for blocks in document.fields)
    return tuple(_as_chunk((), run) for units in groups for run in _packed(units, budget, 0))


def _has_words(text: str) -> bool:
    """Return whether a text has more than rules, bullets and other marks."""
    return bool(text.strip(_MARKS))


def _section_chunks(
    headings: tuple[str, ...], units: Sequence[_Unit], budget: int, overlap: int
) -> Iterator[Chunk]:
    runs = [run for segment in _segments(units) for run in _packed(segment, budget, overlap)]
    if all(unit.is_heading for unit in runs[0]) and any(
        _has_words(unit.text) for run in runs[1:] for unit in run
    ):
        runs = runs[1:]  # drop a heading without text, which is in the path
    yield from (_as_chunk(headings, run) for run in runs)


def _as_chunk(headings: tuple[str, ...], run: Sequence[_Unit]) -> Chunk:
    within_line = not run[0].glue
    text = run[0].text.lstrip() if within_line else run[0].text
    text += "".join(unit.glue + unit.text for unit in run[1:])
    return Chunk(run[0].start, run[-1].end, headings, text, sum(unit.tokens for unit in run))


def _segments(units: Sequence[_Unit]) -> Iterator[Sequence[_Unit]]:
    start = 0
    for position, unit in enumerate(units):
        # Consecutive equal lines are not anchors, or each would become a chunk.
        if position > start and unit.text != units[position - 1].text and _is_anchor(unit):
            yield units[start:position]
            start = position
    yield units[start:]


def _is_anchor(unit: _Unit) -> bool:
    if unit.tokens < _ANCHOR_TOKENS or unit.is_heading:
        return False
    digest = blake2b(unit.text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _ANCHOR_RATE == 0


def _packed(units: Sequence[_Unit], budget: int, overlap: int) -> list[Sequence[_Unit]]:
    """Pack units from the end into runs, each with its overlap; return them in order."""
    runs: list[Sequence[_Unit]] = []
    end = top = len(units)
    while top > 0:
        start = end - 1
        size = units[start].tokens
        while start > 0 and size + units[start - 1].tokens <= budget - overlap:
            start -= 1
            size += units[start].tokens
        first, spare = start, min(overlap, budget - size)
        while first > 0 and units[first - 1].tokens <= spare:
            first -= 1
            spare -= units[first].tokens
        # Skip a run that the next run repeats completely.
        if first < top:
            runs.append(units[first:end])
            top = first
        end = start
    return runs[::-1]


def _units(blocks: Sequence[Block], budget: int) -> Iterator[_Unit]:
    before = 0
    for block in blocks:
        # Canvas cards may share a line; separate them with a blank line.
        glue = "\n" * (block.start_line - before) or "\n\n"
        before = block.end_line
        size = (
            _counted(block.text + "\n") if len(block.text) <= budget * LONGEST_TOKEN else budget + 1
        )
        if size <= budget:
            yield _Unit(block.start_line, block.end_line, block.text, size, glue, block.is_heading)
        else:
            yield from _lines_of(block, budget, glue)


def _counted(text: str) -> int:
    """Count tokens, with a cache for growing documents."""
    key = hash(text)
    if (known := _counts.get(key)) is None:
        if len(_counts) >= _MOST_COUNTS:
            _counts.clear()
        _counts[key] = known = tokens.count(text)
    return known


def _lines_of(block: Block, budget: int, glue: str) -> Iterator[_Unit]:
    """Yield the lines of an oversized block, and the pieces of an oversized line."""
    for offset, line in enumerate(block.text.split("\n")):
        if not line.strip():
            glue += "\n"
            continue
        number = min(block.start_line + offset, block.end_line)
        for piece, size in pieces(line, max(budget - 1, 1)):
            # One more token for the line end.
            yield _Unit(number, number, piece, size + 1, glue, block.is_heading)
            glue = ""
        glue = "\n"


def pieces(line: str, budget: int) -> Iterator[tuple[str, int]]:
    """Yield pieces of at most `budget` tokens with their counts; joined, they give the line."""
    size = _size(line, budget)
    if size <= budget:
        yield line, size
        return
    start = 0
    for end in (*(match.start() for match in _SENTENCE_END.finditer(line)), len(line)):
        if end > start:
            yield from _fitting(line[start:end], budget)
            start = end


def _fitting(text: str, budget: int) -> Iterator[tuple[str, int]]:
    size = _size(text, budget)
    if size <= budget or len(text) == 1:
        yield text, size
        return
    # Usually one token holds at least one character; the recursion halves longer pieces.
    width = max(min(budget, len(text) // 2), 1)
    start = 0
    while start < len(text):
        end = _cut(text, start, start + width)
        yield from _fitting(text[start:end], budget)
        start = end


def _size(text: str, budget: int) -> int:
    """Count tokens; return `budget + 1` for a text that is certainly too long."""
    return tokens.count(text) if len(text) <= budget * LONGEST_TOKEN else budget + 1


def _cut(text: str, start: int, end: int) -> int:
    """Return the last word boundary up to `end`, else the next boundary of whole characters."""
    if end >= len(text):
        return len(text)
    space = text.rfind(" ", start + 1, end + 1)
    if space > start:
        return space
    for position in range(end, min(end + _LONGEST_CHARACTER, len(text))):
        following = text[position]
        joined = following in _VARIANTS or following == _JOINER or text[position - 1] == _JOINER
        if not joined and not unicodedata.combining(following):
            return position
    return end
