"""What is answered: the frozen dataclasses behind the JSON. Their field names are the JSON keys, a promise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names
from vault_index.models import Kind

if TYPE_CHECKING:
    from vault_index.results.changes import (
        EmbedPlan as EmbedPlan,
        EmbedReport as EmbedReport,
        EmbedStatus as EmbedStatus,
        ExportReport as ExportReport,
        FailedItem as FailedItem,
        MemoryOutcome as MemoryOutcome,
        MemoryOutcomes as MemoryOutcomes,
        NearMemory as NearMemory,
        StoredMemory as StoredMemory,
        SyncReport as SyncReport,
    )
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
        RelatedList as RelatedList,
        RelatedRecord as RelatedRecord,
        Relation as Relation,
        Timeline as Timeline,
    )
    from vault_index.results.explain import (
        ChannelEvidence as ChannelEvidence,
        Explanation as Explanation,
        QueryReading as QueryReading,
        Why as Why,
        WordReading as WordReading,
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
    from vault_index.results.texts import (
        Cause as Cause,
        DocumentText as DocumentText,
        Recall as Recall,
        RecalledSource as RecalledSource,
        Texts as Texts,
    )

WHEN_ASKED = "when asked"  # metadata of a field that is no key of the JSON while it has its default


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    error: str


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class DocumentName:
    """What every record of a document, or of a part of one, begins with."""

    id: str
    kind: Kind
    source: str
    path: str
    title: str


# Making a dataclass takes half a millisecond, and no command answers with more than a few of them.
__getattr__ = lazy_names(
    __name__,
    {
        "changes": (
            "EmbedPlan",
            "EmbedReport",
            "EmbedStatus",
            "ExportReport",
            "FailedItem",
            "MemoryOutcome",
            "MemoryOutcomes",
            "NearMemory",
            "StoredMemory",
            "SyncReport",
        ),
        "counts": ("AgentCount", "AgentList", "Stats", "TagCount", "TagList"),
        "documents": ("DocumentList", "DocumentRecord", "RelatedList", "RelatedRecord", "Relation", "Timeline"),
        "explain": ("ChannelEvidence", "Explanation", "QueryReading", "Why", "WordReading"),
        "search": ("Hit", "SearchResult"),
        "status": (
            "DaemonStatus",
            "DoctorReport",
            "EmbedderStatus",
            "FileStatus",
            "HardToFind",
            "IndexStatus",
            "Privacy",
            "RecallOfClass",
            "RecallReport",
            "SentRecord",
            "SourceStatus",
            "SpentDay",
            "Status",
            "WatchStatus",
            "WorkStatus",
        ),
        "texts": ("Cause", "DocumentText", "Recall", "RecalledSource", "Texts"),
    },
)
