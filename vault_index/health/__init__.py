"""The state of an index: what there is, what it costs, what is wrong, and how it is repaired."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.health.checks import repair_index as repair_index, run_doctor as run_doctor
    from vault_index.health.embedding import (
        embed_plan as embed_plan,
        embed_status as embed_status,
        privacy_ledger as privacy_ledger,
    )
    from vault_index.health.stats import index_stats as index_stats, list_agents as list_agents, list_tags as list_tags
    from vault_index.health.status import file_status as file_status, index_status as index_status

_MODULES = {
    "run_doctor": "checks",
    "repair_index": "checks",
    "embed_plan": "embedding",
    "embed_status": "embedding",
    "privacy_ledger": "embedding",
    "index_stats": "stats",
    "list_agents": "stats",
    "list_tags": "stats",
    "index_status": "status",
    "file_status": "status",
}


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): `stats` needs nothing of what `doctor` does.
    if name in _MODULES:
        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
