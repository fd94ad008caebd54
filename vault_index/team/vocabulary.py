"""The words that a member may see: counts by zone, added over the visible ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from vault_index.store.vocabulary import Vocabulary
from vault_index.team.statements import Connected
from vault_index.team.words import tokenizer
from vault_index.terms import folded

_MANY_TEXTS = 20_000
MANY_ZONES = 100
"""Up to as many zones, an index is asked for each, so that the texts of others take no time."""
_END = "\U0010ffff"
"""Follows every letter, so that all words with a beginning are one range."""

_WORDS = "FROM term_of_zone WHERE word > ' ' AND chunks > 0 AND stem >= ?1 AND stem < ?2"
_OF_ZONES = f"SELECT DISTINCT word {_WORDS} AND zone_id = ANY (?3::integer[])"
_FIRST = f"SELECT stem, word {_WORDS}"
# From each word to the next, because many zones have the same words.
_EACH = (
    f"WITH RECURSIVE one AS (({_FIRST} ORDER BY stem, word LIMIT 1) UNION ALL SELECT next.*"
    f" FROM one, LATERAL ({_FIRST} AND (stem, word) > (one.stem, one.word)"
    " ORDER BY stem, word LIMIT 1) AS next) SELECT word FROM one"
)


class PoolVocabulary(Vocabulary):
    """The words of the visible texts; its counts of stems are kept for one request."""

    def __init__(self, db: Connected, chunks: int, zones: Sequence[int]) -> None:
        self._rows = db
        self._chunks = chunks
        self._zones = zones
        self._by_length: dict[tuple[str, int], dict[str, str]] = {}
        self._counts: dict[str, int] = {}
        self.named: dict[str, int] = {}
        """The number of documents with a stem in a name, of the stems that were counted."""
        self.zones: defaultdict[str, set[int]] = defaultdict(set)
        """The zones of the stems that were counted; with 0, there are more."""

    @property
    def is_large(self) -> bool:
        """Whether reading all words takes longer than a search."""
        return self._chunks > _MANY_TEXTS

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word, except words that the tokenizer splits."""
        return tokenizer().of_words(words)

    def words_between(self, beginning: str, shortest: int, longest: int) -> list[str]:
        """Return the words of these lengths whose stem has this beginning."""
        few = [self._zones] if len(self._zones) <= MANY_ZONES else []
        values = (beginning, beginning + _END, *few)
        rows = self._rows.execute(_OF_ZONES if few else _EACH, values)
        return [word for (word,) in rows if shortest <= len(word) <= longest]

    def frequencies(self, words: Collection[str]) -> dict[str, int]:
        """Return the number of texts of each word, and read the counts of all of them at once."""
        self.count_stems(self.stems(words))
        return super().frequencies(words)

    def count_stems(self, stem_of: Mapping[str, str]) -> dict[str, int]:
        """Return the number of texts by stem, without unknown stems."""
        if new := {*stem_of.values()} - self._counts.keys():
            rows = self._rows.execute(
                "SELECT word, stem, chunks::bigint, zones FROM term WHERE word IN ('', ' ')"
                " AND stem = ANY (?)",
                (sorted(new),),
            )
            self._counts |= dict.fromkeys(new, 0)
            for word, stem, count, zones in rows:
                (self.named if word else self._counts)[stem] = count
                self.zones[stem].update(zones)
        return {stem: count for stem in stem_of.values() if (count := self._counts[stem])}

    def look_up(self, words: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the stem and the number of texts of each word in the pool."""
        stem_of = self.stems(words)
        rows = self._rows.execute(
            "SELECT word, stem, chunks::bigint FROM term WHERE stem = ANY (?) AND word = ANY (?)",
            (sorted({*stem_of.values()}), [*stem_of]),
        )
        return {word: (stem, chunks) for word, stem, chunks in rows if stem_of[word] == stem}

    def beginning_with(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return the most common word of each stem that begins with `word`, with its count."""
        return self._rows.execute(
            "SELECT word, chunks FROM (SELECT DISTINCT ON (stem) word, chunks::bigint FROM term"
            " WHERE word > ' ' AND stem >= ? AND stem < ? ORDER BY stem, chunks DESC, word) AS one"
            " ORDER BY chunks DESC, word LIMIT ?",
            (folded(word), folded(word) + _END, limit),
        )

    def completions(self, word: str, stem: str, limit: int) -> list[str]:
        """Return the most common words that begin with `word`, one per stem; `stem` is its stem."""
        shared = self.shared_beginning(word, stem)
        rows = self._rows.execute(
            "SELECT min(word), sum(chunks) FROM term WHERE stem >= ? AND stem < ?"
            " AND word >= ? AND word < ? GROUP BY stem ORDER BY 2 DESC, 1 LIMIT ?",
            (shared, shared + _END, word, word + _END, limit),
        )
        return [completed for completed, _ in rows]

    def count_beginning(self, word: str) -> int:
        """Return the approximate number of texts with a stem that begins with `word`."""
        sql = (
            "SELECT coalesce(sum(chunks), 0)::bigint FROM term"
            " WHERE word = '' AND stem >= ? AND stem < ?"
        )
        return int(self._rows.value(sql, (folded(word), folded(word) + _END)))
