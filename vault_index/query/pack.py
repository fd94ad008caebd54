"""Packs quotations into a token budget and builds the block that `recall` returns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vault_index import tokens
from vault_index.markdown.chunk import pieces
from vault_index.markdown.normalize import harmless
from vault_index.markdown.recalled import as_recalled, is_plain_place, quotation
from vault_index.results.texts import RecalledSource

_SHARE = 8
"""One quotation gets at most 1/8 of the budget, or `_LEAST_SHARE` tokens if that is more."""
_LEAST_SHARE = 100
_FULL = 25
"""Stop if fewer than 25 tokens remain, because every quotation with its place and date is
longer."""
_WORTH_CUTTING = 20
"""A quotation is not cut to fewer than 20 tokens of text."""
_MARKS = 3
"""Tokens around each quoted line: `> `, the line end, and perhaps ` …`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory, hit or session that may be quoted."""

    source: RecalledSource
    about: tuple[str, ...]
    """Shown after the place: type, author, date."""
    title: str
    text: str
    """Text from the first line of `source`; empty if only the title is quoted."""

    @property
    def place(self) -> str:
        """The path with its lines; the id instead of a path with special characters."""
        first, last = self.source.lines
        lines = f":{first}-{last}" if last > first else f":{first}"
        ending = lines if self.text else ""
        place = f"{self.source.path}{ending}"
        return place if is_plain_place(place) else f"{self.source.id}{ending}"


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation with its size in tokens and its source."""

    text: str
    tokens: int
    source: RecalledSource


def pack(
    lasting: Sequence[Candidate],
    others: Sequence[Candidate],
    unreviewed: Sequence[Candidate],
    budget: int,
    token: str,
    last: str = "",
) -> tuple[str, tuple[RecalledSource, ...]]:
    """Return the block and its sources, with a `last` line; empty if nothing fits.

    The candidates of each group are in order, best first. `lasting` memories apply to the whole
    project; if there are `others`, half of the budget is reserved for those at first. Memories that
    wait for review get the rest. The choice does not depend on the token.
    """
    empty = tokens.count(as_recalled((), "", last))
    page = _Page(budget - empty - 2 * len(token), max(budget // _SHARE, _LEAST_SHARE))
    left = page.fill(lasting, keep=page.room // 2 if others else 0)
    page.fill([*others, *left, *unreviewed])
    return _joined(page.quoted, budget, token, last)


def _joined(
    quoted: Sequence[Quoted], budget: int, token: str, last: str
) -> tuple[str, tuple[RecalledSource, ...]]:
    """Join the quotations, dropping some from the end if they exceed the budget.

    The token count of the whole may differ slightly from the sum of its parts.
    """
    for count in range(len(quoted), -1 if last else 0, -1):
        text = as_recalled([one.text for one in quoted[:count]], token, last)
        if tokens.count(text) <= budget:
            return text, tuple(one.source for one in quoted[:count])
    return "", ()


class _Page:
    """The remaining tokens and the quotations so far."""

    def __init__(self, room: int, longest: int) -> None:
        self.room = room
        self.quoted: list[Quoted] = []
        self._longest = longest
        self._known: set[str] = set()

    def fill(self, candidates: Iterable[Candidate], *, keep: int = 0) -> list[Candidate]:
        """Quote the candidates that fit; return those that do not fit.

        Each text and each memory is quoted once, and no title of a document that is quoted.
        `keep` tokens stay free.
        """
        left = []
        for candidate in candidates:
            room = min(self.room - keep, self._longest)
            text = " ".join((candidate.text or candidate.title).split()).casefold()
            once = candidate.source.kind == "memory" or not candidate.text
            if text in self._known or (once and candidate.source.id in self._known):
                continue
            if room >= _FULL and (one := quote(candidate, room)):
                self._known |= {text, candidate.source.id}
                self.quoted.append(one)
                self.room -= one.tokens
            else:
                left.append(candidate)
        return left


def quote(candidate: Candidate, room: int) -> Quoted | None:
    """Quote a candidate in at most `room` tokens, cut at a sentence if necessary.

    Returns None if too little of it fits.
    """
    head = _size(quotation(candidate.place, candidate.about, candidate.title, ()))
    if head > room:
        return None
    lines, whole = _cut(candidate.text, room - head, more=not candidate.source.whole)
    if not whole and (room - head < _WORTH_CUTTING or not lines):
        return None
    text = quotation(candidate.place, candidate.about, candidate.title, lines)
    return Quoted(text, _size(text), replace(candidate.source, whole=whole))


def _cut(text: str, room: int, *, more: bool) -> tuple[list[str], bool]:
    """Return the lines that fit into `room` tokens, and whether these are all.

    The last line is cut after a sentence, or after a word if the sentence is too long. `more` means
    that the text continues after these lines.
    """
    shown: list[str] = []
    for line in filter(str.strip, harmless(text).split("\n")):
        begun, room = "", room - _MARKS
        for piece, size in pieces(line, max(room, 1)):
            if size > room:
                break
            begun += piece
            room -= size
        if begun.strip():
            shown.append(begun.rstrip())
        if begun != line:
            more = True
            break
    if more and shown:
        shown[-1] += " …"
    return shown, not more


def _size(text: str) -> int:
    return tokens.count(f"{text}\n")
