"""Open the remote that an address names, with credentials from the environment or a command."""

import os
import re

from vault_index.config import SourceConfig
from vault_index.embeddings.access import output_of
from vault_index.embeddings.packages import install
from vault_index.errors import NotSetUpError, RemoteError
from vault_index.mirroring.exchange import Remote

_USER = re.compile(r"//([^/@]*)@")


def label(url: str) -> str:
    """Return an address for messages and the ledger, without the user."""
    return _USER.sub("//", url)


def secret_of(source: SourceConfig) -> tuple[str, str]:
    """Return the user and the password of a remote, as far as they are known.

    The variable VAULT_INDEX_REMOTE_<NAME> or the output of `password_command` is a password, or
    user and password with a colon if the address names no user.
    """
    secret = os.environ.get(f"VAULT_INDEX_REMOTE_{source.name.upper().replace('-', '_')}", "")
    if not secret and source.password_command:
        secret = output_of(source.password_command, "password_command", RemoteError)
    if found := _USER.search(source.remote):
        return found[1], secret
    user, colon, password = secret.partition(":")
    return (user, password) if colon else ("", secret)


def open_remote(source: SourceConfig) -> Remote:
    """Return the other side of a remote source. Modules are imported late: few have all kinds."""
    kind, _, rest = source.remote.partition(":")
    secret = secret_of(source)
    if kind == "s3":
        try:
            from vault_index.remotes.s3 import S3Remote
        except ImportError as error:
            raise NotSetUpError(
                "the package for S3 is not installed", f"install it: {install('obstore')}"
            ) from error
        return S3Remote(source.remote, secret)
    if kind.startswith("webdav+"):
        from vault_index.remotes.webdav import WebdavRemote

        return WebdavRemote(_USER.sub("//", source.remote.removeprefix("webdav+")), secret)
    from vault_index.remotes.git import GitRemote

    url = f"https://gist.github.com/{rest}.git" if kind == "gist" else source.remote[4:]
    return GitRemote(url, source.path.with_name("git"), secret)
