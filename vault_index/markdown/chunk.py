"""Cutting a document into chunks: whole blocks under one heading, and the same cuts again after an edit elsewhere.

A plain packing from the top would shift every later cut when one line is inserted, and embed the whole note again.
Two rules keep cuts where they are, both blind to what stands above:

- A section is first cut into segments before each *anchor*, a block that a hash of its own text selects (about one of
  `_ANCHOR_RATE`). So a text appended to a long log without headings changes nothing before the last anchor.
- A segment is packed from its end. So a line inserted at its top changes its first chunk, or makes a new one.

A chunk may begin with the end of the one before (`overlap`). Room for that is kept free in every chunk, also in the
first, which has nothing to repeat: whether a chunk is the first must not decide where it begins.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

from vault_index import tokens
from vault_index.models import Block, Chunk, ParsedDocument

LONGEST_TOKEN = 128
"""Characters of the longest token of cl100k_base, a run of spaces: `n` tokens hold at most `n` times as many."""

_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])(?![。！？」』”’）])|(?<=[。！？][」』”’）])")
_JOINER = "\u200d"
_VARIANTS = "\ufe0e\ufe0f"
_LONGEST_CHARACTER = 32  # an emoji of a family, a letter with its accents
_ANCHOR_TOKENS = 8
"""Shorter blocks (`- [ ] todo`) are repeated too often to be anchors."""
_ANCHOR_RATE = 48
_MOST_COUNTS = 40_000
_counts: dict[int, int] = {}
"""By the hash of a text, which with 64 bits is that of no other."""
_MARKS = " \t\n-_*+>=|#"


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest part of a section, which is not cut further."""

    start: int
    end: int
    text: str
    tokens: int
    glue: str
    """The text between this unit and the one before, line ends or nothing."""
    is_heading: bool = False


def chunk(document: ParsedDocument, budget: int, overlap: int) -> tuple[Chunk, ...]:
    """Chunks of at most `budget` tokens (cl100k_base), of which up to `overlap` repeat the chunk before.

    `overlap` counts whole blocks of the same section and is bounded by half the budget. Tokens are summed over blocks,
    each counted once with the line end that follows it.
    """
    overlap = max(0, min(overlap, budget // 2))
    sections = [(headings, list(blocks)) for headings, blocks in groupby(document.blocks, key=lambda b: b.headings)]
    chunks: list[Chunk] = []
    for number, (headings, blocks) in enumerate(sections):
        deeper = number + 1 < len(sections) and sections[number + 1][0][: len(headings)] == headings
        if deeper and all(block.is_heading for block in blocks):
            continue  # nothing of its own: its words are in the path of what follows
        chunks += _section_chunks(headings, list(_units(blocks, budget)), budget, overlap)
    return tuple([piece for piece in chunks if _has_words(piece.text)] or chunks)


def chunk_fields(document: ParsedDocument, budget: int) -> tuple[Chunk, ...]:
    """Chunks of the texts in the frontmatter, as few as each group fits in."""
    groups = (list(_units(blocks, budget)) for blocks in document.fields)
    return tuple(_as_chunk((), run) for units in groups for run in _packed(units, budget, 0))


def _has_words(text: str) -> bool:
    """Whether a text is more than rules, bullets and other marks."""
    return bool(text.strip(_MARKS))


def _section_chunks(headings: tuple[str, ...], units: Sequence[_Unit], budget: int, overlap: int) -> Iterator[Chunk]:
    runs = [run for segment in _segments(units) for run in _packed(segment, budget, overlap)]
    if all(unit.is_heading for unit in runs[0]) and any(_has_words(unit.text) for run in runs[1:] for unit in run):
        runs = runs[1:]  # a heading cut off from its text: its words are in the path
    yield from (_as_chunk(headings, run) for run in runs)


def _as_chunk(headings: tuple[str, ...], run: Sequence[_Unit]) -> Chunk:
    within_line = not run[0].glue
    text = run[0].text.lstrip() if within_line else run[0].text
    text += "".join(unit.glue + unit.text for unit in run[1:])
    return Chunk(run[0].start, run[-1].end, headings, text, sum(unit.tokens for unit in run))


def _segments(units: Sequence[_Unit]) -> Iterator[Sequence[_Unit]]:
    start = 0
    for position, unit in enumerate(units):
        # A text that comes again at once would cut a log of equal lines into chunks of one line.
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
    """Runs of units in order, made from the end, each with what it repeats of the run before."""
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
        # Where the run below repeats all of this one, it would say nothing new.
        if first < top:
            runs.append(units[first:end])
            top = first
        end = start
    return runs[::-1]


def _units(blocks: Sequence[Block], budget: int) -> Iterator[_Unit]:
    before = 0
    for block in blocks:
        # The cards of a canvas may share a line: a blank line keeps them apart.
        glue = "\n" * (block.start_line - before) or "\n\n"
        before = block.end_line
        size = _counted(block.text + "\n") if len(block.text) <= budget * LONGEST_TOKEN else budget + 1
        if size <= budget:
            yield _Unit(block.start_line, block.end_line, block.text, size, glue, block.is_heading)
        else:
            yield from _lines_of(block, budget, glue)


def _counted(text: str) -> int:
    """Its tokens; a long document that goes on is mostly what was counted before."""
    key = hash(text)
    if (known := _counts.get(key)) is None:
        if len(_counts) >= _MOST_COUNTS:
            _counts.clear()
        _counts[key] = known = tokens.count(text)
    return known


def _lines_of(block: Block, budget: int, glue: str) -> Iterator[_Unit]:
    """The lines of a block that is too large, the parts of a line that is too large."""
    for offset, line in enumerate(block.text.split("\n")):
        if not line.strip():
            glue += "\n"
            continue
        number = min(block.start_line + offset, block.end_line)
        for piece, size in pieces(line, max(budget - 1, 1)):
            yield _Unit(number, number, piece, size + 1, glue, block.is_heading)  # the line end is a token
            glue = ""
        glue = "\n"


def pieces(line: str, budget: int) -> Iterator[tuple[str, int]]:
    """Parts of at most `budget` tokens, each with its tokens; joined they are the line again."""
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
    # As many characters as tokens fit as a rule; what does not is halved until it does.
    width = max(min(budget, len(text) // 2), 1)
    start = 0
    while start < len(text):
        end = _cut(text, start, start + width)
        yield from _fitting(text[start:end], budget)
        start = end


def _size(text: str, budget: int) -> int:
    """Tokens of a text; just over the budget for one that is too long to be worth counting."""
    return tokens.count(text) if len(text) <= budget * LONGEST_TOKEN else budget + 1


def _cut(text: str, start: int, end: int) -> int:
    """The last place up to `end` between two words, else the next one between two characters."""
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
