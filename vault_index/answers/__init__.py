"""What is answered: the frozen dataclasses behind the JSON. Their field names are the JSON keys, a promise."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.answers.around import RelatedList as RelatedList
    from vault_index.answers.around import RelatedRecord as RelatedRecord
    from vault_index.answers.around import Relation as Relation
    from vault_index.answers.around import Timeline as Timeline
    from vault_index.answers.counts import AgentCount as AgentCount
    from vault_index.answers.counts import AgentList as AgentList
    from vault_index.answers.counts import Stats as Stats
    from vault_index.answers.counts import TagCount as TagCount
    from vault_index.answers.counts import TagList as TagList
    from vault_index.answers.doctor import DoctorReport as DoctorReport
    from vault_index.answers.doctor import HardToFind as HardToFind
    from vault_index.answers.doctor import RecallOfClass as RecallOfClass
    from vault_index.answers.doctor import RecallReport as RecallReport
    from vault_index.answers.documents import DocumentList as DocumentList
    from vault_index.answers.documents import DocumentRecord as DocumentRecord
    from vault_index.answers.explained import ChannelEvidence as ChannelEvidence
    from vault_index.answers.explained import Explanation as Explanation
    from vault_index.answers.explained import QueryReading as QueryReading
    from vault_index.answers.explained import WordReading as WordReading
    from vault_index.answers.found import Hit as Hit
    from vault_index.answers.found import SearchResult as SearchResult
    from vault_index.answers.memories import ExportReport as ExportReport
    from vault_index.answers.memories import FailedItem as FailedItem
    from vault_index.answers.memories import MemoryOutcome as MemoryOutcome
    from vault_index.answers.memories import MemoryOutcomes as MemoryOutcomes
    from vault_index.answers.memories import NearMemory as NearMemory
    from vault_index.answers.memories import StoredMemory as StoredMemory
    from vault_index.answers.privacy import Privacy as Privacy
    from vault_index.answers.privacy import SentRecord as SentRecord
    from vault_index.answers.privacy import SpentDay as SpentDay
    from vault_index.answers.problems import Failure as Failure
    from vault_index.answers.problems import Problem as Problem
    from vault_index.answers.recalled import Cause as Cause
    from vault_index.answers.recalled import Recall as Recall
    from vault_index.answers.recalled import RecalledSource as RecalledSource
    from vault_index.answers.status import DaemonStatus as DaemonStatus
    from vault_index.answers.status import EmbedderStatus as EmbedderStatus
    from vault_index.answers.status import FileStatus as FileStatus
    from vault_index.answers.status import IndexStatus as IndexStatus
    from vault_index.answers.status import SourceStatus as SourceStatus
    from vault_index.answers.status import Status as Status
    from vault_index.answers.status import WatchStatus as WatchStatus
    from vault_index.answers.status import WorkStatus as WorkStatus
    from vault_index.answers.texts import DocumentText as DocumentText
    from vault_index.answers.texts import Texts as Texts
    from vault_index.answers.why import Reason as Reason
    from vault_index.answers.why import Why as Why
    from vault_index.answers.work import EmbedPlan as EmbedPlan
    from vault_index.answers.work import EmbedReport as EmbedReport
    from vault_index.answers.work import EmbedStatus as EmbedStatus
    from vault_index.answers.work import SyncReport as SyncReport

WHEN_ASKED = "when asked"
"""Metadata of a field that is no key of the JSON while it is None."""

_MODULES = {
    "RelatedList": "around",
    "RelatedRecord": "around",
    "Relation": "around",
    "Timeline": "around",
    "AgentCount": "counts",
    "AgentList": "counts",
    "Stats": "counts",
    "TagCount": "counts",
    "TagList": "counts",
    "DoctorReport": "doctor",
    "HardToFind": "doctor",
    "RecallOfClass": "doctor",
    "RecallReport": "doctor",
    "DocumentList": "documents",
    "DocumentRecord": "documents",
    "ChannelEvidence": "explained",
    "Explanation": "explained",
    "QueryReading": "explained",
    "WordReading": "explained",
    "Hit": "found",
    "SearchResult": "found",
    "ExportReport": "memories",
    "FailedItem": "memories",
    "MemoryOutcome": "memories",
    "MemoryOutcomes": "memories",
    "NearMemory": "memories",
    "StoredMemory": "memories",
    "Privacy": "privacy",
    "SentRecord": "privacy",
    "SpentDay": "privacy",
    "Failure": "problems",
    "Problem": "problems",
    "Cause": "recalled",
    "Recall": "recalled",
    "RecalledSource": "recalled",
    "DaemonStatus": "status",
    "EmbedderStatus": "status",
    "FileStatus": "status",
    "IndexStatus": "status",
    "SourceStatus": "status",
    "Status": "status",
    "WatchStatus": "status",
    "WorkStatus": "status",
    "DocumentText": "texts",
    "Texts": "texts",
    "Reason": "why",
    "Why": "why",
    "EmbedPlan": "work",
    "EmbedReport": "work",
    "EmbedStatus": "work",
    "SyncReport": "work",
}


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): making a dataclass takes a millisecond, and no command answers with more than a few of them.
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
