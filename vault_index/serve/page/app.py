"""What the page asks for beside the API, and its owner alone may: `/page/…` and `/files/…`."""

import time
from collections.abc import Mapping
from typing import Any

import anyio.to_thread

from vault_index.access import Token, Tokens
from vault_index.callers import Caller, Scope as Part
from vault_index.config import Home, load_config
from vault_index.errors import ForbiddenError, NotFoundError, UsageError
from vault_index.mcp_server.backend import Backend
from vault_index.serve.answers import Receive, Scope, Send, send_json
from vault_index.serve.guard import not_allowed, parse_json
from vault_index.serve.page.files import read_image
from vault_index.times import iso_time, iso_time_or_none
from vault_index.version import __version__

_MOST_TOKENS = 12_000
"""Of a document at a time, in tokens of cl100k_base: what a browser draws at once."""


class Page:
    """The application behind the guard."""

    def __init__(self, home: Home, backend: Backend) -> None:
        self._home, self._backend = home, backend
        self._tokens = Tokens(home.tokens_file)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path, caller = scope["path"], scope["caller"]
        if not caller.owner:
            raise ForbiddenError("this is only for the page of the user", "open it there: vault-index open")
        if path.startswith("/files/"):
            scope["shown"] = "/files"
            await self._file(scope, send)
            return
        answers = {"/page/about": self._about, "/page/read": self._read, "/page/tokens": self._access}
        answers["/page/memories"] = self._memories
        answer = answers.get(path)
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

    def _memories(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        from vault_index.serve.page.memories import read_memories  # late, as above

        return read_memories(load_config(self._home), params)

    def _access(self, caller: Caller, params: Mapping[str, Any]) -> dict[str, Any]:
        """The tokens, after one was made (`add`) or revoked (`revoke`); that of a new one is told this once."""
        now, made = time.time(), {}
        if name := params.get("revoke"):
            self._tokens.revoke(str(name))
        elif isinstance(asked := params.get("add"), dict):
            made["token"] = self._tokens.add(_caller(asked), created=now, expires=asked.get("expires"))
        return {**made, "results": [_shown(token, now) for token in self._tokens.all()], "name": caller.name}


def _caller(asked: Mapping[str, Any]) -> Caller:
    parts: list[tuple[str, ...]] = []
    for key in ("sources", "folders", "projects"):
        value = asked.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            raise UsageError("what a token may see is named by lists of texts", "leave out what restricts nothing")
        parts.append(tuple(value))
    sources, folders, projects = parts
    return Caller(str(asked.get("name", "")), asked.get("writes") is True, Part(sources, folders, projects))


def _shown(token: Token, now: float) -> dict[str, Any]:
    caller, scope = token.caller, token.caller.scope
    return {
        "name": caller.name, "owner": caller.owner, "writes": caller.writes, **scope._asdict(),
        "created": iso_time(token.created), "expires": iso_time_or_none(token.expires), "expired": token.expired(now),
    }  # fmt: skip
