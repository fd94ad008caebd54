"""Writes the tools of the OpenCode plugin: `python tools/build_plugin.py`. They are those that MCP clients are offered.

The plugin is TypeScript and cannot import vault_index/mcp_server/tools.py.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.mcp_server.tools import TOOLS, Tool

FILE = (
    Path(__file__).parent.parent
    / "vault_index"
    / "opencode_plugin"
    / "plugin"
    / "vault-index"
    / "fields.ts"
)

HEAD = """\
// Made by tools/build_plugin.py from vault_index/mcp_server/tools.py; edit that. As MCP clients get them.

import type { Declared } from "./tools.ts"

export const TOOLS: Record<string, Declared> = {
"""


def module() -> str:
    """The whole file."""
    return f"{HEAD}{''.join(map(_declared, TOOLS))}}}\n"


def _declared(tool: Tool) -> str:
    schema = tool.schema()
    arguments = "".join(
        f"      {name}: {_object(about)},\n" for name, about in schema["properties"].items()
    )
    return (
        f"  {tool.name}: {{\n    description: {json.dumps(tool.description, ensure_ascii=False)},\n"
        f"    required: {json.dumps(schema.get('required', []))},\n    writes: {json.dumps(not tool.read_only)},\n"
        f"    args: {{\n{arguments}    }},\n  }},\n"
    )


def _object(value: Mapping[str, Any]) -> str:
    """JSON, but for the quotes that names do not need."""
    parts = (
        f"{key}: {_object(item) if isinstance(item, Mapping) else json.dumps(item, ensure_ascii=False)}"
        for key, item in value.items()
    )
    return f"{{ {', '.join(parts)} }}"


if __name__ == "__main__":
    FILE.write_text(module(), encoding="utf-8")
