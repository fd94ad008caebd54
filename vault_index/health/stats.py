"""What there is, in numbers: `stats`, `tags` and `agents`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_index.health.figures import bytes_of
from vault_index.models import Filters
from vault_index.results.counts import AgentCount, AgentList, Stats, TagCount, TagList
from vault_index.store.counts import SYNCED_AT, author_counts, count_rows, kind_counts, read_meta, tag_counts
from vault_index.store.spaces import serving_space
from vault_index.times import iso_time

if TYPE_CHECKING:  # `stats` is not to import what reads files
    from vault_index.runtime import Runtime


def index_stats(runtime: Runtime) -> Stats:
    with runtime.pool.lend() as connections, connections.reader.snapshot():
        reader = connections.reader
        kinds, synced, space = kind_counts(reader), read_meta(reader, SYNCED_AT), serving_space(reader)
        return Stats(
            documents=sum(kinds.values()),
            memories=kinds.get("memory", 0),
            sessions=kinds.get("session", 0),
            notes=kinds.get("note", 0),
            chunks=count_rows(reader, "chunk"),
            tags=count_rows(reader, "tag"),
            agents=count_rows(reader, "author"),
            indexed=iso_time(float(synced)) if synced else None,
            pending=runtime.pending(reader),
            model=space.space.model if space else "none",
            bytes=bytes_of(runtime.home),
        )


def list_tags(runtime: Runtime, filters: Filters) -> TagList:
    with runtime.pool.lend() as connections:
        counts = tag_counts(connections.reader, filters)
    return TagList(tuple(TagCount(tag, count) for tag, count in counts), len(counts))


def list_agents(runtime: Runtime) -> AgentList:
    with runtime.pool.lend() as connections:
        counts = author_counts(connections.reader)
    return AgentList(tuple(AgentCount(agent, count) for agent, count in counts), len(counts))
