"""Passages: the lines inside a chunk that belong together, and how much of a question is said in and around each.

A chunk is found as a whole, but what answers is a line of it: a list item, a paragraph, a turn of a conversation. What
stands around it counts too, because an answer seldom repeats its question. So each word of the question counts by its
rarity: in full where the passage says it, less where it is said one or two passages further, or by the title or a
heading above. Of several places the best one counts: a word said twice is not two words. On the judged conversations
this measured better than BM25 with neighbours as columns (docs/recall.md).
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from vault_index.query.ranking.retrieval import Needle
from vault_index.terms import index_text_in_place

_NEAR = ((0, 1.0), (-1, 0.5), (1, 0.5), (-2, 0.25), (2, 0.25))
"""How much counts what is said so many passages further."""
_ANSWERED = 0.9
"""And what was asked just before: who answers a question does not repeat it."""
_ABOVE = 0.6
_QUESTION = 0.8
"""A question is rarely the answer: what follows it is."""

_LINE_OF_ITS_OWN = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|\||#{1,6}\s)")
_HEADING = re.compile(r"#{1,6}\s")
_BLOCK_ID = re.compile(r"(?<!\s)\s+\^[\w-]+\s*$")

Stems = Callable[[Collection[str]], Mapping[str, str]]
Said = Mapping[int, float]
"""Words of the question that a text says, by number, and how much they count there (1.0 as typed)."""


class Passage(NamedTuple):
    """Some lines of a chunk, counted from 0; the last one included."""

    first: int
    last: int
    asks: bool
    """Whether it ends as a question does."""


def split(text: str) -> list[Passage]:
    """The passages of a text: runs of lines without a blank one between, each list item, table row and heading for
    itself. Headings are left out where something else is said: what stands under them is the answer."""
    lines = text.split("\n")
    runs: list[list[int]] = []
    headings = 0
    open_run = False
    for number, line in enumerate(lines):
        if not line or line.isspace():
            open_run = False
        elif open_run and not _LINE_OF_ITS_OWN.match(line):
            runs[-1][1] = number
        else:
            runs.append([number, number])
            open_run = not _HEADING.match(line)
            headings += not open_run
    if 0 < headings < len(runs):
        runs = [run for run in runs if not _HEADING.match(lines[run[0]])]
    return [Passage(first, last, _asks(lines[last])) for first, last in runs or [[0, 0]]]


def worth(share: float, passage: Passage) -> float:
    """The share of the question a passage says, as it counts for the ranking."""
    return share * _QUESTION if passage.asks else share


class Spotter:
    """Finds the words of a question in texts."""

    def __init__(self, needles: Sequence[Needle], stems: Stems) -> None:
        self._needles = needles
        self._stems = stems
        self._mass = sum(needle.weight for needle in needles)
        self._pattern = _pattern(needles)
        self._by_stem: dict[str, list[tuple[int, float]]] = {}
        self._prefixes = [(number, needle.text) for number, needle in enumerate(needles) if needle.prefix]
        for number, needle in enumerate(needles):
            for stem, weight in needle.stems.items():
                self._by_stem.setdefault(stem, []).append((number, weight))

    def found(self, texts: Iterable[str]) -> list[Said]:
        """What each line says of the question; the lines of all texts in a row."""
        # One long text: what is done once a text costs more than to look for the words.
        whole = folded(index_text_in_place("\n".join(texts)))
        lines: list[dict[int, float]] = [{} for _ in range(whole.count("\n") + 1)]
        if self._pattern is None:
            return list(lines)
        places: list[tuple[int, str]] = []
        line = end = 0
        for match in self._pattern.finditer(whole):
            line += whole.count("\n", end, match.start())
            end = match.start()
            places.append((line, match[0]))
        words = {word for _, word in places}
        stems = self._stems(words)
        agree = {word: self._agreeing(word, stems.get(word, word)) for word in words}
        for line, word in places:
            for number, weight in agree[word]:
                if lines[line].get(number, 0.0) < weight:
                    lines[line][number] = weight
        return list(lines)

    def _agreeing(self, word: str, stem: str) -> list[tuple[int, float]]:
        begun = [(number, 1.0) for number, prefix in self._prefixes if word.startswith(prefix)]
        return [*self._by_stem.get(stem, ()), *begun]

    def coverage(self, said: Sequence[Said], above: Sequence[Said], asks: Sequence[bool]) -> list[float]:
        """For each of the passages of a document in order, the share of the question that is said in and near it, by
        the rarity of its words: 0..1. `above` is what the title and the headings of each say, `asks` whether it ends
        as a question does."""
        covered: list[dict[int, float]] = [{} for _ in said]
        for place, here in enumerate(said):
            if here:
                for distance, share in _NEAR:
                    if 0 <= place + distance < len(said):
                        answers = distance == 1 and asks[place]
                        _raise(covered[place + distance], here, _ANSWERED if answers else share)
        for best, heading in zip(covered, above, strict=True):
            if heading:
                _raise(best, heading, _ABOVE)
        return [self._share(best) if best else 0.0 for best in covered]

    def best_run(self, texts: Sequence[str], size: int) -> int:
        """Where the `size` texts in a row begin (each a line) that say most of the question; the first of equals."""
        said = self.found(texts)
        shares = [self._share(together(said[start : start + size])) for start in range(max(len(texts) - size, 0) + 1)]
        return shares.index(max(shares))

    def _share(self, covered: Said) -> float:
        said = sum(self._needles[number].weight * weight for number, weight in covered.items())
        return said / self._mass if self._mass else 0.0


def together(said: Iterable[Said]) -> dict[int, float]:
    """What several lines say."""
    best: dict[int, float] = {}
    for one in said:
        if one:
            _raise(best, one, 1.0)
    return best


def _raise(best: dict[int, float], said: Said, share: float) -> None:
    for number, weight in said.items():
        if best.get(number, 0.0) < share * weight:
            best[number] = share * weight


def _asks(line: str) -> bool:
    return ("?" in line or "\uff1f" in line) and _BLOCK_ID.sub("", line).rstrip(" *_)\"'”»").endswith(("?", "\uff1f"))


def folded(text: str) -> str:
    """In lower case and without accents, as the index compares; CJK text stays as it is."""
    text = text.lower()
    return text if text.isascii() else _BEYOND_ASCII.sub(lambda run: run[0].translate(_FOLDED), text)


_ACCENTS = frozenset(map(chr, range(0x300, 0x332)))


class _Folded(dict[int, str]):
    """What a character becomes, worked out when it is first met (for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFD", chr(code))[0]
        # FTS5 takes the accents off Latin letters alone (`й` is another letter than `и`), and unites `ς` and `σ`.
        other = chr(code).casefold()
        self[code] = "" if base in _ACCENTS else base if base.isascii() else other if len(other) == 1 else chr(code)
        return self[code]


_FOLDED = _Folded()
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def _pattern(needles: Sequence[Needle]) -> "re.Pattern[str] | None":
    """Words that may agree with a needle: those that begin as a stem does, but for the end that stemming may change
    (`happy` and `happi`, `hoping` and `hope`, `stability` and `stabl`)."""
    starts = {folded(needle.text) for needle in needles if needle.prefix}
    for needle in needles:
        stems = (stem[:-1] if len(stem) > 2 and stem[-1] in "ei" else stem for stem in needle.stems)
        starts.update(stem[:-1] if stem.endswith("bl") else stem for stem in stems)
    starts.discard("")
    if not starts:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(starts)))})[^\W_]*")
