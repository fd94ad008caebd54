"""The health of an index: status, statistics, costs, diagnosis and repair."""

from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names

if TYPE_CHECKING:
    from vault_index.health.checks import repair_index as repair_index, run_doctor as run_doctor
    from vault_index.health.embedding import (
        embed_plan as embed_plan,
        embed_status as embed_status,
        privacy_ledger as privacy_ledger,
    )
    from vault_index.health.stats import (
        index_stats as index_stats,
        list_agents as list_agents,
        list_tags as list_tags,
    )
    from vault_index.health.status import file_status as file_status, index_status as index_status

# `stats` does not import what only `doctor` needs.
__getattr__ = lazy_names(
    __name__,
    {
        "checks": ("run_doctor", "repair_index"),
        "embedding": ("embed_plan", "embed_status", "privacy_ledger"),
        "stats": ("index_stats", "list_agents", "list_tags"),
        "status": ("index_status", "file_status"),
    },
)
