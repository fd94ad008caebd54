"""The public Python interface `VaultIndex`, and `dispatch` for callers that use JSON."""

from typing import TYPE_CHECKING

from vault_index.lazy import lazy_names

if TYPE_CHECKING:
    from vault_index.api.index import VaultIndex as VaultIndex
    from vault_index.api.json_api import (
        bind as bind,
        call as call,
        dispatch as dispatch,
        to_json as to_json,
    )

__all__ = ["VaultIndex", "bind", "call", "dispatch", "to_json"]

# Lazy, so that the thin client can import `api.methods` without loading the index.
__getattr__ = lazy_names(
    __name__, {"index": ("VaultIndex",), "json_api": ("bind", "call", "dispatch", "to_json")}
)
