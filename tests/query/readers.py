"""A reader of an index over a few files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.api.vaults import opened, write
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking.retrieval import QueryTerm, read_query_terms
from vault_index.query.ranking.spelling import correct
from vault_index.store.reader import IndexReader


@contextmanager
def reader_of(folder: Path, files: Mapping[str, str]) -> Iterator[IndexReader]:
    with opened(folder) as index:
        write(folder / "vault", files)
        index.sync()
        reader = IndexReader(index.home.index_db)
        try:
            yield reader
        finally:
            reader.close()


def query_terms(reader: IndexReader, question: str) -> tuple[QueryTerm, ...]:
    """The terms of a query, with typing errors corrected."""
    terms = parse_query(question).terms
    return read_query_terms(reader, terms, correct(reader, terms, 0.7).forms)
