"""What is told to the registry of MCP servers and to desktop clients is of this version."""

import json
from pathlib import Path

from vault_index.version import __version__

ROOT = Path(__file__).parents[1]


def test_the_registry_is_told_of_this_version() -> None:
    told = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert {told["version"], *(package["version"] for package in told["packages"])} == {__version__}
    # By this the registry knows that the package on PyPI is the server's.
    assert f"<!-- mcp-name: {told['name']} -->" in (ROOT / "README.md").read_text("utf-8")


def test_the_bundle_is_of_this_version() -> None:
    manifest = json.loads((ROOT / "mcpb/manifest.json").read_text("utf-8"))
    assert manifest["version"] == __version__
    assert manifest["description"] == json.loads((ROOT / "server.json").read_text("utf-8"))["description"]
