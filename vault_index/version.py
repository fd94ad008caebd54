"""The version of this program, which the build also reads, and the names of its commands."""

__version__ = "0.1.0"

PROGRAMS = ("vault-index", "vx", "vault-indexer")
"""The commands that pyproject.toml installs."""
