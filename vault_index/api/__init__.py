"""The public Python interface, `VaultIndex`; the registry of its methods; `dispatch` for callers that speak JSON."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.api.index import VaultIndex as VaultIndex
    from vault_index.api.json_api import call as call, dispatch as dispatch, to_json as to_json

__all__ = ["VaultIndex", "call", "dispatch", "to_json"]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the thin client imports `api.methods`, and must not pay for the index.
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{'index' if name == 'VaultIndex' else 'json_api'}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
