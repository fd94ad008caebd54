"""Wiring, and the public Python interface: `VaultIndex`, and `dispatch` for those who speak JSON."""

from vault_index.api.index import VaultIndex as VaultIndex
from vault_index.api.methods import (
    WRITING_METHODS as WRITING_METHODS,
    call as call,
    dispatch as dispatch,
    to_json as to_json,
)

__all__ = ["WRITING_METHODS", "VaultIndex", "call", "dispatch", "to_json"]
