"""A WebDAV folder, such as one of Nextcloud, with conditional writes.

obstore's HTTPStore lists and reads WebDAV, but it cannot send If-Match, so this is plain HTTP.
"""

from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from urllib.parse import quote, unquote, urlsplit
from xml.etree import ElementTree

import httpx2

from vault_index.errors import ConflictError, NotFoundError, RemoteError
from vault_index.mirroring.exchange import Entry

_SECONDS = 30.0
_MOST_BYTES = 256 << 20
_FIND = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><getetag/><getcontentlength/>'
    b"<getlastmodified/><resourcetype/></prop></propfind>"
)
_DAV = "{DAV:}"


class WebdavRemote:
    """The files below a folder."""

    parallel = 8

    def __init__(self, url: str, secret: tuple[str, str] = ("", "")) -> None:
        self._url = url.rstrip("/")
        auth = secret if secret[1] else None
        identity = {"Accept-Encoding": "identity"}  # compressed answers may have other etags
        self._client = httpx2.Client(auth=auth, timeout=_SECONDS, headers=identity)

    def list(self) -> Iterator[Entry]:
        """Return all files: by one request, or by more if the answer leaves out folders."""
        asked, wanted, depth = {""}, [""], "infinity"
        while wanted:
            folder = wanted.pop()
            status, _, body = self._send("PROPFIND", folder, {"Depth": depth}, _FIND)
            if status == 403 and depth == "infinity":
                depth = "1"
                wanted.append(folder)
                continue
            if status != 207:
                raise RemoteError(f"the server answers {status}", "is this a WebDAV folder?")
            found = list(self._parse(body))
            # Nextcloud answers as if the depth were one.
            full = {path.rpartition("/")[0] for path, _ in found} | asked
            wanted += [path for path, entry in found if entry is None and path not in full]
            asked.update(path for path, entry in found if entry is None)
            yield from (entry for _, entry in found if entry is not None)

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
            etag = _strong(value["getetag"]) or value["getlastmodified"]
            size = int(value["getcontentlength"]) if value["getcontentlength"].isdecimal() else 0
            yield inside, Entry(inside, etag, size, _seconds(value["getlastmodified"]))

    def read(self, path: str) -> tuple[bytes, str]:
        """Return a file and its etag."""
        etag, data = self._request("GET", path)
        return data, etag

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Write a file with `If-Match` or `If-None-Match`, and create missing folders."""
        folders = path.split("/")[:-1]
        for number in range(1, len(folders) + 1 if not if_match else 1):
            self._send("MKCOL", "/".join(folders[:number]))
        return self._request("PUT", path, _condition(if_match), data)[0]

    def delete(self, path: str, if_match: str) -> None:
        """Delete a file with `If-Match`."""
        self._request("DELETE", path, _condition(if_match))

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _request(
        self, method: str, path: str, headers: dict[str, str] | None = None, data: bytes = b""
    ) -> tuple[str, bytes]:
        """Return etag and body. Raises NotFoundError, ConflictError and RemoteError."""
        status, etag, body = self._send(method, path, headers, data)
        if status in (404, 410):
            raise NotFoundError(f"the server has no {path}", "")
        if status == 412:
            raise ConflictError(f"{path} changed on the server", "the next sync compares")
        if not 200 <= status < 300:
            raise RemoteError(f"the server answers {status} to {method} {path}", "try again")
        return etag, body

    def _send(
        self, method: str, path: str, headers: dict[str, str] | None = None, data: bytes = b""
    ) -> tuple[int, str, bytes]:
        """Return status, etag and body. Raises RemoteError, also if the server wants a password."""
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
        if answer.status_code == 401 or (answer.status_code == 403 and method != "PROPFIND"):
            raise RemoteError(
                f"the server refused user or password ({answer.status_code})",
                "set password_command of the source, or a variable (docs/remotes.md)",
            )
        return answer.status_code, _strong(answer.headers.get("ETag", "")), bytes(body)


def _condition(if_match: str) -> dict[str, str]:
    return {"If-Match": f'"{if_match}"'} if if_match else {"If-None-Match": "*"}


def _strong(etag: str) -> str:
    return etag.strip().removeprefix("W/").strip('"')  # some servers leave the quotes out


def _seconds(date: str) -> float:
    try:
        return parsedate_to_datetime(date).timestamp()
    except ValueError:
        return 0.0
