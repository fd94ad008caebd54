"""Writes the configuration file as a whole or not at all, for its owner alone."""

import os
import tempfile
from pathlib import Path

from vault_index.config.home import private_folder
from vault_index.errors import UsageError, VaultIndexError


def write_text(file: Path, text: str) -> None:
    """Replace the file by one of mode 0600. A link stays one: what it points to is replaced."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise UsageError("A name or value is not valid UTF-8.", "TOML can hold UTF-8 only: rename it.") from error
    target = Path(os.path.realpath(file))
    private_folder(target.parent)
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        try:
            with open(descriptor, "wb") as draft:
                draft.write(data)
                draft.flush()
                os.fsync(draft.fileno())
            os.replace(name, target)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise VaultIndexError(
            f"Cannot write {target}: {error.strerror}.",
            "Make the file and its folder writable; where another program manages it (home-manager), change it there.",
        ) from error
