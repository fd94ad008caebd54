"""A reader of an index over a few files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.api.vaults import opened, write
from vault_index.query.language.parse import parse_query
from vault_index.query.ranking.retrieval import Needle, read_needles
from vault_index.query.ranking.spelling import mend
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


def needles(reader: IndexReader, question: str) -> tuple[Needle, ...]:
    """What a question looks for, its typing errors mended."""
    terms = parse_query(question).terms
    return read_needles(reader, terms, mend(reader, terms, 0.7).forms)
