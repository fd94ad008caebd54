"""Where an embeddings server answers, and with which key: settings in, nothing sent."""

import os
import re
import shlex
import subprocess
from collections.abc import Mapping
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

from vault_index.errors import ConfigError, EmbedderRefused

if TYPE_CHECKING:
    from vault_index.config import EmbeddingConfig

KNOWN_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
"""The length of a model's vectors when no other is asked for."""

PRICES_PER_MILLION = {
    "text-embedding-3-small": 0.02,
    "text-embedding-3-large": 0.13,
    "text-embedding-ada-002": 0.10,
}
"""US dollars for a million tokens, as listed in 2026."""

PROBE = "How long are your vectors?"
"""Sent to a model of unknown dimensions, and to a server that refused a text, to learn whether it embeds any."""

_OPENAI = "https://api.openai.com/v1"
_NO_KEY = "none"
"""The key that is sent where none is set: a server on one's own machine takes any."""
_COMMAND_SECONDS = 10.0


def base_url(config: "EmbeddingConfig") -> str:
    """The URL requests are sent to. Raises ConfigError for a setting that is no URL."""
    _split(config)
    return config.base_url or _OPENAI


def endpoint(config: "EmbeddingConfig") -> str:
    """The URL as names and messages show it: without user, password, query and final slash."""
    parts = _split(config)
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))


def proxy_for(config: "EmbeddingConfig") -> str:
    """The proxy that requests go through, as the environment names it, or nothing. What is on this machine is asked
    without one: nobody means a server elsewhere to read what goes there."""
    from urllib.request import getproxies, proxy_bypass  # late: the HTTP library takes it along anyway

    parts = _split(config)
    host = (parts.hostname or "").rstrip(".")
    if _is_loopback(host) or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return ""
    known = getproxies()
    proxy = known.get(parts.scheme) or known.get("all") or ""
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def is_openai(config: "EmbeddingConfig") -> bool:
    """Return whether the server is OpenAI itself."""
    host = _split(config).hostname or ""
    return host == "api.openai.com" or host.endswith(".api.openai.com")


def find_key(config: "EmbeddingConfig", environ: Mapping[str, str] = os.environ) -> str:
    """The first there is of `api_key`, the variable `api_key_env`, the output of `api_key_command`.

    Without one: EmbedderRefused for OpenAI itself, a stand-in for any other server.
    """
    key = config.api_key.strip()
    if not key and config.api_key_env:
        key = environ.get(config.api_key_env, "").strip()
    if not key and config.api_key_command:
        key = _ask(config.api_key_command)
    if not key:
        if is_openai(config):
            name = config.api_key_env or "OPENAI_API_KEY"
            raise EmbedderRefused(
                "there is no API key for OpenAI",
                f"set {name} in the environment, or embedding.api_key_command to a command that prints the key; "
                'embedding.provider = "local" needs none',
            )
        return _NO_KEY
    if not key.isascii() or not key.isprintable() or " " in key:
        raise EmbedderRefused(
            "the API key has characters that no key has", "look for quotes, spaces or line breaks in the setting"
        )
    return key


def _split(config: "EmbeddingConfig") -> SplitResult:
    try:
        parts = urlsplit(config.base_url or _OPENAI)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            "embedding.base_url is not the address of a server",
            "it looks like http://localhost:11434/v1; leave it empty for OpenAI itself",
        )
    return parts


def _is_loopback(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost") or re.fullmatch(r"127(\.\d+)*", host) is not None
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback or address.is_unspecified


def _ask(command: str) -> str:
    """What the command prints. Its output stays out of every message: it may be the key, or half of it."""
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
        reason = f"it took longer than {_COMMAND_SECONDS:g} s"
    except subprocess.CalledProcessError as error:
        reason = f"it ended with exit code {error.returncode}"
    except OSError as error:
        reason = error.strerror or type(error).__name__
    except (ValueError, IndexError):  # unbalanced quotes, nothing but spaces, bytes that are no text
        reason = "neither the setting nor the output could be read"
    raise EmbedderRefused(
        f"embedding.api_key_command gave no key: {reason}", "run the command by hand; it must print the key alone"
    )
