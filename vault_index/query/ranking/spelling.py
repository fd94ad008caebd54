"""Typing errors: for words that no text holds, the nearest words of the index.

Candidates are found by edits (Damerau-Levenshtein distance in its optimal string alignment: a letter more, less or
other, or two swapped) and ranked by edits, by how common they are, and by whether the first letter agrees, which is
seldom wrong. A space left out or put in is an edit, too. Where nothing is near, the words that begin so are meant.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from vault_index.embeddings.wordpiece import is_english
from vault_index.query.language.tree import Term
from vault_index.store.reader import IndexReader
from vault_index.store.vocabulary import Vocabulary
from vault_index.terms import folded, index_words, is_stopword, is_word

# Notes hold errors, too: a word in fewer than `_FEW` texts is taken for one if a word one edit away is `_MORE_COMMON`
# times as frequent. With a third of that, as many good words would be corrected as bad ones.
_FEW = 5
_MORE_COMMON = 30

_MOST_EDITS = 3
_LEAST_THRESHOLD = 0.5  # of a word that differs in more nobody would say that it is misspelled
_SPACE = 1.3  # edits: of two explanations the one within a word is likelier
_COMMON = 0.12  # edits that a word e times as common may be further away
_FIRST_LETTER = 0.4  # edits that a word with the same first letter may be further away
_SHORTEST = 3
_SHORTEST_BEGINNING = 5  # of a word that nobody has typed to its end
_MOST_WORDS = 16  # of one query: more is a pasted text in another language
_MOST_CORRECTIONS = 3
_LEAST_SHARE = 0.1
_SPREAD = 0.2  # how fast a candidate's share falls with the edits it lies behind: fitted to 1,500 typing errors
_PHRASES = re.compile('(["“„][^"“”„]*["“”„])')


class Correction(NamedTuple):
    """What a word may have been meant to be."""

    text: str
    """A word of the index, or two with a space between."""
    weight: float
    """Between 0 and 1, where 1 is what was typed: the share of its letters that agree, times how likely it is among
    all candidates."""


class _Candidate(NamedTuple):
    cost: float
    text: str
    similarity: float


class Spelling(NamedTuple):
    """The corrections of a query, by words as typed (in lower case)."""

    forms: Mapping[str, Mapping[str, float]]
    """Words to look for as well, each with its weight beside the word as typed; also for words that few texts hold."""
    corrections: Mapping[str, str]
    """What is read instead of words, or pairs of words, that no text holds."""

    def corrected(self, text: str) -> str:
        """`text` with its corrections; phrases stay as typed, and no word becomes the key of a filter."""
        parts = _PHRASES.split(text)
        parts[::2] = [self._corrected(part) for part in parts[::2]]
        return "".join(parts)

    def _corrected(self, text: str) -> str:
        for typed, correction in self.corrections.items():
            written = r"\s+".join(map(re.escape, typed.split()))
            # A correction has letters and spaces alone: nothing that a replacement would read as more.
            text = re.sub(
                rf"(?<![^\W_]){written}(?![^\W_]|:\S)", correction, text, flags=re.IGNORECASE
            )
        return text


NO_CORRECTIONS = Spelling({}, {})


def correct(reader: IndexReader, terms: Sequence[Term], threshold: float) -> Spelling:
    """The corrections of the words of a query; phrases and prefixes stay as typed."""
    words = [
        word
        for term in terms
        if term.kind == "word" and not term.stop
        for word in index_words(term.text)
    ]
    words = list(filter(is_word, words))
    suspects = suspected_typos(reader.vocabulary().frequencies(words)) if words else {}
    if not suspects:
        return NO_CORRECTIONS
    found = corrections(words, suspects, reader.vocabulary(), threshold)
    forms: dict[str, dict[str, float]] = {}
    for typed, proposals in found.items():
        for word in typed.split():
            forms.setdefault(word, {}).update(proposals)
    return Spelling(
        forms,
        {
            typed: proposals[0].text
            for typed, proposals in found.items()
            if any(suspects.get(word) == 0 for word in typed.split())
        },
    )


def suspected_typos(frequencies: Mapping[str, int]) -> dict[str, int]:
    """The words that no text, or few texts, hold, with their frequencies.

    No English word is suspected, even if the notes do not know it: `basement` is not a slip for `pavement`. Nothing
    with digits: what is near a version, a port or an error code is another one.
    """
    return {
        word: frequency
        for word, frequency in frequencies.items()
        if frequency < _FEW and len(word) >= _SHORTEST and word.isalpha() and not is_english(word)
    }


def corrections(
    words: Sequence[str],
    suspects: Mapping[str, int],
    vocabulary: Vocabulary,
    threshold: float = 0.7,
) -> dict[str, list[Correction]]:
    """The corrections of suspected words, likeliest first; a word that nothing is near is left out.

    `words` are those of the query in lower case and order: two that are one in the index (`kuber netes`) have one
    entry under both. `suspects` is what `suspected_typos` found. `threshold` is the least share of letters that agree,
    at least half.
    """
    threshold = max(threshold, _LEAST_THRESHOLD)
    found = _joined_pairs(words, suspects, vocabulary, threshold)
    parts = {part for pair in found for part in pair.split()}
    for word in [word for word in suspects if word not in parts][:_MOST_WORDS]:
        if candidates := sorted(_candidates(word, suspects[word], vocabulary, threshold)):
            chosen = _weighted(candidates)
            # A slip in a stopword is nothing to look for, and of dozens that are equally near none is meant.
            if chosen and not is_stopword(chosen[0].text):
                found[word] = chosen
    return found


def _joined_pairs(
    words: Sequence[str], suspects: Mapping[str, int], vocabulary: Vocabulary, threshold: float
) -> dict[str, list[Correction]]:
    pairs = [
        (first, second)
        for first, second in pairwise(words)
        if (suspects.get(first) == 0 or suspects.get(second) == 0)
        and _without_space(first + second) >= threshold
    ]
    known = vocabulary.look_up([first + second for first, second in pairs]) if pairs else {}
    return {
        f"{first} {second}": [Correction(first + second, _without_space(first + second))]
        for first, second in pairs
        if first + second in known
    }


def _candidates(
    word: str, frequency: int, vocabulary: Vocabulary, threshold: float
) -> Iterator[_Candidate]:
    """Similar words, one of each stem, or words that begin with the word; and the best two that make it up."""
    best: dict[str, _Candidate] = {}
    near = _near(word, 1 if frequency else _MOST_EDITS, vocabulary, threshold)
    for text, (edits, stem, chunks) in near.items():
        if chunks >= frequency * _MORE_COMMON:
            candidate = _Candidate(
                _cost(edits, chunks, same_letter=text[0] == word[0]),
                text,
                1 - edits / max(len(word), len(text)),
            )
            best[stem] = min(candidate, best.get(stem, candidate))
    yield from best.values()
    if not best and frequency == 0 and len(word) >= _SHORTEST_BEGINNING and threshold < 1:
        for text, chunks in vocabulary.beginning_with(word, _MOST_CORRECTIONS):
            if len(word) >= _LEAST_THRESHOLD * len(text):
                yield _Candidate(
                    _cost(len(text) - len(word), chunks, same_letter=True),
                    text,
                    len(word) / len(text),
                )
    if (
        frequency == 0
        and _without_space(word) >= threshold
        and (halves := _halves(word, vocabulary))
    ):
        chunks, text = halves
        yield _Candidate(_cost(_SPACE, chunks, same_letter=True), text, _without_space(word))


def _near(
    word: str, most_edits: int, vocabulary: Vocabulary, threshold: float
) -> dict[str, tuple[int, str, int]]:
    """Words of the index that are at most `most_edits` away and as similar as `threshold`, each with its distance, its
    stem and the number of texts that hold it."""
    # Late: the import costs more than a search, and few questions hold an error.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    known: dict[str, tuple[int, str, int]] = {}
    compared = folded(word)
    # The first letter is seldom wrong, and if it is, it was mostly swapped with the second or put before it.
    for beginning in dict.fromkeys(compared[:2]) if vocabulary.is_large else ("",):
        near: dict[str, int] = {}
        for words in vocabulary.of_lengths(
            len(word) - most_edits, len(word) + most_edits, beginning
        ):
            length = len(next(iter(words), ""))
            edits = min(most_edits, int((1 - threshold) * max(length, len(word)) + 1e-9))
            if edits >= abs(length - len(word)):
                found = extract(
                    compared, words, scorer=OSA.distance, score_cutoff=edits, limit=None
                )
                near |= {text: int(distance) for _, distance, text in found if text != word}
        known = (
            {text: (near[text], *one) for text, one in vocabulary.look_up(near).items()}
            if near
            else {}
        )
        if known:
            break
    return known


def _halves(word: str, vocabulary: Vocabulary) -> tuple[int, str] | None:
    """The two words of the index that make up `word` and are in most texts, after the frequency of the rarer one."""
    pairs = [(word[:end], word[end:]) for end in range(_SHORTEST, len(word) - _SHORTEST + 1)]
    known = (
        vocabulary.look_up({half for pair in pairs for half in pair if not is_stopword(half)})
        if pairs
        else {}
    )
    return max(
        (
            (min(known[a][1], known[b][1]), f"{a} {b}")
            for a, b in pairs
            if a in known and b in known
        ),
        default=None,
    )


def _cost(edits: float, chunks: int, *, same_letter: bool) -> float:
    return edits - _COMMON * math.log(chunks) - _FIRST_LETTER * same_letter


def _without_space(word: str) -> float:
    """The similarity of a word where only a space is wrong."""
    return 1 - _SPACE / len(word)


def _weighted(candidates: Sequence[_Candidate]) -> list[Correction]:
    likely = [math.exp((candidates[0].cost - candidate.cost) / _SPREAD) for candidate in candidates]
    shares = [each / sum(likely) for each in likely]
    chosen = zip(candidates[:_MOST_CORRECTIONS], shares, strict=False)
    return [
        Correction(each.text, each.similarity * share)
        for each, share in chosen
        if share >= _LEAST_SHARE
    ]
