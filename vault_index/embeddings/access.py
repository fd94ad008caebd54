"""Find the URL, proxy and API key of an embeddings server from the settings."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

from vault_index.config.schema import EmbeddingConfig
from vault_index.errors import ConfigError, EmbedderRefused, VaultIndexError

KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""Default dimensions of models."""

PRICES_PER_MILLION = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}
"""US dollars per million tokens, as listed in 2026."""

PROBE = "How long are your vectors?"
"""Test text to learn a model's dimensions, and whether a server that refused a text still works."""

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"
"""Key sent without a configured key: local servers accept any key."""
_COMMAND_SECONDS = 10.0
"""Timeout of `api_key_command`."""


def base_url(config: EmbeddingConfig) -> str:
    """Return the URL for requests. Raises ConfigError for an invalid setting."""
    _split(config)
    return config.base_url or _OPENAI


def endpoint(config: EmbeddingConfig) -> str:
    """Return the URL for display: without user, password, query and trailing slash."""
    parts = _split(config)
    return urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", "")
    )


def proxy_for(config: EmbeddingConfig) -> str:
    """Return the proxy from the environment, or "".

    Texts for a local server do not pass a proxy.
    """
    from urllib.request import getproxies, proxy_bypass  # late: the HTTP library imports it anyway

    parts = _split(config)
    host = (parts.hostname or "").rstrip(".")
    if _is_loopback(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    known = getproxies()
    proxy = known.get(parts.scheme) or known.get("all") or ""
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def is_openai(config: EmbeddingConfig) -> bool:
    """Return whether the server is OpenAI itself."""
    host = _split(config).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def find_key(config: EmbeddingConfig, environ: Mapping[str, str] = os.environ) -> str:
    """Return the API key from `api_key`, `api_key_env` (a variable) or `api_key_command`.

    The first one found wins. Without a key, raises EmbedderRefused for OpenAI, and returns a
    placeholder for other servers.
    """
    key = config.api_key.strip()
    if not key and config.api_key_env:
        key = environ.get(config.api_key_env, "").strip()
    if not key and config.api_key_command:
        key = output_of(config.api_key_command, "embedding.api_key_command", EmbedderRefused)
    if not key:
        if is_openai(config):
            name = config.api_key_env or "OPENAI_API_KEY"
            raise EmbedderRefused(
                "no API key for OpenAI",
                f"set {name} in the environment, or embedding.api_key_command to a command that"
                ' prints the key; embedding.provider = "local" needs no key',
            )
        return _NO_KEY
    if not key.isascii() or not key.isprintable() or " " in key:
        raise EmbedderRefused(
            "the API key has invalid characters",
            "remove quotes, spaces and line breaks from it",
        )
    return key


def _split(config: EmbeddingConfig) -> SplitResult:
    try:
        parts = urlsplit(config.base_url or _OPENAI)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            "embedding.base_url is not a server's URL",
            "use the form http://localhost:11434/v1; leave it empty for OpenAI",
        )
    return parts


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return (
            host == "localhost"
            or host.endswith(".localhost")
            or re.fullmatch(r"127(\.\d+)*", host) is not None
        )
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback or address.is_unspecified


def output_of(command: str, setting: str, error_type: type[VaultIndexError]) -> str:
    """Return the output of the command in a setting; messages never quote it: it may be a key."""
    try:
        done = subprocess.run(
            shlex.split(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_COMMAND_SECONDS,
            check=True,
        )
        return done.stdout.decode().strip()
    except subprocess.TimeoutExpired:
        reason = f"timeout after {_COMMAND_SECONDS:g} s"
    except subprocess.CalledProcessError as error:
        reason = f"exit code {error.returncode}"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except (ValueError, IndexError):  # unbalanced quotes, only spaces, invalid UTF-8
        reason = "the command or its output is invalid"
    raise error_type(
        f"{setting} failed: {reason}",
        "run the command in a shell; it must print only the key or password",
    )
