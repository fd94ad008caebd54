"""Write docs/mcp.md from a recorded session: `python tools/build_mcp.py`.

The client of the official SDK starts `vault-index mcp` on a small vault, lists what it offers, and
calls each tool with valid and invalid arguments. Values that differ between runs (ids, dates,
tokens of marks) are replaced.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import anyio
from mcp import Client, StdioServerParameters, types

from vault_index import VaultIndex
from vault_index.config import Home, find_home
from vault_index.config.edit import create_config, set_value
from vault_index.config.schema import CLIENTS

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs" / "mcp.md"
HEAD = """\
# The MCP server

<!-- Made by tools/build_mcp.py; edit that. -->

This page lists the tools, prompts and resources, and shows each tool in a recorded session. \
[agents.md](agents.md#mcp)
explains how to set up a client, and the rules for arguments, answers and budgets.
"""

TRIED = """\
## Tried with

Recorded by `make test-mcp`. The MCP inspector 2.12.0 accepts the schemas (`tools/list --strict`) \
on stdio and over
HTTP, in old and new versions of the protocol, and calls tools:

{}
The table shows the passed checks of the protocol's conformance tests (0.2.0-alpha.12). It omits \
scenarios for tools,
prompts and resources with fixed names, which only a test server has, and for logging, \
subscriptions and tasks, which
this server does not offer. The tests support only HTTP; both transports share one server.

{}"""

_MEMORY = """\
---
id: 7d1c2a90-3b4e-4f5a-8c6d-9e0f1a2b3c4d
type: decision
title: Use WAL mode for the index
tags: [sqlite, ops/storage]
project: harbour
created: 2026-03-02T10:00:00+00:00
updated: 2026-03-02T10:00:00+00:00
entered_by: build-agent
---
WAL lets readers run while the daemon writes.
"""
_NOTES = {
    "80-memory/decision/2026-03-02-use-wal-mode.md": _MEMORY,
    "projects/Harbour.md": (
        "---\ncreated: 2026-02-01\n---\n# Harbour\n\nThe importer of carrier events.\n\n## "
        "Retries\n\nA failed import is tried again three times, with a minute between.\n"
    ),
    "projects/Rollout.md": (
        "---\ncreated: 2026-04-05\n---\n# Rollout\n\nFour weeks, one group of carriers a week.\n"
    ),
}

RIGHT: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {"query": "how often is an import tried again", "limit": 1}),
    ("memory_get", {"ref": "projects/Harbour.md", "max_tokens": 120}),
    ("memory_timeline", {"ref": "7d1c2a90"}),
    ("memory_recall", {"query": "import of carrier events", "project": "harbour", "budget": 300}),
    (
        "memory_store",
        {
            "content": "Poll the ferry carrier at 03:10 only: it bans clients that ask more often.",
            "type": "warning",
            "tags": ["carriers"],
            "project": "harbour",
            "path": "carriers/ferry",
        },
    ),
    (
        "memory_update",
        {
            "ref": "carriers/ferry",
            "append": True,
            "content": "Its clock is in UTC.",
            "add_tags": "time",
        },
    ),
    ("memory_list", {"kind": "memory", "limit": 1}),
    ("memory_delete", {"ref": ["carriers/ferry"]}),
)
WRONG: tuple[tuple[str, dict[str, Any]], ...] = (
    ("memory_search", {}),
    ("memory_get", {"ref": "../../etc/passwd"}),
    ("memory_timeline", {"ref": ["wal", "rollout"]}),
    ("memory_recall", {"query": "ferry", "budget": "many"}),
    ("memory_store", {"content": "Set it to 5.", "type": "advice"}),
    ("memory_update", {"ref": "7d1c2a90", "colour": "red"}),
    ("memory_list", {"limit": 0}),
    ("memory_delete", {"ref": "projects/Harbour.md"}),
)

Call = tuple[str, dict[str, Any], types.CallToolResult]


def page() -> str:
    """docs/mcp.md as a session tells it."""
    tools, prompts, template, calls = anyio.run(_session)
    rows = [f"| `{tool.name}` | {_kind(tool)} | {tool.description} |" for tool in tools]
    told = [_shown(*call) for call in _stable(calls)]
    parts = [
        HEAD,
        "## The tools\n\n| tool | | description for the agent |\n|---|---|---|",
        "\n".join(rows),
        "\n## Prompts and resources\n\n| prompt | arguments | description |\n|---|---|---|",
        *(f"| `{one.name}` | {_given(one)} | {one.description} |" for one in prompts),
        f"\nA document is the resource `{template.uri_template}`; "
        "the most recently changed memories are listed.",
        "\n## A session\n\nThe client of the SDK calls each tool; the text answer is below the "
        "call. The vault of this session has no embedder.\n",
        *told[: len(RIGHT)],
        "\n## Invalid calls\n\nEach returns a tool error with a hint.\n",
        *told[len(RIGHT) :],
        TRIED.format(
            *(
                (ROOT / "tests/mcp_real" / name).read_text("utf-8")
                for name in ("inspector.md", "conformance.md")
            )
        ),
    ]
    return "\n".join(parts).replace("```\n\n\n##", "```\n\n##")


async def _session() -> tuple[
    list[types.Tool], list[types.Prompt], types.ResourceTemplate, list[Call]
]:
    with _home() as home:
        options = ["-m", "vault_index", "mcp", "--home", str(home.data_dir)]
        server = StdioServerParameters(command=sys.executable, args=options)
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            calls = [
                (name, given, await client.call_tool(name, given))
                for name, given in (*RIGHT, *WRONG)
            ]
            [template] = (await client.list_resource_templates()).resource_templates
            return tools, (await client.list_prompts()).prompts, template, calls


@contextmanager
def _home() -> Iterator[Home]:
    with tempfile.TemporaryDirectory(prefix="vx-") as folder:
        vault = Path(folder, "vault")
        for path, text in _NOTES.items():
            (vault / path).parent.mkdir(parents=True, exist_ok=True)
            (vault / path).write_text(text, encoding="utf-8")
        home = find_home(Path(folder, "home"))
        create_config(home, vault, provider="none", memory_dir=None)
        for client in CLIENTS:  # whoever makes this may use agents
            set_value(home, f"sessions.{client}.enabled", "false")
        set_value(home, "agents.start_daemon", "false", "")
        with VaultIndex.open(home) as index:
            index.sync()
        yield home


def _given(prompt: types.Prompt) -> str:
    return ", ".join(f"`{one.name}` ({one.description})" for one in prompt.arguments or ())


def _kind(tool: types.Tool) -> str:
    hints = tool.annotations
    assert hints is not None
    return "reads" if hints.read_only_hint else "changes" if hints.destructive_hint else "adds"


def _shown(name: str, arguments: dict[str, Any], text: str) -> str:
    return f"```text\n> {name} {json.dumps(arguments, ensure_ascii=False)}\n{text}\n```\n"


def _stable(calls: list[Call]) -> list[tuple[str, dict[str, Any], str]]:
    """The texts of the answers, with an id, a day and a token that are always the same."""
    [stored] = [
        result.structured_content
        for name, _, result in calls
        if name == "memory_store" and not result.is_error
    ]
    new, today = stored["id"][:8], date.today().isoformat()
    told = []
    for name, arguments, result in calls:
        [content] = result.content
        assert isinstance(content, types.TextContent)
        text = re.sub(f'"?{new}"?', "c0ffee42", content.text).replace(today, "2026-11-21")
        told.append(
            (name, arguments, re.sub('(recall token=")[0-9a-f]+', r"\g<1>9f2c41d07ab3e865", text))
        )
    return told


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
