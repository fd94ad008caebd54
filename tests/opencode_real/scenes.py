"""The answers of the scripted model."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.opencode_real.model import Step


def _call(name: str, **args: Any) -> Step:
    return {"name": name, "args": args}


QUESTION = "Which port does the turnstile use?"
_AGAIN = [
    _call("memory_search", query=QUESTION),
    _call("bash", command=f"{sys.executable} -m vault_index search '{QUESTION}'", description="Search"),
    _call("memory_recall", query=QUESTION),
    _call("memory_timeline", query=QUESTION),
]
SCENES: Mapping[str, Sequence[Step]] = {
    **json.loads(Path(__file__).with_name("scenes.json").read_text("utf-8")),
    "again": [{"tools": _AGAIN}, {"text": "Looked."}],
}

NOTES = {
    "wal.md": "# WAL\n\nReaders never wait for the writer, because the write-ahead log keeps old pages.\n",
    "80-memory/decision/prices.md": (
        "---\nid: 5f0c3f0e-8a1b-4c2d-9e3f-6b7a8c9d0e1f\ntype: decision\ntitle: Prices are whole cents\nproject: shop\n"
        "---\nPrices are stored as whole cents, never as floats.\n"
    ),
}
