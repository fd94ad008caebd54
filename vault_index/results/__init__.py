"""What is answered: the frozen dataclasses behind the JSON. Their field names are the JSON keys, a promise."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.results.counts import (
        AgentCount as AgentCount,
        AgentList as AgentList,
        Stats as Stats,
        TagCount as TagCount,
        TagList as TagList,
    )
    from vault_index.results.documents import (
        DocumentList as DocumentList,
        DocumentRecord as DocumentRecord,
        DocumentText as DocumentText,
        Texts as Texts,
    )
    from vault_index.results.explain import (
        ChannelEvidence as ChannelEvidence,
        Explanation as Explanation,
        QueryReading as QueryReading,
        Reason as Reason,
        Why as Why,
        WordReading as WordReading,
    )
    from vault_index.results.jobs import (
        EmbedPlan as EmbedPlan,
        EmbedReport as EmbedReport,
        EmbedStatus as EmbedStatus,
        SyncReport as SyncReport,
    )
    from vault_index.results.memories import (
        ExportReport as ExportReport,
        FailedItem as FailedItem,
        MemoryOutcome as MemoryOutcome,
        MemoryOutcomes as MemoryOutcomes,
        NearMemory as NearMemory,
        StoredMemory as StoredMemory,
    )
    from vault_index.results.problems import Failure as Failure, Problem as Problem
    from vault_index.results.recall import Cause as Cause, Recall as Recall, RecalledSource as RecalledSource
    from vault_index.results.related import (
        RelatedList as RelatedList,
        RelatedRecord as RelatedRecord,
        Relation as Relation,
        Timeline as Timeline,
    )
    from vault_index.results.search import Hit as Hit, SearchResult as SearchResult
    from vault_index.results.status import (
        DaemonStatus as DaemonStatus,
        DoctorReport as DoctorReport,
        EmbedderStatus as EmbedderStatus,
        FileStatus as FileStatus,
        HardToFind as HardToFind,
        IndexStatus as IndexStatus,
        Privacy as Privacy,
        RecallOfClass as RecallOfClass,
        RecallReport as RecallReport,
        SentRecord as SentRecord,
        SourceStatus as SourceStatus,
        SpentDay as SpentDay,
        Status as Status,
        WatchStatus as WatchStatus,
        WorkStatus as WorkStatus,
    )

WHEN_ASKED = "when asked"
"""Metadata of a field that is no key of the JSON while it is None."""

_MODULES = {
    "RelatedList": "related",
    "RelatedRecord": "related",
    "Relation": "related",
    "Timeline": "related",
    "AgentCount": "counts",
    "AgentList": "counts",
    "Stats": "counts",
    "TagCount": "counts",
    "TagList": "counts",
    "DoctorReport": "status",
    "HardToFind": "status",
    "RecallOfClass": "status",
    "RecallReport": "status",
    "DocumentList": "documents",
    "DocumentRecord": "documents",
    "ChannelEvidence": "explain",
    "Explanation": "explain",
    "QueryReading": "explain",
    "WordReading": "explain",
    "Hit": "search",
    "SearchResult": "search",
    "ExportReport": "memories",
    "FailedItem": "memories",
    "MemoryOutcome": "memories",
    "MemoryOutcomes": "memories",
    "NearMemory": "memories",
    "StoredMemory": "memories",
    "Privacy": "status",
    "SentRecord": "status",
    "SpentDay": "status",
    "Failure": "problems",
    "Problem": "problems",
    "Cause": "recall",
    "Recall": "recall",
    "RecalledSource": "recall",
    "DaemonStatus": "status",
    "EmbedderStatus": "status",
    "FileStatus": "status",
    "IndexStatus": "status",
    "SourceStatus": "status",
    "Status": "status",
    "WatchStatus": "status",
    "WorkStatus": "status",
    "DocumentText": "documents",
    "Texts": "documents",
    "Reason": "explain",
    "Why": "explain",
    "EmbedPlan": "jobs",
    "EmbedReport": "jobs",
    "EmbedStatus": "jobs",
    "SyncReport": "jobs",
}


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): making a dataclass takes a millisecond, and no command answers with more than a few of them.
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
