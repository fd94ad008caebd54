"""What the scripted model says."""

import sys
from collections.abc import Mapping, Sequence

from tests.opencode_real.model import Step

SCENES: Mapping[str, Sequence[Step]] = {
    "title": [{"text": "A title"}],
    "compaction": [{"text": "## Goal\nSell books."}],
    "plain": [{"text": "All is well."}],
    "remember": [{"text": "Done.\n\n*Remember*: the warehouse counts boxes, not books.\n\nAnything else?"}],
    "store": [
        {
            "tools": [
                {
                    "name": "memory_store",
                    "args": {
                        "content": "Invoices are numbered per year, because the tax office wants it so.",
                        "type": "decision",
                        "project": "shop",
                    },
                }
            ]
        },
        {"text": "Stored."},
    ],
    "tools": [
        {
            "tools": [
                {"name": "memory_search", "args": {"query": "who waits for the writer", "limit": 3}},
                {"name": "memory_get", "args": {"ref": ["wal.md"]}},
                {"name": "memory_timeline", "args": {"ref": "wal.md"}},
                {"name": "memory_recall", "args": {"query": "the write-ahead log"}},
                {"name": "memory_list", "args": {"limit": 2}},
            ]
        },
        {"tools": [{"name": "memory_store", "args": {"narrative": "Tariffs change in spring.", "path": "tariffs"}}]},
        {"tools": [{"name": "memory_update", "args": {"ref": "tariffs", "add_tags": ["tax"]}}]},
        {"tools": [{"name": "memory_delete", "args": {"ref": ["tariffs"]}}]},
        {"text": "Used."},
    ],
    "malformed": [
        {
            "tools": [
                {"name": "memory_search", "args": {}},
                {"name": "memory_search", "args": {"query": "wal", "limit": "many"}},
                {"name": "memory_get", "args": {"ref": [True]}},
                {"name": "memory_timeline", "args": {"depth_before": 2}},
                {"name": "memory_recall", "args": {"query": "wal", "budget": 0}},
                {"name": "memory_store", "args": {"content": "fine", "type": "idea"}},
                {"name": "memory_update", "args": {"ref": "no-such-memory", "content": "x"}},
                {"name": "memory_delete", "args": {"reef": ["a"]}},
                {"name": "memory_list", "args": {"kind": "song"}},
            ]
        },
        {"text": "Refused."},
    ],
    "sloppy": [
        {
            "tools": [
                {"name": "memory_search", "args": {"q": ["who waits for the writer"], "limit": "3", "type": ""}},
                {"name": "memory_get", "args": {"ids": '["wal.md"]', "cursor": "", "full": "no"}},
                {"name": "memory_timeline", "args": {"anchor_id": "wal.md", "depth_before": 2.0}},
                {"name": "memory_recall", "args": {"question": "the write-ahead log", "project": None}},
                {
                    "name": "memory_store",
                    "args": {
                        "narrative": "Stamps are bought in rolls.",
                        "path": "stamps",
                        "facts": "a, b",
                        "files": "x",
                    },
                },
            ]
        },
        {"tools": [{"name": "memory_list", "args": {"limit": "1", "maxTokens": 500}}]},
        {"tools": [{"name": "memory_delete", "args": {"id": "stamps"}}]},
        {"text": "Used."},
    ],
    "delegate": [
        {
            "tools": [
                {
                    "name": "task",
                    "args": {
                        "description": "Count",
                        "prompt": "We decided to count backwards. [[scene:child]]",
                        "subagent_type": "general",
                    },
                }
            ]
        },
        {"text": "Delegated."},
    ],
    "child": [{"text": "Counted."}],
    "port": [{"text": "It is 5433."}],
    "again": [
        {
            "tools": [
                {"name": "memory_search", "args": {"query": "Which port does the turnstile use?"}},
                {
                    "name": "bash",
                    "args": {
                        "command": f"{sys.executable} -m vault_index search 'Which port does the turnstile use?'",
                        "description": "Search",
                    },
                },
                {"name": "memory_recall", "args": {"query": "Which port does the turnstile use?"}},
                {"name": "memory_timeline", "args": {"query": "Which port does the turnstile use?"}},
            ]
        },
        {"text": "Looked."},
    ],
}

NOTES = {
    "wal.md": "# WAL\n\nReaders never wait for the writer, because the write-ahead log keeps old pages.\n",
    "80-memory/decision/prices.md": (
        "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntype: decision\ntitle: Prices are whole cents\nproject: shop\n"
        "---\nPrices are stored as whole cents, never as floats.\n"
    ),
}
