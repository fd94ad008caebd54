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
from dataclasses import dataclass

from vault_index.query.needles import Needle
from vault_index.terms import index_text

_NEAR = {1: 0.5, 2: 0.25}
_ABOVE = 0.6
_QUESTION = 0.8
"""A question is rarely the answer: what follows it is."""

_LINE_OF_ITS_OWN = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|\||#{1,6}\s)")
_HEADING = re.compile(r"#{1,6}\s")
_BLOCK_ID = re.compile(r"\s+\^[\w-]+\s*$")

Stems = Callable[[Collection[str]], Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Passage:
    """Some lines of a chunk, counted from 0; the last one included."""

    first: int
    last: int
    text: str

    @property
    def is_heading(self) -> bool:
        return _HEADING.match(self.text) is not None


def split(text: str) -> list[Passage]:
    """The passages of a text: runs of lines without a blank one between, each list item, table row and heading for
    itself. Headings are left out where something else is said: what stands under them is the answer."""
    lines = text.split("\n")
    runs: list[list[int]] = []
    open_run = False
    for number, line in enumerate(lines):
        said = bool(line.strip())
        if said and open_run and not _LINE_OF_ITS_OWN.match(line):
            runs[-1].append(number)
        elif said:
            runs.append([number])
        open_run = said and not _HEADING.match(line)
    found = [Passage(run[0], run[-1], "\n".join(lines[run[0] : run[-1] + 1])) for run in runs]
    return [passage for passage in found if not passage.is_heading] or found or [Passage(0, 0, "")]


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

    def found(self, texts: Sequence[str]) -> list[dict[int, float]]:
        """For each text the needles in it, by number, and how much they count there (1.0 as typed)."""
        if self._pattern is None:
            return [{} for _ in texts]
        words = [set(self._pattern.findall(folded(index_text(text)))) for text in texts]
        stems = self._stems(set().union(*words))
        agree = {word: self._agreeing(word, stems.get(word, word)) for word in set().union(*words)}
        return [_best(agree[word] for word in said) for said in words]

    def _agreeing(self, word: str, stem: str) -> list[tuple[int, float]]:
        begun = [(number, 1.0) for number, prefix in self._prefixes if word.startswith(prefix)]
        return [*self._by_stem.get(stem, ()), *begun]

    def coverage(
        self, found: Sequence[Mapping[int, float]], above: Sequence[Mapping[int, float]]
    ) -> list[dict[int, float]]:
        """For each of the passages of a document in order, how much of each needle is said in or near it; `above` is
        said by the title and the headings of each."""
        covered = []
        for place, here in enumerate(found):
            best = {number: _ABOVE * weight for number, weight in above[place].items()}
            for distance, share in _NEAR.items():
                for other in (place - distance, place + distance):
                    if 0 <= other < len(found):
                        for number, weight in found[other].items():
                            best[number] = max(best.get(number, 0.0), share * weight)
            for number, weight in here.items():
                best[number] = max(best.get(number, 0.0), weight)
            covered.append(best)
        return covered

    def share(self, covered: Mapping[int, float]) -> float:
        """How much of the question that is, by rarity: 0..1."""
        said = sum(self._needles[number].weight * weight for number, weight in covered.items())
        return said / self._mass if self._mass else 0.0


def asks(text: str) -> bool:
    """Whether a passage ends as a question does."""
    return _BLOCK_ID.sub("", text).rstrip(" *_)\"'”»").endswith(("?", "？"))


def worth(share: float, text: str) -> float:
    """The share of a passage as it counts for the ranking."""
    return share * _QUESTION if asks(text) else share


def folded(text: str) -> str:
    """In lower case and without accents, as the index compares; CJK text stays as it is."""
    text = text.lower()
    return text if text.isascii() else text.translate(_FOLDED)


class _Folded(dict[int, str]):
    """What a character becomes, worked out when it is first met (for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        base = unicodedata.normalize("NFD", chr(code))[0] if code < 0x1100 else chr(code)
        self[code] = "" if unicodedata.category(base) == "Mn" else base
        return self[code]


_FOLDED = _Folded()


def _pattern(needles: Sequence[Needle]) -> "re.Pattern[str] | None":
    """Words that may agree with a needle: those that begin as a stem does, but for the end that stemming may change
    (`happy` and `happi`, `hoping` and `hope`)."""
    starts = {folded(needle.text) for needle in needles if needle.prefix}
    for needle in needles:
        starts.update(stem[:-1] if len(stem) > 2 and stem[-1] in "ei" else stem for stem in needle.stems)
    starts.discard("")
    if not starts:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(starts)))})[^\W_]*")


def _best(agreeing: Iterable[Iterable[tuple[int, float]]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for pairs in agreeing:
        for number, weight in pairs:
            best[number] = max(best.get(number, 0.0), weight)
    return best
