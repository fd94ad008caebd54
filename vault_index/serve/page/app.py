"""What the page asks for beside the API, and its owner alone may: `/page/…` and `/files/…`."""

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio.to_thread

from vault_index.callers import Caller
from vault_index.config import Home, load_config
from vault_index.errors import ForbiddenError, NotFoundError, UsageError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.answers import Receive, Scope, Send, send_json
from vault_index.serve.guard import not_allowed, parse_json
from vault_index.serve.page import tokens
from vault_index.serve.page.files import read_image
from vault_index.version import __version__

_MOST_TOKENS = 12_000
"""Of a document at a time, in tokens of cl100k_base: what a browser draws at once."""


class Page:
    """The application behind the guard."""

    def __init__(self, home: Home, backend: Backend) -> None:
        self._home, self._backend = home, backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, caller = scope["path"], scope["caller"]
        if not caller.owner:
            raise ForbiddenError("this is only for the page of the user", "open it there: vault-index open")
        if path.startswith("/files/"):
            scope["shown"] = "/files"
            await self._file(scope, send)
            return
        answers = {"about": self._about, "read": self._read, "tokens": self._access, "disk": self._disk}
        answer = answers.get(path.removeprefix("/page/"))
        if answer is None:
            raise NotFoundError("there is nothing at this path", "see docs/page.md")
        scope["shown"] = path
        if scope["method"] != "POST":
            raise not_allowed("POST")
        body = await scope["body"]()
        params = parse_json(body) if body else {}
        if not isinstance(params, dict):
            raise UsageError("the body is no JSON object", "send an object with the parameters")
        await send_json(send, 200, await anyio.to_thread.run_sync(answer, caller, params))

    async def _file(self, scope: Scope, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise not_allowed("GET")
        source, _, path = scope["path"].removeprefix("/files/").partition("/")
        image = await anyio.to_thread.run_sync(read_image, load_config(self._home).sources, source, path)
        told = [(b"content-type", image.kind), (b"content-length", b"%d" % len(image.data))]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": image.data})

    # --- in a thread -------------------------------------------------------------------------------------------

    def _about(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """What the page shows around everything, and how it makes links to the user's own programs."""
        config = load_config(self._home)
        sources = [{"name": one.name, "kind": one.kind, "path": str(one.path)} for one in config.sources]
        editor = config.serve.editor
        return {"version": __version__, "name": caller.name, "editor": editor, "sources": sources}

    def _read(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """A document, or a part of it, as `get` gives it and as a tree of what its markdown says."""
        from vault_index.markdown.tree import tree  # late: only whoever reads needs a parser

        asked = {key: params[key] for key in ("ref", "source") if params.get(key) is not None}
        found = self._backend.call("get", {**asked, "full": True, "max_tokens": _MOST_TOKENS}, caller)["results"][0]
        text = found.pop("content")
        # The lines of the tree are those of the file.
        read = tree("\n" * (found["lines"][0] - 1) + text)
        return {"document": found, "text": text, "nodes": read.nodes, "outline": read.outline}

    def _access(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        return tokens.answer(self._home, caller, params)

    def _disk(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """What lies in the folder of the data, in bytes by what it is for; the largest first."""
        kept: Counter[str] = Counter()
        for folder, _, names in os.walk(self._home.data_dir):
            for name in names:
                with suppress(OSError):  # gone meanwhile
                    size = os.lstat(os.path.join(folder, name)).st_size
                    kept[_part(os.path.relpath(folder, self._home.data_dir), name)] += size
        rows = [{"name": name, "bytes": size} for name, size in kept.most_common() if size]
        return {"results": rows, "total": kept.total()}


def _part(folder: str, name: str) -> str:
    """Of the data: what a file belongs to."""
    if folder != ".":
        return {"sessions": "kept sessions", "isolated": "isolated indexes"}.get(folder.split(os.sep)[0], "other")
    if ".log" in name:
        return "logs"
    return next((one for one in ("index", "cache", "state") if name.startswith(f"{one}.db")), "other")
