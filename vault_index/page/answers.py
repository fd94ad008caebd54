"""Answer the page's requests `page/<name>`, in the daemon."""

import base64
import os
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Any

from vault_index.callers import Caller
from vault_index.config import Config, Home, load_config
from vault_index.errors import ForbiddenError, NotFoundError, UsageError
from vault_index.fields import FILTERS, Filters
from vault_index.memories.file.document import MemoryFile, body_of
from vault_index.memories.file.files import MemoryFiles
from vault_index.memories.merge import merge_texts
from vault_index.page import tokens
from vault_index.page.images import read_image
from vault_index.query.links import links_around
from vault_index.runtime import Runtime
from vault_index.store.documents import folder_counts, tag_counts, value_counts
from vault_index.store.state import State
from vault_index.version import __version__

_MOST_AROUND = 50
"""Maximum number of documents in the picture of links."""
_MOST_VALUES = 5_000
"""Maximum number of values of one filter, and of folders."""


def answer(
    runtime: Runtime, caller: Caller, name: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the answer to one request.

    Raises ForbiddenError unless the caller is the owner (except for `sign_in`), and NotFoundError
    for an unknown name.
    """
    home = runtime.home
    if name == "sign_in":
        return tokens.sign_in(home, params)
    if not caller.owner:
        raise ForbiddenError("only the page may request this", "open the page: vault-index open")
    match name:
        case "about":
            return _about(home, caller)
        case "image":
            image = read_image(
                load_config(home).sources, str(params.get("source")), str(params.get("path"))
            )
            return {"kind": image.kind, "data": base64.b64encode(image.data).decode("ascii")}
        case "tokens":
            return tokens.list_tokens(home, caller, params)
        case "memories":
            return read_memories(load_config(home), params)
        case "disk":
            return _disk(home)
        case "sent":
            return _sent(home)
        case "values":
            return _values(runtime)
        case "around":
            return _around(runtime, str(params.get("ref")), str(params.get("source")))
    raise NotFoundError("unknown path", "see docs/serve.md")


def _about(home: Home, caller: Caller) -> dict[str, Any]:
    """Return what every view of the page needs, and the editor that its links open."""
    config = load_config(home)
    sources = [
        {"name": one.name, "kind": one.kind, "path": str(one.path)} for one in config.sources
    ]
    return {
        "version": __version__,
        "name": caller.name,
        "editor": config.page.editor,
        "sources": sources,
    }


def _disk(home: Home) -> dict[str, Any]:
    """Return the sizes of the data folder in bytes, by purpose, the largest first."""
    kept: Counter[str] = Counter()
    for folder, _, names in os.walk(home.data_dir):
        for name in names:
            with suppress(OSError):  # deleted meanwhile
                size = os.lstat(os.path.join(folder, name)).st_size
                kept[_part(os.path.relpath(folder, home.data_dir), name)] += size
    rows = [{"name": name, "bytes": size} for name, size in kept.most_common() if size]
    return {"results": rows, "total": kept.total()}


def _sent(home: Home) -> dict[str, Any]:
    """Return what was sent from this machine by day, server and model, the newest first."""
    names = ("day", "endpoint", "model", "documents", "queries", "texts", "tokens")
    with closing(State(home.state_db)) as state:
        return {"results": [dict(zip(names, row, strict=True)) for row in state.spent(-1)]}


def _around(runtime: Runtime, ref: str, source: str) -> dict[str, Any]:
    """Return the documents around one, which is the first, and their links as pairs of indexes."""
    with runtime.pool.lend() as connections:
        document = runtime.resolve(connections, ref, (source,)).document
        found, edges = links_around(connections.reader, document, _MOST_AROUND)
    index = {one.id: at for at, one in enumerate(found)}
    rows = [
        {"source": one.source, "path": one.path, "title": one.title, "kind": one.kind}
        for one in found
    ]
    return {"results": rows, "links": sorted((index[a], index[b]) for a, b in edges)}


def _values(runtime: Runtime) -> dict[str, Any]:
    """Return the values of filters with their counts, and the folders as source, path, count."""
    with runtime.pool.lend() as connections:
        reader = connections.reader
        columns = {one.key: one.column for one in FILTERS.values() if one.column}
        values = {key: value_counts(reader, column) for key, column in columns.items()}
        values |= {"tag": tag_counts(reader, Filters())}
        folders = folder_counts(reader)
    return {
        "values": {key: rows[:_MOST_VALUES] for key, rows in values.items()},
        "folders": folders[:_MOST_VALUES],
    }


def _part(folder: str, name: str) -> str:
    """Return the purpose of a file in the data folder."""
    if folder != ".":
        return "kept sessions" if folder.split(os.sep)[0] == "sessions" else "other"
    if ".log" in name:
        return "logs"
    return next(
        (one for one in ("index", "cache", "state") if name.startswith(f"{one}.db")), "other"
    )


def read_memories(config: Config, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of each file, and `seen` for `decide`; with `merge`, the merged text too."""
    asked = params.get("files")
    if not isinstance(asked, list) or not all(isinstance(one, dict) for one in asked):
        raise UsageError("files must be a list of objects", "send source and path of each memory")
    files = [_read(config, str(one.get("source", "")), str(one.get("path", ""))) for one in asked]
    merge = {"merged": merge_texts(files)} if params.get("merge") is True and len(files) > 1 else {}
    return {"results": [_shown(file) for file in files], **merge}


def _read(config: Config, source: str, path: str) -> MemoryFile:
    vault = next((one for one in config.sources if one.name == source), None)
    if vault is None:
        raise NotFoundError(
            f"there is no vault {source!r}", "list the vaults: vault-index source list"
        )
    return MemoryFiles(vault.path, config.memory.dir, source).read(path)


def _shown(file: MemoryFile) -> dict[str, Any]:
    text, seen = file.text, file.digest.hex()
    return {"path": file.path, "text": text, "body": body_of(text), "seen": seen}
