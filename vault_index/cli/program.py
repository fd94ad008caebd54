"""How other programs start this one: the executable, and the options that name its home."""

import os
import platform
import sys
from pathlib import Path

from vault_index import __version__
from vault_index.cli.options import Options
from vault_index.embeddings.local import SPACE
from vault_index.store.integrity import versions as loaded


def program() -> tuple[str, ...]:
    """What starts this program, wherever it is called from."""
    beside = Path(sys.executable).parent / "vault-index"
    for path in (Path(os.path.abspath(sys.argv[0])), beside):
        if path.name in ("vault-index", "vx") and os.access(path, os.X_OK):
            return (str(path),)
    return (sys.executable, "-m", "vault_index")


def home_options(options: Options) -> tuple[str, ...]:
    """The home and the configuration, if they are not the usual ones: other programs have environments of their own."""
    home = options.home or os.environ.get("VAULT_INDEX_HOME", "")
    config = options.config or ("" if options.home else os.environ.get("VAULT_INDEX_CONFIG", ""))
    given = (("--home", home), ("--config", config))
    return tuple(word for name, value in given if value for word in (name, os.path.abspath(os.path.expanduser(value))))


def versions() -> str:
    """The program's version in the first line, as other programs expect it, then those of its parts."""
    parts = {"Python": platform.python_version(), **loaded(), "model": SPACE.model}
    return "\n".join([f"vault-index {__version__}", *(f"{name} {version}" for name, version in parts.items())])
