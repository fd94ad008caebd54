"""Names and versions for package indexes, the registry of MCP servers and desktop clients."""

import json
import re
import tomllib
from pathlib import Path

from vault_index.embeddings.packages import DISTRIBUTION, MULTILINGUAL_DISTRIBUTION
from vault_index.version import PROGRAMS, __version__

ROOT = Path(__file__).parents[1]
OURS = {DISTRIBUTION, f"{DISTRIBUTION}[multilingual]", f"{DISTRIBUTION}[team]", MULTILINGUAL_DISTRIBUTION}
TOOLS = r"pip3? install|pipx (?:install|inject|upgrade|run)|uv (?:add|tool (?:install|run|upgrade))|uvx|brew install"
FOLDERS = ("vault_index", "docs", "nix", "systemd", "mcpb", "tools", "packaging", ".ci", ".github", ".claude-plugin")
LARGEST_TEXT = 1 << 20
INSTALL = re.compile(rf"\b(?:{TOOLS})((?: +[^\s`&|;#]+)+)")


def test_registry_file_has_this_version() -> None:
    told = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert {told["version"], *(package["version"] for package in told["packages"])} == {__version__}
    # The registry uses this to link the package on PyPI to the server.
    assert f"<!-- mcp-name: {told['name']} -->" in (ROOT / "README.md").read_text("utf-8")


def test_bundle_and_plugin_have_this_version() -> None:
    manifest = json.loads((ROOT / "mcpb/manifest.json").read_text("utf-8"))
    plugin = json.loads((ROOT / "packaging/claude-code/.claude-plugin/plugin.json").read_text("utf-8"))
    assert {manifest["version"], plugin["version"]} == {__version__}
    assert manifest["description"] == json.loads((ROOT / "server.json").read_text("utf-8"))["description"]


def test_docs_commands_install_only_our_packages() -> None:
    """The name `vault-index` on PyPI belongs to another project."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert (project["name"], set(project["scripts"])) == (DISTRIBUTION, set(PROGRAMS))
    (extra,) = project["optional-dependencies"]["multilingual"]
    assert extra.startswith(f"{MULTILINGUAL_DISTRIBUTION}>")
    server = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert {package["identifier"] for package in server["packages"]} == {DISTRIBUTION}
    files = [*ROOT.glob("*"), *(path for name in FOLDERS for path in (ROOT / name).rglob("*"))]
    installed = set()
    for path in files:
        if path.is_file() and path.suffix != ".pyc" and path.stat().st_size < LARGEST_TEXT:
            text = path.read_text("utf-8", "replace")
            words = {word.strip("'\".,") for found in INSTALL.finditer(text) for word in found[1].split()}
            installed |= {word for word in words if word.startswith(("vault-index", "vault_index"))}
    assert "vault-indexer" in installed
    assert installed <= OURS
