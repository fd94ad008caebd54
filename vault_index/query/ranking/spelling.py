"""Corrects typing errors: finds the nearest words of the index for words that no text contains.

Candidates are found by edits (Damerau-Levenshtein distance, optimal string alignment). They are
ranked by edits, by frequency, and by whether the first letter agrees, because it is seldom wrong. A
missing space is also an edit. If no word is near, words with this prefix are candidates.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from vault_index.embeddings.wordpiece import is_english
from vault_index.query.language.tree import Term
from vault_index.query.reader import Reader, Words
from vault_index.terms import folded, index_words, is_stopword, is_word

# Notes contain errors too. A word in fewer than `_FEW` texts counts as an error if a word one edit
# away is `_MORE_COMMON` times as frequent. With a third of that, half of the corrections
# would be wrong.
_FEW = 5
_MORE_COMMON = 30

_MOST_EDITS = 3
_LEAST_THRESHOLD = 0.5  # a word with a lower similarity is a different word
_SPACE = 1.3  # cost in edits: an error within a word is likelier than a wrong space
_COMMON = 0.12  # bonus in edits of a word that is e times as common
_FIRST_LETTER = 0.4  # bonus in edits of a word with the same first letter
_SHORTEST = 3
_SHORTEST_BEGINNING = 5  # letters of an unfinished word
_MOST_WORDS = 16  # per query: more is a pasted text in another language
_MOST_CORRECTIONS = 3
_LEAST_SHARE = 0.1
_SPREAD = 0.2  # decay of a candidate's share per edit; fitted to 1,500 typing errors
_PHRASES = re.compile('(["“„][^"“”„]*["“”„])')


class Correction(NamedTuple):
    """A possible correction of a word."""

    text: str
    """A word of the index, or two words with a space between."""
    weight: float
    """Similarity times probability among all candidates: from 0 to 1, where 1 is the word as
    typed."""


class _Candidate(NamedTuple):
    cost: float
    text: str
    similarity: float


class Spelling(NamedTuple):
    """The corrections of a query, by words as typed (in lower case)."""

    forms: Mapping[str, Mapping[str, float]]
    """Words to search for in addition, each with its weight. Rare words have such forms too."""
    corrections: Mapping[str, str]
    """Replacements of words that no text contains."""

    def corrected(self, text: str) -> str:
        """Return `text` with corrections, except in phrases and filter keys."""
        parts = _PHRASES.split(text)
        for typed, correction in self.corrections.items():
            # A correction has only letters and spaces, so it needs no escaping as a replacement.
            pattern = re.compile(rf"(?<![^\W_]){re.escape(typed)}(?![^\W_]|:\S)", re.IGNORECASE)
            parts[::2] = [pattern.sub(correction, part) for part in parts[::2]]
        return "".join(parts)


NO_CORRECTIONS = Spelling({}, {})
"""The spelling of a query without errors."""


def correct(reader: Reader, terms: Sequence[Term], threshold: float) -> Spelling:
    """Return the corrections of a query; phrases and prefixes stay as typed."""
    words = [
        word
        for term in terms
        if term.kind == "word" and not term.stop
        for word in index_words(term.text)
        if is_word(word)
    ]
    suspects = suspected_typos(reader.vocabulary().frequencies(words)) if words else {}
    found = corrections(suspects, reader.vocabulary(), threshold) if suspects else {}
    return Spelling(
        {typed: dict(meant) for typed, meant in found.items()},
        {typed: meant[0].text for typed, meant in found.items() if suspects[typed] == 0},
    )


def suspected_typos(frequencies: Mapping[str, int]) -> dict[str, int]:
    """Return the words that no text or few texts contain, with their frequencies.

    English words are never suspected, even if the notes lack them: `basement` is not an error for
    `pavement`. Words with digits are never suspected either, because a similar version, port or
    error code is a different one.
    """
    return {
        word: frequency
        for word, frequency in frequencies.items()
        if frequency < _FEW and len(word) >= _SHORTEST and word.isalpha() and not is_english(word)
    }


def corrections(
    suspects: Mapping[str, int], vocabulary: Words, threshold: float = 0.7
) -> dict[str, list[Correction]]:
    """Return the corrections of suspected words, likeliest first; words without one are omitted.

    `suspects` is the result of `suspected_typos`. `threshold` is the minimum similarity, at least
    0.5.
    """
    threshold = max(threshold, _LEAST_THRESHOLD)
    found = {}
    for word, frequency in [*suspects.items()][:_MOST_WORDS]:
        chosen = _weighted(sorted(_candidates(word, frequency, vocabulary, threshold)))
        # A misspelled stopword is not searched for. If dozens of words are equally near, no
        # correction is likely enough.
        if chosen and not is_stopword(chosen[0].text):
            found[word] = chosen
    return found


def _candidates(
    word: str, frequency: int, vocabulary: Words, threshold: float
) -> Iterator[_Candidate]:
    """Yield similar words, one per stem, or else completions; and the best split in two."""
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
    word: str, most_edits: int, vocabulary: Words, threshold: float
) -> dict[str, tuple[int, str, int]]:
    """Return words within `most_edits` and `threshold`, with distance, stem and number of texts."""
    # Late: the import costs more than a search, and few queries contain an error.
    from rapidfuzz.distance import OSA
    from rapidfuzz.process import extract

    known: dict[str, tuple[int, str, int]] = {}
    compared = folded(word)
    # The first letter is seldom wrong. If it is, it was mostly inserted or swapped with the second.
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


def _halves(word: str, vocabulary: Words) -> tuple[int, str] | None:
    """Return the most frequent two words that make up `word`, after the lower frequency."""
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
    """Return the similarity of a word in which only a space is wrong."""
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
