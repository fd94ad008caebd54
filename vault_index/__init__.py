"""vault-index keeps markdown searchable. The Python interface is `VaultIndex`, what it returns and what it raises."""

from typing import TYPE_CHECKING, Any

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
    from vault_index.results import (
        AgentList as AgentList,
        DoctorReport as DoctorReport,
        DocumentList as DocumentList,
        DocumentRecord as DocumentRecord,
        DocumentText as DocumentText,
        EmbedPlan as EmbedPlan,
        EmbedReport as EmbedReport,
        EmbedStatus as EmbedStatus,
        ExportReport as ExportReport,
        FailedItem as FailedItem,
        Failure as Failure,
        FileStatus as FileStatus,
        Hit as Hit,
        MemoryOutcome as MemoryOutcome,
        MemoryOutcomes as MemoryOutcomes,
        NearMemory as NearMemory,
        Privacy as Privacy,
        Problem as Problem,
        Recall as Recall,
        RelatedList as RelatedList,
        RelatedRecord as RelatedRecord,
        SearchResult as SearchResult,
        Stats as Stats,
        Status as Status,
        StoredMemory as StoredMemory,
        SyncReport as SyncReport,
        TagList as TagList,
        Texts as Texts,
        Timeline as Timeline,
        Why as Why,
    )

__version__ = "0.1.0"

_ERRORS = (
    "BusyError", "ConfigError", "ConflictError", "EmbedderError", "IndexCorruptError", "IndexTooNewError",
    "NotFoundError", "NotSetUpError", "UsageError", "VaultIndexError",
)  # fmt: skip
_RESULTS = (
    "AgentList", "DoctorReport", "DocumentList", "DocumentRecord", "DocumentText", "EmbedPlan", "EmbedReport",
    "EmbedStatus", "ExportReport", "FailedItem", "Failure", "FileStatus", "Hit", "MemoryOutcome", "MemoryOutcomes",
    "NearMemory", "Privacy", "Problem", "Recall", "RelatedList", "RelatedRecord", "SearchResult", "Stats", "Status",
    "StoredMemory", "SyncReport", "TagList", "Texts", "Timeline", "Why",
)  # fmt: skip
__all__ = ["VaultIndex", "__version__", *_ERRORS, *_RESULTS]  # noqa: PLE0604 - names, spelled once


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the command line imports this package on every call and must not pay for the index.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = "errors" if name in _ERRORS else "results" if name in _RESULTS else "api"
    return getattr(import_module(f"{__name__}.{module}"), name)
