"""MCP resources: a list of recent memories, and every document by a URI of its source and path."""

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from vault_index.errors import NotFoundError, UsageError

if TYPE_CHECKING:  # the tokenizer and renderer wait for the first call
    from vault_index.mcp_server.toolbox import Toolbox

_MARKDOWN = "text/markdown"
TEMPLATE = {
    "uriTemplate": "vault-index://{source}/{+path}",
    "name": "document",
    "description": "a note, a memory or a session",
    "mimeType": _MARKDOWN,
}
_URI = re.compile(r"vault-index://([^/?#]+)/([^?#]+)")
_PAGE = 50
_CHOICES = 100  # the protocol's maximum
_WITHOUT_BOUND = 10**9
"""Tokens: pages of records and documents are not truncated."""


def listed(toolbox: "Toolbox", cursor: str | None) -> dict[str, Any]:
    """List the most recently changed memories, page by page. Raises UsageError."""
    asked = {
        "kind": "memory",
        "sort": "updated",
        "limit": _PAGE,
        "cursor": cursor,
        "max_tokens": _WITHOUT_BOUND,
    }
    page = toolbox.call("memory_list", asked).structured
    found = [
        {
            "uri": _uri_of(record),
            "name": record["path"],
            "title": record["title"],
            "mimeType": _MARKDOWN,
            "annotations": {"lastModified": record["updated"]},
        }
        for record in page["results"]
    ]
    return {"resources": found, **({"nextCursor": page["cursor"]} if "cursor" in page else {})}


def read(toolbox: "Toolbox", uri: str) -> dict[str, Any]:
    """Return the text of a document. Raises NotFoundError, also for a path outside the source."""
    known = _URI.fullmatch(uri)
    source, path = (
        (unquote(part, errors="surrogateescape") for part in known.groups()) if known else ("", "")
    )
    try:
        asked = {"ref": [path], "source": source, "max_tokens": _WITHOUT_BOUND}
        [text] = toolbox.call("memory_get", asked).structured["results"] if known else [{}]
    except (NotFoundError, UsageError):
        text = {}
    # The reference matched another document, as [[Harbour]] can.
    if (text.get("source"), text.get("path")) != (source, path):
        raise NotFoundError(
            f"there is no resource {uri[:200]!r}", "find documents with memory_search"
        )
    return {"contents": [{"uri": uri, "mimeType": _MARKDOWN, "text": text.get("content", "")}]}


def completed(toolbox: "Toolbox", name: str, begun: str) -> dict[str, Any]:
    """Complete a source, path or project from recently changed documents."""
    values: list[str] = []
    if name in ("source", "path", "project"):
        asked = {"sort": "updated", "limit": _CHOICES, "max_tokens": _WITHOUT_BOUND}
        asked |= {"path": f"{begun}*"} if name == "path" and begun else {}
        records = toolbox.call("memory_list", asked).structured["results"]
        found = dict.fromkeys(str(record[name]) for record in records if name in record)
        values = [value for value in found if value.lower().startswith(begun.lower())]
    return {"completion": {"values": values}}


def _uri_of(record: dict[str, Any]) -> str:
    source = quote(record["source"], safe="", errors="surrogateescape")
    return f"vault-index://{source}/{quote(record['path'], errors='surrogateescape')}"
