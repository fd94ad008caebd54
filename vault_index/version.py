"""The version of this program, which the build also reads, and the names of its commands."""

__version__ = "1.0.0"

PROGRAMS = ("vault-index", "vx", "vault-indexer")
"""The commands that pyproject.toml installs."""
