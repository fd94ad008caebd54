"""A prefix of a bucket of an S3-compatible server, with conditional writes."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import obstore
from obstore import exceptions
from obstore.store import S3Store

from vault_index.errors import ConflictError, NotFoundError, RemoteError
from vault_index.mirroring.exchange import Entry, Remote

_LOCAL = re.compile(r"http://(?:localhost|127\.|\[::1\])")


class S3Remote(Remote):
    """The objects below a prefix. Deleting compares the etag first, because S3 may not."""

    def __init__(self, url: str, secret: tuple[str, str] = ("", "")) -> None:
        """`url` is `s3://bucket/prefix`, with `endpoint` and `region` in its query.

        Without a secret, obstore finds credentials: in the environment, or of the machine's role.
        """
        parts = urlsplit(url)
        config: Any = dict(parse_qsl(parts.query))
        if all(secret):
            config |= {"access_key_id": secret[0], "secret_access_key": secret[1]}
        http = bool(_LOCAL.match(config.get("endpoint", "")))
        limits: Any = {"timeout": "30s", "connect_timeout": "10s", "allow_http": http}
        with _translated("the address"):
            prefix = parts.path.strip("/") or None
            self._store = S3Store(
                parts.netloc, prefix=prefix, config=config, client_options=limits,
                retry_config={"max_retries": 3},
            )  # fmt: skip

    def list(self) -> Iterator[Entry]:
        """Return all objects, a thousand per request."""
        with _translated("the bucket"):
            for batch in obstore.list(self._store, chunk_size=1000):
                for one in batch:
                    etag, changed = one["e_tag"], one["last_modified"].timestamp()
                    yield Entry(one["path"], etag or str(changed), one["size"], changed)

    def read(self, path: str) -> tuple[bytes, str]:
        """Return an object and its etag."""
        with _translated(path):
            answer = obstore.get(self._store, path)
            return bytes(answer.bytes()), answer.meta["e_tag"] or ""

    def write(self, path: str, data: bytes, if_match: str) -> str:
        """Write an object with `If-Match` or `If-None-Match`."""
        with _translated(path):
            mode: Any = {"e_tag": if_match} if if_match else "create"
            return obstore.put(self._store, path, data, mode=mode)["e_tag"] or ""

    def delete(self, path: str, if_match: str) -> None:
        """Delete an object."""
        with _translated(path):
            if obstore.head(self._store, path)["e_tag"] != if_match:
                raise ConflictError(f"{path} changed in the bucket", "the next sync compares")
            obstore.delete(self._store, path)


@contextmanager
def _translated(what: str) -> Iterator[None]:
    """Raise errors of obstore as ours; their texts may hold credentials."""
    try:
        yield
    except exceptions.NotFoundError as error:
        raise NotFoundError(f"the server has no {what}", "") from error
    except (exceptions.AlreadyExistsError, exceptions.PreconditionError) as error:
        raise ConflictError(f"{what} changed in the bucket", "the next sync compares") from error
    except (exceptions.UnauthenticatedError, exceptions.PermissionDeniedError) as error:
        raise RemoteError(
            f"the server refused the credentials for {what}",
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or password_command of the source",
        ) from error
    except exceptions.BaseError as error:
        raise RemoteError(
            f"the bucket does not answer ({what}): {type(error).__name__}",
            "check endpoint, region and bucket",
        ) from error
