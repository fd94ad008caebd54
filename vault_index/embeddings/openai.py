"""The embedder for OpenAI and compatible servers."""

import json
import logging
import threading
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from operator import itemgetter
from typing import Any

import numpy as np
import openai

from vault_index.config import EmbeddingConfig
from vault_index.config.validate import without_password
from vault_index.embeddings.access import (
    KNOWN_DIMENSIONS,
    PROBE,
    base_url,
    endpoint,
    find_key,
    is_openai,
    proxy_for,
)
from vault_index.embeddings.faults import Broken, Patience, Request, of_error_object, translate
from vault_index.errors import EmbedderError, RequestRefused
from vault_index.models import Vector, VectorSpace

DEFAULT_MODEL = "text-embedding-3-small"
_LONGEST_WAIT = 120.0
_QUERY_TIMEOUT, _QUERY_LONGEST_WAIT = 10.0, 1.0
"""Seconds; short, because a user waits and search can fall back to keywords."""
_TALKATIVE = ("openai", "httpx", "httpx2", "httpcore", "httpcore2")


_HINT = (
    "set embedding.base_url to an embeddings API, such as http://localhost:11434/v1,"
    " and embedding.model to one of its embedding models"
)

_Floats = np.ndarray[Any, np.dtype[np.float64]]


class OpenAIEmbedder:
    """Thread-safe client. The constructor sends a request only if the dimensions are unknown."""

    remote = True

    def __init__(
        self,
        config: "EmbeddingConfig",
        space: VectorSpace | None = None,
        *,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Connect to the configured server, or to another model of it if `space` is given.

        `sleep` replaces the wait between retries. Raises ConfigError, EmbedderError.
        """
        self.batch_tokens = config.batch_tokens
        self.batch_texts = config.batch_texts
        self._key = find_key(config)
        self._closed = threading.Event()
        self._sleep = sleep or self._closed.wait
        self._timeout = config.timeout
        self._patience = Patience(config.max_retries, _LONGEST_WAIT)
        self._query_patience = Patience(
            min(config.max_retries, 1), _QUERY_LONGEST_WAIT, or_give_up=True
        )
        proxy = proxy_for(config)
        self.via = without_password(proxy)
        self._client = _client(base_url(config), self._key, proxy)
        model = space.model if space else config.model or DEFAULT_MODEL
        self.space = space or VectorSpace("openai", model, config.dimensions, endpoint(config))
        self._parameters = _parameters(config, self.space)
        if not self.space.dimensions:
            self.space = VectorSpace(
                "openai", model, self._natural_dimensions(model), self.space.endpoint
            )

    def embed(
        self, texts: Sequence[str], before: Callable[[], object] | None = None
    ) -> list[Vector]:
        """Return one vector per text, in order; retry while the server is unavailable."""
        return self._ask(texts, self._patience, self._timeout, self.space.dimensions, before)

    def embed_query(self, text: str, before: Callable[[], object] | None = None) -> Vector:
        """Return the vector of a query, with a short timeout and at most one retry."""
        timeout = min(self._timeout, _QUERY_TIMEOUT)
        return self._ask([text], self._query_patience, timeout, self.space.dimensions, before)[0]

    def prepare(self) -> None:
        """Do nothing: the server has the model."""

    def release(self, unused: float) -> bool:
        """Return False: no model is in memory."""
        return False

    def close(self) -> None:
        """Close the connections; also end the wait between retries."""
        self._closed.set()
        self._client.close()

    def _natural_dimensions(self, model: str) -> int:
        known = KNOWN_DIMENSIONS.get(model)
        if known is not None:
            return known
        try:
            vector = self._ask([PROBE], self._query_patience, self._timeout, None)[0]
        except EmbedderError:
            self.close()
            raise
        return len(vector) // 4

    def _ask(
        self,
        texts: Sequence[str],
        patience: Patience,
        timeout: float,
        dimensions: int | None,
        before: Callable[[], object] | None = None,
    ) -> list[Vector]:
        # Servers reject empty texts, and JSON rejects lone surrogates.
        sent = [text.encode("utf-8", "replace").decode() or " " for text in texts]
        request = Request(self.space.endpoint, self.space.model, timeout, self._key, sent)

        def attempt() -> list[Vector]:
            if before is not None:
                before()
            answer = parse_answer(self._request(request))
            if answer.get("error") and not answer.get("data"):
                raise of_error_object(answer["error"], request)
            return parse_vectors(answer, len(texts), dimensions)

        return patience.keep_trying(attempt, self._sleep)

    def _request(self, request: Request) -> bytes:
        """Return the body of a response. Raises Unavailable if a retry may help."""
        if self._closed.is_set():
            raise _closed()
        body = {"input": request.texts, **self._parameters}
        try:
            return self._client.post(
                "/embeddings", cast_to=bytes, body=body, options={"timeout": request.timeout}
            )
        except openai.APIError as error:
            # Drop the cause: its text may contain the key or the note.
            raise translate(error, request) from None
        except RuntimeError:  # from the HTTP library after `close`
            if self._closed.is_set():
                raise _closed() from None
            raise


def _client(url: str, key: str, proxy: str) -> openai.OpenAI:
    for name in _TALKATIVE:
        # These would log texts at DEBUG, and every request at INFO.
        logging.getLogger(name).setLevel(logging.WARNING)
    # Send texts only to the configured server: no redirects, and no proxy that the library finds.
    direct = dict.fromkeys(("http://", "https://", "all://"))
    http = openai.DefaultHttpxClient(
        follow_redirects=False, proxy=proxy or None, mounts={} if proxy else direct
    )
    return openai.OpenAI(api_key=key, base_url=url, max_retries=0, http_client=http)


def _parameters(config: "EmbeddingConfig", space: VectorSpace) -> dict[str, object]:
    """Return the parameters of each request.

    Base64 takes a quarter of the bytes of JSON numbers, but servers other than OpenAI may refuse
    `encoding_format`.
    """
    given = {
        "model": space.model,
        "dimensions": _asked_dimensions(config, space),
        "encoding_format": "base64" if is_openai(config) else "",
    }
    return {name: value for name, value in given.items() if value}


def _asked_dimensions(config: "EmbeddingConfig", space: VectorSpace) -> int:
    """Return the `dimensions` to request; 0 for the default, because many servers refuse any."""
    if config.dimensions and config.dimensions == space.dimensions:
        return config.dimensions
    known = KNOWN_DIMENSIONS.get(space.model)
    return space.dimensions if known is not None and space.dimensions not in (0, known) else 0


def _closed() -> EmbedderError:
    return EmbedderError("the embedder is closed", "open a new one")


def parse_answer(body: bytes) -> dict[str, Any]:
    """Parse the JSON object of a response; other values give an empty object. Raises Broken."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise Broken("the embeddings server sent invalid JSON", _HINT, most_retries=1) from None
    return answer if isinstance(answer, dict) else {}


def parse_vectors(answer: Mapping[str, Any], count: int, dimensions: int | None) -> list[Vector]:
    """Return the `count` unit vectors of a response, in the order of the texts.

    Accepts base64 and lists of numbers. If `dimensions` is None, accepts any length. Raises
    RequestRefused for an invalid response.
    """
    items = answer.get("data")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Broken("the embeddings server sent JSON without embeddings", _HINT, most_retries=1)
    if len(items) != count:
        raise Broken(
            f"the embeddings server sent {len(items)} vectors for {count} texts",
            _HINT,
            most_retries=1,
        )
    return [_unit(_floats(item.get("embedding")), dimensions) for item in _in_order(items)]


def _in_order(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sort by `index` if it numbers the texts from 0; else keep the order."""
    try:
        numbers = [float(item["index"]) for item in items]
    except (KeyError, TypeError, ValueError, OverflowError):
        return items
    if sorted(numbers) != list(range(len(items))):
        return items
    return [item for _, item in sorted(zip(numbers, items, strict=True), key=itemgetter(0))]


def _floats(value: object) -> _Floats:
    """Decode a vector: base64 of little-endian float32, or a list of numbers."""
    with suppress(ValueError, TypeError, OverflowError):
        if isinstance(value, str):
            return np.frombuffer(b64decode(value, validate=True), "<f4").astype(np.float64)
        if isinstance(value, list):
            floats = np.array(value, np.float64)
            if floats.ndim == 1:
                return floats
    raise RequestRefused("the embeddings server sent an invalid vector", _HINT)


def _unit(vector: _Floats, dimensions: int | None) -> Vector:
    if dimensions is not None and len(vector) != dimensions:
        raise RequestRefused(
            f"the embeddings server sent {len(vector)} dimensions instead of {dimensions}",
            f"set embedding.dimensions to {len(vector)}, or to 0 for the model's default",
        )
    with np.errstate(over="ignore"):
        length = float(np.linalg.norm(vector))
    if not np.isfinite(length) or length < float(np.finfo(np.float32).tiny):
        raise RequestRefused(
            "the embeddings server sent a zero or non-finite vector",
            "set embedding.model to another model",
        )
    return (vector / length).astype("<f4").tobytes()
