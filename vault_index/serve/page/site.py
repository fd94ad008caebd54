"""Serve the static files of the page, which need no token."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from vault_index.errors import NotFoundError

_ROOT = Path(__file__).parent / "site"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
HEADERS = {
    "vary": "accept-encoding",
    "cache-control": "no-cache",
    "content-security-policy": "default-src 'none'; script-src 'self'; "
    "style-src 'self'; img-src 'self' blob:; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
"""The page may run only its own scripts and connect only to this server."""


class _File(NamedTuple):
    kind: str
    etag: str
    data: bytes


def page_file(request: Request) -> Response | None:
    """Return the response with a static file of the page; None if the path is not one.

    Raises NotFoundError for a missing file below `/page/`. Starlette's StaticFiles would compress
    each response again.
    """
    path, headers = request.scope["path"], request.scope["known_headers"]
    file = _files().get("index.html" if path == "/" else path.removeprefix("/page/"))
    if request.method not in ("GET", "HEAD"):
        return None
    if file is None:
        if path.startswith("/page/") and path.endswith(tuple(_TYPES)):
            request.scope["shown"] = "/page"
            raise NotFoundError("the page has no such file", "reload the page")
        return None
    request.scope["shown"] = path
    sent = {**HEADERS, "etag": file.etag}
    if path.endswith(".svg"):  # browsers request the icon again for every address
        sent["cache-control"] = "max-age=86400"
    if headers.get("if-none-match", "").removeprefix("W/") == file.etag:
        return Response(None, 304, sent, file.kind)
    if not _GZIP.search(headers.get("accept-encoding", "")):
        return Response(file.data, 200, sent, file.kind)
    return Response(_packed(file.data), 200, {**sent, "content-encoding": "gzip"}, file.kind)


@cache
def _files() -> dict[str, _File]:
    """Return the files by path, read once because they are small."""
    found = {}
    for path in _ROOT.rglob("*"):
        if path.suffix in _TYPES:
            data = path.read_bytes()
            etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
            name = path.relative_to(_ROOT).as_posix()
            found[name] = _File(_TYPES[path.suffix], etag, data)
    return found


@cache
def _packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)
