"""Typing errors in a query: what its words may have meant, and the query as it was meant."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_index.query.fuzzy import corrections, doubtful
from vault_index.query.tree import Term
from vault_index.store.reader import IndexReader
from vault_index.terms import index_words

_PHRASES = re.compile('(["“„][^"“”„]*["“”„])')


@dataclass(frozen=True, slots=True)
class Spelling:
    """What words as typed (in lower case) may have meant."""

    forms: Mapping[str, Mapping[str, float]]
    """Words to look for as well, and how much each counts beside what was typed."""
    corrections: Mapping[str, str]
    """What is read instead of words, or pairs of words, that no text holds."""

    def corrected(self, text: str) -> str:
        """`text` as it was meant; phrases are taken at their word, and no word becomes the key of a filter."""
        parts = _PHRASES.split(text)
        parts[::2] = [self._meant(part) for part in parts[::2]]
        return "".join(parts)

    def _meant(self, text: str) -> str:
        for typed, meant in self.corrections.items():
            written = r"\s+".join(map(re.escape, typed.split()))
            # What is meant holds letters and spaces alone: nothing that a replacement would read as more.
            text = re.sub(rf"(?<![^\W_]){written}(?![^\W_]|:\S)", meant, text, flags=re.IGNORECASE)
        return text


AS_TYPED = Spelling({}, {})


def mend(reader: IndexReader, terms: Sequence[Term], threshold: float) -> Spelling:
    """What the words of a query may have meant; phrases and prefixes are taken at their word."""
    words = [word for term in terms if term.kind == "word" and not term.stop for word in index_words(term.text)]
    doubts = doubtful(reader.document_frequencies(words), reader.count("chunk")) if words else {}
    if not doubts:
        return AS_TYPED
    found = corrections(words, doubts, reader.vocabulary(), threshold)
    forms: dict[str, dict[str, float]] = {}
    for typed, meant in found.items():
        for word in typed.split():
            forms.setdefault(word, {}).update((one.text, one.weight) for one in meant)
    unknown = {
        typed: meant[0].text for typed, meant in found.items() if any(doubts.get(word) == 0 for word in typed.split())
    }
    return Spelling(forms, unknown)
