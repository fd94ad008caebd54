"""Cutting a document into chunks: whole blocks under one heading, and the same cuts again after an edit elsewhere."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby, pairwise

from vault_index import tokens
from vault_index.models import Block, Chunk, ParsedDocument

_ANCHOR_TOKENS = 8
_ANCHOR_RATE = 48
_SENTENCE_END = re.compile(r"(?<=[.!?])(?=\s)|(?<=[。！？])")
_WORD_END = re.compile(r"(?<=\s)(?=\S)")
_SAYS_SOMETHING = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest thing that is not cut any more."""

    start: int
    end: int
    text: str
    tokens: int
    glue: str | None = None
    """What joins it to the unit before; None: as many line ends as there are lines between them."""
    is_heading: bool = False


def chunk(document: ParsedDocument, budget: int, overlap: int) -> tuple[Chunk, ...]:
    """Chunks of at most `budget` tokens (cl100k_base); those cut from one section repeat up to `overlap` tokens.

    A section is cut first before its anchors, blocks that a hash of their own text selects, and each part is packed
    from its end. So a line inserted at the top of a section changes its first chunk only, and an append to a long
    section without headings changes nothing before the last anchor. A plain packing from the top would embed a whole
    note again for one new line.
    """
    chunks: list[Chunk] = []
    for headings, blocks in groupby(_with_headings_first(document.blocks), key=lambda block: block.headings):
        section = [unit for block in blocks for unit in _units(block, budget)]
        chunks += _section_chunks(headings, section, budget, overlap)
    speaking = [piece for piece in chunks if _SAYS_SOMETHING.search(piece.text)]
    return tuple(speaking or chunks)


def _with_headings_first(blocks: Sequence[Block]) -> Iterator[Block]:
    """Without the headings that have nothing of their own before a deeper one: their words are in its path."""
    for position, block in enumerate(blocks):
        follower = blocks[position + 1] if position + 1 < len(blocks) else None
        lone = block.is_heading and follower is not None and follower.is_heading
        if not (lone and follower is not None and follower.headings[: len(block.headings)] == block.headings):
            yield block


def _section_chunks(headings: tuple[str, ...], units: Sequence[_Unit], budget: int, overlap: int) -> list[Chunk]:
    packs = [pack for segment in _segments(units) for pack in _packed(segment, budget, overlap)]
    if len(packs) > 1 and all(unit.is_heading for unit in packs[0]):
        packs = packs[1:]  # the heading did not fit; its words are in the path
    return [Chunk(pack[0].start, pack[-1].end, headings, _join(pack), sum(u.tokens for u in pack)) for pack in packs]


def _segments(units: Sequence[_Unit]) -> Iterator[Sequence[_Unit]]:
    start = 0
    for position, unit in enumerate(units):
        if position > start and _is_anchor(unit) and not all(u.is_heading for u in units[start:position]):
            yield units[start:position]
            start = position
    if units:
        yield units[start:]


def _is_anchor(unit: _Unit) -> bool:
    if unit.tokens < _ANCHOR_TOKENS or unit.is_heading:
        return False
    digest = blake2b(unit.text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big") % _ANCHOR_RATE == 0


def _packed(units: Sequence[_Unit], budget: int, overlap: int) -> list[Sequence[_Unit]]:
    """Runs of units, packed from the end; each but the first begins with the end of the one before."""
    bounds: list[tuple[int, int]] = []
    end = len(units)
    while end > 0:
        start, size = end - 1, units[end - 1].tokens
        while start > 0 and size + units[start - 1].tokens <= budget:
            start -= 1
            size += units[start].tokens
        bounds.append((start, end))
        end = start
    bounds.reverse()
    runs: list[Sequence[_Unit]] = []
    for number, (start, end) in enumerate(bounds):
        first = start
        if number:
            size, floor = sum(u.tokens for u in units[start:end]), bounds[number - 1][0] + 1
            spare = min(overlap, budget - size)
            while first > floor and units[first - 1].tokens <= spare:
                first -= 1
                spare -= units[first].tokens
        runs.append(units[first:end])
    return runs


def _join(units: Sequence[_Unit]) -> str:
    parts = [units[0].text]
    for before, unit in pairwise(units):
        glue = unit.glue if unit.glue is not None else "\n" * max(unit.start - before.end, 0) or "\n\n"
        parts += [glue, unit.text]
    return "".join(parts)


def _units(block: Block, budget: int) -> Iterator[_Unit]:
    size = tokens.count(block.text)
    if size <= budget:
        yield _Unit(block.start_line, block.end_line, block.text, size, None, block.is_heading)
        return
    blank_before = 1
    first = True
    for offset, line in enumerate(block.text.split("\n")):
        number = min(block.start_line + offset, block.end_line)
        if not line.strip():
            blank_before += 1
            continue
        glue = None if first else "\n" * blank_before
        first, blank_before = False, 1
        for position, (piece, count) in enumerate(_pieces(line, budget)):
            yield _Unit(number, number, piece, count, glue if position == 0 else "")


def _pieces(line: str, budget: int) -> Iterator[tuple[str, int]]:
    """A line in parts that fit: whole if it can be, else sentences, else words, else halves."""
    return _fitting([line], budget, (_SENTENCE_END, _WORD_END))


def _fitting(parts: Sequence[str], budget: int, cuts: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, int]]:
    for part in parts:
        size = tokens.count(part)
        if size <= budget or len(part) == 1:
            yield part, size
        elif cuts:
            smaller = [piece for piece in cuts[0].split(part) if piece]
            yield from _fitting(smaller, budget, cuts[1:])
        else:
            middle = len(part) // 2
            yield from _fitting([part[:middle], part[middle:]], budget, ())
