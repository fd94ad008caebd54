"""The answers of the scripted model."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from tests.opencode_real.model import Step


def _call(name: str, **args: Any) -> Step:
    return {"name": name, "args": args}


QUESTION = "Which port does the turnstile use?"
_INVOICES = "Invoices are numbered per year, because the tax office wants it so."
_PROMPT = "We decided to count backwards. [[scene:child]]"

SCENES: Mapping[str, Sequence[Step]] = {
    "title": [{"text": "A title"}],
    "compaction": [{"text": "## Goal\nSell books."}],
    "plain": [{"text": "All is well."}],
    "remember": [{"text": "Done.\n\n*Remember*: the warehouse counts boxes, not books.\n\nAnything else?"}],
    "store": [
        {"tools": [_call("memory_store", content=_INVOICES, type="decision", project="shop")]},
        {"text": "Stored."},
    ],
    "tools": [
        {
            "tools": [
                _call("memory_search", query="who waits for the writer", limit=3),
                _call("memory_get", ref=["wal.md"]),
                _call("memory_timeline", ref="wal.md"),
                _call("memory_recall", query="the write-ahead log"),
                _call("memory_list", limit=2),
            ]
        },
        {"tools": [_call("memory_store", narrative="Tariffs change in spring.", path="tariffs")]},
        {"tools": [_call("memory_update", ref="tariffs", add_tags=["tax"])]},
        {"tools": [_call("memory_delete", ref=["tariffs"])]},
        {"text": "Used."},
    ],
    "delegate": [
        {"tools": [_call("task", description="Count", prompt=_PROMPT, subagent_type="general")]},
        {"text": "Delegated."},
    ],
    "child": [{"text": "Counted."}],
    "port": [{"text": "It is 5433."}],
    "again": [
        {
            "tools": [
                _call("memory_search", query=QUESTION),
                _call("bash", command=f"{sys.executable} -m vault_index search '{QUESTION}'", description="Search"),
                _call("memory_recall", query=QUESTION),
                _call("memory_timeline", query=QUESTION),
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
