"""Splits chunks into passages, computes their coverage of a query, and selects what to show.

A chunk is found as a whole, but the answer is a line of it: a list item, a paragraph, a turn of a
conversation. Its context counts too, because an answer seldom repeats its question. Each query term
counts by its rarity: fully if the passage contains it, less if a nearby passage, the title or a
heading above contains it. Only the best occurrence of a term counts. On the judged conversations
this measured better than BM25 with neighbours as columns (benchmarks/README.md).
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from vault_index.query.ranking.retrieval import Evidence, QueryTerm, TermsByStem
from vault_index.store.records import ChunkRecord
from vault_index.terms import folded, index_text_in_place, is_plain, placed_words

_NEAR = ((0, 1.0), (-1, 0.5), (1, 0.5), (-2, 0.25), (2, 0.25))
"""Distances in passages, with the weight of a term at that distance."""
_AFTER_QUESTION = 0.9
"""Weight of the terms of a question in the passage after it, because a reply does not repeat
them."""
_ABOVE = 0.6
"""Weight of a term in the title or a heading above."""
_ALL_ABOVE = 0.95
"""Weight if they contain every term: the passage is their content."""
_QUESTION = 0.8
"""Weight of a passage that ends as a question. The answer is usually in the next passage."""

_LINE_OF_ITS_OWN = re.compile(r"\s*(?:[-*+]\s|\d+[.)]\s|\||#{1,6}\s)")
HEADING = re.compile(r"#{1,6}\s")
_FOCUS_LINES = 3
_LONG_LINE = 240  # characters
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])")
_BLOCK_ID = re.compile(r"(?<!\s)\s+\^[\w-]+\s*$")
SNIPPET_CHARACTERS = 240
"""About as many characters of a text are shown."""

Stems = Callable[[Collection[str]], Mapping[str, str]]
Matches = Mapping[int, float]
"""Numbers of the query terms that a text contains, each with its weight there (1.0 as typed)."""


class Passage(NamedTuple):
    """Lines of a chunk: the first and the last one, counted from 0."""

    first: int
    last: int
    is_question: bool

    def of(self, text: str) -> str:
        """Return the lines of this passage from the text of its chunk."""
        return "\n".join(text.split("\n")[self.first : self.last + 1])


class Parts(NamedTuple):
    """A number for each part of a score: its weight, or its contribution to the score."""

    text: float
    vector: float
    name: float
    passage: float


class RankedPassage(NamedTuple):
    """A passage with its chunk and its score."""

    chunk: ChunkRecord
    passage: Passage
    evidence: Evidence
    coverage: float
    """Share of the query, weighted by rarity, that occurs in and around the passage."""
    matched: Matches
    """Query terms in the passage itself."""
    parts: Parts = Parts(0.0, 0.0, 0.0, 0.0)
    score: float = 0.0
    """The sum of the parts, multiplied by the boosts."""
    boosts: Mapping[str, float] = {}
    echo: bool = False
    """Whether the passage only repeats the query (`query.ranking.echoes`)."""
    answers: bool = False
    """Whether the passage is the reply to a turn that asks the query."""
    supersedes: str = ""
    """The id of the superseded memory that matched and that this passage replaces."""

    @property
    def ranking_coverage(self) -> float:
        """The coverage as it counts for ranking: less for a question."""
        return self.coverage * _QUESTION if self.passage.is_question else self.coverage


def split_passages(text: str) -> list[Passage]:
    """Split a text into passages.

    A passage is a run of lines without a blank line; each list item, table row and heading is a
    passage of its own. Headings are left out if there is other text, because the text below them is
    the answer.
    """
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
            open_run = not HEADING.match(line)
            headings += not open_run
    if 0 < headings < len(runs):
        runs = [run for run in runs if not HEADING.match(lines[run[0]])]
    return [Passage(first, last, _is_question(lines[last])) for first, last in runs or [[0, 0]]]


def _is_question(line: str) -> bool:
    return ("?" in line or "\uff1f" in line) and _BLOCK_ID.sub("", line).rstrip(
        " *_)\"'”»"
    ).endswith(("?", "\uff1f"))


class TermMatcher:
    """Finds the terms of a query in texts."""

    def __init__(self, terms: Sequence[QueryTerm], stems: Stems) -> None:
        self._weights = [term.weight for term in terms]
        self._total = sum(self._weights)
        self._stems = stems
        self._pattern = _pattern(terms)
        self._terms = TermsByStem(terms)

    def match_lines(self, texts: Sequence[str]) -> list[list[Matches]]:
        """Return the matches of each line of each text."""
        # The texts are joined, because the cost per text exceeds the cost of the search.
        whole = fold(index_text_in_place("\n".join(texts)))
        lines: list[dict[int, float]] = [{} for _ in range(whole.count("\n") + 1)]
        places: list[tuple[int, str]] = []
        line = end = 0
        for match in self._pattern.finditer(whole) if self._pattern else ():
            line += whole.count("\n", end, match.start())
            end = match.start()
            places.append((line, match[0]))
        matches = self._match_words({word for _, word in places})
        for line, word in places:
            _keep_best(lines[line], dict(matches[word]), 1.0)
        rest = iter(lines)
        return [[*islice(rest, text.count("\n") + 1)] for text in texts]

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Return the ranges of query terms in `text` (start, end), in order without overlaps."""
        if self._pattern is None or not text:
            return ()
        # In plain text the pattern finds possible matches several times faster.
        likely = self._pattern.finditer(text.lower())
        places = (
            [(*word.span(), word[0]) for word in likely] if is_plain(text) else placed_words(text)
        )
        words = fold("\n".join([word for _, _, word in places])).split("\n")
        matches = self._match_words(set(filter(self._pattern.match, words)))
        found = {
            (*place[:2], word)
            for place, word in zip(places, words, strict=False)
            if matches.get(word)
        }
        # CJK text is matched by characters and by 2-grams; a matching character wins over a 2-gram.
        alone = {start for start, _, word in found if len(word) == 1}
        spans: list[tuple[int, int]] = []
        for start, end, word in sorted(found):
            if len(word) == 2 and start in alone:
                continue
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
        return tuple(spans)

    def _match_words(self, words: Collection[str]) -> dict[str, list[tuple[int, float]]]:
        """Return the numbers and weights of the terms that match each word; words are folded."""
        stems = self._stems(words)
        return self._terms.matching({word: stems.get(word, word) for word in words})

    def coverage(
        self, matches: Sequence[Matches], above: Sequence[Matches], questions: Sequence[bool]
    ) -> list[float]:
        """Return for each passage of a document the share of the query in and near it: 0..1.

        Terms count by rarity. `matches` are in document order. `above` has the matches of the title
        and the headings of each passage; `questions` is whether the passage ends as a question.
        """
        covered: list[dict[int, float]] = [{} for _ in matches]
        for place, here in enumerate(matches):
            if here:
                for distance, weight in _NEAR:
                    if 0 <= place + distance < len(matches):
                        answers = distance == 1 and questions[place]
                        _keep_best(
                            covered[place + distance], here, _AFTER_QUESTION if answers else weight
                        )
        for best, heading in zip(covered, above, strict=True):
            _keep_best(best, heading, _ALL_ABOVE if self.share(heading) > _ALL_ABOVE else _ABOVE)
        return [self.share(best) if best else 0.0 for best in covered]

    def best_window(self, texts: Sequence[str], size: int) -> int:
        """Return the start of the `size` consecutive lines that cover most of the query.

        The first of equal windows wins.
        """
        lines = [*map(union, self.match_lines(texts))]
        starts = range(max(len(texts) - size, 0) + 1)
        return max(starts, key=lambda start: self.share(union(lines[start : start + size])))

    def matches_of(self, text: str) -> Matches:
        """Return the matches of a whole text."""
        return union(self.match_lines([text])[0])

    def share_of(self, text: str) -> float:
        """Return the share of the query that a whole text contains, by rarity: 0..1."""
        return self.share(self.matches_of(text))

    def unmatched(self, words: Sequence[str]) -> list[str]:
        """Return the words that match no term; words are folded."""
        matches = self._match_words({*words})
        return [word for word in words if not matches[word]]

    def share(self, covered: Matches) -> float:
        """Return the share of the query that these matches cover, by rarity: 0..1."""
        weight = sum(self._weights[number] * weight for number, weight in covered.items())
        return weight / self._total if self._total else 0.0


def union(lines: Iterable[Matches]) -> dict[int, float]:
    """Merge the matches of several lines."""
    best: dict[int, float] = {}
    for matches in lines:
        if matches:
            _keep_best(best, matches, 1.0)
    return best


def _keep_best(best: dict[int, float], matches: Matches, share: float) -> None:
    for number, weight in matches.items():
        if best.get(number, 0.0) < share * weight:
            best[number] = share * weight


class Focus(NamedTuple):
    """Lines of a chunk, counted from 0, and the offset of the answer in the first line."""

    first: int
    last: int
    column: int


def focus(text: str, passage: Passage, matcher: TermMatcher) -> Focus:
    """Return the lines of `passage`, a part of `text`, that cover most of the query."""
    lines = text.split("\n")
    first, last = passage.first, passage.last
    if last - first >= _FOCUS_LINES or sum(map(len, lines[first : last + 1])) > SNIPPET_CHARACTERS:
        first += matcher.best_window(lines[first : last + 1], _FOCUS_LINES)
        last = min(first + _FOCUS_LINES - 1, last)
        matching = [
            number
            for number, line in enumerate(matcher.match_lines(lines[first : last + 1]))
            if any(line)
        ]
        if matching:  # drop surrounding lines without a match
            first, last = first + matching[0], first + matching[-1]
    return Focus(
        first, last, _column(lines[first], matcher) if len(lines[first]) > _LONG_LINE else 0
    )


def _column(line: str, matcher: TermMatcher) -> int:
    """Return the start of the sentence that covers most of the query."""
    starts = [0, *(end.end() for end in _SENTENCE_END.finditer(line))]
    sentences = [
        line[start:end] for start, end in zip(starts, [*starts[1:], len(line)], strict=True)
    ]
    return starts[matcher.best_window(sentences, 1)]


_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")


def fold(text: str) -> str:
    """Return `text` in lower case without accents, as the index compares; CJK text is unchanged."""
    text = text.lower()
    return (
        text
        if text.isascii()
        # FTS5 treats `ς` and `σ` as equal.
        else _BEYOND_ASCII.sub(lambda run: folded(run[0]), text).replace("ς", "σ")
    )


def _pattern(terms: Sequence[QueryTerm]) -> "re.Pattern[str] | None":
    """Return a pattern for words that may match a term.

    These begin with a stem of the term, except for final letters that stemming may change (`happy`
    and `happi`, `hoping` and `hope`, `stability` and `stabl`).
    """
    starts = {fold(term.text) for term in terms if term.prefix}
    for term in terms:
        stems = (stem[:-1] if len(stem) > 2 and stem[-1] in "ei" else stem for stem in term.stems)
        starts.update(stem[:-1] if stem.endswith("bl") else stem for stem in stems)
    starts.discard("")
    if not starts:
        return None
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(starts)))})[^\W_]*")
