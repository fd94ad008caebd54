"""The public Python interface of vault-index: `VaultIndex`, its result types and its exceptions."""

from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names

if TYPE_CHECKING:
    from vault_index.api.index import VaultIndex as VaultIndex
    from vault_index.errors import (
        BusyError as BusyError,
        ConfigError as ConfigError,
        ConflictError as ConflictError,
        EmbedderError as EmbedderError,
        IndexCorruptError as IndexCorruptError,
        IndexTooNewError as IndexTooNewError,
        NotFoundError as NotFoundError,
        NotSetUpError as NotSetUpError,
        UsageError as UsageError,
        VaultIndexError as VaultIndexError,
    )
    from vault_index.results.base import Failure as Failure, Problem as Problem
    from vault_index.results.changes import (
        EmbedPlan as EmbedPlan,
        EmbedReport as EmbedReport,
        EmbedStatus as EmbedStatus,
        SyncReport as SyncReport,
    )
    from vault_index.results.documents import (
        DocumentList as DocumentList,
        DocumentRecord as DocumentRecord,
        RelatedList as RelatedList,
        RelatedRecord as RelatedRecord,
        Timeline as Timeline,
    )
    from vault_index.results.memories import (
        ExportReport as ExportReport,
        FailedItem as FailedItem,
        MemoryOutcome as MemoryOutcome,
        MemoryOutcomes as MemoryOutcomes,
        NearMemory as NearMemory,
        StoredMemory as StoredMemory,
    )
    from vault_index.results.search import Hit as Hit, SearchResult as SearchResult, Why as Why
    from vault_index.results.status import (
        AgentList as AgentList,
        DoctorReport as DoctorReport,
        FileStatus as FileStatus,
        Privacy as Privacy,
        Stats as Stats,
        Status as Status,
        TagList as TagList,
    )
    from vault_index.results.texts import (
        DocumentText as DocumentText,
        Recall as Recall,
        Texts as Texts,
    )
    from vault_index.version import __version__ as __version__

_NAMES = {
    "api.index": ("VaultIndex",),
    "errors": (
        "BusyError",
        "ConfigError",
        "ConflictError",
        "EmbedderError",
        "IndexCorruptError",
        "IndexTooNewError",
        "NotFoundError",
        "NotSetUpError",
        "UsageError",
        "VaultIndexError",
    ),
    "results.base": ("Failure", "Problem"),
    "results.changes": ("EmbedPlan", "EmbedReport", "EmbedStatus", "SyncReport"),
    "results.documents": (
        "DocumentList",
        "DocumentRecord",
        "RelatedList",
        "RelatedRecord",
        "Timeline",
    ),
    "results.memories": (
        "ExportReport",
        "FailedItem",
        "MemoryOutcome",
        "MemoryOutcomes",
        "NearMemory",
        "StoredMemory",
    ),
    "results.search": ("Hit", "SearchResult", "Why"),
    "results.status": (
        "AgentList",
        "DoctorReport",
        "FileStatus",
        "Privacy",
        "Stats",
        "Status",
        "TagList",
    ),
    "results.texts": ("DocumentText", "Recall", "Texts"),
    "version": ("__version__",),
}
__all__ = [name for names in _NAMES.values() for name in names]

# The command line imports this package on every call and must not pay for the index.
__getattr__ = lazy_names(__name__, _NAMES)
