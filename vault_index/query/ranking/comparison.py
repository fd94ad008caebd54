"""Compares two memories: near duplicates, a contradiction, or two texts on one subject.

`add`, `review` and search use `compare`. It uses the cosine of two vectors, the share of common
words, and an alignment of the two texts. Its only language-specific part is a short table of
antonyms. benchmarks/README.md has the measurements.
"""

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from itertools import combinations
from typing import NamedTuple

from vault_index.embeddings.spaces import ENGLISH
from vault_index.query.ranking.passages import RankedPassage, Stems
from vault_index.query.reader import Reader
from vault_index.results.memories import Likeness
from vault_index.store.records import ChunkRecord, SpaceRow, StoredDocument
from vault_index.store.spaces import serving_space, without_key
from vault_index.terms import STOPWORDS, index_words, mostly_cjk
from vault_index.unicode import same_form

# Measured on 58 pairs (benchmarks/README.md). The same fact in other words has a cosine of .69 to
# .95, all but one of 26 pairs at least .78. Another fact on the same topic has .16 to .66, except
# for one of 32 pairs that differs in a name (.94). Words are less reliable: 19 of the 26 pairs
# share half of their words, and so do 2 of the 32.
NEAR_COSINE = 0.72
NEAR_WORDS = 0.5
SUBJECT_COSINE = 0.6
"""Two memories with a lower cosine have different subjects, regardless of common words."""
_LONG = 40
"""Tokens. Vectors of longer memories of one project are always similar, so their words must
agree too."""
_COMPARED = 2_000
"""Characters of a memory to compare."""
_ALIGNED = 0.5
"""Minimum ratio of `SequenceMatcher` for two texts to count as one sentence with some words
replaced."""
_MOST_MEMORIES, _MIN_SCORE_SHARE = 10, 0.25
"""Search compares the first 10 memories whose score is at least this share of the best."""
_ANTONYMS = """
enabled enable on | disabled disable off
allowed allow permitted | forbidden forbid prohibited denied
required must mandatory | optional
always | never
before | after
include includes included | exclude excludes excluded
true | false
yes | no
| not no never without cannot don doesn isn aren mustn shouldn won \
nicht kein keine nie pas jamais nunca
"""
"""Words of opposite meaning, one pair of lists per line.

An empty side stands for any text without a word of the other side."""
_OPPOSITES = tuple(
    tuple(frozenset(side.split()) for side in line.split("|"))
    for line in _ANTONYMS.strip().split("\n")
)
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_PADDING = re.compile(r"^0+(?=\d)|[.,:]0+$")


class Memory(NamedTuple):
    """A memory, prepared for `compare`."""

    document: StoredDocument
    topics: frozenset[str]
    """Stems of its words without stopwords; n-grams for text without spaces between words."""
    title: tuple[str, ...]
    """Stems of the words of its title; empty if the title was derived from the text."""
    sentence: tuple[str, ...]
    """Stems of the words of its text, in order; empty for text without spaces between words."""
    numbers: frozenset[str]
    sides: Mapping[int, int]
    """The side that the text takes, by line of the antonym table."""


class Comparison(NamedTuple):
    """How two memories relate."""

    kind: Likeness
    likeness: float
    """Similarity from 0 to 1: the cosine, or the share of common words."""


def as_memory(document: StoredDocument, text: str, stems: Stems) -> Memory:
    """Prepare a memory for `compare`.

    Its title only names the subject; its statement is in the text.
    """
    title = same_form(document.title) if '"title":' in document.frontmatter_json else ""
    text = same_form(text[:_COMPARED])
    words, titled = _WORD.findall(text), _WORD.findall(title)
    topics = [word for word in index_words(f"{title}\n{text}") if word not in STOPWORDS]
    known = stems([*words, *titled, *topics])
    return Memory(
        document,
        topics=frozenset(known.get(word, word) for word in topics),
        title=tuple(known.get(word, word) for word in titled),
        sentence=() if mostly_cjk(text) else tuple(known.get(word, word) for word in words),
        numbers=frozenset(_PADDING.sub("", number) for number in _NUMBER.findall(text)),
        sides=_sides(frozenset(words)),
    )


def _sides(words: frozenset[str]) -> dict[int, int]:
    found = {}
    for number, (left, right) in enumerate(_OPPOSITES):
        on_left, on_right = not left or not left.isdisjoint(words), not right.isdisjoint(words)
        if on_right and (not left or not on_left):
            found[number] = 1
        elif on_left and not on_right:
            found[number] = 0
    return found


def compare(one: Memory, other: Memory, cosine: float | None) -> Comparison | None:
    """Return how two memories relate, or None if they have different subjects.

    Similar texts contradict each other if one part of a sentence is replaced, or if they differ in
    a number, a negation or an antonym. A sentence with two replaced parts has another subject:
    "Staging runs two replicas", "Production runs six replicas". Without a cosine the share of
    common words decides alone. The same applies to text without spaces between words, where all
    cosines are high.
    """
    if not (one.sentence and other.sentence):
        cosine = None
    near = 0.0 if cosine is None else cosine
    shared = len(one.topics & other.topics) / (len(one.topics | other.topics) or 1)
    long = min(one.document.tokens, other.document.tokens) > _LONG
    if (cosine is not None and near < SUBJECT_COSINE) or _projects_differ(one, other):
        return None
    if _exchanged(one.title + one.sentence, other.title + other.sentence) > 1:
        return None
    if shared < NEAR_WORDS and (long or near < NEAR_COSINE):
        return None if cosine is None else Comparison("subject", cosine)
    kind: Likeness = "contradiction" if _contradict(one, other) else "duplicate"
    return Comparison(kind, near if near >= NEAR_COSINE else max(shared, near))


def _projects_differ(one: Memory, other: Memory) -> bool:
    projects = one.document.project or "", other.document.project or ""
    return all(projects) and projects[0].casefold() != projects[1].casefold()


def _contradict(one: Memory, other: Memory) -> bool:
    numbers = one.numbers - other.numbers and other.numbers - one.numbers
    opposite = any(other.sides.get(line, side) != side for line, side in one.sides.items())
    return bool(_exchanged(one.sentence, other.sentence) or numbers or opposite)


def _exchanged(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the parts of one sentence that the other replaces; 0 for two different sentences."""
    match = SequenceMatcher(None, one, other, autojunk=False)
    if match.ratio() < _ALIGNED:
        return 0
    return sum(
        not STOPWORDS.issuperset(one[a:b]) and not STOPWORDS.issuperset(other[c:d])
        for tag, a, b, c, d in match.get_opcodes()
        if tag == "replace"
    )


def comparable_space(reader: Reader) -> SpaceRow | None:
    """Return the serving vector space if the limits above were measured on it.

    That is the space of the bundled English model.
    """
    space = serving_space(reader)
    return space if space is not None and space.space == ENGLISH and reader.vectors_work else None


def age(document: StoredDocument) -> tuple[float, float, int]:
    """Return a sort key that is higher for newer memories.

    The file time orders memories that were created in the same second.
    """
    return document.created, document.updated, document.mtime_ns


# --- in search results -------------------------------------------------------------------------


def newest_first(reader: Reader, hits: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Move each memory before the first hit of an older, nearly identical memory."""
    least = _MIN_SCORE_SHARE * hits[0].score if hits else 0.0
    memories = [one for one in hits if one.chunk.document.kind == "memory" and one.score >= least]
    chunks = {hit.chunk.document.id: hit.chunk for hit in reversed(memories)}  # the best of each
    newer = _newer(reader, list(chunks.values())[-_MOST_MEMORIES:])
    ordered: list[RankedPassage] = []
    for hit in hits if newer else ():
        ids = [(hit.chunk.document.id, one.chunk.document.id) for one in ordered]
        place = next((place for place, pair in enumerate(ids) if pair in newer), len(ordered))
        if place < len(ordered):
            score = ordered[place].score
            newer_by = score / hit.score if hit.score else 1.0
            hit = hit._replace(score=score, boosts={**hit.boosts, "newer": newer_by})
        ordered.insert(place, hit)
    return ordered or list(hits)


def _newer(reader: Reader, chunks: Sequence[ChunkRecord]) -> set[tuple[int, int]]:
    """Return pairs of document ids: a memory and an older, nearly identical one."""
    ordered = sorted(chunks, key=lambda chunk: age(chunk.document), reverse=True)
    pairs = list(combinations(ordered, 2))
    space = comparable_space(reader) if pairs else None
    keys = [(new.chunk_id, old.chunk_id) for new, old in pairs]
    cosines = reader.pair_cosines(space.id, keys) if space else [None] * len(pairs)

    @cache  # few pairs are similar enough to be compared
    def memory(chunk: ChunkRecord) -> Memory:
        return as_memory(chunk.document, without_key(chunk.text), reader.stems)

    found = set()
    for (new, old), cosine in zip(pairs, cosines, strict=True):
        one, other = new.document, old.document
        current = age(one) > age(other) and one.unreviewed <= other.unreviewed
        if current and (cosine is None or cosine >= SUBJECT_COSINE):
            near = compare(memory(new), memory(old), cosine)
            if near and near.kind != "subject":
                found.add((one.id, other.id))
    return found
