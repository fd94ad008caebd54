"""Writes the arguments of the OpenCode plugin that are filters and fields of memories: `python tools/build_plugin.py`.

The plugin is TypeScript and cannot import vault_index/fields.py.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from vault_index.fields import FIELDS, FILTERS, Declared
from vault_index.mcp_server.tools import TOOLS

FILE = Path(__file__).parent.parent / "vault_index" / "opencode_plugin" / "plugin" / "vault-index" / "fields.ts"

HEAD = """\
// Made by tools/build_plugin.py from vault_index/fields.py; edit that. As MCP clients get them.

import type { Schema } from "./tools.ts"
"""


def module() -> str:
    """The whole file."""
    parts = [HEAD, _constant("FILTERS", "memory_search", FILTERS), _constant("FIELDS", "memory_store", FIELDS)]
    return "\n".join(parts)


def _constant(name: str, tool: str, declared: Mapping[str, Declared]) -> str:
    [arguments] = [listed.arguments for listed in TOOLS if listed.name == tool]
    rows = [
        f"  {argument}: {_object({**arguments[argument].schema(), 'description': about.brief or about.help})},"
        for argument, about in declared.items()
        if argument in arguments
    ]
    return "\n".join([f"export const {name} = {{", *rows, "} satisfies Record<string, Schema>\n"])


def _object(value: Mapping[str, Any]) -> str:
    """JSON, but for the quotes that names do not need."""
    parts = (
        f"{key}: {_object(item) if isinstance(item, Mapping) else json.dumps(item, ensure_ascii=False)}"
        for key, item in value.items()
    )
    return f"{{ {', '.join(parts)} }}"


if __name__ == "__main__":
    FILE.write_text(module(), encoding="utf-8")
