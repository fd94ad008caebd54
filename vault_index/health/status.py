"""`status`, the privacy ledger and the price of embedding: how it is doing, and what it costs."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence

from vault_index import __version__
from vault_index.config import Config, Home
from vault_index.errors import VaultIndexError
from vault_index.health.environment import surrounding_problems
from vault_index.health.stats import bytes_of, pending
from vault_index.indexer.embedders import Embedders
from vault_index.indexer.outbound import Now
from vault_index.indexer.reading import as_indexed
from vault_index.models import Fault
from vault_index.results import (
    DaemonStatus,
    EmbedderStatus,
    EmbedPlan,
    EmbedStatus,
    IndexStatus,
    Privacy,
    Problem,
    SourceStatus,
    SpentDay,
    Status,
    WatchStatus,
)
from vault_index.sources.source import Source
from vault_index.store.cache import Cache
from vault_index.store.counts import EMBED_PROBLEM, count_rows, faults, read_meta, source_counts, stamps
from vault_index.store.documents import paths_by_shared_id
from vault_index.store.reader import Connections, IndexReader, ReadPool
from vault_index.store.spaces import count_pending, pending_chunks, read_spaces, serving_space

_SHOWN_REDACTED = 10
_SPENT_DAYS = 7
_HINTS = {
    "frontmatter": "the note is indexed, with what could be read of it; in quotes any value is plain text",
    "too_large": "raise max_file_bytes of the source, or exclude the file",
    "encoding": "save the file as UTF-8; what could be read is indexed",
    "unreadable": "check the permissions of the file",
    "placeholder": "open it once, or tell the cloud's program to keep it on this machine",
    "session": "the rest is indexed; OpenCode may have been killed while it wrote",
    "opencode_schema": "upgrade vault-index, or report it with the version of OpenCode; what is known is kept",
    "busy": "the next sync tries again",
    "failed": "the next sync tries again; what is known is kept",
    "mirror_edited": "take the line `session:` out of it to keep it as a note: the session gets a new file",
    "not_mirrored": "the next sync tries again",
    "redacted": "they are not in the index; OpenCode still stores them, so change those that are in use",
}


def status(
    pool: ReadPool,
    home: Home,
    config: Config,
    sources: Sequence[Source],
    now: Now,
    daemon: DaemonStatus,
    watch: WatchStatus,
) -> Status:
    """Works on whatever there is: an index that cannot be opened is a problem, not an error."""
    problems = surrounding_problems(home, config, daemon)
    problems += [problem for source in sources for problem in _source_problems(source)]
    spent: tuple[SpentDay, ...] = ()
    index, embedder = IndexStatus(0, 0, 0, 0, bytes_of(home)), _embedder(config, None)
    source_rows: Sequence[SourceStatus] = [
        SourceStatus(source.config.name, source.config.kind, str(source.config.path), 0, 0, 0) for source in sources
    ]
    try:
        with pool.lend() as connections, connections.reader.snapshot():
            reader = connections.reader
            index, embedder = _index(reader, home, now), _embedder(config, reader)
            source_rows = _source_rows(reader, sources)
            spent = _spent(connections.cache, config)
            problems += [*_embedding_problems(reader, config), *_fault_problems(faults(reader))]
    except VaultIndexError as error:
        problems.insert(0, Problem(error.code, error.message, error.hint))
    return Status(__version__, daemon, tuple(source_rows), index, embedder, watch, spent, tuple(problems))


def shared_ids(reader: IndexReader) -> tuple[Problem, ...]:
    """Memories that have one id, as a copy and its original have."""
    return tuple(
        Problem(
            "shared_id",
            f"{len(paths)} memories have the id {uid}: {', '.join(paths)}",
            "delete what is too much, or take the line `id` out of the copy; until then name them by their paths",
        )
        for uid, paths in paths_by_shared_id(reader).items()
    )


def privacy(home: Home) -> Privacy:
    """What was sent where; empty when nothing ever was."""
    if not home.cache_db.exists():
        return Privacy((), 0)
    cache = Cache(home.cache_db)
    try:
        records = cache.sent()
    finally:
        cache.close()
    return Privacy(tuple(records), len(records))


def embed_plan(connections: Connections, config: Config, embedders: Embedders, now: Now) -> EmbedPlan:
    """Counts what filling the vectors would send, without sending it."""
    from vault_index import tokens
    from vault_index.embeddings.prices import price_per_million
    from vault_index.indexer.outbound import local_day

    embedder = embedders.configured()
    spent = connections.cache.tokens_sent(local_day(time.time()))
    limit = config.embedding.daily_token_limit
    if embedder is None:
        return EmbedPlan("none", "", "", 0, 0, 0, 0, None, spent, limit)
    space = embedder.space
    with connections.reader.snapshot():
        wanted = next((row for row in read_spaces(connections.reader) if row.space == space), None)
        lacking = pending_chunks(connections.reader, wanted.id if wanted else None)
    cached = connections.cache.embeddings(space, [chunk.embed_key for chunk in lacking])
    free = pending = lacking
    if embedder.remote:
        leaving, kept = now().sort({chunk.document for chunk in lacking})
        free = [chunk for chunk in lacking if chunk.document.id not in kept]
        pending = [chunk for chunk in free if chunk.document.id in leaving or chunk.embed_key in cached]
    missing = {chunk.embed_key: chunk.embed_text for chunk in pending if chunk.embed_key not in cached}
    count = sum(tokens.count(text) for text in missing.values())
    known_price = config.embedding.price_per_million or price_per_million(space.model)
    price = 0.0 if not embedder.remote else None if known_price is None else round(count * known_price / 1e6, 6)
    return EmbedPlan(
        provider=space.provider,
        model=space.model,
        endpoint=space.endpoint,
        chunks=len(pending),
        cached=sum(chunk.embed_key in cached for chunk in pending),
        kept_local=len(lacking) - len(free),
        tokens=count,
        price=price,
        spent_today=spent,
        daily_token_limit=limit,
        unread=len(free) - len(pending),
    )


def embed_status(connections: Connections, daily_token_limit: int, now: Now) -> EmbedStatus:
    from vault_index.indexer.outbound import waiting

    reader = connections.reader
    with reader.snapshot():
        rows = read_spaces(reader)
        serving = next((row for row in rows if row.serving), None)
        building = next((row for row in rows if not row.serving), None)
        chunks = count_rows(reader, "chunk")
        lacking, kept = waiting(reader, serving, now) if serving is not None else (0, 0)
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
        spent_today=connections.cache.tokens_sent(time.strftime("%Y-%m-%d")),
        daily_token_limit=daily_token_limit,
        building=building.space.model if building else None,
    )


def _index(reader: IndexReader, home: Home, now: Now) -> IndexStatus:
    chunks = count_rows(reader, "chunk")
    space = serving_space(reader)
    lacking = count_pending(reader, space.id) if space else chunks
    return IndexStatus(count_rows(reader, "document"), chunks, chunks - lacking, pending(reader, now), bytes_of(home))


def _embedder(config: Config, reader: IndexReader | None) -> EmbedderStatus:
    provider = config.embedding.provider
    if provider == "none":
        return EmbedderStatus("none", "", 0, False)
    space = serving_space(reader) if reader is not None else None
    ready = space is not None and reader is not None and reader.vectors_work() and not read_meta(reader, EMBED_PROBLEM)
    if space is None:
        return EmbedderStatus(provider, config.embedding.model, config.embedding.dimensions, ready)
    return EmbedderStatus(space.space.provider, space.space.model, space.space.dimensions, ready)


def _source_rows(reader: IndexReader, sources: Sequence[Source]) -> list[SourceStatus]:
    counts = source_counts(reader)
    failed = Counter(source for source, fault in faults(reader) if fault.code not in ("frontmatter", "redacted"))
    return [
        SourceStatus(
            source.config.name,
            source.config.kind,
            str(source.config.path),
            *counts.get(source.config.name, (0, 0)),
            failed[source.config.name],
            *_coverage(reader, source),
        )
        for source in sources
    ]


def _coverage(reader: IndexReader, source: Source) -> tuple[int | None, int]:
    """How many documents there are now, and how many of them are indexed as they are."""
    scan = source.scan_places([""])
    if scan.vanished:
        return None, 0
    known = stamps(reader, source.config.name)
    return len(scan.refs), sum(as_indexed(known.get(ref.path), ref.stamp) for ref in scan.refs)


def _spent(cache: Cache, config: Config) -> tuple[SpentDay, ...]:
    """The last days on which something was sent, with what that cost as far as prices are known."""
    from vault_index.embeddings.prices import price_per_million

    days: dict[str, SpentDay] = {}
    for day, model, texts, tokens in cache.spent(_SPENT_DAYS):
        known = config.embedding.price_per_million or price_per_million(model)
        before = days.get(day, SpentDay(day, 0, 0, 0.0))
        price = None if known is None or before.price is None else round(before.price + tokens * known / 1e6, 6)
        days[day] = SpentDay(day, before.texts + texts, before.tokens + tokens, price)
    return tuple(days.values())


def _source_problems(source: Source) -> list[Problem]:
    reason = source.missing()
    if not reason:
        return []
    return [
        Problem(
            "source_vanished",
            f"source {source.config.name!r}: {reason}",
            f"its rows are kept; {source.remedy}",
        )
    ]


def _embedding_problems(reader: IndexReader, config: Config) -> list[Problem]:
    problems = []
    remembered = read_meta(reader, EMBED_PROBLEM)
    if remembered and config.embedding.provider != "none":
        problems.append(Problem(*json.loads(remembered)))
    if serving_space(reader) is not None and not reader.vectors_work():
        problems.append(Problem("vec0", "sqlite-vec cannot be loaded: search works by keywords only", "reinstall it"))
    return problems


def _fault_problems(found: Sequence[tuple[str, Fault]]) -> list[Problem]:
    """A problem for each fault; what was redacted, which is no fault of anybody's, as one."""
    faults = [fault for _, fault in found]
    redacted = [fault for fault in faults if fault.code == "redacted"]
    problems = [fault_problem(fault) for fault in faults if fault.code != "redacted"]
    if redacted:
        shown = ", ".join(f"{fault.path}: {fault.message}" for fault in redacted[:_SHOWN_REDACTED])
        more = f", and {len(redacted) - _SHOWN_REDACTED} more" if len(redacted) > _SHOWN_REDACTED else ""
        sessions = "1 session holds" if len(redacted) == 1 else f"{len(redacted)} sessions hold"
        problems.append(Problem("redacted", f"{sessions} credentials: {shown}{more}", _HINTS["redacted"]))
    return problems


def fault_problem(fault: Fault) -> Problem:
    """What is wrong with one file, and what mends it."""
    place = f"{fault.path}:{fault.line}" if fault.line else fault.path
    return Problem(
        fault.code, f"{place}: {fault.message}" if place else fault.message, _HINTS.get(fault.code, "mend the file")
    )
