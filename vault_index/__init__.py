"""vault-index keeps markdown searchable. The Python interface is `VaultIndex`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vault_index.api import VaultIndex as VaultIndex

__version__ = "0.1.0"
__all__ = ["VaultIndex", "__version__"]


def __getattr__(name: str) -> Any:
    # Lazy (PEP 562): the command line imports this package on every call and must not pay for the index.
    if name == "VaultIndex":
        from vault_index.api import VaultIndex

        return VaultIndex
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
