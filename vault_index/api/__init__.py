"""Wiring, and the public Python interface: `VaultIndex`, and `dispatch` for those who speak JSON."""

from vault_index.api.dispatch import WRITING_METHODS as WRITING_METHODS
from vault_index.api.dispatch import dispatch as dispatch
from vault_index.api.index import VaultIndex as VaultIndex

__all__ = ["WRITING_METHODS", "VaultIndex", "dispatch"]
