"""Statistics: `stats`, `tags` and `agents`; bytes on disk and money spent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_index.models import Filters
from vault_index.query.language.filters import unmet_filters
from vault_index.results.status import AgentCount, AgentList, Stats, TagCount, TagList
from vault_index.store.connection import SYNCED_AT, read_meta
from vault_index.store.documents import source_counts, tag_counts, value_counts
from vault_index.store.spaces import serving_space
from vault_index.times import iso_time

if TYPE_CHECKING:  # `stats` does not import what reads files
    from vault_index.config import Config, Home
    from vault_index.results.status import SpentDay
    from vault_index.runtime import Runtime
    from vault_index.store.state import State

_SPENT_DAYS = 7


def index_stats(runtime: Runtime, filters: Filters) -> Stats:
    """Count documents, chunks, tags and authors that match the filters."""
    with runtime.pool.lend() as connections, connections.reader.snapshot():
        reader = connections.reader
        kinds, synced, space = (
            dict(value_counts(reader, "kind", filters)),
            read_meta(reader, SYNCED_AT),
            serving_space(reader),
        )
        wanted = filters.sources
        return Stats(
            documents=sum(kinds.values()),
            memories=kinds.get("memory", 0),
            sessions=kinds.get("session", 0),
            notes=kinds.get("note", 0),
            chunks=sum(
                chunks
                for name, (_, chunks) in source_counts(reader).items()
                if not wanted or name in wanted
            ),
            tags=len(tag_counts(reader, filters)),
            agents=len(value_counts(reader, "entered_by", filters)),
            indexed=iso_time(float(synced)) if synced else None,
            pending=runtime.pending(reader),
            model=space.space.model if space else "none",
            bytes=0 if runtime.hides else bytes_of(runtime.home),
        )


def list_tags(runtime: Runtime, filters: Filters) -> TagList:
    """Return the tags of matching documents with their counts; hints if no document matches."""
    with runtime.pool.lend() as connections:
        counts = tag_counts(connections.reader, filters)
        hints = () if counts else tuple(unmet_filters(connections.reader, filters))
    return TagList(tuple(TagCount(tag, count) for tag, count in counts), len(counts), hints)


def list_agents(runtime: Runtime, filters: Filters) -> AgentList:
    """Return the authors of matching documents with their counts."""
    with runtime.pool.lend() as connections:
        counts = value_counts(connections.reader, "entered_by", filters)
    return AgentList(tuple(AgentCount(agent, count) for agent, count in counts), len(counts))


def bytes_of(home: Home) -> int:
    """Return the bytes on disk of the databases with their logs, without a shared cache."""
    total = 0
    for database in (
        one for one in (home.index_db, home.cache_db, home.state_db) if one.parent == home.data_dir
    ):
        for suffix in ("", "-wal"):
            try:
                total += database.with_name(database.name + suffix).stat().st_size
            except OSError:
                continue
    return total


def spent_days(state: State, config: Config) -> tuple[SpentDay, ...]:
    """Return the last days with sent texts, with their cost if the prices are known."""
    # Imported here because `stats` does not need it.
    from vault_index.results.status import SpentDay

    days: dict[str, SpentDay] = {}
    for day, _, model, _, _, texts, sent in state.spent(_SPENT_DAYS):
        before, price = days.get(day, SpentDay(day, 0, 0, 0.0)), price_of(config, model, sent)
        total = None if price is None or before.price is None else before.price + price
        days[day] = SpentDay(day, before.texts + texts, before.tokens + sent, rounded(total))
    return tuple(days.values())


def price_of(config: Config, model: str, count: int) -> float | None:
    """Return the price of `count` tokens in US dollars; None if unknown."""
    from vault_index.embeddings.access import PRICES_PER_MILLION

    if not count:  # texts for a pool cost nothing
        return 0.0
    known = config.embedding.price_per_million or PRICES_PER_MILLION.get(model)
    return None if known is None else count * known / 1e6


def rounded(price: float | None) -> float | None:
    """Round a price to a millionth of a dollar; None stays None."""
    return None if price is None else round(price, 6)
