"""Restrict a connection to the part of an index that a caller may see.

Temporary views hide the tables, and temporary tables hold the visible ids, because a condition on
the rows would take longer than a search. The id tables are updated when a connection is borrowed,
in the transaction in which the borrower reads, so ids stay valid. Full-text hits are filtered by
these ids before ranking. The vocabulary is read from visible texts. Word frequencies count visible
texts too, except in BM25, for which FTS5 counts all texts.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import apsw

from vault_index.callers import Scope
from vault_index.store.reader import IndexReader
from vault_index.store.vocabulary import CHUNK_TEXT, Vocabulary, stems, words_of

_MOST_READ, _SAMPLE = 32, 8
"""Number of texts read to find the forms of a word: 32, or the 8 newest if more texts hold it.

Each takes 0.1 ms. Forms in other texts are not proposed.
"""
_MOST_STEMS = 200


class PartReader(IndexReader):
    """A reader that answers as if the index held only the visible part."""

    tables: Mapping[str, str] = {"document": "seen", "chunk": "seen_chunk"}

    def __init__(self, path: Path, scope: Scope) -> None:
        super().__init__(path)
        self._scope = scope
        self._inside = "false"
        self._version = -1
        self._sources_there: tuple[str, ...] = ()

    def leave_out_all_but(self, sources: Collection[str]) -> None:
        """Answer from these sources only, and from the part of them that the scope allows."""
        self._sources_there = tuple(sources)
        self._inside = _condition(self._scope, sources)
        self.connection.pragma("temp_store", "memory")
        with self.changing():
            for table in self.tables.values():
                self.execute(f"CREATE TEMP TABLE {table} (id INTEGER PRIMARY KEY)")
        # The plus keeps SQLite from testing every id where another index finds the rows sooner.
        of_document, of_chunk = (
            "+document_id IN (SELECT id FROM seen)",
            "+{} IN (SELECT id FROM seen_chunk)",
        )
        self._hide(
            {
                "document": "+id IN (SELECT id FROM seen)",
                "chunk": of_chunk.format("id"),
                **dict.fromkeys(("tag", "alias", "link"), of_document),
                "pending": of_chunk.format("chunk_id"),
                "uncoded": of_chunk.format("chunk_id"),
                "fault": "(source, path) IN (SELECT source, path FROM document)",
                # Tables with data about all texts.
                **dict.fromkeys(
                    ("term", "meta", "stale_name", "uncounted_chunk", "uncounted_text"), "false"
                ),
            }
        )

    def begin(self, *, snapshot: bool) -> None:
        """Update the visible ids if the index changed; keep a transaction for a `snapshot`."""
        self.execute("BEGIN")
        if (version := int(self.connection.pragma("data_version"))) != self._version:
            with self.changing():
                self._follow()
            self._version = version
        if not snapshot:
            self.execute("COMMIT")

    def end(self) -> None:
        """End the open transaction."""
        if self.connection.in_transaction:
            self.execute("COMMIT")

    def _follow(self) -> None:
        for table, ids in (
            ("seen", f"SELECT id FROM main.document WHERE {self._inside} ORDER BY id"),
            (
                "seen_chunk",
                "SELECT main.chunk.id FROM seen CROSS JOIN main.chunk ON document_id = seen.id",
            ),
        ):
            self.execute(f"DELETE FROM {table}")
            self.execute(f"INSERT INTO {table} {ids}")
        any_of = f"SELECT 1 FROM main.document WHERE source = ? AND {self._inside} LIMIT 1"
        self.sources = tuple(name for name in self._sources_there if self.execute(any_of, (name,)))

    def count_matches(self, match: str, share: int = 1) -> int:
        """Count the matches of an FTS5 expression in the newest `1/share` of the visible chunks."""
        last = self.value("SELECT max(id) FROM seen_chunk") or 0
        sql = (
            "SELECT count(*) FROM chunk_fts WHERE chunk_fts MATCH ? AND rowid > ?"
            " AND +rowid IN (SELECT id FROM seen_chunk)"
        )
        return int(self.value(sql, (match, last - last // share)))

    def own_names(self, match: str, document_ids: Collection[int]) -> set[int]:
        """Return the given documents, without those that match only by texts of hidden links."""
        sql = (
            "SELECT rowid FROM name_fts WHERE name_fts MATCH ?"
            f" AND +rowid IN ({', '.join('?' * len(document_ids))})"
        )
        return {
            id_
            for (id_,) in self.execute(sql, (f"{{name title aliases}} : ({match})", *document_ids))
        }

    def new_vocabulary(self) -> Vocabulary:
        """Return a vocabulary of the visible texts."""
        return PartVocabulary(self)


class PartVocabulary(Vocabulary):
    """The vocabulary of the visible texts.

    The full-text index gives the texts that hold a word; the texts give its forms.
    """

    _TERM = "main.term"

    def __init__(self, reader: IndexReader) -> None:
        super().__init__(reader)
        self._reader = reader
        self._texts: dict[str, int] = {}
        self._forms: dict[str, Counter[str]] = {}

    def count_stems(self, stem_of: Mapping[str, str]) -> dict[str, int]:
        """Return the number of visible texts by stem, without stems of hidden texts only."""
        word_of = {stem: word for word, stem in stem_of.items() if stem not in self._texts}
        # Stems that no text holds are skipped here; below, their count is 0.
        for stem in super().count_stems(dict(zip(word_of, word_of, strict=True))):
            found = self._reader.count_matches(f'"{word_of[stem]}"')
            self._texts[stem] = found or sum(self._read(stem, word_of[stem]).values())
        return {stem: count for stem in stem_of.values() if (count := self._texts.get(stem, 0))}

    def look_up(self, words: Collection[str]) -> dict[str, tuple[str, int]]:
        """Return the stem and the number of visible texts of each visible word."""
        known = super().look_up(words)
        self.count_stems({word: stem for word, (stem, _) in known.items()})
        counts = {word: (stem, self._read(stem, word)[word]) for word, (stem, _) in known.items()}
        return {word: one for word, one in counts.items() if one[1]}

    def beginning_with(self, word: str, limit: int) -> list[tuple[str, int]]:
        """Return the most common visible word of each stem that begins with `word`."""
        found = []
        for other, _ in super().beginning_with(word, _MOST_STEMS):
            stem = stems(self._db, [other])[other]
            self.count_stems({other: stem})
            forms = self._read(stem, other)
            found += [max(forms.items(), key=lambda one: (one[1], one[0]))] if forms else []
        return sorted(found, key=lambda one: (-one[1], one[0]))[:limit]

    def completions(self, word: str, stem: str, limit: int) -> list[str]:
        """Return nothing: common words would reveal hidden texts."""
        return []

    def _read(self, stem: str, word: str) -> Counter[str]:
        """Return the forms of a stem with approximate counts; `word` is one of them."""
        if stem not in self._forms:
            total = self._texts.get(stem, 0)
            forms = {
                form
                for (form,) in self._db.execute(
                    "SELECT word FROM main.term WHERE stem = ?", (stem,)
                )
            }
            match = (
                "SELECT rowid FROM chunk_fts WHERE chunk_fts MATCH ?"
                " AND +rowid IN (SELECT id FROM seen_chunk)"
            )
            rows = self._db.execute(
                f"SELECT document_id, {CHUNK_TEXT} FROM chunk WHERE id IN ({match}"
                " ORDER BY rowid DESC LIMIT ?)",
                (f'"{word}"', _SAMPLE if total > _MOST_READ else _MOST_READ),
            )
            marks = ", ".join("?" * len(ids := {id_ for id_, _ in rows}))
            called = self._db.execute(f"SELECT called FROM document WHERE id IN ({marks})", (*ids,))
            texts = [
                *(text for _, text in rows),
                *(text for (text,) in called),
                *self._without_texts,
            ]
            counted = Counter(
                one for text in texts for one in map(bytes.decode, words_of(text)) if one in forms
            )
            share = total / len(rows) if total > _MOST_READ else 1.0
            self._forms[stem] = Counter(
                {form: round(count * share) for form, count in counted.items()}
            )
        return self._forms[stem]

    @cached_property
    def _without_texts(self) -> list[str]:
        """Return the names of documents without other text."""
        sql = "SELECT called FROM document WHERE id NOT IN (SELECT document_id FROM chunk)"
        return [called for (called,) in self._db.execute(sql)]


def _condition(scope: Scope, sources: Collection[str]) -> str:
    """Return the SQL form of `Scope.holds`, on the rows of `document`."""
    wanted = [name for name in sources if not scope.sources or name in scope.sources]
    conditions = [f"source IN ({_listed(wanted)})"]
    if scope.folders:  # one range each, for the index of paths: `0` follows `/`
        below = (
            f"(path >= {_sql(below)} AND path < {_sql(below[:-1] + '0')})" for below in scope.below
        )
        conditions.append(f"({' OR '.join(below)})")
    if scope.projects:
        conditions.append(f"project COLLATE NOCASE IN ({_listed(scope.projects)})")
    return " AND ".join(conditions)


def _listed(values: Collection[str]) -> str:
    return ", ".join(map(_sql, values))


def _sql(value: str) -> str:
    return apsw.format_sql_value(value)
