"""How one file is doing: indexed or not, as it is or as it was, and why not."""

import os
from collections.abc import Callable, Iterable

from vault_index.errors import NotFoundError
from vault_index.indexer.reading import as_indexed
from vault_index.models import Fault
from vault_index.query.references import Place
from vault_index.query.search import SearchOptions
from vault_index.query.why import Examined, why_not_indexed
from vault_index.results import FileStatus, Problem
from vault_index.sources.source import Source
from vault_index.store.counts import faults_of, stamps
from vault_index.store.documents import chunks_of
from vault_index.store.reader import IndexReader
from vault_index.store.records import StoredDocument
from vault_index.store.spaces import count_pending, serving_space

_AGAIN = "run `vault-index sync`, or start the daemon: vault-index watch"


def file_status(
    reader: IndexReader,
    sources: Iterable[Source],
    examined: Iterable[Examined],
    ref: str,
    resolve: Callable[[], Place],
    explain: Callable[[Fault], Problem],
) -> FileStatus:
    """Raises NotFoundError where there is neither a document nor a file."""
    try:
        document = resolve().document
    except NotFoundError as error:
        left_out = why_not_indexed(examined, "", ref, SearchOptions())
        if left_out is None:
            if os.path.isabs(ref) and os.path.exists(ref):
                raise NotFoundError(f"{ref} lies in no source", "add its vault: vault-index source add DIR") from error
            raise
        problems = tuple(Problem(reason.code, reason.message, reason.hint) for reason in left_out.reasons)
        return FileStatus("not_indexed", left_out.source or "", left_out.path, None, None, None, 0, 0, 0, 0, problems)
    source = next((one for one in sources if one.config.name == document.source), None)
    state, problems = _state(reader, source, document)
    space = serving_space(reader)
    chunks = len(chunks_of(reader, document.id))
    lacking = count_pending(reader, space.id, document.id) if space else chunks
    return FileStatus(
        state=state,
        source=document.source,
        path=document.path,
        id=document.uid,
        kind=document.kind,
        title=document.title,
        lines=document.line_count,
        chunks=chunks,
        vectors=chunks - lacking,
        pending=lacking if space else 0,
        problems=(*problems, *map(explain, faults_of(reader, document.source, document.path))),
    )


def _state(reader: IndexReader, source: Source | None, document: StoredDocument) -> tuple[str, tuple[Problem, ...]]:
    if source is None or source.missing():
        reason = source.missing() if source else "it is no longer configured"
        remedy = source.remedy if source else "run `vault-index sync`"
        return "gone", (Problem("source_vanished", f"source {document.source!r}: {reason}", remedy),)
    now = source.stamp(document.path)
    if now is None:
        return "gone", (Problem("file_gone", f"{document.path} is no longer there, and still indexed", _AGAIN),)
    if as_indexed(stamps(reader, document.source).get(document.path), now):
        return "indexed", ()
    return "behind", (Problem("behind", f"{document.path} changed since it was indexed", _AGAIN),)
