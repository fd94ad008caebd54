"""Whether one memory says something newer of the subject of another: by rule, from words and a cosine.

What has changed mostly says so (`now`, `no longer`, `instead of`), or says another value of the same kind beside the
same words. What only looks like it has another subject in the same sentence (staging and production, two people), or
says another thing of the same subject. docs/recall.md has the measurements.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from vault_index.embeddings.spaces import ENGLISH
from vault_index.query.ranking.rank import RankedPassage
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument
from vault_index.store.spaces import pair_cosines, serving_space, without_key
from vault_index.terms import STOPWORDS, query_phrase

NAMED = 0.35  # from this score on, `add` names the older memory
MARKED = 0.6  # from this score on, the older one of an answer comes after the newer
_COSINE, _FAR, _NEAR = 6.05, 5.49, 0.5  # what a cosine counts, and how much less one below `_NEAR`
_MOST = 0.75  # the cosine that two memories may have, until it is looked up: few that say two things have more
_UNLIKELY = 0.1
_SENTENCE = 40  # words of a memory that is one sentence, at most
_COMPARED = 2_000  # characters of a memory
_LONGEST = 40  # tokens: most of the words of a longer memory say other things
_DEEP, _NEAR_THE_BEST = 10, 0.25
"""Memories of an answer that are compared: so many of the first, with at least this share of the best one's score."""
_WEIGHTS = {
    "bias": -5.85, "shared": 4.12, "project": 2.25, "project alone": -0.48, "one project": -3.37, "change": 0.23,
    "left": 0.65, "old value": 0.51, "value": 0.82, "other thing": -1.05, "other start": -0.64, "no value": -0.68,
    "older changed": -0.22, "long": -0.73,
}  # fmt: skip
"""What each of the `features` counts, by logistic regression on `dev` of benchmarks/stale.py (docs/recall.md)."""

_WORD = re.compile(r"[$€£%#]|[^\W_]+(?:[.:@/'’,][^\W_]+)*")
_PARTS = re.compile(r"[./:@,]")
_CUES = re.compile(
    r"(?<!\w)(no longer|any ?more|any longer|no more|instead|rather than|moved?|switched|replac(?:ed|es)|dropped"
    r"|retired|swapped|migrated|upgraded|raised|lowered|reduced|increased|cancell?ed|went|back|gone|removed|closed|out"
    r"|left|converted|appointed|refused|full|took|now|as of|rewrote|renamed|deprecated|change[d:]|too|lost|since|new"
    r"|again|got|old|former|better|was|were|became|used to|joined|had to|goes to|from .{1,25} on|jetzt|nicht mehr|statt"
    r"|seit|neu\w*|weil|désormais|n'est plus|plus de|depuis|nouve\w+|ahora|ya no|desde|nuev[oa])(?!\w)",
    re.IGNORECASE,
)  # what tells of a change; a word of the older text does not
_LEFT_BEHIND = """
moved move switched migrated replaced replaces replacing dropped retired swapped instead longer anymore ditched
abandoned cancelled canceled removed left gone rather statt abgelöst ersetzt remplace remplacé abandonné reemplaza
reemplazado dejamos
"""
_LEAVING = frozenset(_LEFT_BEHIND.split())
"""Words beside which stands what is left behind."""
_IN_ANY_SENTENCE = """
use uses used using run runs running need needs needed get gets got go goes going keep keeps kept make makes made take
takes took set work works want wants let like please done
"""
_PLAIN = STOPWORDS | frozenset(_IN_ANY_SENTENCE.split())
_UP_TO_TWELVE = "one two three four five six seven eight nine ten eleven twelve"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: str(number) for number, word in enumerate(_UP_TO_TWELVE.split(), 1)}
_NUMBERS |= {word: f"{number}0" for number, word in enumerate(_TENS.split(), 1)}
_SHORT = {"prod": "produc", "k8s": "kubern", "db": "databa", "repo": "reposi"}
_UNITS = {
    "time": "second sec s minute min hour h day week weekly month monthly year yearly ms",
    "size": "kb mb gb tb kib mib gib megabyte gigabyte",
    "money": "$ € £ eur euro usd dollar cent",
    "share": "% percent",
    "distance": "km kilometre kilometer mm mile kg mg",
}
_UNIT = {unit: kind for kind, units in _UNITS.items() for unit in units.split()}
_WEEK = """
monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes jueves viernes
"""
_YEAR = """
january february march april june july august september october november december januar februar märz juni juli oktober
dezember janvier février avril juin juillet août
"""
_DAYS, _MONTHS = frozenset(_WEEK.split()), frozenset(_YEAR.split())
_PERIOD = re.compile(r"(?:19|20)\d\d|q[1-4]")
_SIDES = """
staging production prod dev development test testing live sandbox preview local locally real
client server api form
read write
publisher subscriber sender receiver producer consumer
incoming outgoing inbound outbound
uplink downlink upload download
frontend backend
morning late evening night
linux windows macos mac debian ubuntu gnome kde wayland x11 fedora
ios android
firefox chrome safari edge
zsh fish bash
mama papa mum dad
weekday weekend
python javascript typescript java go rust
postgres mysql sqlite mariadb
"""
"""Words that tell subjects apart which have everything else in common."""
_SIDE = tuple(frozenset(line.split()) for line in _SIDES.split("\n") if line)


class Said(NamedTuple):
    """What a text says, as far as it is compared."""

    stems: tuple[str, ...]
    words: tuple[str, ...]
    """Those that carry a subject or a value."""
    topics: frozenset[str]
    """The same, each once."""
    values: Mapping[str, frozenset[str]]
    """Numbers, days and so on, by their kind, and by the word beside them."""
    numbers: frozenset[str]
    """All of the values."""
    kinds: frozenset[str]
    cues: frozenset[str]
    left: frozenset[str]
    """What stands beside a word that tells that something is left behind."""
    periods: frozenset[str]
    sides: Mapping[int, frozenset[str]]

    def __hash__(self) -> int:
        return hash(self.stems)


class Memory(NamedTuple):
    """A memory to compare."""

    document: StoredDocument
    said: Said
    chunk_id: int
    """Whose vector is that of what it says."""

    @property
    def age(self) -> tuple[float, float, int]:
        """The higher, the newer: files of one second are told apart by when they were written."""
        return self.document.created, self.document.updated, self.document.mtime_ns


def memory(document: StoredDocument, texts: Iterable[str], chunk_id: int) -> Memory:
    """With its title, if it was given one; `texts` are its passages."""
    title = [document.title] if _is_called(document) else []
    return Memory(document, read("\n".join((*title, *map(without_key, texts)))[:_COMPARED]), chunk_id)


def _is_called(document: StoredDocument) -> bool:
    return '"title":' in document.frontmatter_json


def may_be_of_one_subject(new: StoredDocument, old: StoredDocument) -> bool:
    """Whether two memories may be compared: of long ones the titles have to say nearly the same."""
    if max(new.tokens, old.tokens) <= _LONGEST:
        return True
    one, other = (read(document.title).topics if _is_called(document) else frozenset() for document in (new, old))
    return len(one | other) <= 2 * len(one & other) > 0


@lru_cache(maxsize=2_000)  # the same memories are compared in answer after answer
def read(text: str) -> Said:
    tokens = [
        part
        for found in _WORD.finditer(text if text.isascii() else query_phrase(text))
        for part in ([found[0]] if any(map(str.isdigit, found[0])) else _PARTS.split(found[0]))
    ]
    words = [word for token in tokens if (word := _folded(token))]
    bare = {*words, *(word.rstrip("s") for word in words)}
    values: dict[str, set[str]] = {}
    for place, word in enumerate(words):
        for kind in _kinds(word, [*words[place + 1 : place + 2], *(words[place - 1 : place] if place else ())]):
            values.setdefault(kind, set()).add(_stem(word))
    topical = tuple(_stem(word) for word in words if word not in _PLAIN)
    leaving = [place for place, word in enumerate(words) if word in _LEAVING]
    beside = {word for place in leaving for word in words[max(place - 5, 0) : place + 6]}
    return Said(
        stems=tuple(map(_stem, words)),
        words=topical,
        topics=frozenset(topical),
        values={kind: frozenset(numbers) for kind, numbers in values.items()},
        numbers=frozenset().union(*values.values()),
        kinds=frozenset(kind for kind in values if not kind.startswith("of ")),
        cues=frozenset(cue.casefold()[:5] for cue in _CUES.findall(text)),
        left=frozenset(map(_stem, beside - _PLAIN - _LEAVING)),
        periods=frozenset(word for word in words[:5] if _PERIOD.fullmatch(word) or word in _MONTHS),
        sides={number: frozenset(side & bare) for number, side in enumerate(_SIDE) if not side.isdisjoint(bare)},
    )


def _folded(token: str) -> str:
    return re.split("['’]", token.casefold().removesuffix("'s").removesuffix("’s"))[-1]


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    if word in _NUMBERS or word in _SHORT or any(map(str.isdigit, word)):
        return _NUMBERS.get(word) or _SHORT.get(word, word)
    word = word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
    ending = next(
        (end for end in ("ing", "ed", "ie", "e", "y") if word.endswith(end) and len(word) - len(end) >= 4), ""
    )
    return word.removesuffix(ending)[:6]


def _kinds(word: str, beside: Sequence[str]) -> list[str]:
    """What a word is a value of: its kind, and for a number the words beside it."""
    number = word[0].isdigit() or word in _NUMBERS
    if not number:
        day = word in _DAYS or word.rstrip("s") in _DAYS
        return ["day"] if day else ["month"] if word in _MONTHS else ["mixed"] if any(map(str.isdigit, word)) else []
    units = [unit for near in beside if (unit := _UNIT.get(near) or _UNIT.get(near.rstrip("s")))]
    form = "clock" if ":" in word else "version" if "." in word else "number"
    named = [
        f"of {_stem(near)}" for near in beside if near not in _PLAIN and not near[0].isdigit() and near not in _NUMBERS
    ]
    return [units[0] if units else form, *named]


def score(newer: Memory, older: Memory, cosine: float | None) -> float:
    """How likely the newer says another value of the same subject, from 0 to 1; without a `cosine` words alone tell."""
    return _score(newer, older, evidence(newer, older), cosine)


def evidence(newer: Memory, older: Memory) -> float | None:
    """What the words say for it; None where they have different subjects."""
    if not may_be_of_one_subject(newer.document, older.document):
        return None
    return _of_words(newer.said, older.said, newer.document.project, older.document.project)


@lru_cache(maxsize=10_000)  # two memories that answer one question answer others
def _of_words(new: Said, old: Said, project: str | None, other: str | None) -> float | None:
    found = features(new, old, project, other)
    return None if found is None else sum(_WEIGHTS[name] * value for name, value in found.items())


def _score(newer: Memory, older: Memory, words: float | None, cosine: float | None, least: float = _UNLIKELY) -> float:
    # What is below `least` is not looked at closely, which takes longest.
    new, old = newer.said, older.said
    if words is None:
        return 0.0
    if cosine is None:
        cosine = 0.25 + 0.45 * len(new.topics & old.topics) / (min(len(new.topics), len(old.topics)) or 1)
    likely = _likely(words, cosine)
    return 0.0 if likely >= least and new.cues <= old.cues and is_parallel(new, old) else likely


def _likely(words: float, cosine: float) -> float:
    return 1 / (1 + math.exp(-words - _COSINE * cosine + _FAR * max(_NEAR - cosine, 0.0)))


def features(new: Said, old: Said, project: str | None, other: str | None) -> dict[str, float] | None:
    """What speaks for and against it; None where they have different subjects, or nothing differs."""
    shared, change = new.topics & old.topics, not new.cues <= old.cues
    apart = any(new.sides[side].isdisjoint(old.sides[side]) for side in new.sides.keys() & old.sides.keys())
    period = new.periods and old.periods and new.periods.isdisjoint(old.periods)
    if (project and other and project.casefold() != other.casefold()) or (
        not change and (apart or period or len(shared) == len(old.topics))
    ):
        return None
    kinds = {
        kind
        for kind in new.values.keys() & old.values.keys()
        if not (new.values[kind] <= old.numbers or old.values[kind] <= new.numbers)
    }
    starts = new.words[:2], old.words[:2]
    one_start = bool(new.words[:1] and new.words[0] in starts[1] and old.words[0] in starts[0])
    return {
        "bias": 1.0,
        "shared": min(len(shared), 4) / 4,
        "project": bool(project and other),
        "project alone": bool(project and other) and not change,
        "one project": bool(project) != bool(other),
        "change": change,
        "left": not new.left.isdisjoint(old.topics) and not new.left <= old.left,
        "old value": change and not shared.isdisjoint(old.words[len(old.words) // 2 :]),
        "value": not kinds <= {"number", "mixed"} and not shared.isdisjoint(starts[0] + starts[1]),
        "other thing": not change and one_start and not kinds,
        "other start": not change and shared.isdisjoint(new.words[:1] + old.words[:1]),
        "no value": not change and bool(old.kinds) and old.kinds.isdisjoint(new.kinds),
        "older changed": not old.cues <= new.cues,
        "long": min(len(old.words), 20) / 20,
    }


@lru_cache(maxsize=10_000)
def is_parallel(new: Said, old: Said) -> bool:
    """Whether the texts are one sentence with two things exchanged: a subject, and what is said of it."""
    if max(len(new.stems), len(old.stems)) > _SENTENCE or new.topics.isdisjoint(old.topics):
        return False
    match = SequenceMatcher(None, new.stems, old.stems, autojunk=False)
    return match.ratio() >= 0.45 and sum(tag == "replace" for tag, *_ in match.get_opcodes()) > 1


# --- among the hits of one answer -------------------------------------------------------------------------------


def newer_among(
    reader: IndexReader, memories: Sequence[Memory], least: float = MARKED
) -> dict[int, list[StoredDocument]]:
    """Those of the memories that say something newer than another of them, the newest first, by the other's key."""
    by_uid = {one.document.uid: one.document for one in memories}
    found: dict[int, list[StoredDocument]] = {}
    for one in memories:
        if '"superseded_by"' in one.document.frontmatter_json:
            newer = by_uid.get(str(one.document.frontmatter["superseded_by"]).lower())
            found |= {one.document.id: [newer]} if newer else {}
    newest_first = sorted(memories, key=lambda one: one.age, reverse=True)
    pairs = [
        (new, old, words)
        for new, old in combinations(newest_first, 2)
        if _may_say_it_anew(new.said, old.said)
        and new.age > old.age
        and bool(new.document.project) == bool(old.document.project)
        and new.document.unreviewed <= old.document.unreviewed
        and old.document.id not in found
        and (words := evidence(new, old)) is not None
        and _likely(words, _MOST) >= least
    ]
    for (new, old, words), cosine in zip(pairs, _cosines(reader, pairs), strict=True):
        if _score(new, old, words, cosine, least) >= least:
            found.setdefault(old.document.id, []).append(new.document)
    return found


def _may_say_it_anew(new: Said, old: Said) -> bool:
    """Told at once, of most pairs that it is not so: more than one word in common, or a change or values beside it."""
    shared = len(new.topics & old.topics)
    return shared > 1 or (shared > 0 and (not new.cues <= old.cues or not new.kinds.isdisjoint(old.kinds)))


def _cosines(reader: IndexReader, pairs: Sequence[tuple[Memory, Memory, float]]) -> list[float | None]:
    """Where they tell anything: of the model that comes with the package."""
    space = serving_space(reader) if pairs else None
    if space is None or space.space != ENGLISH or not reader.vectors_work():
        return [None] * len(pairs)
    return pair_cosines(reader, space.id, [(new.chunk_id, old.chunk_id) for new, old, _ in pairs])


def newest_first(order: Iterable[int], newer: Mapping[int, Sequence[StoredDocument]]) -> list[int]:
    """Keys of documents with those that say something newer directly before, or where they stand already."""
    placed: dict[int, bool] = {}

    def place(key: int) -> None:
        if key not in placed:
            placed[key] = False  # for who supersedes itself by way of others
            for one in newer.get(key, ()):
                place(one.id)
            placed[key] = placed.pop(key) or True

    for key in order:
        place(key)
    return list(placed)


def hits_newest_first(
    reader: IndexReader, hits: Sequence[RankedPassage], changed: Callable[[StoredDocument], bool | None]
) -> Sequence[RankedPassage]:
    """`hits` with what says something newer of a subject in the place of what is older, which is marked; `changed`
    gives None for a file that is gone."""
    first: dict[int, RankedPassage] = {}
    texts: dict[int, dict[int, str]] = {}
    for hit in hits:
        document = hit.chunk.document
        if document.kind == "memory" and changed(document) is not None:
            if document.id not in first and (len(first) == _DEEP or hit.score < _NEAR_THE_BEST * hits[0].score):
                continue
            first.setdefault(document.id, hit)
            texts.setdefault(document.id, {})[-hit.chunk.ordinal] = hit.chunk.text
    memories = [
        memory(hit.chunk.document, (text for _, text in sorted(texts[key].items())), hit.chunk.chunk_id)
        for key, hit in first.items()
    ]
    newer = newer_among(reader, memories)
    if not newer:
        return hits
    ordered: list[RankedPassage] = []
    left = iter(newest_first(first, newer))
    raised: set[int] = set()
    for hit in hits:
        key = hit.chunk.document.id
        hit = replace(hit, newer=newer[key][0].uid) if key in newer else hit
        if key not in first or first[key].chunk is not hit.chunk or first[key].passage != hit.passage:
            ordered.append(hit)
        elif key not in raised:
            for other in left:
                raised.add(other)
                ordered.append(hit if other == key else _raised(first[other], hit, newer.get(other)))
                if other == key:
                    break
    return ordered


def _raised(hit: RankedPassage, older: RankedPassage, newer: Sequence[StoredDocument] | None) -> RankedPassage:
    """A hit in the place of an older one, with its score."""
    factor = older.score / hit.score if hit.score else 1.0
    return replace(hit, score=older.score, boosts={**hit.boosts, "newer": factor}, newer=newer[0].uid if newer else "")
