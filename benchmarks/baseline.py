"""The plainest search, as a baseline for every figure: BM25 over whole files.

FTS5 with k1 1.2 and b .75: one row per file with its name and text, the words of a query joined by
OR, stemmed by porter.

Chinese, Japanese, Korean and Thai have no spaces between words. `grams` cuts them into overlapping
pairs of letters, in files and queries. Other languages stay unchanged.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import apsw

from benchmarks.judged import JudgedSet, Query, Rankings
from vault_index.markdown.normalize import split_lines

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+"
)
_DEPTH = 40


class PlainIndex:
    """An index in memory, built for each run.

    With `by_line`, a row is a line instead of a file, for judged passages.
    """

    def __init__(self, judged: JudgedSet, *, grams: bool, by_line: bool = False) -> None:
        self._grams = grams
        self._db = apsw.Connection(":memory:")
        self._db.execute(
            "CREATE VIRTUAL TABLE page USING fts5(path UNINDEXED, title, body, "
            "tokenize = 'porter unicode61')"
        )
        rows = _lines(judged.docs) if by_line else _files(judged.docs)
        with self._db:
            self._db.executemany(
                "INSERT INTO page VALUES (?, ?, ?)",
                ((place, self._text(name), self._text(body)) for place, name, body in rows),
            )

    def ask(self, query: Query) -> list[str]:
        """Documents or lines as they are judged, best first."""
        words = _WORD.findall(self._text(query.text))
        if not words:
            return []
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(words))
        within = query.scope.rstrip("/") + "/" if query.scope else ""
        rows = self._db.execute(
            "SELECT path FROM page WHERE page MATCH ? AND substr(path, 1, "
            "?) = ? ORDER BY rank, rowid LIMIT ?",
            (match, len(within), within, _DEPTH),
        )
        return [f"docs/{path}" for (path,) in rows]

    def ask_all(self, queries: Iterable[Query]) -> Rankings:
        """Return the rankings of all queries."""
        return {query.id: self.ask(query) for query in queries}

    def _text(self, text: str) -> str:
        return _UNSPACED.sub(lambda run: f" {_pairs(run[0])} ", text) if self._grams else text


def _pairs(run: str) -> str:
    """As numbers: to the tokenizer the vowels of Thai are marks that end a word."""
    return " ".join(
        "".join(f"{ord(letter):06}" for letter in run[start : start + 2])
        for start in range(max(len(run) - 1, 1))
    )


def _files(docs: Path) -> Iterator[tuple[str, str, str]]:
    """Place, name and text of each."""
    for path in sorted(docs.rglob("*.md")):
        if path.is_file():
            yield path.relative_to(docs).as_posix(), path.stem, path.read_text("utf-8", "replace")


def _lines(docs: Path) -> Iterator[tuple[str, str, str]]:
    for place, _, text in _files(docs):
        for number, line in enumerate(split_lines(text), start=1):
            if line.strip():
                yield f"{place}:{number}", "", line
