"""Writes the configuration file as a whole or not at all, for its owner alone."""

import json
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


def first_config(name: str, vault: Path, provider: str, memory_dir: str) -> str:
    """The text of a first configuration with one vault."""
    # A JSON text is a TOML text, where it holds no lone surrogates.
    return f"""\
# vault-index. Every key and its default: docs/configuration.md, or `vault-index config list`.
# A changed file is read at the next command; a running daemon reads it on SIGHUP.

[sources.{name}]
path = {_quoted(str(vault))}
# exclude = ["Archive/", "*.draft.md"]  # as in .gitignore; .vaultignore files in the vault work too
# local_only = ["private/"]             # never sent to a remote embedder; true for the whole vault

[embedding]
# "local": the model that comes with the package; nothing leaves this machine.
# "openai": OpenAI, or with base_url any server that speaks its API (Ollama, LM Studio, vLLM).
# "none": search by keywords only.
provider = {_quoted(provider)}
# base_url = "http://localhost:11434/v1"
# model = ""

[memory]
dir = {_quoted(memory_dir)}
"""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
