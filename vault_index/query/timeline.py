"""`timeline`: what happened before and after a document."""

from vault_index.models import Filters
from vault_index.query.listing import Records
from vault_index.results import Timeline
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument
from vault_index.store.related import Others


def timeline_around(
    reader: IndexReader,
    records: Records,
    anchor: StoredDocument,
    filters: Filters,
    *,
    now: float,
    before: int,
    after: int,
) -> Timeline:
    """The documents created next to `anchor`, oldest first; equal times in the order of paths. `filters` concern them,
    not the anchor."""
    with reader.snapshot():
        position = (anchor.created, anchor.path, anchor.source)
        earlier, later = reader.in_time(Others(anchor.id, filters, now), position, before=before, after=after)
        documents = reader.documents_by_key([*earlier, *later])
        listed = records.of([anchor, *(documents[id_] for id_ in (*earlier, *later))])
    split = 1 + len(earlier)
    return Timeline(listed[0], listed[1:split], listed[split:])
