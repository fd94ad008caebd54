"""Build the shell command that installs the multilingual model for this installation."""

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
"""Placeholder for an unknown clone folder."""


def install_multilingual() -> str:
    """Return the command for the tool that installed this program: pipx, uv or pip.

    If the program came from a package index, the model comes from there, too. Otherwise `make
    multilingual` builds it in the clone, because the index may not have these packages. The origin
    is recorded by PEP 610.
    """
    clone = _clone()
    if clone is None:
        return _add(MULTILINGUAL_DISTRIBUTION, DISTRIBUTION)
    folder = shlex.quote(clone)
    build = f"make -C {folder} multilingual"
    if Path(sys.prefix) == Path(clone, ".venv"):
        return build  # also installs the model
    return f"{build} && {_add(f'{folder}/dist/vault_indexer_multilingual-*.whl', folder)}"


def install(package: str) -> str:
    """Return the command that adds a package to this installation."""
    return _add(package, shlex.quote(_clone() or DISTRIBUTION))


def _clone() -> str | None:
    """Return the folder this program was installed from; None if from a package index."""
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
    return (
        f"{python} -m pip install {package}"
        if find_spec("pip")
        else f"uv pip install --python {python} {package}"
    )
