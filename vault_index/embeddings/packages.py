"""The shell command that adds the multilingual model to this copy of the program."""

import json
import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

DISTRIBUTION = "vault-indexer"
MULTILINGUAL_DISTRIBUTION = "vault-indexer-multilingual"
_ANY_CLONE = "CLONE"
"""Stands in a command for the folder of a clone that is not known."""


def install_multilingual() -> str:
    """Return the command for the tool that installed this copy: pipx, uv or pip.

    A copy from a package index gets the model from there. Every other copy gets it from the clone it was installed
    from, where `make multilingual` builds it, because the names may belong to nobody on the index (PEP 610 records
    where a copy is from).
    """
    clone = _clone()
    if clone is None:
        return _add(MULTILINGUAL_DISTRIBUTION, DISTRIBUTION)
    folder = shlex.quote(clone)
    build = f"make -C {folder} multilingual"
    if Path(sys.prefix) == Path(clone, ".venv"):
        return build  # it installs the model there, too
    return f"{build} && {_add(f'{folder}/dist/vault_indexer_multilingual-*.whl', folder)}"


def _clone() -> str | None:
    """The folder this copy was installed from; None for a copy from a package index."""
    try:
        copy = distribution(DISTRIBUTION)
    except PackageNotFoundError:
        return _ANY_CLONE
    record = copy.read_text("direct_url.json")
    if record is None:
        return None if (copy.read_text("INSTALLER") or "").strip() in ("pip", "uv") else _ANY_CLONE
    url = urlsplit(str(json.loads(record).get("url", "")))
    folder = unquote(url.path).rstrip("/")
    return folder if url.scheme == "file" and Path(folder, "Makefile").is_file() else _ANY_CLONE


def _add(package: str, program: str) -> str:
    prefix = Path(sys.prefix)
    if (prefix / "pipx_metadata.json").exists():
        return f"pipx inject {DISTRIBUTION} {package}"
    if (prefix / "uv-receipt.toml").exists():
        return f"uv tool install --with {package} {program}"
    python = shlex.quote(sys.executable)
    return f"{python} -m pip install {package}" if find_spec("pip") else f"uv pip install --python {python} {package}"
