"""A WebDAV folder, such as one of Nextcloud, with conditional writes.

obstore's HTTPStore lists and reads WebDAV, but it cannot send If-Match, so this is plain HTTP.
"""

from collections.abc import Iterator
from contextlib import suppress
from email.utils import mktime_tz, parsedate_tz
from urllib.parse import quote, unquote, urlsplit
from xml.etree import ElementTree

import httpx2

from vault_index.errors import ConflictError, NotFoundError, RemoteError
from vault_index.mirroring.exchange import Entry

_SECONDS = 30.0
_MOST_BYTES = 256 << 20
_MOST_FOLDERS = 10_000
_FIND = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><getetag/><getcontentlength/>'
    b"<getlastmodified/><resourcetype/></prop></propfind>"
)
_DAV = "{DAV:}"


class WebdavRemote:
    """The files below a folder."""

    def __init__(self, url: str, secret: tuple[str, str] = ("", "")) -> None:
        self._url = url.rstrip("/")
        self._client = httpx2.Client(
            auth=secret if secret[1] else None,
            timeout=_SECONDS,
            headers={"Accept-Encoding": "identity"},  # compressed answers may have other etags
        )

    def list(self) -> Iterator[Entry]:
        """Return all files, one folder per request: many servers refuse a greater depth."""
        folders = [""]
        for folder in folders:  # the loop appends to them
            for path, entry in self._parse(self.send("PROPFIND", folder, {"Depth": "1"}, _FIND)[1]):
                if entry is not None:
                    yield entry
                elif path not in folders:
                    folders.append(path)
            if len(folders) > _MOST_FOLDERS:
                raise RemoteError(f"over {_MOST_FOLDERS:,} folders", "add a part of it")

    def _parse(self, body: bytes) -> Iterator[tuple[str, Entry | None]]:
        """Yield path and file of each answer; None for a folder."""
        base = unquote(urlsplit(self._url).path).rstrip("/") + "/"
        try:
            answers = ElementTree.fromstring(body).findall(f"{_DAV}response")
        except ElementTree.ParseError as error:
            raise RemoteError("the server's answer is not XML", "is this WebDAV?") from error
        for answer in answers:
            path = unquote(urlsplit(answer.findtext(f"{_DAV}href", "")).path)
            inside = path.removeprefix(base).strip("/")
            if not path.startswith(base) or answer.find(f".//{_DAV}collection") is not None:
                yield inside if path.startswith(base) else "", None
                continue
            value = {
                name: answer.findtext(f".//{_DAV}{name}", "")
                for name in ("getetag", "getcontentlength", "getlastmodified")
            }
            etag = _plain(value["getetag"]) or value["getlastmodified"]
            size = int(value["getcontentlength"]) if value["getcontentlength"].isdecimal() else 0
            changed = parsedate_tz(value["getlastmodified"])
            yield inside, Entry(inside, etag, size, mktime_tz(changed) if changed else 0.0)

    def read(self, path: str) -> tuple[bytes, str]:
        """Return a file and its etag."""
        etag, data = self.send("GET", path)
        return data, etag

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Write a file with `If-Match` or `If-None-Match`, and create missing folders."""
        folders = path.split("/")[:-1]
        for number in range(1, len(folders) + 1 if not if_match else 1):
            with suppress(RemoteError):  # it exists
                self.send("MKCOL", "/".join(folders[:number]))
        condition = {"If-Match": f'"{if_match}"'} if if_match else {"If-None-Match": "*"}
        return self.send("PUT", path, condition, data)[0]

    def delete(self, path: str, if_match: str) -> None:
        """Delete a file with `If-Match`."""
        self.send("DELETE", path, {"If-Match": f'"{if_match}"'})

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def send(
        self, method: str, path: str, headers: dict[str, str] | None = None, data: bytes = b""
    ) -> tuple[str, bytes]:
        """Return etag and body. Raises NotFoundError, ConflictError and RemoteError."""
        url, body = f"{self._url}/{quote(path)}", bytearray()
        try:
            with self._client.stream(method, url, headers=headers, content=data) as answer:
                for part in answer.iter_raw():
                    body += part
                    if len(body) > _MOST_BYTES:
                        raise RemoteError("the answer is larger than 256 MiB", "add a smaller part")
        except httpx2.HTTPError as error:
            message = f"the server does not answer ({type(error).__name__})"
            raise RemoteError(message, "check address and connection") from error
        status = answer.status_code
        if status in (404, 410) and method == "GET":
            raise NotFoundError(f"the server has no {path}", "")
        if status == 412:
            raise ConflictError(f"{path} changed on the server", "the next sync compares")
        if not answer.is_success:
            hint = "401 and 403 mean a wrong user, password or token (docs/remotes.md)"
            raise RemoteError(f"the server answers {status} to {method}", hint)
        return _plain(answer.headers.get("ETag", "")), bytes(body)


def _plain(etag: str) -> str:
    return etag.strip().removeprefix("W/").strip('"')  # some servers leave the quotes out
