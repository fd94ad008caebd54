"""Past and future costs of vectors: plan and state of embedding, and the privacy ledger."""

import time
from collections.abc import Collection, Sequence
from contextlib import closing, suppress

from vault_index.errors import VaultIndexError
from vault_index.health.stats import price_of, rounded
from vault_index.indexer.current_sources import waiting
from vault_index.results.changes import EmbedPlan, EmbedStatus
from vault_index.results.status import Privacy, SentDocument, SentRecord
from vault_index.runtime import Runtime
from vault_index.store.cache import Cache
from vault_index.store.connection import count_rows
from vault_index.store.records import DocumentState, PendingChunk
from vault_index.store.spaces import document_states, pending_chunks, read_spaces
from vault_index.store.state import State
from vault_index.times import local_day

_CALL_BACK = (
    "sent texts cannot be recalled: ask the operator of the server to delete them, and change the "
    "credentials in them; from now on these documents are not sent"
)


def embed_plan(runtime: Runtime) -> EmbedPlan:
    """Count what embedding would send, without sending it."""
    from vault_index import tokens  # imported here because `status` needs no tokenizer

    settings = runtime.config.embedding
    embedder = runtime.embedders.configured()
    with runtime.pool.lend() as connections, closing(Cache(runtime.home.cache_db)) as cache:
        reader = connections.reader
        spent = connections.state.tokens_sent(local_day(time.time()))
        if embedder is None:
            return EmbedPlan("none", "", "", 0, 0, 0, 0, None, spent, settings.daily_token_limit)
        space = embedder.space
        with reader.snapshot():
            wanted = next((row for row in read_spaces(reader) if row.space == space), None)
            refused = cache.refused(space)
            pending = pending_chunks(reader, wanted.id if wanted else None)
            lacking = [chunk for chunk in pending if chunk.embed_key not in refused]
        cached = cache.embeddings(space, [chunk.embed_key for chunk in lacking])
    free = pending = lacking
    if embedder.remote:
        free, pending = _to_send(runtime, lacking, cached)
    missing = {
        chunk.embed_key: chunk.embed_text for chunk in pending if chunk.embed_key not in cached
    }
    count = sum(tokens.count(text) for text in missing.values())
    return EmbedPlan(
        provider=space.provider,
        model=space.model,
        endpoint=space.endpoint,
        chunks=len(pending),
        cached=sum(chunk.embed_key in cached for chunk in pending),
        kept_local=len(lacking) - len(free),
        tokens=count,
        price=rounded(price_of(runtime.config, space.model, count)) if embedder.remote else 0.0,
        spent_today=spent,
        daily_token_limit=settings.daily_token_limit,
        unread=len(free) - len(pending),
    )


def _to_send(
    runtime: Runtime, lacking: list[PendingChunk], cached: Collection[bytes]
) -> tuple[list[PendingChunk], list[PendingChunk]]:
    """Return the chunks that may leave, and those of them that wait for no reading of a note."""
    moment, documents = runtime.moments(), {chunk.document for chunk in lacking}
    leaving, kept = moment.leaving(documents), moment.staying(lambda: dict.fromkeys(documents, 1))
    free = [chunk for chunk in lacking if chunk.document.id not in kept]
    return free, [
        chunk for chunk in free if chunk.document.id in leaving or chunk.embed_key in cached
    ]


def embed_status(runtime: Runtime) -> EmbedStatus:
    """Return the state of embedding: chunks with and without vectors, and the tokens sent today."""
    with runtime.pool.lend() as connections, connections.reader.snapshot():
        reader = connections.reader
        rows = read_spaces(reader)
        serving = next((row for row in rows if row.serving), None)
        building = next((row for row in rows if not row.serving), None)
        chunks = count_rows(reader, "chunk")
        lacking, kept = waiting(reader, serving, runtime.config.embedding.provider, runtime.moments)
        spent = connections.state.tokens_sent(local_day(time.time()))
    space = serving.space if serving else None
    return EmbedStatus(
        provider=space.provider if space else "none",
        model=space.model if space else "",
        endpoint=space.endpoint if space else "",
        dimensions=space.dimensions if space else 0,
        chunks=chunks,
        vectors=chunks - lacking - kept if space else 0,
        pending=lacking,
        kept_local=kept,
        spent_today=spent,
        daily_token_limit=runtime.config.embedding.daily_token_limit,
        building=building.space.model if building else None,
    )


def privacy_ledger(runtime: Runtime) -> Privacy:
    """Return what was sent to which server; empty if nothing was."""
    home = runtime.home
    if not any(database.exists() for database in (home.index_db, home.cache_db, home.state_db)):
        return Privacy((), 0)
    with closing(State(home.state_db)) as state:
        records = tuple(state.sent())
    private = _private_now(runtime, records)
    return Privacy(records, len(records), private, _CALL_BACK if private else "")


def _private_now(runtime: Runtime, records: Sequence[SentRecord]) -> tuple[SentDocument, ...]:
    """Return documents sent before they became private; deleted ones are judged by path."""
    sent: dict[tuple[str, str], dict[str, None]] = {}
    for record in records:
        if record.source:
            sent.setdefault((record.source, record.path), {})[record.endpoint] = None
    states = {place: DocumentState(0, "", *place, 0, 0, 0, 0, "") for place in sent}
    with suppress(VaultIndexError), runtime.pool.lend() as connections:
        known = document_states(connections.reader)
        states |= {
            (state.source, state.path): state
            for state in known
            if (state.source, state.path) in sent
        }
    found = runtime.moments().private(states.values()) if states else {}
    return tuple(
        SentDocument(state.source, state.path, reason, tuple(sent[state.source, state.path]))
        for state, reason in sorted(found.items(), key=lambda item: item[0][2:4])
    )
