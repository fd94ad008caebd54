"""Reading ahead: whether a second process reads the documents of a sync, and which of them."""

from collections.abc import Generator, Sequence
from itertools import islice, repeat

from vault_index.indexer.reading import Read, RowSettings
from vault_index.models import DocumentRef
from vault_index.sources.source import Source

_MANY = 400
"""So many documents are worth another process, which takes about half a second to begin."""
_FIRST = 60
"""Documents that are read here while it begins."""


def read_ahead(source: Source, refs: Sequence[DocumentRef], settings: RowSettings) -> Generator[Read | None]:
    """What each of the documents gives, where there is another process to read them; None for those to be read here."""
    if len(refs) < _MANY:
        yield from repeat(None, len(refs))
        return
    from vault_index.indexer.reader_process import reading

    with reading(source, refs[_FIRST:], settings) as found:
        yield from repeat(None, _FIRST)
        yield from islice(found, len(refs) - _FIRST)
