"""Quotations within a budget of tokens: which fit, where a long one is cut, and the block they make."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from vault_index import tokens
from vault_index.markdown.chunk import LONGEST_TOKEN, pieces
from vault_index.markdown.recalled import as_recalled, is_plain_place, quotation
from vault_index.markdown.sanitize import harmless
from vault_index.results.texts import RecalledSource

_SHARE = 8
"""One quotation has at most 1/8 of the budget, or `_LEAST_SHARE` tokens if that is more."""
_LEAST_SHARE = 100
_FULL = 25
"""Stop when fewer than 25 tokens remain: no quotation with its place and its date is shorter."""
_WORTH_CUTTING = 20
"""A quotation is not cut to fewer than 20 tokens of text."""
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？][」』”’）]*")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory, hit or session that may be quoted."""

    source: RecalledSource
    about: tuple[str, ...]
    """What stands beside the place: type, author, date."""
    title: str
    text: str
    """From the first of the lines of `source` on; empty where the title says all."""

    @property
    def place(self) -> str:
        first, last = self.source.lines
        lines = f":{first}-{last}" if last > first else f":{first}"
        place = f"{self.source.path}{lines if self.text else ''}"
        return place if is_plain_place(place) else f"{self.source.id}{lines if self.text else ''}"


@dataclass(frozen=True, slots=True)
class Groups:
    """What may be recalled, the best first in each group and among the groups."""

    lasting: Sequence[Candidate] = ()
    """Memories that hold for the project; if there are others, half of the budget is kept for these at first."""
    found: Sequence[Candidate] = ()
    sessions: Sequence[Candidate] = ()
    rest: Sequence[Candidate] = ()
    unreviewed: Sequence[Candidate] = ()
    """What nobody has looked at yet takes what the others leave."""


@dataclass(frozen=True, slots=True)
class Quoted:
    text: str
    tokens: int
    source: RecalledSource


def pack(
    groups: Groups, budget: int, token: str, last: str = ""
) -> tuple[str, tuple[RecalledSource, ...]]:
    """The block and what is quoted in it, with a `last` line; empty where nothing fits. What is chosen does not depend
    on the token."""
    empty = tokens.count(as_recalled((), "", last))
    page = _Page(budget - empty - 2 * len(token), max(budget // _SHARE, _LEAST_SHARE))
    others = [*groups.found, *groups.sessions, *groups.rest]
    left = page.fill(groups.lasting, keep=page.room // 2 if others else 0)
    page.fill([*others, *left, *groups.unreviewed])
    return _joined(page.quoted, budget, token, last)


def _joined(
    quoted: Sequence[Quoted], budget: int, token: str, last: str
) -> tuple[str, tuple[RecalledSource, ...]]:
    """The whole has a few tokens more or less than the sum of its parts: where it is over the budget, quotations are
    dropped from the end."""
    for count in range(len(quoted), -1 if last else 0, -1):
        text = as_recalled([one.text for one in quoted[:count]], token, last)
        if tokens.count(text) <= budget:
            return text, tuple(one.source for one in quoted[:count])
    return "", ()


class _Page:
    """The tokens that remain, and the quotations so far."""

    def __init__(self, room: int, longest: int) -> None:
        self.room = room
        self.quoted: list[Quoted] = []
        self._longest = longest
        self._said: set[str] = set()

    def fill(self, candidates: Iterable[Candidate], *, keep: int = 0) -> list[Candidate]:
        """Quote the candidates that fit, each text once, and leave `keep` tokens free; return those that do not fit."""
        left = []
        for candidate in candidates:
            room = min(self.room - keep, self._longest)
            if room < _FULL:
                left.append(candidate)
                continue
            said = " ".join((candidate.text or candidate.title).split()).casefold()
            if said in self._said:
                continue
            one = quote(candidate, room)
            if one is None:
                left.append(candidate)
                continue
            self._said.add(said)
            self.quoted.append(one)
            self.room -= one.tokens
        return left


def quote(candidate: Candidate, room: int) -> Quoted | None:
    """A candidate in at most `room` tokens, cut at a sentence if need be; None where too little of it fits."""
    head = _size(quotation(candidate.place, candidate.about, candidate.title, ()))
    if head > room:
        return None
    lines, whole = _cut(candidate.text, room - head, more=not candidate.source.whole)
    if not whole and (room - head < _WORTH_CUTTING or not lines):
        return None
    text = quotation(candidate.place, candidate.about, candidate.title, lines)
    return Quoted(text, _size(text), replace(candidate.source, whole=whole))


def _cut(text: str, room: int, *, more: bool) -> tuple[list[str], bool]:
    """The lines that fit into `room` tokens, and whether these are all; with `more` they are not, even if all fit."""
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
    """The beginning of a line: whole sentences, or words where the first is too long and `whole` ones are no must."""
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
