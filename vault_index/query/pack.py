"""Packs quotations into a token budget and builds the block that `recall` returns."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vault_index import tokens
from vault_index.markdown.chunk import LONGEST_TOKEN, pieces
from vault_index.markdown.recalled import as_recalled, is_plain_place, quotation
from vault_index.markdown.sanitize import harmless
from vault_index.results.texts import RecalledSource

_SHARE = 8
"""One quotation gets at most 1/8 of the budget, or `_LEAST_SHARE` tokens if that is more."""
_LEAST_SHARE = 100
_FULL = 25
"""Stop if fewer than 25 tokens remain, because every quotation with its place and date is
longer."""
_WORTH_CUTTING = 20
"""A quotation is not cut to fewer than 20 tokens of text."""
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？][」』”’）]*")


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
        place = f"{self.source.path}{lines if self.text else ''}"
        return place if is_plain_place(place) else f"{self.source.id}{lines if self.text else ''}"


@dataclass(frozen=True, slots=True)
class Groups:
    """Candidates in groups, best first within each group and among the groups."""

    lasting: Sequence[Candidate] = ()
    """Memories that apply to the whole project. If there are other candidates, half of the
    budget is reserved for those at first."""
    found: Sequence[Candidate] = ()
    sessions: Sequence[Candidate] = ()
    rest: Sequence[Candidate] = ()
    unreviewed: Sequence[Candidate] = ()
    """Captured memories that wait for review; they get the rest of the budget."""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quotation with its size in tokens and its source."""

    text: str
    tokens: int
    source: RecalledSource


def pack(
    groups: Groups, budget: int, token: str, last: str = ""
) -> tuple[str, tuple[RecalledSource, ...]]:
    """Return the block and its sources, with a `last` line; empty if nothing fits.

    The choice does not depend on the token.
    """
    empty = tokens.count(as_recalled((), "", last))
    page = _Page(budget - empty - 2 * len(token), max(budget // _SHARE, _LEAST_SHARE))
    others = [*groups.found, *groups.sessions, *groups.rest]
    left = page.fill(groups.lasting, keep=page.room // 2 if others else 0)
    page.fill([*others, *left, *groups.unreviewed])
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
        self._texts: set[str] = set()

    def fill(self, candidates: Iterable[Candidate], *, keep: int = 0) -> list[Candidate]:
        """Quote the candidates that fit, each text once; return those that do not fit.

        `keep` tokens stay free.
        """
        left = []
        for candidate in candidates:
            room = min(self.room - keep, self._longest)
            if room < _FULL:
                left.append(candidate)
                continue
            text = " ".join((candidate.text or candidate.title).split()).casefold()
            if text in self._texts:
                continue
            one = quote(candidate, room)
            if one is None:
                left.append(candidate)
                continue
            self._texts.add(text)
            self.quoted.append(one)
            self.room -= one.tokens
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

    `more` means that the text continues after these lines.
    """
    shown: list[str] = []
    for line in filter(str.strip, harmless(text).split("\n")):
        cost = _size(f"> {line}") if len(line) <= room * LONGEST_TOKEN else room + 1
        if cost <= room:
            shown.append(line)
            room -= cost
            continue
        part = _sentences(line, room - _size("> …"), whole=bool(shown))
        if part:
            return [*shown, f"{part} …"], False
        more = True
        break
    if more and shown:
        shown[-1] += " …"
    return shown, not more


def _sentences(line: str, room: int, *, whole: bool) -> str:
    """Return the beginning of a line in `room` tokens, cut after a sentence.

    Unless `whole`, a first sentence that is too long is cut after a word.
    """
    begun = ""
    if room < 1:
        return ""
    for piece, size in pieces(line, room):
        if size > room:
            break
        begun += piece
        room -= size
    ends = [match.end() for match in _SENTENCE_END.finditer(begun)]
    return (begun[: ends[-1]] if ends else "" if whole else begun).strip()


def _size(text: str) -> int:
    return tokens.count(f"{text}\n")
