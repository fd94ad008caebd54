"""What `--version` prints: this program, and what its answers depend on."""

import platform

from vault_index import __version__
from vault_index.embeddings.local import SPACE
from vault_index.store.checkup import versions as loaded


def versions() -> str:
    """The program's version in the first line, as other programs expect it, then those of its parts."""
    parts = {"Python": platform.python_version(), **loaded(), "model": SPACE.model}
    return "\n".join([f"vault-index {__version__}", *(f"{name} {version}" for name, version in parts.items())])
