"""The words of the index with their number of texts, for spelling correction and weights.

Counting at each write would touch a hundred rows per chunk. So each transaction only queues its
texts, and `count_words` counts them at the end of a sync; a crash in between loses nothing. The
words of a text depend only on the text, so that they can be subtracted later. A change of
`words_of` needs a migration that recounts, as `count_anew` does.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache
from typing import cast

import apsw

from vault_index.store.connection import Database, count_rows, translated
from vault_index.store.records import CONTEXT, TEXT
from vault_index.terms import folded, index_text_without_grams, is_word

_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2"])  # as in chunk_fts
_LENGTHS = range(2, 41)
_MANY_TEXTS = 100_000
_LONGEST_ENDING = 5
"""Maximum number of letters by which most words are longer than their stem."""
_WORD = re.compile(r"[^\W_]+")
# Bytes are split several times faster than text: other ASCII characters become spaces, non-ASCII
# bytes stay.
_FOLDED = bytes(
    byte if byte > 127 or chr(byte).isalnum() else 32 for byte in bytes(range(256)).lower()
)
CHUNK_TEXT = f"{CONTEXT} || char(10) || {TEXT}"


# --- writing --------------------------------------------------------------------------------------


def add_chunk(db: Database, chunk_id: int) -> None:
    """Queue the text of a new chunk for counting."""
    db.execute("INSERT INTO uncounted_chunk (chunk_id) VALUES (?)", (chunk_id,))


def remove_chunk(db: Database, chunk_id: int) -> None:
    """Queue the text of a chunk for subtraction. Call it before its row is deleted."""
    db.execute(
        f"INSERT INTO uncounted_text (text, change) SELECT {CHUNK_TEXT}, -1 FROM chunk"
        " WHERE id = ?1 AND id NOT IN (SELECT chunk_id FROM uncounted_chunk)",
        (chunk_id,),
    )
    db.execute("DELETE FROM uncounted_chunk WHERE chunk_id = ?", (chunk_id,))


def put_called(db: Database, document_id: int | None, called: str) -> None:
    """Queue the change of a document's names and fields, before it is written.

    `called` is empty before a deletion, and `document_id` is None for a new document.
    """
    before = db.value("SELECT called FROM document WHERE id = ?", (document_id,)) or ""
    changes = [] if called == before else [(before, -1), (called, 1)]
    db.execute_many("INSERT INTO uncounted_text (text, change) VALUES (?, ?)", changes)


def count_words(db: Database, least: int = 0) -> None:
    """Update the vocabulary with the queued texts, if they include this many chunks."""
    if db.value("SELECT count(*) FROM uncounted_chunk") < least:
        return
    changes, gone = Counter[bytes](), Counter[bytes]()
    with db.transaction():
        with translated(db.path):
            # A cursor, because the texts may be as large as the vault.
            for text, change in db.connection.execute(
                f"SELECT {CHUNK_TEXT}, 1 FROM uncounted_chunk JOIN chunk ON chunk.id = chunk_id"
                " UNION ALL SELECT text, change FROM uncounted_text"
            ):
                (changes if change > 0 else gone).update(words_of(text))
        changes.subtract(gone)
        _change(db, {word.decode(): change for word, change in changes.items() if change})
        db.execute("DELETE FROM uncounted_chunk")
        db.execute("DELETE FROM uncounted_text")


def count_anew(db: Database) -> None:
    """Recount all texts."""
    for table in ("term", "uncounted_chunk", "uncounted_text"):
        db.execute(f"DELETE FROM {table}")
    db.execute("INSERT INTO uncounted_chunk SELECT id FROM chunk")
    db.execute("INSERT INTO uncounted_text (text, change) SELECT called, 1 FROM document")
    count_words(db)


def _change(db: Database, changes: Mapping[str, int]) -> None:
    stem_of = stems(db, [word for word in changes if _counts(word)])
    rows = sorted((stem, word, changes[word]) for word, stem in stem_of.items())
    db.execute_many(
        "INSERT INTO term (stem, word, chunks) VALUES (?, ?, ?)"
        " ON CONFLICT (stem, word) DO UPDATE SET chunks = chunks + excluded.chunks",
        rows,
    )
    db.execute_many(
        "DELETE FROM term WHERE stem = ? AND word = ? AND chunks <= 0",
        [(stem, word) for stem, word, change in rows if change < 0],
    )


# --- reading --------------------------------------------------------------------------------------


class Vocabulary:
    """The words of one state of the index, read on demand because there are many."""

    _TERM = "term"

    def __init__(self, db: Database) -> None:
        self._db = db
        self._by_length: dict[tuple[str, int], dict[str, str]] = {}

    @cached_property
    def is_large(self) -> bool:
        """Whether scanning all words takes longer than a search.

        There are about ten words per text.
        """
        return count_rows(self._db, "chunk") > _MANY_TEXTS

    def of_lengths(
        self, shortest: int, longest: int, beginning: str = ""
    ) -> list[Mapping[str, str]]:
        """Return the words of each length with this beginning, with their forms without accents."""
        lengths = range(max(shortest, _LENGTHS[0]), min(longest, _LENGTHS[-1]) + 1)
        missing = [length for length in lengths if (beginning, length) not in self._by_length]
        if missing:
            words = self.words_between(beginning, missing[0], missing[-1])
            self._by_length |= {(beginning, length): {} for length in missing}
            for word in words:
                self._by_length[beginning, len(word)][word] = folded(word)
        return [self._by_length[beginning, length] for length in lengths]

    def words_between(self, beginning: str, shortest: int, longest: int) -> list[str]:
        """Return the words of these lengths whose stem has this beginning."""
        words: str = self._db.value(
            f"SELECT coalesce(group_concat(word, ' '), '') FROM {self._TERM}"
            " WHERE stem >= ?1 AND stem < ?1 || char(0x10ffff)"
            " AND length(word) BETWEEN ?2 AND ?3",
            (beginning, shortest, longest),
        )
        return words.split()

    def stems(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word, except words that the tokenizer splits."""
        return stems(self._db, words)

    def frequencies(self, words: Collection[str]) -> dict[str, int]:
        """Return an upper bound of the number of texts that hold each word in any form.

        A text that holds two forms counts twice. A compound (`data-center`) has the count of its
        rarest part. Words that are not counted are left out: numbers, single letters, Chinese,
        Japanese and Korean.
        """
        parts = {
            word: [part for part in _WORD.findall(word.lower()) if _counts(part)] for word in words
        }
        stem_of = self.stems({part for those in parts.values() for part in those})
        chunks = self.count_stems(stem_of)
        counts = {
            word: [chunks.get(stem_of[part], 0) for part in those if part in stem_of]
            for word, those in parts.items()
        }
        return {word: min(those) for word, those in counts.items() if those}

    def count_stems(self, stem_of: Mapping[str, str]) -> dict[str, int]:
        """Return the number of texts by stem, without unknown stems.

        The keys of `stem_of` are words.
        """
        sql = (
            f"SELECT stem, sum(chunks) FROM {self._TERM} "
            f"WHERE stem IN ({', '.join('?' * len(stem_of))}) GROUP BY stem"
        )
        return dict(self._db.execute(sql, tuple(stem_of.values())))

    def look_up(self, words: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the stem and the number of texts of each word in the index."""
        rows = self._db.execute(
            f"SELECT word, stem, chunks FROM {self._TERM} JOIN json_each(?) AS asked"
            " ON stem = asked.value ->> 0 AND word = asked.value ->> 1",
            (json.dumps([(stem, word) for word, stem in stems(self._db, words).items()]),),
        )
        return {word: (stem, chunks) for word, stem, chunks in rows}

    def beginning_with(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return the most common word of each stem that begins with `word`, with its count."""
        return self._db.execute(
            f"SELECT word, max(chunks) FROM {self._TERM}"
            " WHERE stem >= ?1 AND stem < ?1 || char(0x10ffff)"
            " GROUP BY stem ORDER BY 2 DESC, word LIMIT ?2",
            (folded(word), limit),
        )

    def completions(self, word: str, stem: str, limit: int) -> list[str]:
        """Return the most common words that begin with `word`, one per stem; `stem` is its stem."""
        shared = self.shared_beginning(word, stem)
        rows = self._db.execute(
            f"SELECT min(word), sum(chunks) FROM {self._TERM}"
            " WHERE stem >= ?1 AND stem < ?1 || char(0x10ffff)"
            " AND word >= ?2 AND word < ?2 || char(0x10ffff)"
            " GROUP BY stem ORDER BY 2 DESC, 1 LIMIT ?3",
            (shared, word, limit),
        )
        return [completed for completed, _ in rows]

    def shared_beginning(self, word: str, stem: str) -> str:
        """Return the beginning of the stems of all words that begin with `word`."""
        return stem[: max(len(word) - _LONGEST_ENDING, 2)]

    def count_beginning(self, word: str) -> int:
        """Return the approximate number of texts with a stem that begins with `word`."""
        return int(
            self._db.value(
                f"SELECT coalesce(sum(chunks), 0) FROM {self._TERM}"
                " WHERE stem >= ?1 AND stem < ?1 || char(0x10ffff)",
                (folded(word),),
            )
        )


# --- words ----------------------------------------------------------------------------------------


def words_of(text: str) -> set[bytes]:
    """Return the unique words of a text in lower case, and the parts of its identifiers."""
    text = index_text_without_grams(text)
    words = set(text.encode().translate(_FOLDED).split())
    if not text.isascii():
        others = {word for word in words if not word.isascii()}
        words -= others
        for word in others:
            words.update(_encoded_parts(word))
    return words


@lru_cache(maxsize=20_000)  # the same few words recur in text after text
def _encoded_parts(word: bytes) -> tuple[bytes, ...]:
    return tuple(part.encode() for part in _WORD.findall(word.decode().lower()))


def _counts(word: str) -> bool:
    return len(word) in _LENGTHS and not word.isnumeric() and is_word(word)


def stems(db: Database, words: Collection[str]) -> dict[str, str]:
    """Return the stem of each word by the tokenizer of chunk_fts, except words that it splits."""
    return _stems(db.connection.fts5_tokenizer(*_TOKENIZER), words)


def _stems(tokenize: apsw.FTS5Tokenizer, words: Collection[str]) -> dict[str, str]:
    text = "\n".join(words).encode()
    tokens = cast(
        "list[tuple[int, int, str]]",
        tokenize(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_colocated=False),
    )
    stems = {text[start:end].decode(): stem for start, end, stem in tokens}
    return {word: stems[word] for word in words if word in stems}


class Tokenizer:
    """The tokenizer of chunk_fts, for texts that are searched elsewhere."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        self._tokenize = self._connection.fts5_tokenizer(*_TOKENIZER)

    def of_words(self, words: Collection[str]) -> dict[str, str]:
        """Return the stem of each word, except words that the tokenizer splits."""
        return _stems(self._tokenize, words)

    def stems(self, text: str) -> list[str]:
        """Return the stems of the words of a text in order, repeated ones included."""
        return cast(
            "list[str]",
            self._tokenize(
                text.encode(),
                apsw.FTS5_TOKENIZE_DOCUMENT,
                None,
                include_offsets=False,
                include_colocated=False,
            ),
        )
