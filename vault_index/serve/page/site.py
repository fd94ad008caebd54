"""Serve the static files of the page, which need no token."""

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vault_index.errors import NotFoundError
from vault_index.serve.answers import Headers, Scope, Send

_ROOT = Path(__file__).parent / "site"
_TYPES = {
    ".html": b"text/html; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".svg": b"image/svg+xml",
    ".webmanifest": b"application/manifest+json",
}
_GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))", re.IGNORECASE)
HEADERS: Headers = [
    (b"cache-control", b"no-cache"),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        b"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'; "
        b"require-trusted-types-for 'script'; trusted-types 'none'",
    ),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""The page may run only its own scripts and connect only to this server."""


class _File(NamedTuple):
    kind: bytes
    etag: bytes
    data: bytes
    packed: bytes
    """Compressed with gzip."""


async def send_file(scope: Scope, send: Send) -> bool:
    """Send a static file of the page; False if the path is not one.

    Raises NotFoundError for a missing file below `/page/`.
    """
    path = scope["path"]
    file = _files().get("index.html" if path == "/" else path.removeprefix("/page/"))
    if scope["method"] not in ("GET", "HEAD"):
        return False
    if file is None:
        if path.startswith("/page/") and path.endswith(tuple(_TYPES)):
            scope["shown"] = "/page"
            raise NotFoundError("the page has no such file", "reload the page")
        return False
    scope["shown"] = path
    known = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
    fresh = file.etag in (known, known.removeprefix(b"W/"))
    packs = any(
        name == b"accept-encoding" and _GZIP.search(value) for name, value in scope["headers"]
    )
    body = b"" if fresh else file.packed if packs else file.data
    told = [
        (b"content-type", file.kind),
        (b"etag", file.etag),
        (b"vary", b"accept-encoding"),
        *HEADERS,
    ]
    if path.endswith(".svg"):  # browsers request the icon again for every address
        told = [one for one in told if one[0] != b"cache-control"] + [
            (b"cache-control", b"max-age=86400")
        ]
    if not fresh:
        told += [(b"content-encoding", b"gzip")] * packs + [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 304 if fresh else 200, "headers": told})
    await send({"type": "http.response.body", "body": body})
    return True


@cache
def _files() -> dict[str, _File]:
    """Return the files by path, read once because they are small."""
    found = {}
    for path in _ROOT.rglob("*"):
        if path.suffix in _TYPES:
            data = path.read_bytes()
            etag = b'"' + hashlib.sha256(data).hexdigest()[:16].encode() + b'"'
            name = path.relative_to(_ROOT).as_posix()
            found[name] = _File(_TYPES[path.suffix], etag, data, gzip.compress(data, mtime=0))
    return found
