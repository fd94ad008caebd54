"""The configuration file that `init` writes: short, commented, every other key left at its default."""

import json
from pathlib import Path


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
